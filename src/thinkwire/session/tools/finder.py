"""Finds files and text below a folder.

Only the standard library, and no other module of thinkwire: it also runs as a script in a process of its own,
because a regular expression can take for ever and nothing in the same process could stop it.
"""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import sys
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".tox"})
DEEPEST = 60
FILE_LIMIT = 4 * 1024 * 1024
LINE_LIMIT = 300
IGNORE_FILE = ".gitignore"
IGNORE_LIMIT = 64 * 1024
MOST_ALTERNATIVES = 32


class IgnoreRule(NamedTuple):
    """A line of a .gitignore: where it stands, what it means, whether it takes back an earlier one."""

    base: tuple[str, ...]
    pattern: tuple[str, ...]
    folders_only: bool
    negated: bool


class Found(NamedTuple):
    """A file, by its path below the start, and an open folder to open it in."""

    path: str
    name: str
    folder: int


def walk(
    top: int,
    *,
    rules: list[IgnoreRule] | None = None,
    base: tuple[str, ...] = (),
    hidden: bool = False,
    private: tuple[tuple[int, int], ...] = (),
) -> Iterator[Found]:
    """Files below an open folder in order, without following links; ignored and hidden ones are left out.

    `base` is where the folder is in the workspace, `rules` are those of the folders above it.
    """
    kept: dict[str, list[IgnoreRule]] = {"": rules or []}
    for root, folders, files, fd in os.fwalk(".", dir_fd=top, follow_symlinks=False):
        below = tuple(part for part in root.split(os.sep) if part not in ("", "."))
        known = kept.pop("/".join(below), [])
        here = os.fstat(fd)
        if (here.st_dev, here.st_ino) in private or len(below) > DEEPEST:
            folders.clear()
            continue
        known = known + read_rules(fd, (*base, *below))
        folders[:] = sorted(
            name for name in folders if _wanted(name, (*base, *below), known, hidden=hidden, folder=True)
        )
        for name in folders:
            kept["/".join((*below, name))] = known
        for name in sorted(files):
            if _wanted(name, (*base, *below), known, hidden=hidden, folder=False):
                yield Found("/".join((*below, name)), name, fd)


def _wanted(
    name: str, above: tuple[str, ...], rules: list[IgnoreRule], *, hidden: bool, folder: bool
) -> bool:
    if name in SKIPPED or (name.startswith(".") and not hidden):
        return False
    return not ignored((*above, name), rules, folder=folder)


def read_rules(folder: int, base: tuple[str, ...]) -> list[IgnoreRule]:
    """The rules of an open folder's .gitignore, if it has one."""
    data = read_ordinary(IGNORE_FILE, folder, IGNORE_LIMIT)
    lines = (data or b"").decode("utf-8", "replace").splitlines()
    return [rule for line in lines if (rule := _rule(line, base)) is not None]


def _rule(line: str, base: tuple[str, ...]) -> IgnoreRule | None:
    text = line.strip()
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[negated:]
    folders_only = text.endswith("/")
    anchored = "/" in text.rstrip("/")
    parts = tuple(part for part in text.split("/") if part)
    if not parts:
        return None
    return IgnoreRule(base, parts if anchored else ("**", *parts), folders_only, negated)


def ignored(path: tuple[str, ...], rules: list[IgnoreRule], *, folder: bool) -> bool:
    """Whether the rules leave this path out; the last that fits decides."""
    for rule in reversed(rules):
        if rule.folders_only and not folder:
            continue
        if path[: len(rule.base)] == rule.base and fits(path[len(rule.base) :], rule.pattern):
            return not rule.negated
    return False


