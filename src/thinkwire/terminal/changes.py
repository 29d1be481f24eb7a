"""What a call of a file tool would change, as the lines of a diff."""

from __future__ import annotations

import difflib

import msgspec

from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import JsonObject, parse_object
from thinkwire.messages import ToolCall
from thinkwire.session.formatting import one_line, unmistakable

_SUBJECTS = ("path", "command", "pattern", "query", "url", "file_path", "name")


class Change(msgspec.Struct, frozen=True):
    """Lines that begin with `+`, `-`, `@` or a space."""

    path: str
    lines: tuple[str, ...]


def arguments_of(call: ToolCall) -> JsonObject:
    """The arguments, or nothing when they are broken."""
    try:
        return parse_object(call.arguments.strip() or "{}")
    except MalformedInput:
        return {}


def change_of(call: ToolCall) -> Change | None:
    """The change that `edit_file` or `write_file` asks for; None for other tools."""
    given = arguments_of(call)
    match call.name, given:
        case "edit_file", {"path": str(path), "old": str(old), "new": str(new)}:
            return Change(path, _diff(old, new))
        case "write_file", {"path": str(path), "content": str(content)}:
            return Change(path, tuple(f"+{line}" for line in content.splitlines()))
    return None


def _diff(old: str, new: str) -> tuple[str, ...]:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2)
    return tuple(line for line in lines if not line.startswith(("---", "+++", "@@")))


def subject_of(call: ToolCall) -> str:
    """What a call is about, in one line."""
    given = arguments_of(call)
    for name in _SUBJECTS:
        value = given.get(name)
        if isinstance(value, str):
            return one_line(unmistakable(value))
    return one_line(unmistakable(call.arguments)) if given else ""
