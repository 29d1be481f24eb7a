"""What a model has said, as the next request repeats it."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from thinkwire.dialects import get
from thinkwire.events import Answer
from thinkwire.messages import Block, Opaque, Text, Thinking, ToolCall


def said(answer: Answer, dialect: str) -> list[Block]:
    """What the dialect's next request can say of an answer."""
    blocks = [_bare(block) for block in answer.turn.blocks]
    if dialect in ("anthropic", "gemini"):
        # In a history, these two write a refusal as any other text.
        blocks = [replace(block, refusal=False) if isinstance(block, Text) else block for block in blocks]
    return _joined(blocks) if dialect == "gemini" else blocks


def said_again(dialect: str, body: Any) -> list[Block]:
    """What a request says that the model has said."""
    turns = get(dialect).decode_request(body).turns
    blocks = [_bare(block) for turn in turns if turn.role == "assistant" for block in turn.blocks]
    return _joined(blocks) if dialect == "gemini" else blocks


def _bare(block: Block) -> Block:
    """The block with nothing that may differ in a second telling: extras, and spaces in JSON."""
    if isinstance(block, Opaque):
        return block
    if isinstance(block, ToolCall):
        compact = json.dumps(json.loads(block.arguments), ensure_ascii=False, separators=(",", ":"))
        return replace(block, arguments=compact, extras={})
    return replace(block, extras={})


def _joined(blocks: list[Block]) -> list[Block]:
    """Google's answers come in parts that mean nothing; a part with a signature ends what it belongs to."""
    kept: list[Block] = []
    for block in blocks:
        last = kept[-1] if kept else None
        if isinstance(block, Text | Thinking) and type(last) is type(block) and not last.seal:
            kept[-1] = replace(last, text=last.text + block.text, seal=block.seal)
        elif block != Text():
            kept.append(block)
    return kept
