"""The gateway as one ASGI application, with nothing between the socket and the dialect."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from thinkwire.errors import Failure, ThinkwireError
from thinkwire.gateway.auth.keys import LOCAL
from thinkwire.gateway.common.refusal import ClientLeft, Refusal
from thinkwire.gateway.http.client_response import ClientResponse, Receive, Send, writer_of
from thinkwire.gateway.http.errors import JSON, failure_of
from thinkwire.gateway.http.headers import HeaderPairs, Scope
from thinkwire.gateway.http.request_head import OPEN, RequestHeadCache
from thinkwire.gateway.http.security import cors_headers, read_body
from thinkwire.gateway.pipeline import count_tokens as counting
from thinkwire.gateway.pipeline import list_models as models
from thinkwire.gateway.pipeline.context import RequestContext
from thinkwire.gateway.pipeline.exchange import generate
from thinkwire.gateway.pipeline.services import Services
from thinkwire.gateway.responses.store import ResponseStore, item_ids
from thinkwire.jsonvalue import dump

_TEXT: HeaderPairs = [(b"content-type", b"text/plain; charset=utf-8")]
_UNHEARD = frozenset({*OPEN, "preflight", "refuse"})
"""Operations that need neither a key nor a body."""

_log = logging.getLogger("thinkwire.gateway")


class Gateway:
    """Any client on any model. `parts` are open already; whoever opened them closes them."""

    def __init__(self, parts: Services) -> None:
        self.parts = parts
        self._entrances = RequestHeadCache()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await _decline(scope, receive, send)
            return
        parts = self.parts
        config = parts.config
        entrance = self._entrances.find(scope, config)
        way = writer_of(scope, receive, send)
        outlet = ClientResponse(way, [*entrance.always])
        call = RequestContext(scope, entrance, config, outlet)
        outlet.always.append((b"x-thinkwire-request-id", call.id.encode()))
        raw = b""
        try:
            if entrance.operation not in _UNHEARD:
                call.tenant = parts.keys.authenticate(entrance.key, is_proxied=entrance.is_proxied)
                if scope["method"] == "POST":
                    here = way.taken()
                    raw = await read_body(receive, config) if here is None else here
                outlet.watch()
            await _OPERATIONS[entrance.operation](parts, call, raw)
        except ClientLeft:
            call.client_left = True
        except asyncio.CancelledError as error:
            await _break_off(call, error)
        except ThinkwireError as error:
            await _refuse(call, error)
        except Exception:
            _log.exception("request %s broke", call.id)
            await call.fail(Failure("overloaded", f"the gateway broke; see {call.id} in its log", status=500))
        finally:
            way.on_left = None
            call.breaks_off = call.so_far = None
            if entrance.is_told:
                self._tell(call)

    def _tell(self, call: RequestContext) -> None:
        record = call.record()
        for observe in self.parts.observers:
            try:
                observe(record)
            except Exception:
                _log.exception("an observer of requests failed")


async def _break_off(call: RequestContext, cancelled: asyncio.CancelledError) -> None:
    """Whoever served was cancelled: because the client has left, else because the gateway ends."""
    outlet = call.outlet
    if not outlet.left:
        await call.fail(Failure("overloaded", "the gateway is shutting down; try again", status=503))
        raise cancelled
    outlet.swallow()
    call.client_left = True


async def _refuse(call: RequestContext, error: ThinkwireError) -> None:
    if isinstance(error, Refusal) and error.closes:
        call.outlet.always.append((b"connection", b"close"))
    await call.fail(failure_of(error))


async def _turn_away(parts: Services, call: RequestContext, raw: bytes) -> None:
    """What the head alone forbids."""
    assert call.entrance.refusal is not None
    raise call.entrance.refusal


async def _preflight(parts: Services, call: RequestContext, raw: bytes) -> None:
    await call.outlet.whole(204, cors_headers(call.scope, call.config, preflight=True), b"")


async def _response(parts: Services, call: RequestContext, raw: bytes) -> None:
    """A stored response, where somebody keeps them."""
    responses, name = parts.responses, call.place.name
    if call.scope["method"] == "DELETE":
        known = responses is not None and await _delete(parts, responses, call.tenant.id, name)
        found = {"id": name, "object": "response", "deleted": True} if known else None
    else:
        found = await responses.get(call.tenant.id, name, call.place.rest) if responses else None
    if found is None:
        message = f"there is no response {name[:100]!r} here; those that a provider keeps are not forwarded"
        raise Refusal(404, "not_found", message)
    await call.outlet.whole(200, JSON, dump(found))


async def _delete(parts: Services, responses: ResponseStore, tenant: str, name: str) -> bool:
    """Delete a stored response, and before it what the ledger remembers of its reasoning."""
    found = await responses.get(tenant, name)
    if found is not None and parts.ledger is not None:
        await parts.ledger.forget(tenant, item_ids(found))
    return await responses.delete(tenant, name)


async def _metrics(parts: Services, call: RequestContext, raw: bytes) -> None:
    if parts.metrics is None:
        raise Refusal(404, "not_found", "metrics are switched off (enabled under [metrics])")
    sees_all = call.tenant.is_operator or call.tenant.id == LOCAL.id
    text, kind = parts.metrics.expose(None if sees_all else call.tenant.id)
    await call.outlet.whole(200, [(b"content-type", kind.encode())], text)


async def _hello(parts: Services, call: RequestContext, raw: bytes) -> None:
    await call.outlet.whole(200, _TEXT, b"thinkwire gateway\n" if call.scope["method"] == "GET" else b"")


async def _ready(parts: Services, call: RequestContext, raw: bytes) -> None:
    """Answer 200 when everything that the gateway needs can be used, else 503; the body lists each check."""
    report = await parts.readiness.report()
    status = 200 if report.is_ready else 503
    body = report.body if call.scope["method"] == "GET" else b""
    await call.outlet.whole(status, [*JSON, (b"cache-control", b"no-store")], body)


async def _well(parts: Services, call: RequestContext, raw: bytes) -> None:
    await call.outlet.whole(200, _TEXT, b"ok\n" if call.scope["method"] == "GET" else b"")


_OPERATIONS: dict[str, Callable[[Services, RequestContext, bytes], Awaitable[None]]] = {
    "generate": generate,
    "count_tokens": counting.count_tokens,
    "models": models.list_models,
    "model": models.one_model,
    "response": _response,
    "metrics": _metrics,
    "hello": _hello,
    "healthz": _well,
    "readyz": _ready,
    "preflight": _preflight,
    "refuse": _turn_away,
}


async def _decline(scope: Scope, receive: Receive, send: Send) -> None:
    """What is not HTTP: the server's own life, and websockets, which nobody speaks here."""
    if scope["type"] == "lifespan":
        await _lifespan(receive, send)
    elif scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1003})


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return
