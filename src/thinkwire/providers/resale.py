"""Which service a bare model name goes to. Data, in TOML."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Literal

import msgspec

from thinkwire.providers.provider import DATA, Provider, find_provider

_VERSION = re.compile(r"-(\d{1,2})-(\d{1,2})(?![\d])")
_DATE = re.compile(r"-(?:\d{8}|latest)$")


class ResaleRoute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The maker's own service for some models, and the reseller's when there is no key for the first."""

    models: tuple[str, ...]
    own: str
    over: str
    prefix: str
    """What the reseller puts before the maker's id."""
    dotted: bool = False
    """The reseller writes versions with a dot (`4.5`) where the maker has a dash, and leaves dates out."""
    lower: bool = False
    """The reseller writes ids in lower case."""
    thinking: Literal["either", "own"] = "either"
    """`own`: the reseller does not show the thinking."""
    thinking_suffix: str = ""
    """What the reseller wants after the id of a model that shall think."""

    def resold(self, name: str, thinking: bool) -> str:
        """The reseller's id of a model."""
        if self.dotted:
            name = _VERSION.sub(r"-\1.\2", _DATE.sub("", name))
        if self.lower:
            name = name.lower()
        return f"{self.prefix}{name}{self.thinking_suffix if thinking else ''}"


class _File(msgspec.Struct, forbid_unknown_fields=True):
    route: list[ResaleRoute]


@cache
def resale_routes() -> list[ResaleRoute]:
    """The table that comes with the package."""
    file = DATA / "routes.toml"
    return msgspec.convert(tomllib.loads(file.read_text("utf-8")), _File).route


def find_way(name: str, providers: Mapping[str, Provider]) -> ResaleRoute | None:
    """The way of a bare name; None for a name that says its service, or that no route knows."""
    head, slash, _ = name.partition("/")
    if slash and find_provider(head, providers) is not None:
        return None
    return next(
        (
            way
            for way in resale_routes()
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in way.models)
            and way.own in providers
            and way.over in providers
        ),
        None,
    )
