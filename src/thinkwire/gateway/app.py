"""The gateway as one ASGI application, with nothing between the socket and the dialect."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from thinkwire.errors import Failure, ThinkwireError
from thinkwire.gateway import counting, models
from thinkwire.gateway.answers import JSON, failure_of
from thinkwire.gateway.call import Call
from thinkwire.gateway.exchange import Exchange
from thinkwire.gateway.guard import ClientLeft, Refusal, check_request, cors_headers, presented_key, read_body
from thinkwire.gateway.headers import HeaderPairs, Scope, header_of
from thinkwire.gateway.outlet import Departure, Outlet, Receive, Send, way_of
from thinkwire.gateway.parts import Parts
from thinkwire.gateway.paths import Place, dialect_of, find_place
from thinkwire.jsonvalue import dump

_TEXT: HeaderPairs = [(b"content-type", b"text/plain; charset=utf-8")]
_OPEN = ("hello", "healthz", "readyz")
"""Operations that need no key and leave no record."""
_NOWHERE = Place("hello", methods=())

_log = logging.getLogger("thinkwire.gateway")


class Gateway:
    """Any client on any model. `parts` are open already; whoever opened them closes them."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._operations: dict[str, Callable[[Call, bytes], Awaitable[None]]] = {
            "generate": self._generate,
            "count_tokens": lambda call, raw: counting.count_tokens(self.parts, call, raw),
            "models": lambda call, raw: models.list_models(self.parts, call),
            "model": lambda call, raw: models.one_model(self.parts, call),
            "response": self._response,
            "metrics": self._metrics,
            "hello": _hello,
            "healthz": _well,
            "readyz": _well,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1003})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        config = self.parts.config
        place = find_place(scope["path"])
        outlet = Outlet(way_of(scope, receive, send), cors_headers(scope, config))
        call = Call(scope, place or _NOWHERE, config, outlet)
        outlet.always.append((b"x-thinkwire-request-id", call.id.encode()))
        if place is None or not call.dialect:
            call.dialect = dialect_of(scope)
        try:
            await self._answer(call, place, receive)
        except ClientLeft:
            call.client_left = True
        except ThinkwireError as error:
            if isinstance(error, Refusal) and error.closes:
                outlet.always.append((b"connection", b"close"))
            await call.fail(failure_of(error))
        except Exception:
            _log.exception("request %s broke", call.id)
            await call.fail(Failure("overloaded", f"the gateway broke; see {call.id} in its log", status=500))
        finally:
            call.breaks_off = None
            if place is not None and place.operation not in _OPEN:
                self._tell(call)

    async def _answer(self, call: Call, place: Place | None, receive: Receive) -> None:
        scope, config = call.scope, call.config
        check_request(scope, config)
        if scope["method"] == "OPTIONS":
            await call.outlet.whole(204, cors_headers(scope, config, preflight=True), b"")
            return
        if place is None:
            raise Refusal(404, "not_found", f"nothing is served at {scope['path'][:200]}")
        _check_method(call, place)
        if place.operation not in _OPEN:
            call.tenant = await self.parts.keys.authenticate(presented_key(scope))
        way = call.outlet.way
        raw = b""
        if scope["method"] == "POST":
            here = way.taken()
            raw = await read_body(receive, config) if here is None else here
        departure = Departure(way)
        try:
            await self._operations[place.operation](call, raw)
        except asyncio.CancelledError:
            if not departure.left:
                await call.fail(Failure("overloaded", "the gateway is shutting down; try again", status=503))
                raise
            departure.swallow()
            call.client_left = True
        finally:
            departure.disarm()

    async def _generate(self, call: Call, raw: bytes) -> None:
        await Exchange(self.parts, call).generate(raw)

    async def _response(self, call: Call, raw: bytes) -> None:
        """A stored response, where somebody keeps them."""
        responses, name = self.parts.responses, call.place.name
        if call.scope["method"] == "DELETE":
            known = responses is not None and await responses.delete(call.tenant.id, name)
            found = {"id": name, "object": "response", "deleted": True} if known else None
        else:
            found = await responses.get(call.tenant.id, name, call.place.rest) if responses else None
        if found is None:
            raise Refusal(404, "not_found", f"there is no response {name[:100]!r}")
        await call.outlet.whole(200, JSON, dump(found))

    async def _metrics(self, call: Call, raw: bytes) -> None:
        if self.parts.metrics is None:
            raise Refusal(404, "not_found", "metrics are switched off (enabled under [metrics])")
        text, kind = self.parts.metrics.expose()
        await call.outlet.whole(200, [(b"content-type", kind.encode())], text)

    def _tell(self, call: Call) -> None:
        record = call.record()
        for observe in self.parts.observers:
            try:
                observe(record)
            except Exception:
                _log.exception("an observer of requests failed")


def _check_method(call: Call, place: Place) -> None:
    method = call.scope["method"]
    if method in place.methods:
        return
    if method == "GET" and (header_of(call.scope, b"upgrade") or "").lower() == "websocket":
        # Codex tries a websocket first, and takes this as the word to go on with POST.
        call.outlet.always += [(b"upgrade", b"http/1.1")]
        raise Refusal(426, "bad_request", "websockets are not served here; use POST")
    call.outlet.always.append((b"allow", ", ".join(place.methods).encode()))
    raise Refusal(405, "bad_request", f"{method} is not served here; use {' or '.join(place.methods)}")


async def _hello(call: Call, raw: bytes) -> None:
    await call.outlet.whole(200, _TEXT, b"thinkwire gateway\n" if call.scope["method"] == "GET" else b"")


async def _well(call: Call, raw: bytes) -> None:
    await call.outlet.whole(200, _TEXT, b"ok\n" if call.scope["method"] == "GET" else b"")


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return
