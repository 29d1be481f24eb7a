"""Finding files and text: what is left out, what is too much, and patterns that would take for ever."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.session.tools.running import FREE, Run, text_of
from thinkwire.messages import ToolCall
from thinkwire.session.tools import Toolbox
from thinkwire.session.tools.finder import fits, glob_patterns
from thinkwire.session.tools.search import search_tools


@pytest.fixture
def space(tmp_path: Path) -> Path:
    files = {
        "README.md": "Hello World\n",
        "src/app.py": "import os\n\nclass World:\n    pass\n",
        "src/deep/er/util.ts": "export const world = 1\n",
        "src/deep/view.tsx": "world\n",
        "node_modules/x/index.js": "world\n",
        ".git/config": "world\n",
        ".hidden/a.txt": "world\n",
        ".gitignore": "*.log\n/build/\n!keep.log\n# a comment\n\n",
        "debug.log": "world\n",
        "keep.log": "world\n",
        "build/out.txt": "world\n",
        "src/build/in.txt": "world\n",
        "src/.gitignore": "gen/\n",
        "src/gen/made.py": "world\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "blob.bin").write_bytes(b"world\0\1")
    return tmp_path


ALL = [
    "README.md",
    "blob.bin",
    "keep.log",
    "src/app.py",
    "src/build/in.txt",
    "src/deep/er/util.ts",
    "src/deep/view.tsx",
]

LISTINGS: list[tuple[dict[str, object], list[str]]] = [
    ({}, ALL),
    ({"pattern": "*.py"}, ["src/app.py"]),
    ({"pattern": "*.{ts,tsx}"}, ["src/deep/er/util.ts", "src/deep/view.tsx"]),
    ({"pattern": "src/*"}, ["src/app.py"]),
    ({"pattern": "src/**/*.ts"}, ["src/deep/er/util.ts"]),
    ({"pattern": "**/*.py"}, ["src/app.py"]),
    ({"path": "src", "pattern": "deep/*"}, ["src/deep/view.tsx"]),
    ({"path": "src/deep"}, ["src/deep/er/util.ts", "src/deep/view.tsx"]),
    ({"pattern": "nothing*"}, ["No files."]),
    ({"hidden": True, "pattern": "*.txt"}, [".hidden/a.txt", "src/build/in.txt"]),
    ({"limit": 2}, [*ALL[:2], "[There are more than 2; narrow the folder or the pattern.]"]),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("arguments", "expected"), LISTINGS)
async def test_listings(arguments: dict[str, object], expected: list[str], space: Path) -> None:
    assert sorted((await Run(space).good("list_files", **arguments)).splitlines()) == sorted(expected)


@pytest.mark.anyio
async def test_matches_come_with_their_place(space: Path) -> None:
    run = Run(space)
    assert await run.good("search_text", pattern="class \\w+", path="src") == "src/app.py:3: class World:"
    found = await run.good("search_text", pattern="world", ignore_case=True)
    assert [line.split(": ")[0] for line in found.splitlines()] == [
        "README.md:1",
        "keep.log:1",
        "src/app.py:3",
        "src/build/in.txt:1",
        "src/deep/view.tsx:1",
        "src/deep/er/util.ts:1",
        "[1 binary or very large files were not searched.]",
    ]
    assert await run.good("search_text", pattern="world", glob="*.tsx") == "src/deep/view.tsx:1: world"
    assert await run.good("search_text", pattern="World", path="src/app.py") == "src/app.py:3: class World:"
    assert "No match in 1 files" in await run.good("search_text", pattern="xyz", path="README.md")
    assert "There are more" in await run.good("search_text", pattern=".", limit=1)
    assert "not a regular expression" in await run.bad("search_text", pattern="(")


@pytest.mark.anyio
async def test_a_long_line_is_shown_around_the_match(space: Path) -> None:
    (space / "min.js").write_text("a" * 5000 + "needle" + "b" * 5000)
    found = await Run(space).good("search_text", pattern="needle")
    assert "needle" in found
    assert len(found) < 400


@pytest.mark.anyio
async def test_a_pattern_that_takes_for_ever_is_stopped_and_holds_up_nothing(space: Path) -> None:
    (space / "evil.txt").write_text("a" * 60 + "!")
    box = Toolbox(search_tools(space, seconds=0.3))
    call = ToolCall("c", "search_text", json.dumps({"pattern": "(a+)+$", "path": "evil.txt"}))
    longest, running = 0.0, asyncio.create_task(box.run(call, FREE))
    while not running.done():
        before = time.monotonic()
        await asyncio.sleep(0.01)
        longest = max(longest, time.monotonic() - before)
    outcome = running.result()
    assert outcome.result.failed
    assert "took longer" in text_of(outcome)
    assert longest < 1


@pytest.mark.anyio
async def test_odd_names_do_no_harm(space: Path) -> None:
    with open(os.fsencode(space) + b"/caf\xe9.txt", "w") as file:
        file.write("needle\n")
    (space / "new\nline.txt").write_text("needle\n")
    run = Run(space)
    assert "needle" in await run.good("search_text", pattern="needle")
    assert "caf\ufffd.txt" in await run.good("list_files")


GLOBS = [
    ("*.py", "a/b/c.py", True),
    ("a/*.py", "a/b/c.py", False),
    ("a/**/*.py", "a/c.py", True),
    ("a/**", "a/b/c", True),
    ("**/b/**", "a/b/c", True),
    ("**/b/**", "a/c", False),
    ("./a/b", "a/b", True),
    ("[ab].txt", "x/b.txt", True),
    ("{a,b}/{c,d}.x", "b/d.x", True),
    ("*a*a*a*a*a*a*a*a*a*a*b", "a" * 200, False),
]


@pytest.mark.parametrize(("glob", "path", "expected"), GLOBS)
def test_globs(glob: str, path: str, expected: bool) -> None:
    assert any(fits(tuple(path.split("/")), pattern) for pattern in glob_patterns(glob)) is expected


@given(path=st.lists(st.text("ab*?[]{},.", min_size=1), min_size=1, max_size=6), glob=st.text("ab*?[]{},./"))
def test_any_glob_can_be_tried_on_any_path(path: list[str], glob: str) -> None:
    for pattern in glob_patterns(glob):
        fits(tuple(path), pattern)
    assert fits(tuple(path), ("**",))
