"""The web app as one ASGI application: the API, and the pages that use it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote, urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route, compile_path
from starlette.types import ASGIApp

from thinkwire.client.engine import Client
from thinkwire.errors import ThinkwireError
from thinkwire.store import Store
from thinkwire.web.api.accounts import may_sign_in
from thinkwire.web.api.shutdown import on_end
from thinkwire.web.auth.proxies import ProxyHeaders, TrustedProxies
from thinkwire.web.auth.security import check, give_start_cookie, is_local_owner, is_start_token, secured, who
from thinkwire.web.auth.start_token import StartToken
from thinkwire.web.auth.throttle import SharedThrottle, Throttle
from thinkwire.web.change_feed import ChangeFeed, RedisChangeFeed
from thinkwire.web.errors import Problem, not_there
from thinkwire.web.openapi import document
from thinkwire.web.request import ApiRequest, Operation, json_response, perform, problem_response
from thinkwire.web.routes import OPERATIONS
from thinkwire.web.runs.registry import RunRegistry
from thinkwire.web.state import AppState, Options, Shared
from thinkwire.web.static import page

ANY = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


def create(
    client: Client,
    store: Store,
    *,
    simulated: bool,
    auth: bool,
    redis_url: str | None = None,
    base_url: str = "",
    start_token: StartToken | None = None,
    why_off: Callable[[], str | None] = lambda: None,
    workspace: Path | None = None,
    check_every: float = 5.0,
) -> ASGIApp:
    """The application, with a lifespan that must be run: it stops and keeps what is being answered.

    Whoever gives client and store closes them. Without `auth` it serves one user, who holds the start token,
    and only on names of this machine. `base_url` is where it is served, for the console. While `why_off`
    gives a reason, every operation is refused with it. With `redis_url`, several processes serve the same
    users.
    """
    named = os.environ.get("THINKWIRE_WORKSPACE")
    options = Options(
        simulated=simulated,
        auth=auth,
        start_token=start_token,
        why_off=why_off,
        workspace=workspace or (Path(named) if named else None),
        check_every=check_every,
    )
    web = AppState(client, store, _shared(store, redis_url), options)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        try:
            await web.open()
            if auth and base_url and not await store.has_users():
                print(_FIRST_ACCOUNT.format(url=web.start_token.url(base_url)), flush=True)
            with on_end(web.news.end):
                yield
        finally:
            await web.aclose()

    routes = [_route(web, operation) for operation in OPERATIONS]
    routes.append(Route("/api/openapi.json", _guarded(web, _openapi), methods=["GET"]))
    routes.append(Route("/api/{path:path}", _guarded(web, _nowhere), methods=ANY))
    routes.append(Route("/{path:path}", _guarded(web, partial(_page, web)), methods=ANY))
    app = Starlette(routes=routes, lifespan=lifespan)
    app.add_middleware(ProxyHeaders, trusted=TrustedProxies.from_environment())
    app.state.web = web
    return app


_FIRST_ACCOUNT = """\
There is no account yet. Make the first one on this machine: `thinkwire users add NAME --admin`, or open
{url}
"""


def _shared(store: Store, redis_url: str | None) -> Shared:
    if redis_url is None:
        news = ChangeFeed()
        return Shared(RunRegistry(news), news, Throttle())
    from thinkwire.web.runs.redis_bus import RedisBus
    from thinkwire.web.runs.redis_registry import RedisRunRegistry

    board = RedisBus(redis_url)
    shared_news = RedisChangeFeed(board)
    return Shared(RedisRunRegistry(store, board, shared_news), shared_news, SharedThrottle(board), board)


Endpoint = Callable[[Request], Awaitable[Response]]


def _route(web: AppState, operation: Operation) -> Route:
    async def answer(request: Request) -> Response:
        return await perform(operation, await _admitted(web, operation, request))

    endpoint = _guarded(web, answer, before_sign_in=operation.before_sign_in)
    return Route(operation.path, endpoint, methods=[operation.method])


def _guarded(web: AppState, answer: Endpoint, *, before_sign_in: bool = False) -> Endpoint:
    """Every answer goes through here: nothing is heard that should not be, and all carry the same headers."""

    async def endpoint(request: Request) -> Response:
        try:
            check(web, request, before_sign_in=before_sign_in)
            response = await answer(request)
        except ThinkwireError as error:
            response = problem_response(error)
        return secured(request, response)

    return endpoint


async def _admitted(web: AppState, operation: Operation, request: Request) -> ApiRequest:
    """The call of somebody who may make it."""
    user = await who(web, request)
    if web.options.auth and not operation.open:
        if user is None:
            raise Problem(401, "signed_out", "sign in first")
        if operation.admin and not user.admin:
            raise not_there()
    return ApiRequest(web, request, user, is_owner=is_local_owner(web, request))


async def _openapi(request: Request) -> Response:
    return json_response(document())


async def _page(web: AppState, request: Request) -> Response:
    if "token" in request.query_params and request.method == "GET":
        return await _signed_in(web, request)
    return page(request) if request.method in ("GET", "HEAD") else _instead(["GET"])


async def _signed_in(web: AppState, request: Request) -> Response:
    """Take the start token out of the address and into a cookie, so that it stays in no history."""
    query = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
    # One slash only: an address that begins with two leads to another server.
    path = "/" + quote(request.scope["path"].lstrip("/\\"))
    response = RedirectResponse(f"{path}?{urlencode(query)}" if query else path, 303)
    # Other sites' pages can load this address, but only a person opens it as a page.
    is_opened = request.headers.get("sec-fetch-dest", "document") == "document"
    if is_opened and await may_sign_in(web) and is_start_token(web, request, request.query_params["token"]):
        give_start_cookie(web, request, response)
    response.headers["cache-control"] = "no-store"
    return response


async def _nowhere(request: Request) -> Response:
    """An address that is none, or one that is asked in the wrong way."""
    allowed = sorted(
        operation.method for operation in OPERATIONS if _PATHS[operation.path].fullmatch(request.url.path)
    )
    if not allowed:
        raise not_there()
    return _instead(allowed)


def _instead(allowed: list[str]) -> Response:
    response = problem_response(Problem(405, "method", f"use {' or '.join(allowed)} here"))
    response.headers["allow"] = ", ".join(allowed)
    return response


_PATHS = {operation.path: compile_path(operation.path)[0] for operation in OPERATIONS}
