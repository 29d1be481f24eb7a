"""The web app beside the gateway, on the same port: everything that no client of the gateway asks for."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import lru_cache
from importlib import import_module
from typing import Any, cast

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from thinkwire.client import Client
from thinkwire.errors import ThinkwireError
from thinkwire.gateway.config import GatewayConfig
from thinkwire.gateway.headers import Scope
from thinkwire.gateway.outlet import Receive, Send
from thinkwire.gateway.paths import LONGEST, find_place
from thinkwire.store import open_store

App = Callable[[Scope, Receive, Send], Awaitable[None]]

_log = logging.getLogger("thinkwire.gateway")


def is_page(method: str, path: str) -> bool:
    """Whether a request is the browser's: a page, a file of one, or the web app's own API."""
    return (_usual if len(path) <= LONGEST else _is_page)(method, path)


def _is_page(method: str, path: str) -> bool:
    if path == "/":
        return method == "GET"
    if find_place(path) is not None or path.startswith(("/v1", "/models")):
        return False
    return path.startswith("/api/") or method in ("GET", "HEAD")


_usual = lru_cache(maxsize=1024)(_is_page)


class Beside:
    """Opens the web app while the gateway already serves: loading a database takes more than a second."""

    def __init__(self, config: GatewayConfig, *, sim: bool, auth: bool) -> None:
        self._config = config
        self._sim = sim
        self._auth = auth
        self._ready: asyncio.Future[App] = asyncio.get_running_loop().create_future()
        self._end = asyncio.Event()
        self._task = asyncio.create_task(self._live())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            app = await asyncio.shield(self._ready)
        except (ThinkwireError, ModuleNotFoundError) as error:
            await _sorry(send, f"the web app is not there: {error}\n")
            return
        await app(scope, receive, send)

    async def aclose(self) -> None:
        self._end.set()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _live(self) -> None:
        try:
            async with self._opened() as app:
                self._ready.set_result(app)
                await self._end.wait()
        except Exception as error:
            if self._ready.done():
                raise
            _log.error("the web app could not be opened: %s", error)
            self._ready.set_exception(error)
            self._ready.exception()

    @contextlib.asynccontextmanager
    async def _opened(self) -> AsyncIterator[App]:
        # By name: the web app is another face, and faces do not know each other.
        web = await asyncio.to_thread(import_module, "thinkwire.web.app")
        await asyncio.to_thread(import_module, "thinkwire.store.opening")
        async with (
            Client(sim=self._sim or None, providers=self._config.providers()) as client,
            await open_store() as store,
        ):
            app: Any = web.create(
                client,
                store,
                simulated=self._sim,
                auth=self._auth,
                hosts=tuple(self._config.server.allowed_hosts),
                redis_url=os.environ.get("THINKWIRE_REDIS_URL"),
            )
            async with app.router.lifespan_context(app):
                # Behind a proxy on this machine, its word counts for who calls and how.
                trusted = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")
                yield cast(App, ProxyHeadersMiddleware(app, trusted_hosts=trusted))


async def _sorry(send: Send, words: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": words.encode(), "more_body": False})
