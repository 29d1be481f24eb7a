"""What must be right about an input item before it is read; `MalformedInput` names the place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import JsonObject, Path, malformed, objects, opt_list, opt_str, render, require_str

ROLES = ("user", "assistant", "system", "developer")

_WANTED = {
    "function_call": ("call_id", "name", "arguments"),
    "input_text": ("text",),
    "output_text": ("text",),
    "text": ("text",),
    "summary_text": ("text",),
    "reasoning_text": ("text",),
    "refusal": ("refusal",),
}
_OPTIONAL = {
    "message": ("id", "status", "phase"),
    "reasoning": ("id", "status", "encrypted_content"),
    "function_call": ("id", "status"),
    "function_call_output": ("call_id", "name", "id", "status"),
    "input_image": ("image_url", "file_id", "detail"),
    "input_file": ("file_data", "file_url", "file_id", "filename", "detail"),
}


def check_item(item: JsonObject, path: Path) -> None:
    kind = opt_str(item, "type", path)
    if kind is None and "role" not in item and not isinstance(item.get("id"), str):
        raise MalformedInput("an item needs a type or a role", path=render(path))
    if kind is None and "role" in item:
        kind = "message"
    _check_fields(item, kind, path)
    check = _CHECKS.get(kind or "")
    if check is not None:
        check(item, path)


def _check_message(item: JsonObject, path: Path) -> None:
    role = require_str(item, "role", path)
    if role not in ROLES:
        message = f"expected one of {', '.join(ROLES)}, got {role[:40]!r}"
        raise MalformedInput(message, path=render((*path, "role")))
    _check_content(item, "content", path)


def _check_output(item: JsonObject, path: Path) -> None:
    _check_content(item, "output", path)


def _check_reasoning(item: JsonObject, path: Path) -> None:
    for field in ("summary", "content"):
        _check_parts(opt_list(item, field, path), (*path, field))


def _check_content(item: JsonObject, field: str, path: Path) -> None:
    value = item.get(field)
    if isinstance(value, str):
        return
    if not isinstance(value, list):
        if field not in item:
            raise MalformedInput("required field is missing", path=render((*path, field)))
        raise malformed((*path, field), "a string or an array", value)
    _check_parts(value, (*path, field))


def _check_parts(parts: list[Any], path: Path) -> None:
    for part, at in objects(parts, path):
        _check_fields(part, require_str(part, "type", at), at)


def _check_fields(obj: JsonObject, kind: str | None, path: Path) -> None:
    for field in _WANTED.get(kind or "", ()):
        require_str(obj, field, path)
    for field in _OPTIONAL.get(kind or "", ()):
        if field in obj:
            opt_str(obj, field, path)


_CHECKS: dict[str, Callable[[JsonObject, Path], None]] = {
    "message": _check_message,
    "reasoning": _check_reasoning,
    "function_call_output": _check_output,
}
