"""Bounds on what one request may consist of, so that none holds the event loop for long.

The bytes of a request are bounded by `max_body_mb`; its cost depends on how many parts they make.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from thinkwire.gateway.common.refusal import Refusal
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import ToolResult, Turn

MAX_MESSAGES = 100_000
"""Messages, contents or input items. No vendor documents a larger bound than Anthropic's, which is this."""
MAX_BLOCKS = 200_000
"""Blocks, parts, calls and results of all messages together."""
MAX_TOOLS = 10_000
"""Tools, those in groups included. Anthropic's catalog for searching tools may have as many."""

_MESSAGES = ("messages", "input", "contents")
"""Where the dialects have their messages."""
_GROUPS = ("functionDeclarations", "function_declarations", "tools")
"""Where a tool that stands for several has them."""


def check_request_size(raw: bytes, body: JsonObject) -> None:
    """Refuse a request of too many messages, blocks or tools. `body` is `raw`, parsed."""
    # What has few objects has few of everything. Counting these bytes takes next to no time.
    if raw.count(b"{") <= MAX_TOOLS:
        return
    for name in _MESSAGES:
        messages = body.get(name)
        if type(messages) is list:
            _check(len(messages), MAX_MESSAGES, "messages", "summarise or leave out the earliest")
            _check(
                sum(map(_count_blocks, messages)), MAX_BLOCKS, "blocks", "summarise or leave out the earliest"
            )
    tools = body.get("tools")
    if type(tools) is list:
        _check(sum(map(_count_tools, tools)), MAX_TOOLS, "tools", "offer only those that are needed")


def check_turns(turns: Sequence[Turn]) -> None:
    """Refuse a conversation that became too long by the stored responses that it refers to."""
    _check(len(turns), MAX_MESSAGES, "messages", "begin a new conversation")
    _check(sum(map(_blocks_of_turn, turns)), MAX_BLOCKS, "blocks", "begin a new conversation")


def _check(count: int, most: int, what: str, advice: str) -> None:
    if count > most:
        message = f"the request has {count:,} {what}, and this gateway takes {most:,} at most: {advice}"
        raise Refusal(400, "bad_request", message)


def _blocks_of_turn(turn: Turn) -> int:
    inside = sum(len(block.content) for block in turn.blocks if type(block) is ToolResult)
    return len(turn.blocks) + inside


def _count_blocks(message: Any) -> int:
    """The objects in the lists of a message, and in the lists of those: results have blocks of their own."""
    return sum(1 + _count_inside(block) for block in _listed_in(message))


def _count_inside(block: JsonObject) -> int:
    direct = sum(1 for _ in _listed_in(block))
    return direct + sum(1 for value in block.values() if type(value) is dict for _ in _listed_in(value))


def _listed_in(value: Any) -> Iterator[JsonObject]:
    if type(value) is dict:
        for field in value.values():
            if type(field) is list:
                yield from (item for item in field if type(item) is dict)


def _count_tools(tool: Any) -> int:
    if type(tool) is not dict:
        return 1
    return max(1, sum(len(tool[name]) for name in _GROUPS if type(tool.get(name)) is list))
