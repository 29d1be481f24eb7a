"""What tests share: the parts of a machine that some need, and the recordings of real traffic."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
MISSING = "missing part: "


class Part(NamedTuple):
    """Something outside the package. `find` says where it is, `remedy` how to get it."""

    find: Callable[[], Path | None]
    remedy: str


def need(part: str) -> Path:
    """Where the part is. Without it the test is skipped, or fails when THINKWIRE_STRICT_PARTS is set."""
    found = PARTS[part].find()
    if found is not None:
        return found
    reason = f"{MISSING}{part} ({PARTS[part].remedy})"
    if os.environ.get("THINKWIRE_STRICT_PARTS", "") not in ("", "0"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


def recordings_root() -> Path | None:
    """The folder of recorded provider traffic, if there is one."""
    return _folder("THINKWIRE_RECORDINGS", "recordings")


def clients_root() -> Path | None:
    """The folder with captures of real clients and the scripts that run them, if there is one."""
    return _folder("THINKWIRE_CLIENTS", "clients")


def _folder(variable: str, name: str) -> Path | None:
    path = Path(os.environ.get(variable) or ROOT.parent / "shared" / name)
    return path if path.is_dir() else None


def _program(*names: str) -> Path | None:
    return next((Path(found) for name in names if (found := shutil.which(name))), None)


def _postgresql() -> Path | None:
    """The folder of `initdb`, which Debian keeps off the PATH."""
    on_path = _program("initdb")
    found = [on_path] if on_path else sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


def _node() -> Path | None:
    node = Path(sys.prefix) / "bin" / "node"
    return node if node.exists() and (ROOT / "tests/js/node_modules").is_dir() else None


def _pages() -> Path | None:
    built = ROOT / "src/thinkwire/web/static"
    return built if (built / "index.html").is_file() else None


PARTS = {
    "chromium": Part(lambda: _program("chromium", "chromium-browser"), "make system-deps"),
    "postgresql": Part(_postgresql, "make system-deps"),
    "redis": Part(lambda: _program("redis-server"), "make system-deps"),
    "node": Part(_node, "make setup"),
    "pages": Part(_pages, "make web"),
    "systemd": Part(lambda: _program("systemd-analyze"), "make system-deps"),
    "tmux": Part(lambda: _program("tmux"), "make system-deps"),
    "recordings": Part(recordings_root, "set THINKWIRE_RECORDINGS"),
    "clients": Part(clients_root, "set THINKWIRE_CLIENTS, or make test-clients"),
}
