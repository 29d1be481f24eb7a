"""Services that a gateway's configuration adds or moves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from thinkwire.dialects.openai_chat.quirks import Quirks
from thinkwire.providers import Provider, Route, default_providers

_ROUTES: dict[str, Route] = {
    "openai-chat": Route("openai-chat", "/v1/chat/completions"),
    "openai-responses": Route("openai-responses", "/v1/responses"),
    "anthropic": Route("anthropic", "/v1/messages"),
    "gemini": Route(
        "gemini",
        "/v1beta/models/{model}:generateContent",
        "/v1beta/models/{model}:streamGenerateContent?alt=sse",
    ),
}


class Upstream(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A service of your own, or another address for a known one. Keys are named, never written here."""

    base_url: str | None = None
    key_env: str | tuple[str, ...] = ()
    dialect: Literal["anthropic", "openai-chat", "openai-responses", "gemini"] | None = None
    path: str | None = None
    """Where it is not the usual one of the dialect."""
    auth: Literal["bearer", "x-api-key", "x-goog-api-key", "none"] | None = None
    label: str | None = None
    headers: dict[str, str] = {}
    aliases: tuple[str, ...] = ()
    quirks: Quirks | None = None

    def __repr__(self) -> str:
        # Headers may hold what nobody should see.
        return f"Upstream({self.base_url!r})"


def flaws_of(name: str, upstream: Upstream) -> Iterator[tuple[str, str]]:
    """What is wrong with a service: the setting, and why."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name):
        yield "", f"provider {name!r}: names are lower-case letters, digits, dots and dashes"
    if upstream.base_url is None and name not in default_providers():
        yield "base_url", f"provider {name!r} needs a base_url"
    if upstream.base_url is not None and not _is_plain_address(upstream.base_url):
        yield "base_url", "base_url must be http(s)://HOST[:PORT][/PATH], without a name, key or query in it"
    if upstream.path is not None and not re.fullmatch(r"/[^\s]*", upstream.path):
        yield "path", "path must begin with / and have no spaces"
    for variable in _variables(upstream):
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):
            yield "key_env", "key_env must name an environment variable; the key itself does not belong here"
    for header, value in upstream.headers.items():
        if not re.fullmatch(r"[A-Za-z0-9-]+", header) or not re.fullmatch(r"[\t\x20-\x7e]*", value):
            yield "headers", f"header {header!r} cannot be sent"


def merged_providers(known: Mapping[str, Provider], upstreams: Mapping[str, Upstream]) -> dict[str, Provider]:
    """The known services with the configured ones over them."""
    changed = {name: _provider(name, upstream, known.get(name)) for name, upstream in upstreams.items()}
    return {**known, **changed}


def _provider(name: str, upstream: Upstream, known: Provider | None) -> Provider:
    if known is None:
        known = Provider(
            name=name,
            label=upstream.label or name,
            base_url="",
            auth="bearer" if upstream.key_env else "none",
            routes=(_ROUTES[upstream.dialect or "openai-chat"],),
            source="gateway.toml",
        )
    routes = (_ROUTES[upstream.dialect],) if upstream.dialect else known.routes
    if upstream.path:
        routes = (Route(routes[0].dialect, upstream.path),)
    base = upstream.base_url if upstream.base_url is not None else known.base_url
    return msgspec.structs.replace(
        known,
        base_url=_without_repetition(base.rstrip("/"), routes),
        routes=routes,
        label=upstream.label or known.label,
        auth=upstream.auth or known.auth,
        keys=_variables(upstream) or known.keys,
        headers=known.headers | upstream.headers,
        aliases=known.aliases + upstream.aliases,
        quirks=upstream.quirks or known.quirks,
    )


def _without_repetition(base: str, routes: tuple[Route, ...]) -> str:
    """People write addresses with and without the version at the end; the paths have it already."""
    head, slash, last = base.rpartition("/")
    if slash and last in ("v1", "v1beta") and all(route.path.startswith(f"/{last}/") for route in routes):
        return head
    return base


def _variables(upstream: Upstream) -> tuple[str, ...]:
    return (upstream.key_env,) if isinstance(upstream.key_env, str) else upstream.key_env


def _is_plain_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    clean = re.fullmatch(r"[!-~]+", url) is not None and not parts.query and not parts.fragment
    return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc and clean
