"""Layers of settings: who said what, and whose word counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from thinkwire.settings.keys import KEYS, setting_of
from thinkwire.settings.values import check_value, check_values

SOURCES = ("request", "session", "profile", "agent", "environment", "project", "user", "model")
"""Whose word counts, strongest first; below them all is the built-in default."""

DEFAULT = "default"


class Layer(msgspec.Struct, frozen=True):
    """What one source says. `place` tells where it was read, if somewhere."""

    source: str
    values: dict[str, Any] = {}
    place: str = ""

    def __post_init__(self) -> None:
        if self.source not in SOURCES:
            raise ValueError(f"no source of settings is called {self.source!r}")


def checked_layer(source: str, values: Mapping[str, Any], place: str = "") -> Layer:
    """A layer of values that nobody has checked yet; ConfigError when one of them is wrong."""
    return Layer(source, check_values(values), place)


class Row(msgspec.Struct, frozen=True):
    """A setting as it stands, and where that comes from."""

    key: str
    value: Any
    source: str
    place: str = ""


class Settings(msgspec.Struct, frozen=True):
    """A stack of layers, strongest first. A lower layer never overwrites a higher one."""

    layers: tuple[Layer, ...] = ()

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.layers, key=lambda layer: SOURCES.index(layer.source)))
        if len({layer.source for layer in ordered}) < len(ordered):
            raise ValueError("two layers of settings have the same source")
        msgspec.structs.force_setattr(self, "layers", ordered)

    def get(self, key: str) -> Any:
        """What counts: the strongest layer's word, else the default; None is unset."""
        holder = self._holder(key)
        return KEYS[key].default if holder is None else holder.values[key]

    def origin(self, key: str) -> str:
        """Whose word counts: one of SOURCES, or `default`."""
        holder = self._holder(key)
        return DEFAULT if holder is None else holder.source

    def rank(self, key: str) -> int:
        """How strong the word on this setting is: 0 is the strongest; the default is weaker than all."""
        holder = self._holder(key)
        return len(SOURCES) if holder is None else SOURCES.index(holder.source)

    def layer(self, source: str) -> Layer:
        """What one source says; an empty layer when it says nothing."""
        return next((layer for layer in self.layers if layer.source == source), Layer(source))

    def with_layer(self, layer: Layer) -> Settings:
        """The same stack with this layer in place of the one of the same source."""
        return Settings((*(other for other in self.layers if other.source != layer.source), layer))

    def set(self, source: str, key: str, value: Any) -> Settings:
        """One value set in one layer, checked."""
        layer = self.layer(source)
        values = layer.values | {key: check_value(key, value)}
        return self.with_layer(msgspec.structs.replace(layer, values=values))

    def unset(self, source: str, key: str) -> Settings:
        """One layer's word on a setting taken back; what the layers below say counts again."""
        setting_of(key)
        layer = self.layer(source)
        values = {other: value for other, value in layer.values.items() if other != key}
        return self.with_layer(msgspec.structs.replace(layer, values=values))

    def rows(self) -> tuple[Row, ...]:
        """Every setting as it stands, in the order of the table."""
        return tuple(self._row(key) for key in KEYS)

    def saved(self) -> dict[str, Any]:
        """What `/profile save` keeps: the session's words over the loaded profile's."""
        values = self.layer("profile").values | self.layer("session").values
        return {key: values[key] for key in KEYS if key in values}

    def _row(self, key: str) -> Row:
        holder = self._holder(key)
        if holder is None:
            return Row(key, KEYS[key].default, DEFAULT)
        return Row(key, holder.values[key], holder.source, holder.place)

    def _holder(self, key: str) -> Layer | None:
        setting_of(key)
        return next((layer for layer in self.layers if key in layer.values), None)
