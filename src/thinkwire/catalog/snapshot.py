"""The tables that come with the package, and a snapshot of them, which is read in a twentieth of the time.

`hatch_build.py` takes the snapshot when the package is built or installed. It names the digest of the tables
that it was made of: where that is not theirs, or where there is none, the tables themselves are read. Only
the standard library is used, since a build has nothing else.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
SNAPSHOT = "snapshot.json"
_DAY = "<day>"


def shipped(folder: Path) -> Iterator[tuple[str, str, dict[str, Any] | None]]:
    """Each table's name, its text, and what it says; None for a text that is to be read."""
    texts = _texts(folder)
    tables = _snapshot(folder, texts)
    for name, text in texts.items():
        yield name, text, tables.get(name)


def take_snapshot(folder: Path = DATA) -> None:
    """Makes it anew, as a whole or not at all."""
    texts = _texts(folder)
    tables = {name: tomllib.loads(text) for name, text in texts.items()}
    file = folder / SNAPSHOT
    new = file.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps({"of": _digest(texts), "tables": tables}, default=_day), "utf-8")
    new.replace(file)


def _texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.toml"))}


def _snapshot(folder: Path, texts: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Nothing when there is none of these very tables."""
    try:
        found = json.loads((folder / SNAPSHOT).read_bytes(), object_hook=_with_day)
        if found["of"] == _digest(texts) and found["tables"].keys() == texts.keys():
            tables: dict[str, dict[str, Any]] = found["tables"]
            return tables
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    return {}


def _digest(texts: dict[str, str]) -> str:
    summed = hashlib.sha256()
    for name, text in texts.items():
        data = text.encode()
        summed.update(f"{name}\0{len(data)}\0".encode() + data)
    return summed.hexdigest()


def _day(value: object) -> dict[str, str]:
    """JSON has no dates."""
    if type(value) is not datetime.date:
        raise TypeError(f"a table cannot hold {value!r}")
    return {_DAY: value.isoformat()}


def _with_day(found: dict[str, Any]) -> Any:
    return datetime.date.fromisoformat(found[_DAY]) if _DAY in found else found
