"""Tables of facts: TOML in, rows out, and a complaint with file and line when a table is broken."""

from __future__ import annotations

import datetime
import re
import tomllib
from functools import cache
from typing import Any

import msgspec

from thinkwire.catalog.facts import Facts
from thinkwire.errors import ConfigError


class Model(msgspec.Struct, frozen=True):
    """A row: these facts hold for this id, for its dated versions, and for what the patterns match."""

    facts: Facts
    patterns: tuple[str, ...] = ()


class Family(msgspec.Struct, frozen=True):
    """A rule for models that have no row: a pattern, bounds of its version, and the row they are like."""

    provider: str
    pattern: str
    like: str
    since: tuple[int, ...] = ()
    below: tuple[int, ...] = ()

    def matches(self, name: str) -> bool:
        found = _compiled(self.pattern).fullmatch(name)
        if found is None:
            return False
        version = version_of(found.groupdict().get("version") or "")
        return self.since <= version and (not self.below or version < self.below)


class Resale(msgspec.Struct, frozen=True):
    """A provider that sells another's models under a prefix, with controls of its own spelling."""

    provider: str
    prefix: str
    of: str
    fields: dict[str, Any]
    """What this provider's own table says of every model: dialect, shape, source, …"""


class Table(msgspec.Struct, frozen=True):
    models: tuple[Model, ...]
    families: tuple[Family, ...]
    resales: tuple[Resale, ...] = ()


def version_of(text: str) -> tuple[int, ...]:
    """`4.5`, `4-5` and `4p5` as (4, 5)."""
    return tuple(int(number) for number in re.findall(r"\d+", text))


_TABLE_ONLY = {"ids", "patterns", "like", "dates"}


def read_table(text: str, file: str, known: dict[str, Facts] | None = None) -> Table:
    """A table's rows. `known` are rows of other tables that a row may be `like`."""
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: {error}") from None
    reader = _Reader(text, file, raw, dict(known or {}))
    table = reader.table()
    reader.check_patterns()
    return table


def shipped_table(text: str, file: str, raw: dict[str, Any], known: dict[str, Facts]) -> Table:
    """A table of the package, already parsed. Its patterns are compiled when a model asks for them."""
    return _Reader(text, file, raw, dict(known)).table()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


