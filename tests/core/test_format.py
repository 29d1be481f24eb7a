"""The file form of a conversation: versioned, complete, and refused with a reason when it is neither."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from tests import strategies
from thinkwire.errors import MalformedInput
from thinkwire.messages import Conversation, Seal, Text, Thinking, ToolCall, Turn


@given(strategies.conversations)
def test_reading_what_was_written_gives_the_same_conversation(conversation: Conversation) -> None:
    assert Conversation.from_json(conversation.to_json()) == conversation


def test_the_file_says_its_version_and_its_block_types() -> None:
    sealed = Thinking("hm", seal=Seal("anthropic.signature", "c2ln"))
    conversation = Conversation(turns=(Turn("assistant", (sealed, ToolCall("1", "f", "{}"))),))
    assert json.loads(conversation.to_json()) == {
        "version": 1,
        "conversation": {
            "turns": [
                {
                    "role": "assistant",
                    "blocks": [
                        {
                            "type": "thinking",
                            "text": "hm",
                            "seal": {"scheme": "anthropic.signature", "data": "c2ln"},
                        },
                        {"type": "tool_call", "id": "1", "name": "f", "arguments": "{}"},
                    ],
                }
            ]
        },
    }


@pytest.mark.parametrize(
    ("file", "complaint"),
    [
        (b"", "not a thinkwire conversation"),
        (b"{", "not a thinkwire conversation"),
        (b'{"version": 2, "conversation": {}}', "version: conversation format 2 is not known here"),
        (
            b'{"version": 1, "conversation": {"turns": [{"role": "ghost"}]}}',
            r"turns\[0\].role",
        ),
        (b'{"version": 1, "conversation": {"turns": 3}}', r"\$.conversation.turns"),
        (b"[" * 10_000, "not a thinkwire conversation"),
        (b'{"version": 1, "conversation": {"system": [{"type":"text","text":"\xff"}]}}', "not a thinkwire"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(file: bytes, complaint: str) -> None:
    with pytest.raises(MalformedInput, match=complaint):
        Conversation.from_json(file)


def test_a_conversation_grows_only_at_its_end() -> None:
    first = Conversation(turns=(Turn("user", (Text("hi"),)),))
    second = first.plus(Turn("assistant", (Text("hello"),)))
    assert second.turns[:1] == first.turns
    assert len(first.turns) == 1


def test_a_turn_tells_its_text_thinking_and_calls() -> None:
    call = ToolCall("1", "f", "{}")
    turn = Turn("assistant", (Thinking("a"), Thinking(""), Text("x"), call, Thinking("b"), Text("y")))
    assert (turn.text, turn.thinking, turn.tool_calls) == ("xy", "a\n\nb", (call,))
