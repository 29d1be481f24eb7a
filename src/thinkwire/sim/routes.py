"""Which API of which service a path means. Everything follows from the table of providers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from thinkwire.providers import Provider, Route, default_providers

Operation = Literal["generate", "stream", "count", "models", "model"]

_TAILS = ("/messages", "/chat/completions", "/responses", "/{model}:generateContent")
"""What follows an API's root; the list of models stands beside it."""
_COUNTS = {"/messages": "/messages/count_tokens", ":generateContent": ":countTokens"}
_METHODS: dict[Operation, str] = {"models": "GET", "model": "GET"}


class Place(NamedTuple):
    """What a path means: an operation of one API of a service, and the model where the path names it."""

    provider: Provider
    dialect: str
    operation: Operation
    model: str = ""

    @property
    def method(self) -> str:
        return _METHODS.get(self.operation, "POST")


class _Pattern(NamedTuple):
    pattern: re.Pattern[str]
    dialect: str
    operation: Operation


def find_place(path: str) -> Place | None:
    """The place that a path means, `/{provider}` and the service's own path after it; None for none."""
    name, _, rest = path.lstrip("/").partition("/")
    provider = _by_name().get(name)
    if provider is None:
        return None
    for pattern, dialect, operation in _patterns(provider.name):
        found = pattern.fullmatch(f"/{rest}")
        if found is not None:
            return Place(provider, dialect, operation, found.groupdict().get("model") or "")
    return None


@cache
def _by_name() -> dict[str, Provider]:
    providers = default_providers()
    aliases = {alias: provider for provider in providers.values() for alias in provider.aliases}
    return aliases | providers


@cache
def _patterns(name: str) -> tuple[_Pattern, ...]:
    provider = _by_name()[name]
    base = urlsplit(provider.base_url).path
    return tuple(
        _Pattern(_compiled(spelling), route.dialect, operation)
        for route in provider.routes
        for operation, path in _operations(route)
        for spelling in _spellings(path, base)
    )


def _operations(route: Route) -> Iterator[tuple[Operation, str]]:
    path = route.path
    yield "generate", path
    if route.stream_path:
        yield "stream", route.stream_path.partition("?")[0]
    for tail, count in _COUNTS.items():
        if path.endswith(tail):
            yield "count", path.removesuffix(tail) + count
    for tail in _TAILS:
        if path.endswith(tail):
            feed = path.removesuffix(tail).removesuffix("/models") + "/models"
            yield "models", feed
            yield "model", feed + "/{model}"


def _spellings(path: str, base: str) -> Iterable[str]:
    """The path as the table has it, after the path of the base address, and in the vendor's other version."""
    spellings = {path, path.replace("/v1beta/", "/v1/", 1)}
    if not re.search(r"/v\d", path):
        spellings.add(f"/v1{path}")
    return sorted(spellings | {base + spelling for spelling in spellings})


def _compiled(path: str) -> re.Pattern[str]:
    return re.compile(re.escape(path).replace(r"\{model\}", "(?P<model>.+?)"))
