"""Anthropic's ready-made tools that the client runs itself, as functions that every model can call.

Their calls are ordinary calls on the wire; only what they take is known to Anthropic's models by heart.
"""

from __future__ import annotations

from typing import Any

from thinkwire.jsonvalue import JsonObject
from thinkwire.request import Tool

_TEXT: JsonObject = {"type": "string"}
_NUMBER: JsonObject = {"type": "integer"}
_POINT: JsonObject = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}


def _one_of(*words: str) -> JsonObject:
    return {"type": "string", "enum": list(words)}


_EDITING: JsonObject = {
    "path": _TEXT,
    "file_text": _TEXT | {"description": "the whole content, for create"},
    "old_str": _TEXT | {"description": "what is replaced, for str_replace; it must occur once"},
    "new_str": _TEXT,
    "insert_line": _NUMBER | {"description": "the line after which insert puts its text; 0 is the top"},
    "insert_text": _TEXT,
    "view_range": _POINT | {"description": "first and last line, for view; -1 is the end"},
}

_FUNCTIONS: dict[str, tuple[str, JsonObject, tuple[str, ...]]] = {
    "bash": (
        "Runs a command in a shell that stays open between calls. `restart` opens a new one.",
        {"command": _TEXT, "restart": {"type": "boolean"}},
        (),
    ),
    "text_editor": (
        "Shows, creates and edits files.",
        {"command": _one_of("view", "create", "str_replace", "insert"), **_EDITING},
        ("command", "path"),
    ),
    "memory": (
        "Keeps notes in files below /memories, for later conversations.",
        {
            "command": _one_of("view", "create", "str_replace", "insert", "delete", "rename"),
            **_EDITING,
            "old_path": _TEXT,
            "new_path": _TEXT,
        },
        ("command",),
    ),
    "computer": (
        "Uses a screen, a mouse and a keyboard. `screenshot` shows the screen.",
        {
            "action": _TEXT
            | {"description": "screenshot, left_click, double_click, type, key, scroll, wait, …"},
            "coordinate": _POINT,
            "start_coordinate": _POINT,
            "text": _TEXT | {"description": "what to type, or the keys to press"},
            "scroll_direction": _one_of("up", "down", "left", "right"),
            "scroll_amount": _NUMBER,
            "duration": {"type": "number"},
        },
        ("action",),
    ),
}
"""The kind of tool, without its date → what it does, what it takes, what it needs."""


def offered(native: Any) -> Tool | None:
    """The function for a tool of Anthropic's; None for one that only Anthropic runs."""
    if not isinstance(native, dict) or not isinstance(native.get("name"), str):
        return None
    kind = str(native.get("type")).rpartition("_")[0]
    found = _FUNCTIONS.get(kind)
    if found is None:
        return None
    description, properties, needed = found
    if kind == "computer":
        width, height = native.get("display_width_px"), native.get("display_height_px")
        description += f" The screen is {width} pixels wide and {height} high."
    schema: JsonObject = {"type": "object", "properties": properties, "required": list(needed)}
    return Tool(native["name"], description, schema)
