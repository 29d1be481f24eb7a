"""The door: which requests are heard at all, whose they are, and what of them may travel on."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from thinkwire.errors import ConfigError
from thinkwire.gateway.auth.keys import PREFIX, Keys, Tenant
from thinkwire.gateway.common.refusal import ClientLeft, Refusal
from thinkwire.gateway.config.gateway_config import GatewayConfig, RouteChoice, canonical
from thinkwire.gateway.http.headers import HeaderPairs, Scope, grouped, header_value, headers_of
from thinkwire.reasoning.model_names import parse_name
from thinkwire.request_origin import host_of, is_loopback

Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]

_NUMBER = re.compile(r"[0-9]{1,15}")
KEY_HEADERS = frozenset({b"x-api-key", b"authorization", b"x-goog-api-key"})
KEY_WORDS = frozenset({"key", "api_key", "api-key", "apikey", "access_token"})


def check_request(scope: Scope, config: GatewayConfig) -> None:
    """Refuses what must not be heard: other sites' pages, keys in addresses, bodies that are too large."""
    headers = grouped(scope)
    _check_host(headers.get(b"host", ()), scope, config)
    if b"origin" in headers:
        _check_origin(scope, config)
    if scope.get("query_string"):
        _check_query(scope)
    _check_length(headers, config)
    if b"content-encoding" in headers:
        _check_encoding(headers)


def _check_host(hosts: Sequence[str], scope: Scope, config: GatewayConfig) -> None:
    """A page elsewhere can point its own name at this machine, but it cannot choose the Host header."""
    if len(hosts) != 1:
        raise Refusal(400, "bad_request", "a request needs exactly one Host header")
    name = host_of(hosts[0])
    if not name or not (is_loopback(name) or _is_allowed(name, scope, config)):
        raise Refusal(
            403,
            "auth",
            "this gateway does not go by the name in the Host header; if it should, add the name to "
            "allowed_hosts under [server] in gateway.toml",
        )


def _is_allowed(name: str, scope: Scope, config: GatewayConfig) -> bool:
    own = str((scope.get("server") or ("",))[0]).lower()
    if name == own or (name == config.server.host.lower() and name not in ("0.0.0.0", "::")):
        return True
    return any(
        name == allowed.strip("[].").lower() or (allowed[:1] == "." and name.endswith(allowed.lower()))
        for allowed in config.server.allowed_hosts
    )


def _check_origin(scope: Scope, config: GatewayConfig) -> None:
    if allowed_origin(scope, config) is None:
        raise Refusal(
            403,
            "auth",
            "a web page of another address called; if it may, add its origin to allowed_origins under "
            "[server] in gateway.toml",
        )


def allowed_origin(scope: Scope, config: GatewayConfig) -> str | None:
    """The origin of the page that calls, if it is this server's own or a configured one."""
    origins = headers_of(scope, b"origin")
    if len(origins) != 1:
        return None
    origin = origins[0]
    if origin in config.server.allowed_origins:
        return origin
    hosts = headers_of(scope, b"host")
    try:
        parts = urlsplit(origin)
        own = urlsplit(f"{parts.scheme}://{hosts[0]}")
        same = (parts.hostname, _port(parts)) == (own.hostname, _port(own))
    except (ValueError, IndexError):
        return None
    return origin if same and parts.scheme in ("http", "https") and parts.hostname else None


def _port(parts: Any) -> int:
    return int(parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0))


def cors_headers(scope: Scope, config: GatewayConfig, *, preflight: bool = False) -> HeaderPairs:
    """What a page of a configured origin may do; nothing for anybody else, and never `*`."""
    if b"origin" not in grouped(scope):
        return []
    origin = allowed_origin(scope, config)
    if origin is None or origin not in config.server.allowed_origins:
        return []
    pairs = [(b"access-control-allow-origin", origin.encode("latin-1", "replace")), (b"vary", b"Origin")]
    if not preflight:
        return [*pairs, (b"access-control-expose-headers", b"x-thinkwire-requested, x-thinkwire-effective")]
    asked = ", ".join(headers_of(scope, b"access-control-request-headers"))
    return [
        *pairs,
        (b"access-control-allow-methods", b"GET, HEAD, POST, DELETE, OPTIONS"),
        (b"access-control-allow-headers", header_value(asked).encode("latin-1")),
        (b"access-control-max-age", b"600"),
    ]


