"""Finding files by name and by what they say."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec

from thinkwire.session.tools import finder, process
from thinkwire.session.tools.environment import without_secrets
from thinkwire.session.tools.files import path_subject
from thinkwire.session.tools.tool import Spec, ToolFailed, tool
from thinkwire.session.tools.workspace import ResolvedPath, Workspace, private_folders

SEARCH_SECONDS = 10.0
LIST_SECONDS = 10.0
ANSWER_LIMIT = 4 * 1024 * 1024

Limit = Annotated[int, msgspec.Meta(ge=1, le=10_000, description="The most to give.")]
Folder = Annotated[str, "The folder to look in, relative to the workspace."]


def search_tools(workspace: Workspace | Path | str, *, seconds: float = SEARCH_SECONDS) -> tuple[Spec, ...]:
    """`list_files` and `search_text`, confined to the workspace."""
    space = workspace if isinstance(workspace, Workspace) else Workspace(workspace)

    def list_files(
        path: Folder = ".",
        pattern: Annotated[str, "Only files like this: `*.py`, `src/**/*.ts`, `*.{js,jsx}`."] = "",
        hidden: Annotated[bool, "Include files and folders whose names begin with a dot."] = False,
        limit: Limit = 500,
    ) -> str:
        """List the files below a folder, one path per line, without those that .gitignore names."""
        globs = finder.glob_patterns(pattern)
        deadline = time.monotonic() + LIST_SECONDS
        shown: list[str] = []
        with space.folder(path) as place:
            for found in _walk(space, place, hidden=hidden):
                if time.monotonic() > deadline:
                    return _listed(shown, "This took too long; narrow the folder.")
                if not finder.named(found, globs):
                    continue
                if len(shown) == limit:
                    return _listed(shown, f"There are more than {limit}; narrow the folder or the pattern.")
                shown.append(_joined(place.path, found.path))
        return _listed(shown, "")

    async def search_text(
        pattern: Annotated[str, "A regular expression (Python's), matched line by line."],
        path: Folder = ".",
        glob: Annotated[str, "Only in files like this: `*.py`, `docs/**`."] = "",
        *,
        ignore_case: bool = False,
        limit: Limit = 100,
    ) -> str:
        """Search the files below a folder, or one file, for a regular expression. Gives `path:line: text`."""
        _check_pattern(pattern)
        with space.place(path) as place:
            ask = {
                "pattern": pattern,
                "ignore_case": ignore_case,
                "limit": limit,
                "glob": glob,
                "only": place.name,
                "base": _parts(place),
                "rules": _rules_above(space, place),
                "private": private_folders(),
                "seconds": seconds,
            }
            answer = await _search(place.folder, ask)
        return _report(answer, os.path.dirname(place.path) if place.name else place.path)

    subject = path_subject(space)
    return (
        tool(effect="read", subject=subject, timeout=LIST_SECONDS + 5)(list_files),
        tool(effect="read", subject=subject, timeout=seconds + 5)(search_text),
    )


def _parts(place: ResolvedPath) -> tuple[str, ...]:
    return () if place.path == "." else tuple(place.path.split("/"))


def _walk(space: Workspace, place: ResolvedPath, *, hidden: bool) -> Iterator[finder.Found]:
    return finder.walk(
        place.folder,
        rules=_rules_above(space, place),
        base=_parts(place),
        hidden=hidden,
        private=tuple(private_folders()),
    )


def _rules_above(space: Workspace, place: ResolvedPath) -> list[finder.IgnoreRule]:
    """What the folders between the workspace and this one say to leave out."""
    rules: list[finder.IgnoreRule] = []
    parts = _parts(place)
    for depth in range(len(parts)):
        with space.folder("/".join(parts[:depth]) or ".") as above:
            rules += finder.read_rules(above.folder, parts[:depth])
    return rules


def _joined(folder: str, path: str) -> str:
    return path if folder in ("", ".") else f"{folder}/{path}"


def _listed(paths: list[str], remark: str) -> str:
    if not paths and not remark:
        return "No files."
    return "\n".join([*paths, *([f"[{remark}]"] if remark else [])])


def _check_pattern(pattern: str) -> None:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ToolFailed(f"The pattern is not a regular expression: {error}.") from None


async def _search(folder: int, ask: dict[str, Any]) -> dict[str, Any]:
    """Search in a process of its own, which a match that takes for ever cannot outlive."""
    script = str(Path(finder.__file__))
    ended = await process.run(
        [sys.executable, "-I", "-S", script, str(folder), json.dumps(ask)],
        env=without_secrets(os.environ),
        timeout=ask["seconds"] + 0.5,
        limit=ANSWER_LIMIT,
        keep=(folder,),
    )
    if ended.code is None:
        raise ToolFailed(
            f"The search took longer than {ask['seconds']:g} seconds and was stopped. "
            "Use a simpler pattern, a smaller folder or a glob."
        )
    if ended.code or ended.missing:
        raise ToolFailed("The search failed; use a simpler pattern or a smaller limit.")
    answer: dict[str, Any] = json.loads(ended.output)
    return answer


def _report(answer: dict[str, Any], folder: str) -> str:
    lines = [f"{_joined(folder, path)}:{number}: {line}" for path, number, line in answer["hits"]]
    if answer.get("late"):
        lines.append("[This took too long and is not complete; narrow the folder or the glob.]")
    elif answer["more"]:
        lines.append("[There are more; narrow the pattern, the folder or the glob.]")
    if answer["skipped"]:
        lines.append(f"[{answer['skipped']} binary or very large files were not searched.]")
    if not answer["hits"]:
        lines.insert(0, f"No match in {answer['files']} files.")
    return "\n".join(lines)
