"""Finding a model's facts: exact id, then the longest pattern, then the newest family rule."""

from __future__ import annotations

import datetime
import fnmatch
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from thinkwire.catalog.facts import Facts, Mechanism
from thinkwire.catalog.snapshot import DATA, shipped
from thinkwire.catalog.tables import Family, Model, Resale, Table, read_table, shipped_table

_DATED = re.compile(r"(?:[-@](?:latest|\d{8}|\d{4}-\d{2}-\d{2}|\d{4}))?(?:-v\d+(?::\d+)?)?")
"""What may follow an id without making it another model: a date, `latest`, a packaging version."""


class CatalogMatch(msgspec.Struct, frozen=True, cache_hash=True):
    """Facts, and how sure they are: `exact`, `dated`, `pattern`, or `family` for a model that has no row."""

    facts: Facts
    by: str


class Catalog:
    """Rows of several tables; later tables win over earlier ones."""

    def __init__(self, tables: list[Table]) -> None:
        self._tables = tables
        self._rows: dict[str, dict[str, Model]] = {}
        self._families: list[Family] = []
        self._resales: list[Resale] = []
        for table in tables:
            for model in table.models:
                self._rows.setdefault(model.facts.provider, {})[model.facts.id] = model
            self._families = [*table.families, *self._families]
            self._resales = [*table.resales, *self._resales]

    def __iter__(self) -> Iterator[Facts]:
        return (model.facts for rows in self._rows.values() for model in rows.values())

    def with_table(self, text: str, file: str) -> Catalog:
        """The same catalog with one more table on top; ConfigError names file, line and reason."""
        known = {f"{facts.provider}/{facts.id}": facts for facts in self}
        return Catalog([*self._tables, read_table(text, file, known)])

    def providers(self) -> list[str]:
        return sorted({*self._rows, *(resale.provider for resale in self._resales)})

    def find(self, provider: str, name: str) -> CatalogMatch | None:
        """The facts of a model at a provider; None when nobody knows it."""
        return (
            self._by_id(provider, name)
            or self._by_pattern(provider, name)
            or self._by_resale(provider, name)
            or self._by_family(provider, name)
        )

    def _by_id(self, provider: str, name: str) -> CatalogMatch | None:
        rows = self._rows.get(provider, {})
        if name in rows:
            return CatalogMatch(rows[name].facts, "exact")
        dated = [row_id for row_id in rows if _is_dated(name, row_id)]
        return CatalogMatch(rows[max(dated, key=len)].facts, "dated") if dated else None

    def _by_pattern(self, provider: str, name: str) -> CatalogMatch | None:
        matching = [
            (len(pattern), row_id)
            for row_id, model in self._rows.get(provider, {}).items()
            for pattern in model.patterns
            if fnmatch.fnmatchcase(name, pattern)
        ]
        return CatalogMatch(self._rows[provider][max(matching)[1]].facts, "pattern") if matching else None

    def _by_resale(self, provider: str, name: str) -> CatalogMatch | None:
        for resale in self._resales:
            if resale.provider != provider or not name.startswith(resale.prefix):
                continue
            bare = name.removeprefix(resale.prefix).partition(":")[0]
            found = self.find(resale.of, bare) or self.find(resale.of, bare.replace(".", "-"))
            if found is not None:
                return CatalogMatch(_resold(found.facts, name, resale), found.by)
        return None

    def _by_family(self, provider: str, name: str) -> CatalogMatch | None:
        for family in self._families:
            if family.provider == provider and family.matches(name):
                facts = self._rows[provider][family.like].facts
                return CatalogMatch(
                    msgspec.structs.replace(facts, id=name, released=None, retires=None), "family"
                )
        return None


_RESOLD_MECHANISM: dict[Mechanism, Mechanism] = {"adaptive": "effort", "level": "effort"}


def _resold(facts: Facts, name: str, resale: Resale) -> Facts:
    """A maker's facts in a reseller's spelling: its words are lower case, its switch is a boolean."""
    fields: dict[str, Any] = {
        **msgspec.to_builtins(facts, builtin_types=(datetime.date,)),
        "id": name,
        "mechanism": _RESOLD_MECHANISM.get(facts.mechanism, facts.mechanism),
        "efforts": [word.lower() for word in facts.efforts],
        "names": {level: word.lower() for level, word in facts.names.items()},
        "off": "false" if facts.off is not None else None,
        "api": None,
        "betas": (),
        "always_send": {},
        "options": (),
        **resale.fields,
    }
    fields["maker"] = facts.maker
    return msgspec.convert(fields, Facts)


def _is_dated(name: str, row_id: str) -> bool:
    return name.startswith(row_id) and _DATED.fullmatch(name, len(row_id)) is not None


@cache
def default_catalog() -> Catalog:
    """The tables that come with the package."""
    return read_catalog(DATA)


def read_catalog(folder: Path) -> Catalog:
    """The tables of a folder; later ones may be like rows of earlier ones."""
    tables: list[Table] = []
    known: dict[str, Facts] = {}
    for name, text, raw in shipped(folder):
        table = shipped_table(text, name, raw, known) if raw else read_table(text, name, known)
        known |= {f"{model.facts.provider}/{model.facts.id}": model.facts for model in table.models}
        tables.append(table)
    return Catalog(tables)
