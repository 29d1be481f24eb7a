"""One request of the API: who asks, what for, and the way from a table of operations to an answer."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from thinkwire.errors import MalformedInput, ThinkwireError
from thinkwire.jsonvalue import dump, parse, parse_as
from thinkwire.store import UserRow
from thinkwire.web.auth.security import who
from thinkwire.web.errors import Problem, not_there, retry_after, told
from thinkwire.web.state import AppState
from thinkwire.wire.retry_after import header_value

_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
LARGEST_BODY = 4 * 1024 * 1024
LARGEST_OPEN_BODY = 64 * 1024
"""Of an operation that needs no account, so that a stranger cannot make the server keep more."""

_log = logging.getLogger("thinkwire.web")


class ApiRequest:
    """A request that may be made. `owner` is whose things it is about; empty where there are no accounts."""

    def __init__(
        self, web: AppState, request: Request, user: UserRow | None, *, is_owner: bool = False
    ) -> None:
        self.web = web
        self.request = request
        self.user = user
        self.is_owner = is_owner
        """Whether the local owner asks, who may switch on whatever the server can do."""
        self.owner = user.id if user else ""
        self.body: Any = None
        self.query: Any = None

    def named(self, name: str) -> str:
        """An id in the path; what cannot be one is not there."""
        value = str(self.request.path_params[name])
        if not _ID.fullmatch(value):
            raise not_there()
        return value


Handler = Callable[[ApiRequest], Awaitable[Any]]


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that can be asked for. `body` and `query` are what it takes, `gives` what it answers."""

    method: str
    path: str
    handler: Handler
    summary: str
    body: Any = None
    query: Any = None
    gives: Any = None
    media: tuple[str, ...] = ()
    """What it answers where that is not JSON."""
    open: bool = False
    """Whether it needs no account."""
    before_sign_in: bool = False
    """Whether it needs neither start token nor CSRF header, because it is what checks the token."""
    admin: bool = False
    status: int = 200
    multipart: bool = False


async def perform(operation: Operation, call: ApiRequest) -> Response:
    """The answer to a call, whatever happens."""
    try:
        if operation.query is not None:
            call.query = _query(call.request, operation.query)
        if operation.body is not None:
            most = LARGEST_OPEN_BODY if operation.open else LARGEST_BODY
            call.body = _parsed(await read_body(call.request, most) or b"{}", operation.body)
        given = await operation.handler(call)
        if isinstance(given, Response):
            return given
        return json_response(given, operation.status)
    except ThinkwireError as error:
        return problem_response(error)
    except ClientDisconnect:
        return Response(status_code=499)
    except Exception:
        _log.exception("%s %s broke", operation.method, operation.path)
        return problem_response(
            Problem(500, "broken", "the server failed on this; its log says why", advice="report")
        )


async def still_signed_in(call: ApiRequest) -> bool:
    """Whether whoever waits for something may still have it: people are signed out in the meantime."""
    if call.web.options.why_off() is not None:
        return False
    user = await who(call.web, call.request)
    return not call.web.options.auth or (user is not None and user.id == call.owner)


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(dump(value), status, headers, media_type="application/json")


def problem_response(error: ThinkwireError) -> Response:
    status, body = told(error)
    after = retry_after(error)
    wait = header_value(None if after is None else max(after, 1.0))
    headers = {"retry-after": wait} if wait is not None else None
    return json_response(body, status, headers)


async def read_body(request: Request, most: int = LARGEST_BODY) -> bytes:
    """The body, as long as it is not too large. The server bounds its time."""
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > most:
            raise Problem(413, "too_large", f"a request may have {most // 1024} KiB at most")
        pieces.append(piece)
    return b"".join(pieces)


def _parsed(data: bytes, shape: Any) -> Any:
    """A body of this shape. Half a surrogate pair, which browsers let through, becomes U+FFFD."""
    try:
        return parse_as(data, shape)
    except msgspec.DecodeError:
        return _converted(parse(data), shape)


def _query(request: Request, shape: Any) -> Any:
    values: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in values:
            raise MalformedInput("given more than once", path=name)
        values[name] = value
    return _converted(values, shape, strict=False)


def _converted(value: Any, shape: Any, *, strict: bool = True) -> Any:
    try:
        return msgspec.convert(value, shape, strict=strict)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at ")
        path = place.strip("`").removeprefix("$.") or "$"
        raise MalformedInput(message[:1].lower() + message[1:], path=path) from None
