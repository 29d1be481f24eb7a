"""Conversations of any length, in the shapes that made something quadratic once or could."""

from __future__ import annotations

from collections.abc import Callable

from thinkwire.messages import Block, Opaque, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.request import Request, Tool, ToolChoice

_FIRST = Turn("user", (Text("Hello"),))
_LAST = Turn("user", (Text("Go on"),))


def _user(at: int) -> Turn:
    return Turn("user", (Text(f"question {at}"),))


def _model(at: int) -> Turn:
    return Turn("assistant", (Text(f"answer {at}"),))


def _system(at: int) -> Turn:
    return Turn("system", (Text(f"rule {at}"),))


def _calling(*ids: str) -> Turn:
    return Turn("assistant", tuple(ToolCall(call_id, "look", "{}") for call_id in ids))


def _answering(*ids: str) -> Turn:
    return Turn("user", tuple(ToolResult(call_id, (Text("seen"),), name="look") for call_id in ids))


def _thinking(at: int) -> Thinking:
    return Thinking(f"thought {at}", seal=Seal("anthropic.signature", "c2ln"))


def _between(turns: list[Turn]) -> Request:
    return Request("m", (_FIRST, *turns, _LAST))


def _ids(count: int) -> list[str]:
    return [f"call_{at}" for at in range(count)]


def _one_turn(blocks: list[Block], role: str = "user") -> Request:
    return _between([Turn("user" if role == "user" else "assistant", tuple(blocks))])


def _alternating(count: int) -> Request:
    return _between([turn for at in range(count // 2) for turn in (_model(at), _user(at))])


def _misplaced_systems(count: int) -> Request:
    return _between([turn for at in range(count // 2) for turn in (_system(at), _model(at))])


def _tool_loop(count: int) -> Request:
    return _between([turn for name in _ids(count // 2) for turn in (_calling(name), _answering(name))])


def _late_results(count: int) -> Request:
    ids = _ids(count // 2)
    return _between([*map(_calling, ids), *map(_answering, ids)])


def _unknown_results(count: int) -> Request:
    ids = _ids(count // 2)
    return _between([*map(_calling, ids), *(_answering(f"other_{name}") for name in ids)])


def _tools(count: int) -> Request:
    names = [f"tool_{at}" for at in range(count)]
    tools = tuple(Tool(name, "A tool", {"type": "object"}) for name in names)
    return Request("m", (_FIRST,), tools=tools, tool_choice=ToolChoice("any", tuple(names)))


def _references(count: int) -> Request:
    items = [{"type": "item_reference", "id": f"rs_{at}"} for at in range(count)]
    return _one_turn([Opaque("openai_responses", item) for item in items])


def _huge_turn(count: int) -> Request:
    question = Turn("user", (Text("long words " * (count * 20)),))
    return Request("m", (question, *map(_model, range(count // 10)), _LAST))


SHAPES: dict[str, Callable[[int], Request]] = {
    "user messages in a row": lambda count: _between([_user(at) for at in range(count)]),
    "assistant messages in a row": lambda count: _between([_model(at) for at in range(count)]),
    "alternating messages": _alternating,
    "system messages in a row": lambda count: _between([_system(at) for at in range(count)]),
    "system messages before the model": _misplaced_systems,
    "blocks of a user": lambda count: _one_turn([Text(f"block {at}") for at in range(count)]),
    "blocks of the model": lambda count: _one_turn([Text(f"block {at}") for at in range(count)], "model"),
    "empty blocks": lambda count: _one_turn([Text("") for _ in range(count)]),
    "thoughts in a message": lambda count: _one_turn([_thinking(at) for at in range(count)], "model"),
    "tools": _tools,
    "tools of one name": lambda count: Request("m", (_FIRST,), tools=(Tool("one"),) * count),
    "a tool loop": _tool_loop,
    "parallel calls": lambda count: _between([_calling(*_ids(count)), _answering(*_ids(count))]),
    "parallel calls answered in reverse": lambda count: _between(
        [_calling(*_ids(count)), _answering(*reversed(_ids(count)))]
    ),
    "calls before their results": _late_results,
    "results of unknown calls": _unknown_results,
    "calls of one id": lambda count: _between(
        [_calling(*["call_1"] * count), _answering(*["call_1"] * count)]
    ),
    "item references": _references,
    "one huge user turn": _huge_turn,
}
