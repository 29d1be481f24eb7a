"""Contents and turns.

A content that holds nothing but tool results, and the user's content right after it, are one turn here; on
the wire they are two, because results want a content of their own.
"""

from __future__ import annotations

from typing import NamedTuple

from thinkwire.dialects.gemini.constants import CONTENT, NAME, SCHEME, fields
from thinkwire.dialects.gemini.parts import foreign_seal, read_part, write_part
from thinkwire.dialects.gemini.tool_results import matched, write_result
from thinkwire.dialects.pending_calls import PendingCalls
from thinkwire.dialects.shared import as_extras, made_up_id, own, plain_words
from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import JsonObject, Path, objects, opt_list, opt_str, render, unknown_fields
from thinkwire.messages import Block, Role, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.notes import Note

_ROLES: dict[str | None, Role] = {
    "user": "user",
    "model": "assistant",
    "function": "user",
    "system": "system",
    None: "user",
}
_USUAL = {"user": "user", "assistant": "model", "system": "system"}
_MARKS = frozenset(("mixed", "results"))


def read_contents(items: list[object], path: Path) -> tuple[Turn, ...]:
    """All turns, every part a block, each result joined to the call it answers."""
    turns: list[Turn] = []
    calls = _Calls()
    for item, at in objects(items, path):
        turn = _read_content(item, at, calls)
        if (
            turn.role == "user"
            and turn.blocks
            and turns
            and _only_results(turns[-1])
            and not _has_results(turn)
        ):
            turn = _joined(turns.pop(), turn)
        turns.append(turn)
    return tuple(turns)


def _read_content(item: JsonObject, path: Path, calls: _Calls) -> Turn:
    item = fields(item, CONTENT)
    native = opt_str(item, "role", path)
    if native not in _ROLES:
        raise MalformedInput(f"a role is user or model, not {native!r}", path=render((*path, "role")))
    role = _ROLES[native]
    extras = unknown_fields(item, CONTENT)
    if native != _USUAL[role]:
        extras["role"] = native
    parts = objects(opt_list(item, "parts", path), (*path, "parts"))
    blocks = [calls.seen(read_part(part, at), at) for part, at in parts]
    calls.new_side(role)
    results = [block for block in blocks if isinstance(block, ToolResult)]
    if role == "user" and results and len(results) < len(blocks):
        extras["mixed"] = True
        blocks = [*results, *(block for block in blocks if not isinstance(block, ToolResult))]
    return Turn(role, tuple(blocks), extras=as_extras(NAME, extras))


def _only_results(turn: Turn) -> bool:
    results = all(isinstance(block, ToolResult) for block in turn.blocks)
    return turn.role == "user" and bool(turn.blocks) and results


def _has_results(turn: Turn) -> bool:
    return any(isinstance(block, ToolResult) for block in turn.blocks)


def _joined(results: Turn, rest: Turn) -> Turn:
    extras = dict(own(rest.extras, NAME))
    if held := own(results.extras, NAME):
        extras["results"] = held
    return Turn("user", results.blocks + rest.blocks, extras=as_extras(NAME, extras))


class _Calls:
    """The calls that wait for their results: of the latest model contents, in order."""

    def __init__(self) -> None:
        self._waiting = PendingCalls()
        self._answered = False

    def seen(self, block: Block, path: Path) -> Block:
        if isinstance(block, ToolCall):
            if self._answered:
                self._waiting = PendingCalls()
                self._answered = False
            self._waiting.add(block)
        elif isinstance(block, ToolResult):
            return self._match(block, path)
        return block

    def new_side(self, role: Role) -> None:
        """The user has spoken: the model's next calls are a new step."""
        self._answered = self._answered or role == "user"

    def _match(self, result: ToolResult, path: Path) -> ToolResult:
        if result.call_id:
            self._waiting.take_every_id(result.call_id)
            return result
        call = self._waiting.take_name(result.name)
        if call is not None:
            return matched(result, call.id, call_without_id=without_id(call))
        return matched(result, made_up_id("result", render(path), result.name), call_without_id=False)


def without_id(call: ToolCall) -> bool:
    """Whether the provider gave no id, so that ours must not go to it."""
    return bool(own(call.extras, NAME).get("no_id"))


class Written(NamedTuple):
    contents: list[JsonObject]
    system: list[Text]
    """System text from between the turns, which this wire has no place for."""


def write_contents(turns: tuple[Turn, ...], notes: list[Note]) -> Written:
    written = Written([], [])
    called: dict[str, tuple[str | None, bool]] = {}
    for index, turn in enumerate(turns):
        path = f"turns[{index}]"
        if turn.role == "system":
            written.system.extend(_moved(turn, notes, path))
            continue
        if NAME not in turn.extras and (words := plain_words(turn.blocks, NAME)) is not None:
            written.contents.append({"role": _USUAL[turn.role], "parts": [{"text": words}]})
            continue
        for block in turn.blocks:
            if isinstance(block, ToolCall):
                called[block.id] = (block.name, without_id(block))
        written.contents.extend(_write_turn(turn, called, notes, path))
    return written


def _write_turn(
    turn: Turn, called: dict[str, tuple[str | None, bool]], notes: list[Note], path: str
) -> list[JsonObject]:
    results: list[JsonObject] = []
    rest: list[JsonObject] = []
    for index, block in enumerate(turn.blocks):
        at = f"{path}.blocks[{index}]"
        if isinstance(block, ToolResult):
            part, after = write_result(block, called.get(block.call_id, (None, False)), notes, at)
            (results if turn.role == "user" else rest).append(part)
            rest.extend(after)
        elif (other := _write_block(block, notes, at)) is not None:
            rest.append(other)
    held = own(turn.extras, NAME)
    if held.get("mixed"):
        return [_content(turn, results + rest, held)]
    if not results:
        return [_content(turn, rest, held)] if rest or not turn.blocks else []
    if not rest:
        return [_content(turn, results, held)]
    return [_content(turn, results, held.get("results", {})), _content(turn, rest, held)]


def _write_block(block: Block, notes: list[Note], path: str) -> JsonObject | None:
    if isinstance(block, Thinking) and foreign_seal(block):
        scheme = block.seal.scheme if block.seal else ""
        notes.append(
            Note("thinking.dropped", f"thinking with a {scheme} seal; {NAME} takes only {SCHEME}", path=path)
        )
        return None
    return write_part(block, notes, path)


def _content(turn: Turn, parts: list[JsonObject], held: JsonObject) -> JsonObject:
    content: JsonObject = {"role": _USUAL[turn.role], "parts": parts, **unknown_fields(held, _MARKS)}
    if content["role"] is None:
        del content["role"]
    return content


def _moved(turn: Turn, notes: list[Note], path: str) -> list[Text]:
    texts = [block for block in turn.blocks if isinstance(block, Text)]
    if texts:
        notes.append(
            Note("system.moved", "system text between the turns went to systemInstruction", path=path)
        )
    if len(texts) < len(turn.blocks):
        notes.append(Note("block.dropped", "systemInstruction holds text only", path=path))
    return texts
