"""An earlier conversation, put on the screen again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from thinkwire.messages import Text, Thinking, ToolCall, ToolResult
from thinkwire.session.formatting import what_failed
from thinkwire.store.rows import MessageRow
from thinkwire.terminal.chat.run_renderer import PARTLY, UNREADABLE
from thinkwire.terminal.markdown.widget import MarkdownView
from thinkwire.terminal.widgets.conversation import ConversationView
from thinkwire.terminal.widgets.thinking import ThinkingView
from thinkwire.terminal.widgets.tool_card import ToolCard
from thinkwire.terminal.widgets.user_message import UserMessage, is_said

MOST = 60
"""Messages that are shown again; the transcript has them all."""


async def render_history(talk: ConversationView, path: Sequence[MessageRow]) -> None:
    """The newest messages, as they looked when they came."""
    shown = path[-MOST:]
    with talk.app.batch_update():
        await talk.empty(earlier=len(path) - len(shown))
        cards: dict[str, ToolCard] = {}
        for kept in shown:
            await _message(talk, kept, cards)


async def _message(talk: ConversationView, kept: MessageRow, cards: dict[str, ToolCard]) -> None:
    if kept.kind == "summary":
        await talk.say("Earlier turns are given as a summary from here on.", kind="note")
    elif kept.role == "assistant":
        await _answer(talk, kept, cards)
    elif is_said(kept.turn):
        await talk.put(UserMessage(kept.turn))
    else:
        for block in kept.turn.blocks:
            if isinstance(block, ToolResult) and block.call_id in cards:
                cards[block.call_id].show_result(block)


async def _answer(talk: ConversationView, kept: MessageRow, cards: dict[str, ToolCard]) -> None:
    """The blocks in the order in which they came; neighbouring thoughts are one."""
    thoughts: list[ThinkingView] = []
    for thinks, group in groupby(kept.turn.blocks, lambda block: isinstance(block, Thinking)):
        if thinks:
            thoughts += await _thought(talk, [block for block in group if isinstance(block, Thinking)])
            continue
        for block in group:
            if isinstance(block, Text) and block.text.strip():
                await talk.put(MarkdownView(block.text, classes="answer"))
            elif isinstance(block, ToolCall):
                cards[block.id] = ToolCard(block)
                await talk.put(cards[block.id])
    tokens = kept.usage.output_reasoning if kept.usage else None
    if thoughts:
        thoughts[-1].close(seconds=kept.elapsed_thinking, tokens=tokens)
    if kept.failure is not None:
        await talk.say(f"✗ {what_failed(kept.failure)}", kind="error")
    elif kept.status == "interrupted":
        await talk.say("✗ Interrupted. What arrived is kept.")


async def _thought(talk: ConversationView, blocks: list[Thinking]) -> list[ThinkingView]:
    """One stretch of thinking, or the line that stands for it; none where there was nothing."""
    text = "\n\n".join(block.text for block in blocks if block.text)
    sealed = next((block for block in blocks if block.seal is not None), None)
    if not text and sealed is None:
        return []
    thought = ThinkingView()
    await talk.put(thought)
    thought.close()
    if text:
        await thought.add(text)
        if any(block.form == "redacted" and not block.text for block in blocks):
            thought.remark(PARTLY)
    elif sealed is not None:
        thought.remark(UNREADABLE.get(sealed.form, UNREADABLE["hidden"]))
    return [thought]
