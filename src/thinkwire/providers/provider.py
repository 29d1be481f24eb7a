"""The record of a service, and the table of those that come with the package."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import msgspec

from thinkwire.dialects.openai_chat.quirks import USUAL, Quirks
from thinkwire.errors import ConfigError

DATA = Path(__file__).parent / "data"
"""The tables that come with the package."""


class Route(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of a service's APIs. `{model}` in the path stands for the model's id."""

    dialect: str
    path: str
    stream_path: str | None = None
    """Where it differs for answers that are streamed."""
    count_path: str | None = None
    """Where the vendor counts the tokens of a request, if it does."""


class Provider(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A service. The first route is the one that is taken unless a model's facts say otherwise."""

    name: str
    label: str
    first: str | None = None
    """The model to begin with when nobody has named one."""
    base_url: str
    auth: Literal["bearer", "x-api-key", "x-goog-api-key", "none"]
    keys: tuple[str, ...] = ()
    """Environment variables that may hold the key, first found first taken."""
    headers: dict[str, str] = {}
    routes: tuple[Route, ...]
    aliases: tuple[str, ...] = ()
    quirks: Quirks = USUAL
    """How its chat dialect differs."""
    checks_items: bool = False
    """Whether its Responses API refuses an item with an id that it cannot have given."""
    pads_seals: bool = False
    """Whether the thinking that it encrypts is base64 in whole fours."""
    prices: str | None = None
    """Its name in the price data, where that is another."""
    source: str

    def route(self, dialect: str) -> Route | None:
        for route in self.routes:
            if route.dialect == dialect:
                return route
        return None

    def endpoint(self, dialect: str, model: str, *, stream: bool = False) -> str | None:
        """The address of one of its APIs; None when it does not speak the dialect."""
        route = self.route(dialect)
        if route is None:
            return None
        path = route.stream_path if stream and route.stream_path else route.path
        return _address(self.base_url, path, model)


@lru_cache(maxsize=1024)
def _address(base_url: str, path: str, model: str) -> str:
    return base_url + path.replace("{model}", _in_path(model))


def _in_path(model: str) -> str:
    """A model's id as a part of a path, from which it cannot lead anywhere else."""
    if any(step in (".", "..") for step in model.split("/")):
        raise ConfigError(f"{model[:100]!r} is no id of a model")
    return quote(model, safe="/:@")


class _File(msgspec.Struct, forbid_unknown_fields=True):
    provider: list[Provider]


def read_providers(text: str, file: str) -> dict[str, Provider]:
    """The services of a table, by name; ConfigError says what is wrong with it."""
    try:
        table = msgspec.convert(tomllib.loads(text), _File)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: {error}") from None
    return {provider.name: provider for provider in table.provider}


@cache
def default_providers() -> dict[str, Provider]:
    """The services that come with the package, by name."""
    file = DATA / "providers.toml"
    return read_providers(file.read_text("utf-8"), file.name)


def find_provider(name: str, providers: Mapping[str, Provider] | None = None) -> Provider | None:
    """A service by its name or an alias of it, among these or those that come with the package."""
    providers = default_providers() if providers is None else providers
    if name in providers:
        return providers[name]
    return next((provider for provider in providers.values() if name in provider.aliases), None)
