"""Requests for servers: where thinking goes, what servers differ in (Q34–Q38), and what is lost."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.openai_chat.support import (
    ENCRYPTED,
    FOREIGN,
    GOOGLE,
    NAME,
    SIGNED,
    SUMMARY,
    codes,
    details,
    messages,
    notes_of,
    said_by,
    whole,
)
from thinkwire.dialects.openai_chat.quirks import Quirks
from thinkwire.dialects.openai_chat.request import decode_request, encode_request
from thinkwire.messages import Document, Image, Opaque, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.request import OutputFormat, Request, Tool, ToolChoice

ASKED = Turn("user", (Text("Well?"),))
CALL = ToolCall("c1", "f", "{}")
PICTURE = Image("image/png", "iVBORw0KGgo=")
PICTURE_PART = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def encoded(*turns: Turn, quirks: Quirks | None = None, **fields: Any) -> dict[str, Any]:
    return encode_request(Request("m", turns, **fields), quirks=quirks or Quirks()).body


THINKING = {
    "no field": (Thinking("Hm."), {"reasoning_content": "Hm."}, []),
    "reasoning": (Thinking("Hm.", field="reasoning"), {"reasoning": "Hm."}, []),
    "interrupted": (Thinking("Hm.", field="reasoning", interrupted=True), {"reasoning": "Hm."}, []),
    "summary": (Thinking("Hm.", form="summary"), {"reasoning_content": "Hm."}, []),
    "a field nobody knows": (Thinking("Hm.", field="musings"), {"reasoning_content": "Hm."}, []),
    "details": (
        Thinking("Hm, two cities.", field="reasoning_details", seal=details(SIGNED, ENCRYPTED)),
        {"reasoning_details": [SIGNED, ENCRYPTED]},
        [],
    ),
    "details without a field": (
        Thinking("Two cities.", seal=details(SUMMARY)),
        {"reasoning_details": [SUMMARY]},
        [],
    ),
    "hidden details": (
        Thinking(form="hidden", seal=details(ENCRYPTED)),
        {"reasoning_details": [ENCRYPTED]},
        [],
    ),
    "unsealed details": (Thinking("Hm.", field="reasoning_details"), {"reasoning_content": "Hm."}, []),
    "broken details": (
        Thinking("Hm.", seal=Seal("openrouter.details", "[")),
        {"reasoning_content": "Hm."},
        ["seal.dropped"],
    ),
    "copilot": (
        Thinking("Hm.", field="reasoning_text", seal=Seal("copilot.opaque", "b3Bx")),
        {"reasoning_text": "Hm.", "reasoning_opaque": "b3Bx"},
        [],
    ),
    "another maker's": (Thinking("Hm.", seal=FOREIGN), {}, ["thinking.dropped"]),
    "another maker's, hidden": (Thinking(form="redacted", seal=FOREIGN), {}, ["thinking.dropped"]),
    "hidden without a seal": (Thinking(form="hidden"), {}, ["thinking.dropped"]),
    "nothing": (Thinking(), {}, []),
}


@pytest.mark.parametrize(("block", "present", "notes"), THINKING.values(), ids=THINKING)
def test_thinking_goes_back_as_it_came(block: Thinking, present: dict[str, Any], notes: list[str]) -> None:
    assert said_by(block, Text("Yes.")) == {"role": "assistant", "content": "Yes."} | present
    assert notes_of(Turn("assistant", (block, Text("Yes.")))) == notes


FORCED: dict[str, dict[str, Any]] = {
    "reasoning_content": {"reasoning_content": "Hm.", "content": "Yes."},
    "reasoning": {"reasoning": "Hm.", "content": "Yes."},
    "thinking": {"thinking": "Hm.", "content": "Yes."},
    "tag:think": {"content": "<think>\nHm.\n</think>\n\nYes."},
    "tag:mm:think": {"content": "<mm:think>\nHm.\n</mm:think>\n\nYes."},
    "tag:THINK": {"content": "[THINK]\nHm.\n[/THINK]\n\nYes."},
    "content": {
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
            {"type": "text", "text": "Yes."},
        ]
    },
    "omit": {"content": "Yes."},
}


@pytest.mark.parametrize("came", [None, "reasoning", "tag:think", "content"])
@pytest.mark.parametrize("field", FORCED)
def test_a_server_may_want_its_own_field(came: str | None, field: str) -> None:
    turn = Turn("assistant", (Thinking("Hm.", field=came), Text("Yes.")))
    quirks = Quirks(reasoning_field=field)
    assert messages(turn, quirks=quirks) == [{"role": "assistant"} | FORCED[field]]
    assert notes_of(turn, quirks=quirks) == (["thinking.dropped"] if field == "omit" else [])


def test_details_go_with_the_forced_field() -> None:
    thought = Thinking("Hm, two cities.", field="reasoning_details", seal=details(SIGNED))
    message = said_by(thought, quirks=Quirks(reasoning_field="reasoning_content"))
    assert message["reasoning_details"] == [SIGNED]
    assert message["reasoning_content"] == "Hm, two cities."
    assert "reasoning_details" not in str(
        messages(Turn("assistant", (thought, CALL)), quirks=Quirks(reasoning_field="omit"))
    )


def test_a_server_may_want_the_reasoning_field_on_every_message() -> None:
    quirks = Quirks(reasoning_field="reasoning_content", fill_reasoning=True)
    assert said_by(Text("Yes."), quirks=quirks)["reasoning_content"] == ""
    assert said_by(Thinking("Hm."), quirks=quirks)["reasoning_content"] == "Hm."


@pytest.mark.parametrize(
    ("blocks", "notes"),
    [
        ((Thinking("a"), Text("b"), CALL), []),
        ((Text("a"), Thinking("b")), ["block.degraded"]),
        ((CALL, Text("a")), ["block.degraded"]),
        ((Thinking("a"), Text("b"), Thinking("c"), CALL), ["block.degraded", "block.degraded"]),
        ((Text("a"), Thinking("b", field="content"), Text("c")), []),
        ((Text("a"), Thinking(form="hidden", seal=details(ENCRYPTED)), CALL), []),
    ],
    ids=str,
)
def test_an_order_that_cannot_be_kept_is_said(blocks: tuple[Any, ...], notes: list[str]) -> None:
    assert notes_of(Turn("assistant", blocks)) == notes


def test_several_thinking_blocks_go_as_one() -> None:
    assert said_by(Thinking("a"), Text("b"), Thinking("c"))["reasoning_content"] == "a\n\nc"


def test_several_texts_are_parts() -> None:
    assert said_by(Text("a"), Text("b"))["content"] == [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b"},
    ]


def test_a_turn_of_which_nothing_can_be_sent_is_no_message() -> None:
    turn = Turn("assistant", (Thinking("Hm.", seal=FOREIGN),))
    for quirks in (Quirks(), Quirks(empty_content="null"), Quirks(empty_content="omit")):
        assert messages(ASKED, turn, ASKED, quirks=quirks) == messages(ASKED, ASKED)


def test_what_a_server_said_besides_is_not_sent_back_to_servers() -> None:
    message = {"content": "", "annotations": [], "name": "M", "audio": {"id": "a1", "data": "UklG"}}
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "f", "arguments": "{}"},
        "custom": {"input": ""},
    }
    turn = whole(message | {"tool_calls": [call]}).turn
    assert turn.extras[NAME]["name"] == "M"
    assert messages(turn) == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            "audio": {"id": "a1"},
        }
    ]


@pytest.mark.parametrize("block", [Text("Yes.", seal=GOOGLE), ToolCall("c1", "f", "{}", seal=GOOGLE)])
def test_a_seal_that_did_not_come_on_this_wire_is_not_written(block: Any) -> None:
    assert GOOGLE.data not in str(said_by(block))
    assert notes_of(Turn("assistant", (block,))) == ["seal.dropped"]


def test_empty_arguments_are_an_empty_object() -> None:
    assert said_by(ToolCall("c1", "f"))["tool_calls"][0]["function"]["arguments"] == "{}"


def test_media_of_a_result_follow_in_a_user_message() -> None:
    result = ToolResult("c1", (Text("See:"), PICTURE))
    turn = Turn("user", (result, ToolResult("c2", (Text("9 °C"),)), Text("Well?")))
    assert messages(turn) == [
        {"role": "tool", "tool_call_id": "c1", "content": "See:"},
        {"role": "tool", "tool_call_id": "c2", "content": "9 °C"},
        {"role": "user", "content": [PICTURE_PART, {"type": "text", "text": "Well?"}]},
    ]
    assert notes_of(turn) == ["block.degraded"]
    (inside,) = messages(Turn("user", (result,)), quirks=Quirks(tool_result_images=True))
    assert inside["content"] == [{"type": "text", "text": "See:"}, PICTURE_PART]
    assert notes_of(Turn("user", (result,)), quirks=Quirks(tool_result_images=True)) == []


def test_that_a_tool_failed_cannot_be_said() -> None:
    turn = Turn("user", (ToolResult("c1", (Text("no such city"),), failed=True),))
    assert messages(turn) == [{"role": "tool", "tool_call_id": "c1", "content": "no such city"}]
    assert notes_of(turn) == ["block.degraded"]


@pytest.mark.parametrize(
    ("block", "part", "notes"),
    [
        (PICTURE, PICTURE_PART, []),
        (Image(file_id="file-1"), {"type": "file", "file": {"file_id": "file-1"}}, ["block.degraded"]),
        (Document(text="a", name="n"), {"type": "text", "text": "a"}, ["block.degraded"]),
        (
            Document(url="https://a/b"),
            {"type": "file", "file": {"file_data": "https://a/b"}},
            ["block.degraded"],
        ),
        (
            Document("application/pdf", "aGk=", name="a.pdf"),
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}},
            [],
        ),
        (Opaque(NAME, {"type": "input_audio"}), {"type": "input_audio"}, []),
        (Opaque("gemini", {"x": 1}), None, ["block.dropped"]),
        (Thinking("Hm."), None, ["block.dropped"]),
        (CALL, None, ["block.dropped"]),
        (Text("a", seal=FOREIGN), {"type": "text", "text": "a"}, ["seal.dropped"]),
    ],
    ids=str,
)
def test_blocks_of_a_user(block: Any, part: dict[str, Any] | None, notes: list[str]) -> None:
    turn = Turn("user", (Text("Well?"), block))
    first = {"type": "text", "text": "Well?"}
    assert messages(turn) == [{"role": "user", "content": [first, part] if part else "Well?"}]
    assert notes_of(turn) == notes


def test_q34_the_name_of_the_limit() -> None:
    assert encoded(max_tokens=5)["max_completion_tokens"] == 5
    assert encoded(max_tokens=5, quirks=Quirks(max_tokens_field="max_tokens"))["max_tokens"] == 5
    came = decode_request({"model": "m", "messages": [], "max_tokens": 5})
    assert encode_request(came).body["max_tokens"] == 5
    forced = encode_request(came, quirks=Quirks(max_tokens_field="max_completion_tokens")).body
    assert forced == {"model": "m", "messages": [], "max_completion_tokens": 5}


def test_q35_fields_that_a_server_refuses_are_left_out_and_said() -> None:
    request = Request("m", seed=7, stop=("END",), extras={NAME: {"store": True, "user": "ada"}})
    result = encode_request(request, quirks=Quirks(refused_fields=("store", "seed", "logprobs")))
    assert result.body == {"model": "m", "messages": [], "stop": ["END"], "user": "ada"}
    assert [(note.code, note.detail) for note in result.notes] == [
        ("field.dropped", {"fields": ["seed", "store"]})
    ]


def test_q36_the_role_of_the_system() -> None:
    system = (Text("a", extras={NAME: {"role": "developer"}}),)
    assert messages(system=system)[0]["role"] == "developer"
    assert messages(system=system, quirks=Quirks(system_role="system"))[0]["role"] == "system"
    later = Turn("system", (Text("b"),))
    assert messages(later, quirks=Quirks(system_role="developer")) == [{"role": "developer", "content": "b"}]


def test_q36_several_system_messages_become_one() -> None:
    quirks = Quirks(several_systems=False)
    later = Turn("system", (Text("b"),))
    assert messages(ASKED, later, system=(Text("a"),), quirks=quirks) == [
        {"role": "system", "content": "a\n\nb"},
        {"role": "user", "content": "Well?"},
    ]
    assert messages(ASKED, later, quirks=quirks)[0] == {"role": "system", "content": "b"}
    marked = (Text("a", extras={NAME: {"cache_control": {}}}),)
    assert messages(later, system=marked, quirks=quirks)[0]["content"] == [
        {"type": "text", "text": "a", "cache_control": {}},
        {"type": "text", "text": "b"},
    ]
    assert notes_of(later, quirks=quirks) == ["system.moved"]


def test_q36_strict_is_not_for_every_server() -> None:
    request = Request("m", tools=(Tool("f", strict=True), Tool("g")))
    result = encode_request(request, quirks=Quirks(strict_tools=False))
    assert result.body["tools"] == [
        {"type": "function", "function": {"name": "f"}},
        {"type": "function", "function": {"name": "g"}},
    ]
    assert codes(result.notes) == ["field.dropped"]


@pytest.mark.parametrize(
    ("wanted", "beside_calls", "alone"),
    [(None, None, ""), ("null", None, None), ("empty", "", ""), ("omit", "absent", "absent")],
)
def test_q37_an_assistant_that_said_nothing(wanted: Any, beside_calls: Any, alone: Any) -> None:
    quirks = Quirks(empty_content=wanted)
    assert said_by(CALL, quirks=quirks).get("content", "absent") == beside_calls
    assert said_by(Thinking("Hm."), quirks=quirks).get("content", "absent") == alone


def test_q37_lists_of_text_can_be_joined() -> None:
    turns = (Turn("user", (Text("a"), Text("b"))), Turn("assistant", (Text("c"), Text("d"))))
    said = messages(*turns, system=(Text("e"), Text("f")), quirks=Quirks(text_lists=False))
    assert [message["content"] for message in said] == ["e\nf", "a\nb", "c\nd"]


def test_q38_an_answer_between_results_and_the_user() -> None:
    turn = Turn("user", (ToolResult("c1", (Text("12 °C"),)), Text("Well?")))
    quirks = Quirks(answer_after_tools="Done.")
    assert [message["role"] for message in messages(turn, quirks=quirks)] == ["tool", "assistant", "user"]
    assert messages(turn, quirks=quirks)[1]["content"] == "Done."
    assert notes_of(turn, quirks=quirks) == ["field.changed"]
    assert len(messages(Turn("user", turn.blocks[:1]), quirks=quirks)) == 1


def test_ids_of_a_wanted_length_are_the_same_in_calls_and_results() -> None:
    turns = (
        Turn("assistant", (ToolCall("toolu_01X", "f", "{}"), ToolCall("abcDEF123", "f", "{}"))),
        Turn("user", (ToolResult("toolu_01X"), ToolResult("abcDEF123"))),
    )
    quirks = Quirks(tool_id_length=9)
    said, first, second = messages(*turns, quirks=quirks)
    ids = [call["id"] for call in said["tool_calls"]]
    assert [first["tool_call_id"], second["tool_call_id"]] == ids
    assert ids[1] == "abcDEF123"
    assert len(ids[0]) == 9
    assert ids[0].isalnum()
    assert notes_of(*turns, quirks=quirks) == ["field.changed"]


def test_q43_half_a_surrogate_pair_is_replaced_before_it_is_sent() -> None:
    result = encode_request(Request("m", (Turn("user", (Text("a\ud83d"),)),)))
    assert result.body["messages"][0]["content"] == "a\ufffd"
    assert codes(result.notes) == ["text.repaired"]


def test_other_dialects_fields_are_not_sent_and_said() -> None:
    request = Request("m", extras={"gemini": {"safetySettings": []}, NAME: {"user": "ada"}})
    result = encode_request(request)
    assert result.body == {"model": "m", "messages": [], "user": "ada"}
    assert codes(result.notes) == ["field.dropped"]


def test_kept_forms_give_way_when_the_meaning_has_changed() -> None:
    request = decode_request(
        {
            "messages": [],
            "stop": "END",
            "tool_choice": {"type": "tool", "name": "f"},
            "response_format": {"type": "json_object", "schema": {"type": "object"}},
        }
    )
    changed = Request(
        stop=("A", "B"), tool_choice=ToolChoice("auto"), output=OutputFormat(), extras=request.extras
    )
    body = encode_request(changed).body
    assert (body["stop"], body["tool_choice"], body["response_format"]) == (
        ["A", "B"],
        "auto",
        {"type": "json_object"},
    )


@pytest.mark.parametrize(
    ("choice", "native"),
    [
        (ToolChoice("any"), "required"),
        (ToolChoice("any", ("f",)), {"type": "function", "function": {"name": "f"}}),
        (
            ToolChoice("any", ("f", "g")),
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [
                        {"type": "function", "function": {"name": "f"}},
                        {"type": "function", "function": {"name": "g"}},
                    ],
                },
            },
        ),
    ],
)
def test_tool_choices_are_written(choice: ToolChoice, native: Any) -> None:
    assert encoded(tool_choice=choice)["tool_choice"] == native


def test_output_needs_a_name_on_this_wire() -> None:
    body = encoded(output=OutputFormat({"type": "object"}))
    assert body["response_format"]["json_schema"] == {"name": "output", "schema": {"type": "object"}}


def test_another_dialects_tool_is_dropped_and_said() -> None:
    result = encode_request(
        Request("m", tools=(Opaque("anthropic", {"type": "bash"}), Opaque(NAME, {"type": "x"})))
    )
    assert result.body["tools"] == [{"type": "x"}]
    assert codes(result.notes) == ["block.dropped"]