class _Reader:
    def __init__(self, text: str, file: str, raw: dict[str, Any], known: dict[str, Facts]) -> None:
        self.text = text
        self.file = file
        self.raw = raw
        self.known = known

    def table(self) -> Table:
        unknown = set(self.raw) - {"base", "model", "family", "resale"}
        if unknown:
            raise self.complaint(f"no such table: {', '.join(sorted(unknown))}", sorted(unknown)[0])
        models: list[Model] = []
        for index, row in enumerate(self.raw.get("model", ())):
            models += self.models(row, index)
        families = [self.family(row, index) for index, row in enumerate(self.raw.get("family", ()))]
        resales = [self.resale(row, index) for index, row in enumerate(self.raw.get("resale", ()))]
        return Table(tuple(models), tuple(families), tuple(resales))

    def models(self, row: dict[str, Any], index: int) -> list[Model]:
        ids = row.get("ids")
        if not isinstance(ids, list) or not ids or not all(isinstance(name, str) for name in ids):
            raise self.complaint("a model needs ids, a list of names", "model", index)
        like = self.like(row, index)
        dates = row.get("dates", {})
        own = {key: value for key, value in row.items() if key not in _TABLE_ONLY}
        models = []
        for name in ids:
            fields = {**self.raw.get("base", {}), **like, **own, **dates.get(name, {}), "id": name}
            facts = self.facts(fields, index)
            self.known[f"{facts.provider}/{name}"] = facts
            models.append(Model(facts, tuple(row.get("patterns", ()))))
        return models

    def like(self, row: dict[str, Any], index: int) -> dict[str, Any]:
        name = row.get("like")
        if name is None:
            return {}
        provider = row.get("provider") or self.raw.get("base", {}).get("provider", "")
        facts = self.known.get(f"{provider}/{name}") or self.known.get(name)
        if facts is None:
            raise self.complaint(f"there is no row {name!r} above to be like", "model", index, "like")
        fields: dict[str, Any] = msgspec.to_builtins(facts, builtin_types=(datetime.date,))
        return {key: value for key, value in fields.items() if key not in ("released", "retires")}

    def facts(self, fields: dict[str, Any], index: int) -> Facts:
        try:
            facts = msgspec.convert(fields, Facts)
        except msgspec.ValidationError as error:
            message, _, place = str(error).partition(" - at ")
            keys = re.findall(r"\w+", place) or re.findall(r"`(\w+)`", message)[-1:]
            raise self.complaint(message, "model", index, keys[0] if keys else "") from None
        flaw = flaw_of(facts)
        if flaw:
            raise self.complaint(f"{facts.id}: {flaw}", "model", index)
        return facts

    def family(self, row: dict[str, Any], index: int) -> Family:
        missing = [key for key in ("pattern", "like") if not isinstance(row.get(key), str)]
        if missing:
            raise self.complaint(f"a family needs {' and '.join(missing)}", "family", index)
        provider = row.get("provider") or self.raw.get("base", {}).get("provider", "")
        if f"{provider}/{row['like']}" not in self.known:
            raise self.complaint(f"there is no row {row['like']!r} to be like", "family", index, "like")
        return Family(
            provider=provider,
            pattern=row["pattern"],
            like=row["like"],
            since=version_of(str(row.get("since", ""))),
            below=version_of(str(row.get("below", ""))),
        )

    def check_patterns(self) -> None:
        for index, row in enumerate(self.raw.get("family", ())):
            try:
                _compiled(row["pattern"])
            except re.error as error:
                raise self.complaint(f"pattern: {error}", "family", index, "pattern") from None

    def resale(self, row: dict[str, Any], index: int) -> Resale:
        missing = [key for key in ("prefix", "of") if not isinstance(row.get(key), str)]
        if missing:
            raise self.complaint(f"a resale needs {' and '.join(missing)}", "resale", index)
        base = self.raw.get("base", {})
        own = {key: value for key, value in row.items() if key not in ("prefix", "of")}
        return Resale(base.get("provider", ""), row["prefix"], row["of"], {**base, **own})

    def complaint(self, message: str, table: str, index: int = 0, key: str = "") -> ConfigError:
        line = line_of(self.text, table, index, key)
        return ConfigError(f"{self.file}, line {line}: {message}")


def flaw_of(facts: Facts) -> str | None:
    """What is contradictory in a row."""
    if facts.mechanism in ("effort", "level", "adaptive") and not facts.efforts:
        return f"mechanism {facts.mechanism} needs efforts"
    if facts.mechanism in ("budget", "toggle+budget") and facts.budget is None:
        return f"mechanism {facts.mechanism} needs a budget"
    if facts.budget is not None and not 0 <= facts.budget.min <= facts.budget.max:
        return "budget.min must not be above budget.max"
    if facts.mechanism in ("always", "none") and facts.off is not None:
        return f"mechanism {facts.mechanism} cannot be turned off"
    return None


def line_of(text: str, table: str, index: int = 0, key: str = "") -> int:
    """The line of a key in the index-th `[[table]]`, or of the table itself."""
    lines = text.splitlines()
    headers = [
        number for number, line in enumerate(lines, 1) if re.match(rf"\s*\[+{re.escape(table)}[].]", line)
    ]
    start = headers[index] if index < len(headers) else 1
    for number in range(start + 1, len(lines) + 1) if key else ():
        line = lines[number - 1]
        if line.lstrip().startswith("[["):
            break
        if re.match(rf"\s*{re.escape(key)}\b", line):
            return number
    return start
