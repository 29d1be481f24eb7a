"""The gateway on a socket: in one process or several, with its configuration watched and its end drained."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from importlib import import_module
from typing import Any, cast

import msgspec
import uvicorn
from uvicorn.supervisors.multiprocess import Multiprocess

from thinkwire import dialects
from thinkwire.errors import ConfigError, ThinkwireError
from thinkwire.gateway.app import Gateway
from thinkwire.gateway.config.gateway_config import GatewayConfig
from thinkwire.gateway.config.reload import ConfigWatcher
from thinkwire.gateway.http.client_response import Receive, Send
from thinkwire.gateway.http.headers import Scope
from thinkwire.gateway.http.security import why_web_is_off
from thinkwire.gateway.pipeline.services import new_client, open_services
from thinkwire.gateway.server.process_limits import memory_trimmer, raise_open_files, warn_of_few_files
from thinkwire.gateway.server.protocol import ProtocolFactory
from thinkwire.gateway.server.web_mount import WebMount, is_page
from thinkwire.gateway.telemetry.cost import has_price
from thinkwire.gateway.telemetry.logs import set_up
from thinkwire.providers import default_providers

VARIABLE = "THINKWIRE_SERVE"
"""Tells a worker process what its parent was told."""
_log = logging.getLogger("thinkwire.gateway")
_BACKLOG = 2048
_TAKEN_AT_ONCE = 8
"""Connections. A loop takes one in a turn from each listener; when many come together, a turn with several of
them costs far less for each, and one with too many lets the first of them wait for the last."""


class ServeOptions(msgspec.Struct, frozen=True):
    """What the command line said, beside the file."""

    config: GatewayConfig
    sim: bool = False
    web: bool = False
    auth: bool = False
    """Whether people have to log in to the web app."""


class GatewayApp:
    """The application of one process: opens the gateway when the server starts, and closes it at the end."""

    def __init__(self, orders: ServeOptions) -> None:
        self._orders = orders
        self._gateway: Gateway | None = None
        self._web: WebMount | None = None

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """No coroutine of its own: whoever serves the request is awaited at once."""
        if scope["type"] == "lifespan":
            return self._live(receive, send)
        if self._web is not None and scope["type"] == "http" and is_page(scope["method"], scope["path"]):
            return self._web(scope, receive, send)
        assert self._gateway is not None
        return self._gateway(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            async with self._opened():
                await send({"type": "lifespan.startup.complete"})
                await receive()
        except ThinkwireError as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.shutdown.complete"})

    @contextlib.asynccontextmanager
    async def _opened(self) -> AsyncIterator[None]:
        config = self._orders.config
        async with (
            new_client(config, sim=self._orders.sim or None) as client,
            open_services(config, client=client, auth=self._orders.auth) as parts,
            watched(config, parts.configure),
            trimmed_memory(lambda: parts.limits.running == 0),
        ):
            self._gateway = Gateway(parts)
            settle_memory()
            asyncio.get_running_loop().run_in_executor(None, warm_up)
            if self._orders.web:
                auth = self._orders.auth
                self._web = WebMount(
                    config,
                    sim=self._orders.sim,
                    auth=auth,
                    why_off=lambda: why_web_is_off(parts.config, auth=auth, keyed=parts.keys.are_needed),
                )
                parts.readiness.add("web", self._web.check)
            try:
                yield
            finally:
                if self._web is not None:
                    await self._web.aclose()


def settle_memory() -> None:
    """Tables and code stay for good: the collector need not look at them, nor come after every request.

    Serving leaves no cycles behind, so it looks for them seldom; a few hundred streams that begin together
    would bring it several times, for milliseconds each.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 20, 50)


def warm_up() -> None:
    """Loads what the first request would have to wait for; what fails here is tried again by that request."""
    try:
        import_module("aiohttp")
        for name in dialects.NAMES:
            dialects.get(name)
        for provider in default_providers().values():
            if provider.first:
                has_price(provider.name, provider.first)
                break
    except Exception as error:
        _log.warning("the first requests will be slower, not all could be loaded: %s", error)


