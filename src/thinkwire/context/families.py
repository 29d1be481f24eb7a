"""What makers count differently, as data: data/tokens.toml, read once, matched by a model's name."""

from __future__ import annotations

import datetime
import fnmatch
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

_SELLER = re.compile(r"^.*/|^(?:[a-z]+\.)+(?=[a-z])")
"""`openrouter/anthropic/`, `us.anthropic.` and the like."""


class SealRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How sealed thinking is billed when it goes back, by the length of the seal."""

    scheme: str
    spare: int
    """Characters of a seal that hold no thought."""
    readable: Literal["billed", "inside", "unbilled"]
    """The text beside the seal: billed too, the same thought once more, or never read."""
    source: str
    checked: datetime.date
    per_token: float | None = None
    """Characters for a token of thinking; None where nothing is known to be billed for the seal itself."""


class ImageRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How pictures are counted: by pixels, or by tiles, never more than `most`."""

    name: str
    default: int
    """For a picture whose size nobody knows."""
    most: int | None = None
    edge: int | None = None
    """The long edge that a picture is first made to fit."""
    short_edge: int | None = None
    per_pixel: float = 0.0
    base: int = 0
    tile: int | None = None
    per_tile: int = 0
    page: int = 1_500
    """For a page of a document."""
    source: str
    checked: datetime.date


class Family(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Models whose tokens are counted alike; but for the factors, numbers are tokens as billed."""

    name: str
    match: tuple[str, ...]
    factor: float = 1.0
    """Tokens for one of the estimator's."""
    start: float = 4.0
    """For the request as such."""
    message: float = 4.0
    tools_start: float = 0.0
    """Once, when there are tools."""
    tool: float = 8.0
    terse: bool = False
    """Tools reach the model as declarations of types and not as JSON Schema."""
    schema: float = 1.0
    """Tokens for one of a tool definition's words."""
    call: float = 8.0
    """For each tool call and each result."""
    image: str = "tiles"
    seal_spare: int | None = None
    """Where the seals of this family hold another number of idle characters."""
    forgets: tuple[Literal["text", "seal"], ...] = ()
    """What the vendor leaves out, unbilled, of thinking from before the current exchange."""
    forgets_when_off: bool = False
    """Earlier thinking is left out when the model is not to think."""
    source: str
    checked: datetime.date


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    family: tuple[Family, ...]
    seal: tuple[SealRule, ...]
    image: tuple[ImageRule, ...]


@cache
def table() -> Table:
    text = (Path(__file__).parent / "data" / "tokens.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Table)


@cache
def family_of(model: str) -> Family:
    """The first family that matches the name, with or without a reseller's prefix; the last matches all."""
    bare = _SELLER.sub("", model.lower())
    for family in table().family:
        if any(fnmatch.fnmatchcase(bare, pattern) for pattern in family.match):
            return family
    raise AssertionError("the last family of tokens.toml matches every name")


@cache
def seal_rule(scheme: str) -> SealRule | None:
    return next((rule for rule in table().seal if rule.scheme == scheme), None)


@cache
def image_rule(name: str) -> ImageRule:
    return next(rule for rule in table().image if rule.name == name)
