"""What a model has said, as the next request repeats it."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from tests.sdk.views import OWN_SEALS
from thinkwire.dialects import get
from thinkwire.events import Answer
from thinkwire.messages import Block, Form, Opaque, Text, Thinking, ToolCall


def said(answer: Answer, dialect: str) -> list[Block]:
    """What the dialect's next request can say of an answer."""
    shown = [_own(_bare(block), dialect) for block in answer.turn.blocks]
    blocks = [block for block in shown if block is not None]
    if dialect in ("anthropic", "gemini"):
        # In a history, these two write a refusal as any other text.
        blocks = [replace(block, refusal=False) if isinstance(block, Text) else block for block in blocks]
    return _joined(blocks) if dialect == "gemini" else blocks


def _own(block: Block, dialect: str) -> Block | None:
    """Thinking in the dialect's own form, if it has one. Clients never saw another maker's seal."""
    if not isinstance(block, Thinking) or block.seal is None or block.seal.scheme in OWN_SEALS[dialect]:
        return block
    if not block.text and dialect in ("openai-chat", "gemini"):
        return None
    readable: Form = "summary" if dialect in ("openai-responses", "gemini") else "full"
    field = "reasoning_content" if dialect == "openai-chat" else None
    return replace(block, seal=None, form=readable if block.text else "hidden", field=field)


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
