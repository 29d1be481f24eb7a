"""Which model at which service a name means."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgspec

from thinkwire.catalog import Catalog, CatalogMatch, default_catalog
from thinkwire.providers import Provider, default_providers, find_provider


class Target(msgspec.Struct, frozen=True):
    """A model at a service. Either may be unknown; then nothing is assumed about it."""

    model: str
    provider: Provider | None = None
    found: CatalogMatch | None = None


def find_target(
    name: str, catalog: Catalog | None = None, providers: Mapping[str, Provider] | None = None
) -> Target:
    """`provider/model`, or a bare id that one of the services is known to have.

    A bare id belongs to the service that knows it best, its maker's own before others; a server on this
    machine takes any name and is meant only when it is named.
    """
    catalog = catalog or default_catalog()
    providers = default_providers() if providers is None else providers
    known = _known(id(catalog), id(providers))
    if known.catalog is not catalog or known.providers is not providers:
        known.restart(catalog, providers)
    found = known.targets.get(name)
    if found is None:
        found = _find_target(name, catalog, providers)
        if len(known.targets) < _MOST_KNOWN:
            known.targets[name] = found
    return found


_MOST_KNOWN = 1024


class _Known:
    """Targets that were found before, in these tables."""

    def __init__(self) -> None:
        self.catalog: Catalog | None = None
        self.providers: Mapping[str, Provider] | None = None
        self.targets: dict[str, Target] = {}

    def restart(self, catalog: Catalog, providers: Mapping[str, Provider]) -> None:
        self.catalog, self.providers, self.targets = catalog, providers, {}


@lru_cache(maxsize=8)
def _known(catalog: int, providers: int) -> _Known:
    return _Known()


def _find_target(name: str, catalog: Catalog, providers: Mapping[str, Provider]) -> Target:
    head, slash, rest = name.partition("/")
    provider = find_provider(head, providers) if slash else None
    if provider is not None:
        return Target(rest, provider, catalog.find(provider.name, rest))
    candidates = [
        ((_CERTAINTY[found.by], found.facts.maker != provider.label, order), Target(name, provider, found))
        for order, provider in enumerate(providers.values())
        if provider.auth != "none"
        and (found := catalog.find(provider.name, name)) is not None
        and not (slash and found.by == "family")
    ]
    return min(candidates, key=lambda entry: entry[0])[1] if candidates else Target(name)


_CERTAINTY = {"exact": 0, "dated": 1, "pattern": 2, "family": 3}


def all_targets(catalog: Catalog | None = None) -> list[Target]:
    """Every model that has a row, service by service."""
    catalog = catalog or default_catalog()
    return [
        Target(facts.id, find_provider(facts.provider), CatalogMatch(facts, "exact")) for facts in catalog
    ]
