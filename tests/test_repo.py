"""Promises of the repository itself: clean lock files, no traces of a machine, commands that exist."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import thinkwire
from tests.support import ROOT

MAKE_TARGET = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)
MAKE_COMMAND = re.compile(r"\bmake ([a-z][a-z-]*)\b")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|home|root)/")


@pytest.mark.parametrize("name", ["requirements.lock", "tests/js/package-lock.json", "web/package-lock.json"])
def test_lock_files_carry_hashes_and_no_addresses(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "sha256:" in text or "sha512-" in text
    assert re.findall(r"\S*://\S*|^-.*index.*|\S*file:\S*", text, re.MULTILINE) == []


def test_locked_python_packages_cover_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    for extra in project["project"]["optional-dependencies"].values():
        asked += extra
    locked = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    names = {re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in asked}
    assert names - locked == {"thinkwire"}


def test_no_file_names_a_machine_path() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in project_files()
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_documented_make_commands_exist(name: str) -> None:
    targets = set(MAKE_TARGET.findall((ROOT / "Makefile").read_text()))
    code = re.findall(r"```.*?```|`[^`\n]+`", (ROOT / name).read_text(), re.DOTALL)
    used = set(MAKE_COMMAND.findall("\n".join(code)))
    assert used
    assert used - targets == set()


def test_installed_version_is_the_one_in_the_source() -> None:
    assert importlib.metadata.version("thinkwire") == thinkwire.__version__


def project_files() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "ls-files", "-coz", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def text_of(path: Path) -> str:
    data = path.read_bytes()
    return "" if b"\0" in data else data.decode("utf-8", "replace")
