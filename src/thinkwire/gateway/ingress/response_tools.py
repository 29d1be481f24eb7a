"""Tools of the Responses wire that are no functions, and the functions that stand for them elsewhere.

A free-form tool becomes a function with one text, a namespace a prefix. Tools that the client runs itself
stay callable; those that only the vendor runs have no stand-in.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from thinkwire.dialects.openai_responses.constants import minted
from thinkwire.dialects.openai_responses.tools import read_tools
from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import JsonObject, parse
from thinkwire.messages import Opaque
from thinkwire.request import Tool

_LONGEST = 64
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
_TOP = "functions"
"""The namespace that stands for none: models name its tools without it."""

_INPUT: JsonObject = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
_WORDS: JsonObject = {"type": "array", "items": {"type": "string"}}
_TEXT: JsonObject = {"type": "string"}
_NUMBER: JsonObject = {"type": "integer"}


class Known(msgspec.Struct, frozen=True):
    """How the client knows a tool. `kind` is the native type of the tool."""

    kind: str
    name: str
    namespace: str | None = None

    @property
    def is_plain(self) -> bool:
        return self.kind == "function" and self.namespace is None


def flat_name(name: str, namespace: str | None) -> str:
    """One name for both, such as every vendor takes; always the same for the same two."""
    flat = f"{namespace}__{name}" if namespace and namespace != _TOP else name
    legal = _ILLEGAL.sub("_", flat)
    if legal == flat and len(flat) <= _LONGEST:
        return flat
    digest = hashlib.sha256(flat.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{legal[: _LONGEST - 9]}_{digest}"


class Offer(msgspec.Struct):
    """The functions that are offered, how the client knows each, and the tools that nobody here can run."""

    tools: dict[str, Tool] = {}
    known: dict[str, Known] = {}
    left_out: list[str] = []
    _flat_names: dict[Known, str] = {}
    """The first name under which each tool is offered; made when it is asked for, empty until then."""
    _flat_by_name: dict[str, str] = {}

    def add(self, tools: Iterable[Tool | Opaque], namespace: str | None = None, about: str = "") -> None:
        for tool in tools:
            if isinstance(tool, Tool):
                self._take(tool, Known("function", tool.name, namespace), about)
            elif isinstance(tool.data, dict):
                self._add_native(tool.data, namespace, about)

    def _add_native(self, native: JsonObject, namespace: str | None, about: str) -> None:
        kind = str(native.get("type"))
        name = str(native.get("name") or kind)
        if kind == "namespace":
            self.add(_inner(native), name, str(native.get("description") or ""))
            return
        stands = _STAND_INS.get(kind)
        tool = stands(name, native) if stands else None
        if tool is None:
            self.left_out.append(kind)
        else:
            self._take(tool, Known(kind, name, namespace), about)

    def _take(self, tool: Tool, known: Known, about: str) -> None:
        if known.namespace == _TOP:
            known = msgspec.structs.replace(known, namespace=None)
        name = flat_name(known.name, known.namespace)
        if name in self.known and self.known[name] != known:
            name = flat_name(f"{known.name}.{known.kind}", known.namespace)
        group = f"(One of {known.namespace}: {about})" if known.namespace and about else ""
        description = "\n\n".join(part for part in (tool.description, group) if part) or None
        self._flat_names, self._flat_by_name = {}, {}
        self.tools[name] = msgspec.structs.replace(tool, name=name, description=description)
        self.known[name] = known

    def name_of(self, kind: str, name: str, namespace: str | None = None) -> str:
        """The name under which a tool is offered, or would be."""
        wanted = Known(kind, name, None if namespace == _TOP else namespace)
        usual = flat_name(name, wanted.namespace)
        if self.known.get(usual) == wanted:
            return usual
        if not self._flat_names:
            self._make_indexes()
        return self._flat_names.get(wanted, usual)

    def flat_of(self, name: str) -> str:
        """The name under which a tool is offered that the client knows by this one, in any namespace."""
        if not self._flat_by_name:
            self._make_indexes()
        return self._flat_by_name.get(name, name)

    def _make_indexes(self) -> None:
        for flat, known in self.known.items():
            self._flat_names.setdefault(known, flat)
            self._flat_by_name.setdefault(known.name, flat)


def _inner(namespace: JsonObject) -> tuple[Tool | Opaque, ...]:
    tools = namespace.get("tools")
    return read_tools(tools, ("tools",)) if isinstance(tools, list) else ()


def _free_form(name: str, native: JsonObject) -> Tool:
    form = native.get("format")
    parts = [str(native.get("description") or "")]
    if isinstance(form, dict) and form.get("type") == "grammar":
        rule = f"`input` must follow this {form.get('syntax')} grammar:\n{form.get('definition')}"
        parts.append(rule)
    return Tool(name, "\n\n".join(part for part in parts if part) or None, _INPUT)


def _search(name: str, native: JsonObject) -> Tool | None:
    """A search for tools that the client makes; its parameters are the client's own."""
    schema = native.get("parameters")
    if native.get("execution") != "client" or not isinstance(schema, dict):
        return None
    return Tool(name, str(native.get("description") or ""), schema)