@contextlib.asynccontextmanager
async def trimmed_memory(is_idle: Callable[[], bool]) -> AsyncIterator[None]:
    """Gives memory back to the system while the block runs, where that is possible."""
    trimmer = memory_trimmer(is_idle)
    task = asyncio.ensure_future(trimmer.run()) if trimmer is not None else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


@contextlib.asynccontextmanager
async def watched(config: GatewayConfig, on_change: Any) -> AsyncIterator[ConfigWatcher]:
    """Takes a changed configuration while the block runs, by itself or on SIGHUP."""
    watcher = ConfigWatcher(config, on_change)
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError, AttributeError):
        loop.add_signal_handler(signal.SIGHUP, watcher.reload)
    task = asyncio.ensure_future(watcher.run())
    try:
        yield watcher
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


class Server(uvicorn.Server):
    """Drains its streams when it is told to end; told a second time, it ends at once."""

    def handle_exit(self, sig: int, frame: Any) -> None:
        if self.should_exit:
            self.force_exit = True
        super().handle_exit(sig, frame)


class EmbeddedServer(Server):
    """One that leaves signals to whoever runs the loop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Workers(Multiprocess):
    """Several processes on one socket. A second signal does not wait for them."""

    def join_all(self) -> None:
        self.signal_queue.clear()
        for process in self.processes:
            while process.exitcode is None:
                process.process.join(0.1)
                if self.signal_queue:
                    process.process.kill()


class Settings(uvicorn.Config):
    """uvicorn's own, and the bounds of what clients send."""

    head_seconds: float
    body_seconds: float
    max_buffered: int


def settings_for(app: Any, config: GatewayConfig, **more: Any) -> Settings:
    settings = Settings(
        app,
        interface="asgi3",
        http=more.pop("http", None) or cast(Any, ProtocolFactory()),
        access_log=False,
        proxy_headers=False,
        log_config=None,
        server_header=False,
        date_header=False,
        ws="none",
        timeout_graceful_shutdown=max(1, round(config.server.drain_seconds)),
        timeout_keep_alive=75,
        backlog=_BACKLOG,
        **more,
    )
    settings.head_seconds = config.server.head_seconds
    settings.body_seconds = config.server.body_seconds
    settings.max_buffered = config.server.max_buffered
    return settings


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections from now on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host.strip("[]"), port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"cannot listen on {host}:{port}: {reason}") from None
    # Connections inherit this; without it small pieces wait for each other. asyncio sets it only on sockets
    # that say which protocol they are of.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.set_inheritable(True)
    return listener


def run(orders: ServeOptions, listener: socket.socket) -> None:
    """Serves until told to end."""
    config = orders.config
    set_up(config.logging)
    warn_of_few_files(raise_open_files(), config.server.max_streams)
    if config.server.workers == 1:
        # Several workers share one instead, so that none of them takes more than its part.
        listeners = [listener, *[listener.dup() for _ in range(_TAKEN_AT_ONCE - 1)]]
        Server(settings_for(GatewayApp(orders), config, lifespan="on")).run(listeners)
        return
    told = [config.file, _server(config), orders.sim, orders.web, orders.auth]
    os.environ[VARIABLE] = msgspec.json.encode(told).decode()
    how = {"factory": True, "workers": config.server.workers, "lifespan": "on"}
    Workers(settings_for("thinkwire.gateway.server.serve:worker", config, **how), [listener]).run()


def _server(config: GatewayConfig) -> dict[str, Any]:
    server = config.server
    return {"host": server.host, "port": server.port, "workers": server.workers}


def worker() -> GatewayApp:
    """The application of a worker process, made from what its parent left in the environment."""
    file, server, *flags = msgspec.json.decode(os.environ[VARIABLE])
    config = GatewayConfig.load(file if file and os.path.exists(file) else None)
    config = msgspec.structs.replace(config, server=msgspec.structs.replace(config.server, **server))
    set_up(config.logging)
    return GatewayApp(ServeOptions(config, *flags))


@contextlib.asynccontextmanager
async def serving(app: Any, config: GatewayConfig, *, port: int = 0, **more: Any) -> AsyncIterator[str]:
    """Serves an application in the running loop until the block ends; gives the base address."""
    listener = listen("127.0.0.1", port)
    server = EmbeddedServer(settings_for(app, config, **more))
    task = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(0.002)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await task
        listener.close()
