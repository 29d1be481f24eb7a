"""Items of the Responses wire that only OpenAI reads, as calls and results that everybody does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from thinkwire.dialects.openai_responses.constants import AS_STRING, NAME
from thinkwire.dialects.openai_responses.parts import read_parts
from thinkwire.dialects.shared import own
from thinkwire.gateway.ingress.response_tools import Offer
from thinkwire.jsonvalue import JsonObject, dump_text
from thinkwire.messages import Block, Opaque, ResultContent, Text, ToolCall, ToolResult, Turn
from thinkwire.notes import Note

_CHANGING = frozenset((ToolCall, Opaque))
"""Blocks that may be said otherwise here; a turn without them stays as it is."""


class History:
    """One request's turns, read again. `effort` is what the conversation itself asked for last."""

    def __init__(self, offer: Offer, *, same_wire: bool) -> None:
        self.effort: Any = None
        self._offer = offer
        self._same_wire = same_wire
        self._lost: list[str] = []

    def turn(self, turn: Turn) -> Turn | None:
        """The turn in words that everybody knows; None when nothing of it is left."""
        if _CHANGING.isdisjoint(map(type, turn.blocks)):
            bare = turn.extras == AS_STRING and not self._same_wire
            return msgspec.structs.replace(turn, extras={}) if bare else turn
        blocks = tuple(block for given in turn.blocks for block in self._blocks(given))
        if blocks == turn.blocks:
            return turn
        return msgspec.structs.replace(turn, blocks=blocks) if blocks else None

    def notes(self) -> list[Note]:
        if not self._lost:
            return []
        named = ", ".join(dict.fromkeys(self._lost))
        return [Note("block.dropped", f"{len(self._lost)} items that only OpenAI reads: {named}")]

    def _blocks(self, block: Block) -> Iterator[Block]:
        if isinstance(block, ToolCall):
            yield self._flat(block)
        elif not isinstance(block, Opaque) or block.dialect != NAME or not isinstance(block.data, dict):
            yield block
        else:
            yield from self._item(block)

    def _flat(self, call: ToolCall) -> ToolCall:
        said = own(call.extras, NAME)
        namespace = said.get("namespace")
        name = self._offer.name_of("function", call.name, namespace)
        if name == call.name and namespace is None:
            return call
        rest = {key: value for key, value in said.items() if key != "namespace"}
        return msgspec.structs.replace(call, name=name, extras=call.extras | {NAME: rest})

    def _item(self, block: Opaque) -> Iterator[Block]:
        item: JsonObject = block.data
        kind = str(item.get("type"))
        if kind == "configuration_update":
            reasoning = item.get("reasoning")
            effort = reasoning.get("effort") if isinstance(reasoning, dict) else None
            self.effort = self.effort if effort is None else effort
        elif kind in _CALLS and isinstance(item.get("call_id"), str):
            yield self._call(kind, item)
        elif kind in _RESULTS and (call_id := item.get("call_id") or item.get("id")):
            yield _RESULTS[kind](str(call_id), item)
        elif kind == "additional_tools":
            return
        elif self._same_wire and not kind.startswith("input_"):
            self._lost.append(kind)
        else:
            yield block

    def _call(self, kind: str, item: JsonObject) -> ToolCall:
        tool, arguments = _CALLS[kind]
        name = self._offer.name_of(tool, str(item.get("name") or tool), item.get("namespace"))
        return ToolCall(item["call_id"], name, dump_text(arguments(item)))


_CALLS: dict[str, tuple[str, Callable[[JsonObject], Any]]] = {
    "custom_tool_call": ("custom", lambda item: {"input": item.get("input", "")}),
    "tool_search_call": ("tool_search", lambda item: item.get("arguments") or {}),
    "local_shell_call": ("local_shell", lambda item: _without_type(item.get("action"))),
    "shell_call": ("shell", lambda item: item.get("action") or {}),
    "apply_patch_call": ("apply_patch", lambda item: item.get("operation") or {}),
}
"""The type of a call → the kind of tool, and what it was called with."""


def _without_type(action: Any) -> JsonObject:
    return {key: value for key, value in action.items() if key != "type"} if isinstance(action, dict) else {}


def _plain(call_id: str, item: JsonObject) -> ToolResult:
    output = item.get("output")
    return ToolResult(call_id, _content(output), failed=item.get("status") == "failed")


def _content(output: Any) -> tuple[ResultContent, ...]:
    if isinstance(output, str):
        return (Text(output),) if output else ()
    if isinstance(output, list) and all(isinstance(part, dict) for part in output):
        return read_parts(output)
    return () if output is None else (Text(dump_text(output)),)


def _found(call_id: str, item: JsonObject) -> ToolResult:
    names = [str(tool.get("name")) for tool in item.get("tools") or () if isinstance(tool, dict)]
    told = f"Loaded, and can be called now: {', '.join(names)}." if names else "Nothing was found."
    return ToolResult(call_id, (Text(told),))


def _ran(call_id: str, item: JsonObject) -> ToolResult:
    output = item.get("output")
    chunks = [chunk for chunk in output if isinstance(chunk, dict)] if isinstance(output, list) else []
    return ToolResult(call_id, tuple(Text(_told(chunk)) for chunk in chunks) or _content(output))


def _told(chunk: JsonObject) -> str:
    parts = [str(chunk.get(name) or "") for name in ("stdout", "stderr")]
    outcome = chunk.get("outcome")
    if isinstance(outcome, dict):
        code = outcome.get("exit_code")
        parts.append(f"(exit code {code})" if code is not None else f"({outcome.get('type')})")
    return "\n".join(part for part in parts if part)


_RESULTS: dict[str, Callable[[str, JsonObject], ToolResult]] = {
    "custom_tool_call_output": _plain,
    "local_shell_call_output": _plain,
    "apply_patch_call_output": _plain,
    "tool_search_output": _found,
    "shell_call_output": _ran,
}