def _check_query(scope: Scope) -> None:
    query = scope.get("query_string", b"").decode("latin-1")
    if query and any(name.lower() in KEY_WORDS for name, _ in parse_qsl(query, keep_blank_values=True)):
        raise Refusal(
            400,
            "auth",
            "a key in the address ends up in logs, so it is not taken from there; send it as "
            "x-goog-api-key, x-api-key or Authorization",
        )


def _check_length(headers: dict[bytes, list[str]], config: GatewayConfig) -> None:
    lengths = headers.get(b"content-length")
    if lengths is None:
        return
    if len(lengths) > 1 or b"transfer-encoding" in headers or not _NUMBER.fullmatch(lengths[0]):
        # Nobody knows where this request ends, so nothing that follows on its connection is believed.
        raise Refusal(400, "bad_request", "the length of the body is not clear", closes=True)
    if int(lengths[0]) > config.server.max_body:
        raise _too_large(config)


def _check_encoding(headers: dict[bytes, list[str]]) -> None:
    encodings = {value.strip().lower() for value in headers[b"content-encoding"]}
    if encodings - {"", "identity"}:
        raise Refusal(415, "bad_request", "compressed bodies are not read; send it without content-encoding")


def _too_large(config: GatewayConfig) -> Refusal:
    message = f"the request is larger than {config.server.max_body_mb:g} MB (max_body_mb under [server])"
    return Refusal(413, "bad_request", message)


async def read_body(receive: Receive, config: GatewayConfig) -> bytes:
    """The whole body, within its size, however it is cut. The server bounds its time."""
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft("the client left before its request was whole")
        piece = message.get("body", b"")
        size += len(piece)
        if size > config.server.max_body:
            raise _too_large(config)
        pieces.append(piece)
        if not message.get("more_body"):
            return b"".join(pieces)


def presented_key(scope: Scope) -> str | None:
    """The key in a request, whichever header it came in; one of ours before a leftover of another service."""
    headers = grouped(scope)
    if KEY_HEADERS.isdisjoint(headers):
        return None
    found = [
        *headers.get(b"x-api-key", ()),
        *(key for value in headers.get(b"authorization", ()) if (key := _bearer(value))),
        *headers.get(b"x-goog-api-key", ()),
    ]
    if not found:
        return None
    keys = [key.strip() for key in found if key.strip()]
    return next((key for key in keys if key.startswith(PREFIX)), keys[0] if keys else None)


def _bearer(value: str) -> str:
    scheme, _, key = value.strip().partition(" ")
    return key if scheme.lower() == "bearer" else ""


def require_keys(config: GatewayConfig, keys: Keys | None) -> None:
    """A gateway that others can reach does not start without keys."""
    if not config.server.is_loopback and not (keys and keys.key):
        raise ConfigError(
            f"others can reach {config.server.host}, and there are no access keys yet: run "
            "`thinkwire keys create NAME`, or listen on 127.0.0.1"
        )


def why_web_is_off(config: GatewayConfig, *, auth: bool, keyed: bool) -> str | None:
    """Return why the web app may not be served; None when it may.

    Without accounts it would let its users past the access keys. Keys and hosts may come while it runs.
    """
    if auth or not (keyed or config.server.allowed_hosts):
        return None
    why = "allowed_hosts is set" if config.server.allowed_hosts else "there are access keys"
    return (
        f"off, because {why} and the web app without accounts would bypass them: start with --auth, "
        "after `thinkwire users add NAME --admin`, or leave it out with --no-web"
    )


def check_model(tenant: Tenant, routed: RouteChoice) -> None:
    """Refuses a model that is outside the key's scope, under the name that was asked and the one it means."""
    asked, meant = parse_name(routed.asked).name, parse_name(routed.names[0]).name
    if not tenant.may_use(asked, meant, canonical(meant)):
        message = f"this access key may not use {asked[:200]!r}; it may use {', '.join(tenant.models)}"
        raise Refusal(403, "auth", message)
