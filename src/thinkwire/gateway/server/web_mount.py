"""The web app beside the gateway, on the same port: everything that no client of the gateway asks for."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from thinkwire.client.engine import Client
from thinkwire.errors import ThinkwireError
from thinkwire.gateway.common.backoff import retry_delays
from thinkwire.gateway.config.gateway_config import GatewayConfig
from thinkwire.gateway.http.client_response import Receive, Send
from thinkwire.gateway.http.headers import Scope
from thinkwire.gateway.http.routes import LONGEST, match_route
from thinkwire.gateway.telemetry.checks import RedisCheck, check_folder
from thinkwire.gateway.telemetry.readiness import NotReady
from thinkwire.store import open_store

if TYPE_CHECKING:
    from thinkwire.store import Store

App = Callable[[Scope, Receive, Send], Awaitable[None]]

_log = logging.getLogger("thinkwire.gateway")


def is_page(method: str, path: str) -> bool:
    """Whether a request is the browser's: a page, a file of one, or the web app's own API."""
    return (_usual if len(path) <= LONGEST else _is_page)(method, path)


def _is_page(method: str, path: str) -> bool:
    if path == "/":
        return method == "GET"
    if match_route(path) is not None or path.startswith(("/v1", "/models")):
        return False
    return path.startswith("/api/") or method in ("GET", "HEAD")


_usual = lru_cache(maxsize=1024)(_is_page)


class WebMount:
    """Opens the web app while the gateway already serves: loading a database takes more than a second."""

    def __init__(
        self, config: GatewayConfig, *, sim: bool, auth: bool, why_off: Callable[[], str | None]
    ) -> None:
        self._config = config
        self._why_off = why_off
        self._sim = sim
        self._auth = auth
        self._app: App | None = None
        self._store: Store | None = None
        self._redis: RedisCheck | None = None
        self._error = ""
        self._tried = asyncio.Event()
        """Set once the first attempt to open is over."""
        self._end = asyncio.Event()
        self._task = asyncio.create_task(self._live())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None:
            await self._tried.wait()
        if self._app is None:
            await _unavailable(send)
            return
        await self._app(scope, receive, send)

    async def check(self) -> None:
        """Raise NotReady unless the web app is open and what it keeps can be read."""
        if self._app is None or self._store is None:
            raise NotReady("cannot be opened" if self._error else "being opened")
        await self._store.ping()
        file = self._store.database.place.file
        if file is not None:
            await check_folder(file.parent)
        if self._redis is not None:
            await self._redis()

    async def aclose(self) -> None:
        self._end.set()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _live(self) -> None:
        for delay in retry_delays():
            try:
                async with self._opened() as app:
                    self._app = app
                    if self._error:
                        _log.warning("the web app is open now")
                    self._tried.set()
                    await self._end.wait()
                return
            except ModuleNotFoundError as error:
                self._fail(error, f"pip install 'thinkwire[web,store]', then start again ({error})")
                return
            except Exception as error:
                self._fail(error, f"{error}; trying again in {delay:g} s")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._end.wait(), delay)
                return

    def _fail(self, error: Exception, reason: str) -> None:
        self._app = self._store = self._redis = None
        self._error = str(error)
        unexpected = not isinstance(error, ThinkwireError | OSError | ModuleNotFoundError)
        _log.error("the web app could not be opened: %s", reason, exc_info=error if unexpected else None)
        self._tried.set()

    @contextlib.asynccontextmanager
    async def _opened(self) -> AsyncIterator[App]:
        # By name: the web app is another face, and faces do not know each other.
        web = await asyncio.to_thread(import_module, "thinkwire.web.app")
        await asyncio.to_thread(import_module, "thinkwire.store.store")
        redis_url = os.environ.get("THINKWIRE_REDIS_URL")
        async with (
            Client(sim=self._sim or None, providers=self._config.providers()) as client,
            await open_store() as store,
            contextlib.AsyncExitStack() as stack,
        ):
            self._store = store
            if redis_url:
                self._redis = RedisCheck(redis_url)
                stack.push_async_callback(self._redis.aclose)
            app: Any = web.create(
                client,
                store,
                simulated=self._sim,
                auth=self._auth,
                base_url=self._config.server.url,
                why_off=self._why_off,
                redis_url=redis_url,
            )
            async with app.router.lifespan_context(app):
                yield cast(App, app)


_UNAVAILABLE = b"the web app cannot be opened now and is tried again; the log of `thinkwire serve` says why\n"


async def _unavailable(send: Send) -> None:
    """Answer 503 without the cause: it may name hosts, users and paths, and anybody may ask."""
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"retry-after", b"10")]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": _UNAVAILABLE, "more_body": False})
