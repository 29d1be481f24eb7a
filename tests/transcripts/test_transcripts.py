"""Transcripts in and out: ours without loss, other programs' with their thinking, Markdown without seals."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import conversations, names, some_words, turns, usages
from tests.support import clients_root
from tests.transcripts.samples import CLAUDE_CODE, CODEX, COMPACTED, answered, item, lines, rollout, said
from thinkwire.errors import MalformedInput
from thinkwire.messages import Conversation, Image, Origin, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.notes import Note
from thinkwire.transcripts import (
    Archive,
    ArchiveHeader,
    ArchiveMessage,
    Imported,
    archive_of,
    conversation_of,
    read_archives,
    read_transcript,
    write_archives,
    write_markdown,
)
from thinkwire.transcripts.detect import sniff_dialect
from thinkwire.transcripts.markdown import fenced

notes = st.builds(Note, code=st.just("field.changed"), message=some_words)
times = st.none() | st.floats(0, 2e9)
messages = st.builds(
    ArchiveMessage,
    id=names,
    parent=st.none() | names,
    seq=st.none() | st.integers(0, 9),
    kind=st.sampled_from(["turn", "summary"]),
    status=st.sampled_from(["streaming", "complete", "interrupted", "failed"]),
    turn=turns,
    finish=st.none() | names,
    usage=st.none() | usages(),
    notes=st.lists(notes, max_size=2).map(tuple),
    covers=st.none() | names,
    created=times,
    updated=times,
    elapsed_thinking=times,
    cost=times,
    extra=st.dictionaries(names, some_words, max_size=2),
)
headers = st.builds(
    ArchiveHeader,
    version=st.just(1),
    id=st.none() | names,
    title=st.none() | some_words,
    settings=st.dictionaries(names, some_words, max_size=2),
    head=st.none() | names,
    created=times,
)
archives = st.builds(Archive, header=headers, messages=st.lists(messages, max_size=2).map(tuple))


@settings(max_examples=20)
@given(st.lists(archives, max_size=2).map(tuple))
def test_our_lines_lose_nothing(kept: tuple[Archive, ...]) -> None:
    assert read_archives(write_archives(kept)) == kept


@settings(max_examples=20)
@given(conversations)
def test_a_conversation_comes_back_from_our_lines_and_from_our_file(talk: Conversation) -> None:
    assert conversation_of(archive_of(talk)) == talk
    assert read_transcript(write_archives([archive_of(talk, title="T")])).conversation == talk
    assert read_transcript(talk.to_json()).conversation == talk


def test_the_head_tells_which_branch_is_the_conversation() -> None:
    said = [Turn("user", (Text(text),)) for text in "abc"]
    tree = Archive(
        ArchiveHeader(version=1, head="2"),
        (
            ArchiveMessage(id="1", turn=said[0]),
            ArchiveMessage(id="2", parent="1", turn=said[1]),
            ArchiveMessage(id="3", parent="1", turn=said[2]),
            ArchiveMessage(id="4", parent="2", kind="summary", turn=said[2], covers="2"),
        ),
    )
    assert conversation_of(tree).turns == (said[0], said[1])


def test_parents_that_go_round_in_circles_end() -> None:
    turn = Turn("user", (Text("a"),))
    circle = (ArchiveMessage(id="1", parent="2", turn=turn), ArchiveMessage(id="2", parent="1", turn=turn))
    assert conversation_of(Archive(ArchiveHeader(version=1), circle)).turns == (turn, turn)


def codes(imported: Imported) -> list[str]:
    return [note.code for note in imported.notes]


def test_a_claude_code_transcript_is_one_path_with_whole_answers() -> None:
    imported = read_transcript(lines(*CLAUDE_CODE))
    assert (imported.format, imported.title, imported.model) == (
        *("claude-code", "Weather of two cities"),
        "claude-opus-5-5",
    )
    question, answer, tools, reply, thanks = imported.conversation.turns
    assert question == Turn("user", (Text("Weather in Oslo and Bergen?"),))
    assert answer.blocks == (
        Thinking("Two at once.", seal=Seal("anthropic.signature", "c2lnbmVk")),
        ToolCall("toolu_1", "get_weather", '{"city":"Oslo"}'),
        ToolCall("toolu_2", "get_weather", '{"city":"Bergen"}'),
    )
    assert answer.origin == Origin("anthropic", None, "claude-opus-5-5", "msg_1", 1794736800.0)
    assert [block.call_id for block in tools.blocks if isinstance(block, ToolResult)] == [
        "toolu_1",
        "toolu_2",
    ]
    assert (reply.text, thanks.text) == ("7 and 9.", "Thanks.")
    assert codes(imported) == ["import.skipped"]
    assert imported.notes[0].detail == {
        **{"file-history-snapshot": 1, "sidechain": 1, "system": 1, "line of other branches": 1}
    }


def test_a_compaction_begins_anew_and_what_was_before_is_kept() -> None:
    imported = read_transcript(lines(*COMPACTED))
    assert [turn.text for turn in imported.conversation.turns] == [
        "This session continues an earlier one: weather.",
        "Yes.",
    ]
    assert imported.earlier == (read_transcript(lines(*CLAUDE_CODE)).conversation,)


def test_an_answer_of_another_maker_is_not_taken_for_anthropics() -> None:
    other = answered("a1", "u1", "m", {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"})
    other["message"]["model"] = "glm-5.3"
    imported = read_transcript(lines(said("u1", None, "Hi"), other))
    origin = imported.conversation.turns[1].origin
    assert origin is not None
    assert (origin.provider, origin.model) == ("claude-code", "glm-5.3")


def test_a_codex_rollout_keeps_its_encrypted_reasoning() -> None:
    imported = read_transcript(lines(*CODEX))
    assert (imported.format, imported.model) == ("codex", "gpt-5.6-terra")
    assert imported.conversation.system == (Text("Be brief."),)
    question, call, output, answer = imported.conversation.turns
    assert question.text == "Weather in Oslo?"
    thought = call.blocks[0]
    assert isinstance(thought, Thinking)
    assert (thought.text, thought.seal) == ("Hm.", Seal("openai.encrypted", "gAAAAABo"))
    assert call.origin is not None
    assert (call.origin.provider, call.origin.model) == ("openai", "gpt-5.6-terra")
    assert isinstance(output.blocks[0], ToolResult)
    assert answer.text == "7."
    assert imported.notes[0].detail == {"event_msg": 1, "ghost_snapshot": 1}


def test_a_compacted_rollout_goes_on_with_its_replacement() -> None:
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Short."}]}]
    imported = read_transcript(lines(*CODEX, rollout("compacted", message="S", replacement_history=history)))
    assert [turn.text for turn in imported.conversation.turns] == ["Short."]
    assert len(imported.earlier) == 1
    plain = read_transcript(lines(*CODEX, rollout("compacted", message="Summary.")))
    assert [turn.text for turn in plain.conversation.turns] == ["Summary."]


def test_a_first_rollout_without_payloads_is_read() -> None:
    old = ({"id": "s", "timestamp": "2025-05-01T00:00:00Z"}, *(entry["payload"] for entry in CODEX[-1:]))
    assert read_transcript(lines(*old)).conversation.turns[0].text == "7."


def test_half_a_last_line_is_skipped_and_said() -> None:
    imported = read_transcript(lines(*CODEX) + b'{"timestamp":"2026')
    assert "cut off" in imported.notes[0].message
    assert len(imported.conversation.turns) == 4


BROKEN = [
    (lines(*CODEX[:2]) + b"nonsense\n{}\n", "line 3"),
    (lines(*CODEX[:2], item(type="message", role="user", content=7)), "line 3"),
    (lines(*CLAUDE_CODE[:3], said("u", None, 7)), "line 4"),
    (lines(*CLAUDE_CODE[:3], {**said("u", None, "x"), "message": None}), "line 4"),
    (lines({"type": "conversation", "version": 1}, {"type": "message", "id": 7}), "line 2"),
    (lines({"type": "conversation", "version": 7}), "line 1"),
    (lines({"type": "message", "id": "m", "turn": {"role": "user"}}), "line 1"),
    (b"what?", "line 1"),
]


@pytest.mark.parametrize(("data", "place"), BROKEN, ids=range(len(BROKEN)))
def test_what_cannot_be_read_is_named_by_its_line(data: bytes, place: str) -> None:
    with pytest.raises(MalformedInput) as caught:
        read_transcript(data)
    assert caught.value.path == place


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with suppress(MalformedInput):
        read_transcript(data)


KEYS = ("type", "message", "content", "uuid", "parentUuid", "payload", "role", "id", "model", "summary")
values: st.SearchStrategy[Any] = st.sampled_from(
    [None, 7, [], {}, "", "x", [7], [{}], {"type": "x"}, True, "user", "a1"]
)


@given(
    st.sampled_from([CLAUDE_CODE, COMPACTED, CODEX]),
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from(KEYS), values), min_size=1, max_size=4),
    st.integers(0, 3),
)
def test_a_spoilt_log_is_read_or_refused(log: tuple[Any, ...], spoils: list[Any], cut: int) -> None:
    spoilt = json.loads(json.dumps(log))
    for where, key, value in spoils:
        line = spoilt[where % len(spoilt)]
        inner = [line, *(line[k] for k in ("message", "payload") if isinstance(line.get(k), dict))]
        inner[-1 if where % 2 else 0][key] = copy.deepcopy(value)
    data = lines(*spoilt)
    with suppress(MalformedInput):
        read_transcript(data[: len(data) - cut])


@pytest.mark.parametrize(
    ("body", "dialect"),
    [
        ({"contents": []}, "gemini"),
        ({"input": "Hi"}, "openai-responses"),
        ({"messages": [{"role": "user", "content": "Hi"}], "system": "x"}, "anthropic"),
        ({"messages": [{"role": "user", "content": "Hi"}], "model": "gpt-4o"}, "openai-chat"),
        (
            {"messages": [{"role": "user", "content": "Hi"}], "model": "claude-x", "max_tokens": 9},
            "anthropic",
        ),
        ({"messages": [{"role": "tool", "tool_call_id": "a", "content": ""}]}, "openai-chat"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, "anthropic"),
        ({"messages": 7}, None),
        ({}, None),
    ],
)
def test_the_dialect_of_a_request_is_told_by_what_stands_in_it(body: Any, dialect: str | None) -> None:
    assert sniff_dialect(body) == dialect


@pytest.mark.needs("clients")
def test_the_requests_of_real_clients_are_told_apart() -> None:
    root = clients_root()
    assert root is not None
    seen: dict[str, set[str | None]] = {}
    for path in sorted(root.glob("captures/*/*.json"))[::7]:
        captured = json.loads(path.read_text())
        body = captured.get("body", captured)
        if isinstance(body, dict) and (told := sniff_dialect(body)):
            seen.setdefault(_by_path(str(captured.get("path"))), set()).add(told)
    assert {wire: {wire} for wire in seen} == seen
    assert len(seen) == 4


def _by_path(path: str) -> str:
    for mark, dialect in (("/messages", "anthropic"), ("/responses", "openai-responses")):
        if mark in path:
            return dialect
    return "openai-chat" if "/chat/completions" in path else "gemini"


TALK = Conversation(
    turns=(
        Turn("user", (Text("Show `x`:\n```python\nprint(1)"), Image(media_type="image/png", data="aGk="))),
        Turn(
            "assistant",
            (
                Thinking("A secret ```plan```", seal=Seal("anthropic.signature", "SEALED")),
                Text("Sure.", seal=Seal("gemini.thought", "SEALED")),
                ToolCall("c1", "run`it", '{"a":"```"}', seal=Seal("gemini.thought", "SEALED")),
            ),
            origin=Origin(model="claude-opus-5-5"),
        ),
        Turn("user", (ToolResult("c1", (Text("````\nout\n````"),), failed=True),)),
    )
)


def test_markdown_has_no_seals_and_thinking_only_when_asked_for() -> None:
    plain, full = write_markdown(TALK, title="A\ntitle"), write_markdown(TALK, thinking=True)
    assert plain.startswith("# A title\n\n## User\n")
    assert "secret" not in plain
    assert "> **Thinking**\n>\n> A secret ```plan```" in full
    assert "SEALED" not in plain + full
    assert "**Failed:** `run'it`\n\n`````\n````\nout\n````\n`````" in plain
    assert "print(1)\n```\n\n[image: image/png]" in plain, "a code block that was left open is closed"
    assert "## Assistant (claude-opus-5-5)" in plain


@given(st.text(st.sampled_from("`~ab\n "), max_size=40))
def test_nothing_ends_a_code_block_but_its_fence(text: str) -> None:
    shown = fenced(text).split("\n")
    assert shown[0] == shown[-1]
    assert all(not line.strip().startswith(shown[0]) for line in shown[1:-1])


@settings(max_examples=20)
@given(conversations)
def test_any_conversation_can_be_written_as_markdown(talk: Conversation) -> None:
    assert write_markdown(talk, thinking=True).endswith("\n")
