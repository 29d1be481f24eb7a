"""The snapshot of the tables says what the tables say, or is not looked at."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from pathlib import Path

import pytest

from tests.support import ROOT
from thinkwire.catalog.lookup import Catalog, default_catalog, read_catalog
from thinkwire.catalog.snapshot import DATA, SNAPSHOT, take_snapshot
from thinkwire.errors import ConfigError

BROKEN = '[[family]]\nlike = "claude-opus-5"\nprovider = "anthropic"\npattern = "claude-(oops"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the tables, without a snapshot."""
    folder = tmp_path / "data"
    folder.mkdir()
    for file in DATA.glob("*.toml"):
        shutil.copy(file, folder)
    return folder


def said(catalog: Catalog) -> object:
    return catalog._rows, catalog._families, catalog._resales


def test_the_snapshot_says_what_the_tables_say(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = said(read_catalog(folder))
    take_snapshot(folder)
    monkeypatch.setattr("tomllib.loads", None)  # nothing is parsed any more
    assert said(read_catalog(folder)) == read == said(default_catalog())
    assert [file.name for file in folder.iterdir() if file.suffix != ".toml"] == [SNAPSHOT]


@pytest.mark.parametrize("change", ["changed", "added", "removed", "renamed"])
def test_a_snapshot_of_other_tables_is_not_looked_at(folder: Path, change: str) -> None:
    take_snapshot(folder)
    table = folder / "xiaomi.toml"
    match change:
        case "changed":
            table.write_text(table.read_text().replace("max_output = ", "max_output = 7", 1))
        case "added":
            (folder / "zz.toml").write_text("[[resale]]\nprefix = 'x/'\nof = 'xiaomi'\n")
        case "removed":
            table.unlink()
        case "renamed":
            table.rename(folder / "zz.toml")
    now = said(read_catalog(folder))
    (folder / SNAPSHOT).unlink()
    assert now == said(read_catalog(folder))
    assert now != said(default_catalog())


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"[]", b"null", b"{}", b'{"of":1}', b"[" * 100_000, b'{"tables":{}}', None],
)
def test_a_damaged_snapshot_is_not_looked_at(folder: Path, content: bytes | None) -> None:
    if content is None:
        (folder / SNAPSHOT).mkdir()
    else:
        (folder / SNAPSHOT).write_bytes(content)
    assert said(read_catalog(folder)) == said(default_catalog())


@pytest.mark.parametrize("tables", [None, [], {}, {"anthropic.toml": {}}])
def test_a_snapshot_that_lacks_tables_is_not_looked_at(folder: Path, tables: object) -> None:
    take_snapshot(folder)
    file = folder / SNAPSHOT
    file.write_text(json.dumps(json.loads(file.read_text()) | {"tables": tables}))
    assert said(read_catalog(folder)) == said(default_catalog())


def test_what_a_snapshot_says_is_checked_like_a_table(folder: Path) -> None:
    take_snapshot(folder)
    file = folder / SNAPSHOT
    found = json.loads(file.read_text())
    found["tables"]["anthropic.toml"]["model"][0]["mechanism"] = "magic"
    file.write_text(json.dumps(found))
    with pytest.raises(ConfigError, match=r"anthropic\.toml, line \d+: .*magic"):
        read_catalog(folder)


def test_every_pattern_of_the_package_is_one() -> None:
    patterns = [family.pattern for family in default_catalog()._families]
    assert len(patterns) > 100
    for pattern in patterns:
        re.compile(pattern)


def test_a_broken_pattern_of_a_user_is_complained_about_at_once() -> None:
    with pytest.raises(ConfigError, match=r"^mine\.toml, line 4: pattern: missing \)"):
        default_catalog().with_table(BROKEN, "mine.toml")


@pytest.mark.parametrize("version", ["editable", "standard"])
def test_the_build_takes_a_snapshot(folder: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert found is not None
    assert found.loader is not None
    hook = importlib.util.module_from_spec(found)
    found.loader.exec_module(hook)
    shutil.copy(DATA.parent / "snapshot.py", folder.parent)
    monkeypatch.setattr(hook, "SNAPSHOT", folder.parent / "snapshot.py")
    monkeypatch.setattr(hook, "build", lambda: None)
    hook.WebApp().initialize(version, {})
    taken = json.loads((folder / SNAPSHOT).read_text())
    assert taken["tables"].keys() == {file.name for file in DATA.glob("*.toml")}
