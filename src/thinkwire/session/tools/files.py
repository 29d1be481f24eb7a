"""Reading, writing and editing files of a workspace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import msgspec

from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Text
from thinkwire.notes import Note
from thinkwire.session.tools.output import MEDIA_LIMIT, picture, picture_type
from thinkwire.session.tools.tool import Output, Spec, Subject, ToolFailed, tool
from thinkwire.session.tools.workspace import Workspace

LINE_LIMIT = 2_000
"""Characters of a line that are shown."""
READ_LIMIT = 56 * 1024
"""Bytes of text in one read."""
SCAN_LIMIT = 256 * 1024 * 1024
"""Bytes that are read to find a line."""
EDIT_LIMIT = 16 * 1024 * 1024
"""The largest file that is edited, and the most that is written."""


def file_tools(workspace: Workspace | Path | str) -> tuple[Spec, ...]:
    """`read_file`, `write_file` and `edit_file`, confined to the workspace."""
    space = workspace if isinstance(workspace, Workspace) else Workspace(workspace)

    def read_file(
        path: Annotated[str, "The file, relative to the workspace."],
        offset: Annotated[int, msgspec.Meta(ge=1, description="The first line to read.")] = 1,
        limit: Annotated[int, msgspec.Meta(ge=1, description="How many lines to read at most.")] = 2_000,
    ) -> Output:
        """Read a file. Text comes with line numbers; pictures (PNG, JPEG, GIF, WebP) are shown."""
        with space.file(path) as fd, open(fd, "rb", closefd=False) as file:
            start = file.read(8192)
            media = picture_type(start)
            if media:
                return _picture(path, start + file.read(MEDIA_LIMIT), media)
            if b"\0" in start:
                size = os.fstat(fd).st_size
                raise ToolFailed(f"{path} is a binary file of {size:,} bytes; it cannot be shown.")
            file.seek(0)
            return _page(path, file, offset, limit)

    def write_file(
        path: Annotated[str, "The file, relative to the workspace. Missing folders are made."],
        content: Annotated[str, "The whole new content."],
    ) -> str:
        """Write a file, or replace it as a whole. To change a part of a file, use edit_file."""
        data = _encoded(content)
        with space.write_lock():
            new = space.write(path, data)
        return f"{'Wrote' if new else 'Replaced'} {path} ({_count(content)}, {len(data):,} bytes)."

    def edit_file(
        path: Annotated[str, "The file, relative to the workspace."],
        old: Annotated[str, "The text to replace, exactly as it stands in the file, without line numbers."],
        new: Annotated[str, "The text to put in its place."],
        all: Annotated[bool, "Replace every occurrence. Otherwise `old` must occur exactly once."] = False,
    ) -> str:
        """Replace a piece of text in a file."""
        with space.write_lock():
            text, before = _whole_text(space, path)
            if "\r\n" in text and "\r\n" not in old:
                old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
            edited, lines = replaced(text, old, new, every=all)
            space.write(path, _encoded(edited), unless_changed=before)
        where = f"line {lines[0]}" if len(lines) == 1 else f"{len(lines)} places, first at line {lines[0]}"
        return f"Edited {path} at {where}."

    subject = path_subject(space)
    return (
        tool(effect="read", subject=subject)(read_file),
        tool(effect="write", subject=subject)(write_file),
        tool(effect="write", subject=subject)(edit_file),
    )


def path_subject(space: Workspace) -> Subject:
    """What approval patterns of file tools look at: where the path leads to."""

    def subject(arguments: JsonObject) -> str | None:
        path = arguments.get("path", ".")
        return space.subject(path) if isinstance(path, str) else None

    return subject


def replaced(text: str, old: str, new: str, *, every: bool = False) -> tuple[str, list[int]]:
    """The text with the piece replaced, and the lines where it stood; ToolFailed unless that is clear."""
    if not old:
        raise ToolFailed("`old` is empty; to write a whole file, use write_file.")
    if old == new:
        raise ToolFailed("`old` and `new` are the same; nothing to do.")
    count = text.count(old)
    if not count:
        raise ToolFailed("`old` does not occur in the file. Read it again and copy the text exactly.")
    lines, at = [], -1
    for _ in range(count):
        at = text.index(old, at + 1 if at < 0 else at + len(old))
        lines.append(text.count("\n", 0, at) + 1)
        if len(lines) == 50:
            break
    if count > 1 and not every:
        shown = ", ".join(map(str, lines[:10]))
        raise ToolFailed(
            f"`old` occurs {count} times (lines {shown}). Give more of the text around it, or set `all`."
        )
    return text.replace(old, new), lines


def _whole_text(space: Workspace, path: str) -> tuple[str, os.stat_result]:
    with space.file(path, follow=False) as fd, open(fd, "rb", closefd=False) as file:
        before = os.fstat(fd)
        data = file.read(EDIT_LIMIT + 1)
    if len(data) > EDIT_LIMIT:
        raise ToolFailed(f"{path} is larger than {EDIT_LIMIT:,} bytes; it cannot be edited.")
    try:
        return data.decode(), before
    except UnicodeDecodeError:
        raise ToolFailed(f"{path} is not UTF-8 text; it cannot be edited.") from None


def _encoded(text: str) -> bytes:
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise ToolFailed("The text has characters that UTF-8 cannot carry (half a surrogate pair).") from None
    if len(data) > EDIT_LIMIT:
        raise ToolFailed(f"More than {EDIT_LIMIT:,} bytes; nothing was written.")
    return data


def _count(text: str) -> str:
    lines = text.count("\n") + bool(text and not text.endswith("\n"))
    return "1 line" if lines == 1 else f"{lines:,} lines"


def _picture(path: str, data: bytes, media: str) -> Output:
    if len(data) > MEDIA_LIMIT * 3 // 4:
        raise ToolFailed(f"{path} is a picture of more than {MEDIA_LIMIT * 3 // 4:,} bytes; too large.")
    return Output((picture(data, media),))


def _page(path: str, file: BinaryIO, offset: int, limit: int) -> Output:
    """Lines from `offset` on, up to a number of lines and of bytes, and how to read on."""
    shown: list[str] = []
    room, cut, number, more = READ_LIMIT, 0, 0, False
    for number, (start, length) in enumerate(_lines(path, file), 1):
        if number < offset:
            continue
        line, was_cut = _shown(number, start, length)
        room -= len(line.encode()) + 1
        if len(shown) == limit or (room < 0 and shown):
            more = True
            break
        shown.append(line)
        cut += was_cut
    if not shown:
        return _nothing(path, number, offset)
    if more:
        shown.append(f"[The file goes on: read on with offset={offset + len(shown)}.]")
    notes = []
    if cut or room < 0:
        said = f"{cut} long lines cut" if cut else f"lines {offset} to {number - 1} of what was asked"
        notes.append(Note("tool.truncated", f"read_file {path}: {said}", detail={"tool": "read_file"}))
    return Output((Text("\n".join(shown)),), notes=tuple(notes))


def _lines(path: str, file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """The beginning and the length of every line."""
    total = 0
    while start := file.readline(READ_LIMIT):
        length, end = len(start), start
        while not end.endswith(b"\n") and (end := file.readline(READ_LIMIT)):
            length += len(end)
            if total + length > SCAN_LIMIT:
                break
        total += length
        if total > SCAN_LIMIT:
            raise ToolFailed(f"{path}: only the first {SCAN_LIMIT:,} bytes of a file can be read.")
        yield start, length


def _shown(number: int, start: bytes, length: int) -> tuple[str, bool]:
    line = start.decode("utf-8", "replace").rstrip("\r\n")
    cut = len(line) > LINE_LIMIT or length > len(start)
    if cut:
        line = f"{line[:LINE_LIMIT]} [… line of {length:,} bytes cut]"
    return f"{number:>6}\t{line}", cut


def _nothing(path: str, lines: int, offset: int) -> Output:
    if not lines:
        return Output((Text(f"{path} is empty."),))
    raise ToolFailed(f"{path} has only {lines:,} lines; there is no line {offset:,}.")