def _local_shell(name: str, native: JsonObject) -> Tool:
    properties: JsonObject = {"command": _WORDS, "working_directory": _TEXT, "timeout_ms": _NUMBER}
    schema = {"type": "object", "properties": properties, "required": ["command"]}
    return Tool(name, "Runs a program, given with its arguments, on the user's machine.", schema)


def _shell(name: str, native: JsonObject) -> Tool | None:
    environment = native.get("environment")
    if isinstance(environment, dict) and environment.get("type") != "local":
        return None
    properties: JsonObject = {"commands": _WORDS, "timeout_ms": _NUMBER, "max_output_length": _NUMBER}
    schema = {"type": "object", "properties": properties, "required": ["commands"]}
    return Tool(name, "Runs shell commands on the user's machine, one after the other.", schema)


def _apply_patch(name: str, native: JsonObject) -> Tool:
    kinds = {"type": "string", "enum": ["create_file", "update_file", "delete_file"]}
    properties: JsonObject = {"type": kinds, "path": _TEXT, "diff": _TEXT}
    schema = {"type": "object", "properties": properties, "required": ["type", "path"]}
    return Tool(name, "Creates, updates or deletes a file; `diff` is a unified diff of its hunks.", schema)


_STAND_INS: dict[str, Callable[[str, JsonObject], Tool | None]] = {
    "custom": _free_form,
    "tool_search": _search,
    "local_shell": _local_shell,
    "shell": _shell,
    "apply_patch": _apply_patch,
}


def native_call(known: Known, call_id: str, arguments: str, *, whole: bool = True) -> JsonObject:
    """The item that tells the client of a call, in the words of the tool that it knows."""
    given = _object(arguments)
    fields: JsonObject
    match known.kind:
        case "tool_search":
            fields = {"execution": "client", "arguments": given}
        case "local_shell":
            fields = {"action": {"type": "exec", "env": {}, **given, "command": _command(given)}}
        case "shell":
            fields = {"action": given}
        case "apply_patch":
            fields = {"operation": given}
        case _:
            fields = {"name": known.name, "input": _free_text(given, arguments)}
    if known.namespace is not None:
        fields["namespace"] = known.namespace
    item_type, prefix = _CALLS[known.kind]
    status = "completed" if whole else "incomplete"
    return {
        "type": item_type,
        "id": minted(prefix, call_id),
        "status": status,
        "call_id": call_id,
        **fields,
    }


_CALLS = {
    "custom": ("custom_tool_call", "ctc"),
    "tool_search": ("tool_search_call", "tsc"),
    "local_shell": ("local_shell_call", "lsh"),
    "shell": ("shell_call", "sh"),
    "apply_patch": ("apply_patch_call", "apc"),
}
"""The kind of tool → the type of its calls, and how their ids begin."""


def _object(arguments: str) -> JsonObject:
    try:
        value = parse(arguments) if arguments.strip() else {}
    except MalformedInput:
        value = None
    return value if isinstance(value, dict) else {}


def _free_text(given: JsonObject, arguments: str) -> str:
    """The one text of a free-form call; models that were not made for it may name it otherwise."""
    texts = [value for value in given.values() if isinstance(value, str)]
    said: Any = given.get("input", texts[0] if len(texts) == 1 else arguments)
    return said if isinstance(said, str) else arguments


def _command(given: JsonObject) -> list[str]:
    command = given.get("command")
    if isinstance(command, str):
        return ["bash", "-lc", command]
    return [str(word) for word in command] if isinstance(command, list) else []
