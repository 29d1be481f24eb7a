"""Laws of the stream: frames folded are the message that is kept, however they are cut, and without seals."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.web.webs import folded
from thinkwire.errors import Failure
from thinkwire.events import Answer, Finished, collect, events_of
from thinkwire.jsonvalue import dump_text
from thinkwire.messages import Block, Image, Opaque, Origin, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.notes import Note
from thinkwire.session import SessionEvent, ToolEnded, ToolStarted, TurnSaved
from thinkwire.store.rows import MessageRow
from thinkwire.web.api.message_groups import MessageGroup, groups
from thinkwire.web.broadcast import Broadcast
from thinkwire.web.ui_stream.encoder import Frame, UIStreamEncoder, merged
from thinkwire.web.ui_stream.parts import parts_of

MARK = "5ea1ed-proof"


class Step(msgspec.Struct):
    """One request: its answer, and what its calls gave back."""

    answer: Answer
    results: tuple[ToolResult, ...] = ()


def sealed(block: Block) -> Block:
    if hasattr(block, "seal"):
        return msgspec.structs.replace(block, seal=Seal("anthropic.signature", MARK), extras={})
    return block


short = st.sampled_from(["", "a", "Ünder\u2028lines", "<b>two words</b>", "\n"])
blocks = st.lists(
    st.builds(Text, short, refusal=st.booleans())
    | st.builds(Thinking, short, form=st.sampled_from(["full", "summary", "redacted", "hidden"]))
    | st.builds(ToolCall, st.just(""), st.just("look"), st.sampled_from(["", '{"a":1}', '{"a', "[]"]))
    | st.just(Image("image/png", data="aGk="))
    | st.just(Opaque("gemini", {"proof": MARK})),
    max_size=5,
)


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    found: list[Step] = []
    for number in range(draw(st.integers(1, 3))):
        named = [
            msgspec.structs.replace(block, id=f"call_{number}_{index}")
            if isinstance(block, ToolCall)
            else block
            for index, block in enumerate(draw(blocks))
        ]
        turn = Turn("assistant", tuple(map(sealed, named)), origin=Origin(model="m", response_id="r"))
        notes = tuple(Note("reasoning.adjusted", text) for text in draw(st.lists(short, max_size=2)))
        failure = draw(st.none() | st.just(Failure("overloaded", "busy")))
        answer = Answer(turn, finish=None if failure else "stop", notes=notes, failure=failure)
        answered = draw(st.integers(0, len(turn.tool_calls)))
        results = tuple(
            ToolResult(call.id, (Text(draw(short)),), failed=draw(st.booleans()))
            for call in turn.tool_calls[:answered]
        )
        found.append(Step(answer, results))
    return found


def happenings(step: Step, id: str, cut: int | None = None) -> list[SessionEvent]:
    return [
        *list(events_of(step.answer))[:cut],
        TurnSaved(id, "assistant", "complete"),
        *(ToolStarted(call) for call in step.answer.turn.tool_calls),
        *(ToolEnded(result.call_id, result, 0.1) for result in step.results),
    ]


def kept(id: str, turn: Turn, notes: tuple[Note, ...] = ()) -> MessageRow:
    return MessageRow(
        id=id,
        conversation_id="c",
        parent_id=None,
        seq=1,
        role=turn.role,
        kind="turn",
        turn=turn,
        thinking=turn.thinking,
        text=turn.text,
        status="complete",
        notes=notes,
        created=0.0,
        updated=0.0,
    )


def stored(all_steps: list[Step], cut: int | None = None) -> MessageGroup:
    rows: list[MessageRow] = []
    for number, step in enumerate(all_steps):
        answer = collect(list(events_of(step.answer))[:cut])
        rows.append(kept(f"m{number}", answer.turn, answer.notes))
        if step.results:
            rows.append(kept(f"r{number}", Turn("user", step.results)))
    (group,) = groups(rows)
    return group


def told(all_steps: list[Step], cut: int | None = None) -> list[Frame]:
    teller = UIStreamEncoder()
    frames = [
        frame
        for number, step in enumerate(all_steps)
        for happening in happenings(step, f"m{number}", cut)
        for frame in teller.tell(happening)
    ]
    return [*frames, *teller.close()]


def in_place(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parts that have a place of their own; Notes and files come when they can."""
    return [part for part in parts if part["type"] not in ("data-note", "file")]


