"""Thinking blocks on their own: taken out, filtered, put into each vendor's field, and counted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from thinkwire.messages import Seal, Thinking, Turn
from thinkwire.replay.policy import Strip, stripped

_CHARACTERS_PER_TOKEN = 4


def extract_thinking(turn: Turn) -> tuple[Thinking, ...]:
    """The thinking blocks of a turn, in order."""
    return tuple(block for block in turn.blocks if isinstance(block, Thinking))


def filter_thinking(turns: tuple[Turn, ...], strip: Strip) -> tuple[Turn, ...]:
    """The turns as a strip policy leaves them."""
    return stripped(turns, strip)


def to_reasoning_field(blocks: Iterable[Thinking]) -> str | None:
    """One string, for wires with a `reasoning_content`; None when there is nothing to read."""
    return "\n".join(block.text for block in blocks if block.text) or None


def to_anthropic_blocks(blocks: Iterable[Thinking]) -> list[dict[str, Any]]:
    """Native blocks of those that the vendor signed; the others it would refuse."""
    native: list[dict[str, Any]] = []
    for block in blocks:
        match block.seal:
            case Seal(scheme="anthropic.signature", data=data):
                native.append({"type": "thinking", "thinking": block.text, "signature": data})
            case Seal(scheme="anthropic.redacted", data=data):
                native.append({"type": "redacted_thinking", "data": data})
    return native


def to_gemini_parts(blocks: Iterable[Thinking]) -> list[dict[str, Any]]:
    """Thought parts, each with its signature where it has one of the vendor's."""
    parts = []
    for block in blocks:
        part: dict[str, Any] = {"text": block.text, "thought": True}
        if block.seal is not None and block.seal.scheme == "gemini.thought":
            part["thoughtSignature"] = block.seal.data
        if block.text or "thoughtSignature" in part:
            parts.append(part)
    return parts


def estimate_thinking_tokens(blocks: Iterable[Thinking]) -> int:
    """A rough count: a token for every four characters, rounded up."""
    return -(-sum(len(block.text) for block in blocks) // _CHARACTERS_PER_TOKEN)