def fits(path: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Whether a path fits a pattern, part by part; `**` stands for any number of parts."""
    reached = {0}
    for part in path:
        reached = _past_stars(reached, pattern)
        reached = {
            at if pattern[at] == "**" else at + 1
            for at in reached
            if at < len(pattern) and (pattern[at] == "**" or fnmatchcase(part, pattern[at]))
        }
    return len(pattern) in _past_stars(reached, pattern)


def _past_stars(reached: set[int], pattern: tuple[str, ...]) -> set[int]:
    found = set(reached)
    for start in reached:
        at = start
        while at < len(pattern) and pattern[at] == "**":
            at += 1
            found.add(at)
    return found


def glob_patterns(glob: str) -> list[tuple[str, ...]]:
    """The patterns that a glob means: `*.py` at any depth, `src/*.py` from the start, `*.{ts,tsx}` both."""
    patterns = []
    for one in _alternatives(glob):
        parts = tuple(part for part in one.split("/") if part not in ("", "."))
        if parts:
            patterns.append(parts if "/" in one else ("**", *parts))
    return patterns


def _alternatives(glob: str) -> list[str]:
    done: list[str] = []
    todo = [glob]
    while todo and len(done) + len(todo) <= MOST_ALTERNATIVES:
        text = todo.pop()
        brace = re.search(r"\{([^{}]*)\}", text)
        if brace is None:
            done.append(text)
        else:
            todo += [text[: brace.start()] + word + text[brace.end() :] for word in brace[1].split(",")]
    return done + todo


def named(found: Found, patterns: list[tuple[str, ...]]) -> bool:
    """Whether a file is among those that the patterns mean; no pattern means every file."""
    path = tuple(found.path.split("/"))
    return not patterns or any(fits(path, pattern) for pattern in patterns)


def read_ordinary(name: str, folder: int, limit: int) -> bytes | None:
    """The beginning of an ordinary file in an open folder; None for links, devices and the unreadable."""
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return None
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return None
    with open(fd, "rb") as file:
        try:
            return file.read(limit) if stat.S_ISREG(os.fstat(fd).st_mode) else None
        except OSError:
            return None


def search(top: int, ask: dict[str, Any]) -> dict[str, Any]:
    """The lines that match, as `[path, number, line]`, and whether there would have been more."""
    pattern = re.compile(ask["pattern"], re.IGNORECASE if ask["ignore_case"] else 0)
    answer: dict[str, Any] = {"hits": [], "more": False, "late": False, "files": 0, "skipped": 0}
    deadline = time.monotonic() + ask["seconds"]
    for found in _candidates(top, ask):
        if time.monotonic() > deadline:
            return answer | {"more": True, "late": True}
        data = read_ordinary(found.name, found.folder, FILE_LIMIT + 1)
        if data is None or len(data) > FILE_LIMIT or b"\0" in data[:8192]:
            answer["skipped"] += data is not None
            continue
        answer["files"] += 1
        for number, line in matches(data, pattern):
            if len(answer["hits"]) == ask["limit"]:
                return answer | {"more": True}
            answer["hits"].append([found.path, number, line])
    return answer


def _candidates(top: int, ask: dict[str, Any]) -> Iterator[Found]:
    if ask["only"] is not None:
        return iter([Found(ask["only"], ask["only"], top)])
    globs = glob_patterns(ask["glob"])
    rules = [IgnoreRule(*map(_tupled, rule)) for rule in ask["rules"]]
    private = tuple((device, number) for device, number in ask["private"])
    files = walk(top, rules=rules, base=tuple(ask["base"]), private=private)
    return (found for found in files if named(found, globs))


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def matches(data: bytes, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        found = pattern.search(line)
        if found:
            yield number, _around(line.rstrip("\r"), found.start())


def _around(line: str, at: int) -> str:
    """The line, or of a very long one the part where it matches."""
    if len(line) <= LINE_LIMIT:
        return line
    start = max(0, min(at - LINE_LIMIT // 3, len(line) - LINE_LIMIT))
    cut = line[start : start + LINE_LIMIT]
    return f"{'…' if start else ''}{cut}{'…' if start + LINE_LIMIT < len(line) else ''}"


def main() -> None:
    """Search below the folder that is open under the number given first, by what is asked second."""
    ask = json.loads(sys.argv[2])
    # The default action ends the process even in the middle of a match, should the parent be gone.
    signal.alarm(int(ask["seconds"]) + 5)
    print(json.dumps(search(int(sys.argv[1]), ask)))


if __name__ == "__main__":
    main()
