"""What the head of a request decides, and the memory of heads that were let in.

A client sends the same head again and again, and only the length of the body differs. What the door makes of
it is then the same too, so it is made once. Whose the key is, and whether it still counts, is asked anew for
every request.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from thinkwire.gateway.common.refusal import Refusal
from thinkwire.gateway.config.gateway_config import GatewayConfig
from thinkwire.gateway.http.headers import (
    FORWARDED,
    HeaderPairs,
    Scope,
    forwarded_headers,
    grouped,
    header_of,
)
from thinkwire.gateway.http.routes import Route, dialect_of, match_route
from thinkwire.gateway.http.security import KEY_HEADERS, check_request, cors_headers, presented_key
from thinkwire.request_origin import FORWARDING, FORWARDING_PREFIX, has_forwarding_headers

OPEN = ("hello", "healthz", "readyz")
"""Operations that need no key and leave no record."""
HEARD = frozenset(
    {
        *(b"host", b"origin", b"access-control-request-headers", b"upgrade"),
        *(b"content-length", b"transfer-encoding", b"content-encoding"),
        *(b"x-thinkwire-explain", b"traceparent"),
        *KEY_HEADERS,
        *(name.encode() for names in FORWARDED.values() for name in names),
    }
)
"""The headers that an entrance can depend on."""

_UNLIKE = frozenset({b"transfer-encoding", b"traceparent"})
"""Headers of heads that are not remembered: how long the body is depends on the first together with its
length, and the second is another one every time."""
_NOWHERE = Route("hello", methods=())
_MOST_HEADS = 256
_LARGEST_HEAD = 4096
"""Bytes."""
_LONGEST_NUMBER = 15

_Head: TypeAlias = tuple[object, ...]


class RequestHead(msgspec.Struct, frozen=True):
    """Where a head leads, and what it says besides."""

    operation: str
    """What is to be done: the place's own operation, `preflight` or `refuse`."""
    place: Route
    dialect: str
    is_told: bool
    """Whether the request leaves a record."""
    always: tuple[tuple[bytes, bytes], ...] = ()
    """Headers of every answer."""
    key: str | None = None
    """The key that was presented."""
    forwarded: dict[str, str] = {}
    """Headers that go on to a provider of the same dialect."""
    explains: bool = False
    """Whether a plan is wanted instead of an answer."""
    trace: str | None = None
    refusal: Refusal | None = None
    is_proxied: bool = False
    """Whether headers show that a proxy passed the request on."""

    def __repr__(self) -> str:
        # Keys are secret.
        return f"Entrance({self.operation!r}, {self.dialect!r})"


class RequestHeadCache:
    """Finds the entrance of a head, and remembers a few as long as the configuration lasts."""

    def __init__(self) -> None:
        self._config: GatewayConfig | None = None
        self._largest = 0
        self._known: dict[_Head, RequestHead] = {}

    def __repr__(self) -> str:
        # Heads have secret keys in them.
        return f"Entrances({len(self._known)})"

    def find(self, scope: Scope, config: GatewayConfig) -> RequestHead:
        if config is not self._config:
            self._known.clear()
            self._config, self._largest = config, config.server.max_body
        server = scope.get("server")
        said = [scope["method"], scope["path"], scope.get("query_string"), server[0] if server else None]
        length: bytes | None = None
        for pair in scope["headers"]:
            name = pair[0]
            if name in HEARD:
                if name == b"content-length":
                    # Two of them are no length.
                    length = pair[1] if length is None else b""
                else:
                    said += pair
            elif name in FORWARDING or name[:12] == FORWARDING_PREFIX:
                # Only that it is there counts; its value differs from request to request.
                said.append(name)
        head = tuple(said)
        known = self._known.get(head)
        if known is not None and (
            length is None
            or (length.isdigit() and len(length) <= _LONGEST_NUMBER and int(length) <= self._largest)
        ):
            return known
        entrance = read_head(scope, config)
        if entrance.operation == entrance.place.operation and _may_be_kept(scope):
            if len(self._known) >= _MOST_HEADS:
                self._known.clear()
            self._known[head] = entrance
        return entrance


def _may_be_kept(scope: Scope) -> bool:
    size = len(scope["path"]) + len(scope.get("query_string", b""))
    for name, value in scope["headers"]:
        if name in _UNLIKE:
            return False
        if name in HEARD:
            size += len(name) + len(value)
    return size <= _LARGEST_HEAD


def read_head(scope: Scope, config: GatewayConfig) -> RequestHead:
    """The entrance of any head, whether or not it may come in."""
    found = match_route(scope["path"])
    place = found or _NOWHERE
    dialect = place.dialect or dialect_of(scope)
    refusal, besides = _refusal(scope, config, found)
    operation: str = place.operation
    if refusal is not None:
        operation = "refuse"
    elif scope["method"] == "OPTIONS":
        operation = "preflight"
    return RequestHead(
        operation=operation,
        place=place,
        dialect=dialect,
        is_told=found is not None and place.operation not in OPEN,
        always=(*(() if operation == "preflight" else cors_headers(scope, config)), *besides),
        key=presented_key(scope),
        forwarded=forwarded_headers(scope, dialect),
        explains=(header_of(scope, b"x-thinkwire-explain") or "").lower() in ("true", "1"),
        trace=header_of(scope, b"traceparent"),
        refusal=refusal,
        is_proxied=has_forwarding_headers(grouped(scope)),
    )


def _refusal(scope: Scope, config: GatewayConfig, place: Route | None) -> tuple[Refusal | None, HeaderPairs]:
    """Why a request is not heard, and what its client is told in headers then."""
    try:
        check_request(scope, config)
    except Refusal as error:
        return error, []
    method = scope["method"]
    if method == "OPTIONS":
        return None, []
    if place is None:
        return Refusal(404, "not_found", f"nothing is served at {scope['path'][:200]}"), []
    if method in place.methods:
        return None, []
    if method == "GET" and (header_of(scope, b"upgrade") or "").lower() == "websocket":
        # Codex tries a websocket first, and takes this as the word to go on with POST.
        told = (b"upgrade", b"http/1.1")
        return Refusal(426, "bad_request", "websockets are not served here; use POST"), [told]
    message = f"{method} is not served here; use {' or '.join(place.methods)}"
    return Refusal(405, "bad_request", message), [(b"allow", ", ".join(place.methods).encode())]
