"""The pages as they are built: their types come from the server, and they are built when they must be."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest

from tests.support import ROOT


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_the_types_of_the_pages_are_those_of_the_server() -> None:
    from thinkwire.web.openapi import document

    made = module(ROOT / "web/types_from_api.py").written(document())
    kept = (ROOT / "web/src/api/schema.ts").read_text()
    assert made == kept, "the API has changed: run `python web/types_from_api.py`"


@pytest.fixture
def hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    hook = module(ROOT / "hatch_build.py")
    for name in ("web/src", "web/node_modules", "web/tests", "static"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "web/src/main.tsx").write_text("one")
    monkeypatch.setattr(hook, "WEB", tmp_path / "web")
    monkeypatch.setattr(hook, "STAMP", tmp_path / "static/.built")
    return hook


def test_pages_are_stale_when_a_source_changed_and_only_then(hook: ModuleType, tmp_path: Path) -> None:
    assert hook.stale()
    hook.STAMP.write_text(hook.digest())
    assert not hook.stale()
    os.utime(tmp_path / "web/src/main.tsx", (0, 0))
    (tmp_path / "web/node_modules/other.js").write_text("x")
    (tmp_path / "web/tests/a.test.ts").write_text("x")
    assert not hook.stale()
    (tmp_path / "web/src/main.tsx").write_text("two")
    assert hook.stale()


def test_fresh_pages_need_no_node(hook: ModuleType) -> None:
    hook.STAMP.write_text(hook.digest())
    assert hook.WebApp().dependencies() == []
    hook.build()
    hook.STAMP.unlink()
    assert hook.WebApp().dependencies() == [hook.NODE]


def test_an_archive_without_the_sources_is_never_stale(hook: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "web").rename(tmp_path / "gone")
    assert not hook.stale()