def out_of_place(parts: list[dict[str, Any]]) -> list[str]:
    return sorted(dump_text(part) for part in parts if part["type"] in ("data-note", "file"))


@given(steps())
def test_frames_folded_are_the_message_that_is_kept(all_steps: list[Step]) -> None:
    seen, there = folded(told(all_steps))["parts"], parts_of(stored(all_steps))
    assert in_place(seen) == in_place(there)
    assert out_of_place(seen) == out_of_place(there)


@given(steps(), st.integers(1, 12))
def test_an_answer_that_breaks_off_is_told_as_it_is_kept(all_steps: list[Step], cut: int) -> None:
    one = [msgspec.structs.replace(all_steps[0], results=())]
    assert in_place(folded(told(one, cut))["parts"]) == in_place(parts_of(stored(one, cut)))


@given(steps(), st.data())
def test_joined_frames_say_the_same_from_wherever_one_comes_back(all_steps: list[Step], data: Any) -> None:
    numbered = list(enumerate(told(all_steps), 1))
    whole = folded([frame for _, frame in numbered])
    cut = data.draw(st.integers(0, len(numbered)))
    first, rest = list(merged(numbered[:cut])), list(merged(numbered[cut:]))
    assert folded([frame for _, frame in (*first, *rest)]) == whole
    assert [number for number, _ in (*first, *rest)][-1:] == [number for number, _ in numbered][-1:]
    assert all(number <= cut for number, _ in first)


KNOWN: dict[str, set[str]] = {
    "start-step": set(),
    "finish-step": set(),
    "message-metadata": {"messageMetadata"},
    "text-start": {"id", "providerMetadata"},
    "text-delta": {"id", "delta"},
    "text-end": {"id"},
    "reasoning-start": {"id", "providerMetadata"},
    "reasoning-delta": {"id", "delta"},
    "reasoning-end": {"id"},
    "tool-input-start": {"toolCallId", "toolName", "dynamic"},
    "tool-input-delta": {"toolCallId", "inputTextDelta"},
    "tool-input-available": {"toolCallId", "toolName", "input", "dynamic"},
    "tool-output-available": {"toolCallId", "output", "dynamic"},
    "tool-output-error": {"toolCallId", "errorText", "dynamic"},
    "file": {"url", "mediaType"},
    "data-note": {"id", "data"},
    "data-redacted": {"id", "data"},
}
"""The protocol's frames and their fields; its readers refuse others."""


@given(steps())
def test_frames_are_the_protocols_and_no_seal_is_ever_told(all_steps: list[Step]) -> None:
    frames = told(all_steps)
    assert MARK not in dump_text([frames, parts_of(stored(all_steps))])
    for frame in frames:
        assert frame.keys() - {"type"} <= KNOWN[frame["type"]], frame


@pytest.mark.anyio
async def test_a_broadcast_is_read_whole_by_all_who_read_it() -> None:
    broadcast = Broadcast()
    frames: list[Frame] = [{"type": "text-delta", "id": "1.0", "delta": str(number)} for number in range(9)]
    broadcast.say(*frames[:4])
    early = broadcast.follow()
    assert (await anext(early))[0] == (4, {"type": "text-delta", "id": "1.0", "delta": "0123"})
    broadcast.say(*frames[4:])
    broadcast.end()
    assert [batch async for batch in early] == [[(9, frames[4] | {"delta": "45678"})]]
    assert [pair async for batch in broadcast.follow(7) for pair in batch] == [
        (9, frames[7] | {"delta": "78"})
    ]
    apart = [pair async for batch in broadcast.follow(joined=False) for pair in batch]
    assert apart == list(enumerate(frames, 1))
    assert [batch async for batch in broadcast.follow(99)] == []


def test_finished_is_no_frame_of_its_own() -> None:
    assert list(UIStreamEncoder().tell(Finished("stop"))) == []
