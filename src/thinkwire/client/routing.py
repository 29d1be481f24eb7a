"""Which service answers for a bare model name: the maker's own, or a reseller when only that has a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from thinkwire.catalog import Catalog
from thinkwire.notes import Note
from thinkwire.providers import Provider
from thinkwire.providers.resale import find_way
from thinkwire.reasoning import Intent
from thinkwire.reasoning.target import find_target


class RouteChoice(msgspec.Struct, frozen=True):
    """The name to go by, and what there is to say about the choice."""

    name: str
    notes: tuple[Note, ...] = ()


def choose_route(
    name: str, thinking: bool, has_key: Callable[[Provider], bool], providers: Mapping[str, Provider]
) -> RouteChoice:
    """A request that wants thinking never goes where the thinking is not shown: then the maker is asked,
    and a missing key is an error, not another route.
    """
    way = find_way(name, providers)
    if way is None or has_key(providers[way.own]):
        return RouteChoice(name)
    reseller = providers[way.over]
    if (thinking and way.thinking == "own") or not has_key(reseller):
        return RouteChoice(f"{way.own}/{name}")
    why = f"there is no key for {providers[way.own].label}; {name} is asked over {reseller.label}"
    return RouteChoice(f"{way.over}/{way.resold(name, thinking)}", (Note("route.changed", why),))


def asks_for_thinking(intent: Intent | None, name: str, catalog: Catalog | None = None) -> bool:
    """Whether thinking was asked for, or comes without asking."""
    if intent is not None and intent.says_anything:
        return intent.level != "none" and intent.budget != 0 and intent.on is not False
    found = find_target(name, catalog).found
    return found is not None and found.facts.can_think and found.facts.default not in (None, "off", "none")
