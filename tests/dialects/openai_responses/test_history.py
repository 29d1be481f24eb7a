"""The conversation inside a request: items and turns."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.openai_responses.wire import (
    ENCRYPTED,
    GEMINI,
    SIGNED,
    call,
    items_of,
    message,
    native,
    raw_reasoning,
    reasoning,
    there_and_back,
    turns_of,
)
from thinkwire.dialects.openai_responses import OPENAI_RESPONSES
from thinkwire.events import Answer
from thinkwire.messages import Document, Image, Opaque, Seal, Text, Thinking, ToolCall, ToolResult, Turn

USER = {"role": "user", "content": "Hi"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "12 °C"}
RESULT = ToolResult("call_1", (Text("12 °C"),))


@pytest.mark.parametrize(
    "item",
    [
        USER,
        {"type": "message", **USER},
        {"role": "user", "content": [], "status": "completed", "type": "message"},
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": "Be brief."},
        {"type": "message", "role": "developer", "content": "Be brief.", "id": "msg_d"},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}},
                {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "low"},
                {"type": "input_image", "image_url": "https://a.org/b.png"},
                {"type": "input_image", "image_url": "data:,odd"},
                {"type": "input_image", "file_id": "file_1", "detail": "auto"},
                {"type": "input_file", "file_data": "data:application/pdf;base64,aGk=", "filename": "a.pdf"},
                {"type": "input_file", "file_data": "aGk="},
                {"type": "input_file", "file_url": "https://a.org/b.pdf"},
                {"type": "input_file", "file_id": "file_2"},
                {"type": "input_audio", "input_audio": {"data": "aGk="}},
            ],
        },
        {"role": "user", "content": [{"type": "output_text", "text": "quoted"}]},
        {"role": "user", "content": [{"type": "hologram", "beam": 1}]},
        {"role": "assistant", "content": "Hello."},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "input_text", "text": "Hello."}]},
        {"type": "message", "role": "assistant", "content": []},
        {"type": "message", "role": "assistant", "content": [{"type": "hologram"}]},
        message("Hello."),
        message("Hello.", phase="final_answer", status="incomplete", unheard_of={"a": 1}),
        message("", content=[{"type": "refusal", "refusal": "No."}]),
        message(
            "",
            content=[
                {"type": "output_text", "text": "a", "annotations": [{"type": "url_citation", "url": "u"}]},
                {"type": "output_text", "text": "b", "logprobs": [], "unheard_of": 1},
                {"type": "refusal", "refusal": "c"},
            ],
        ),
        reasoning(),
        reasoning("one"),
        reasoning("one", "two\n\nthree", "", "four", encrypted_content="gAAA"),
        reasoning("one", encrypted_content="gAAA", status="completed", unheard_of=None),
        {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "from nowhere"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": ""}]},
        {"type": "reasoning", "id": "rs_a", "summary": [{"type": "summary_text", "text": "a", "lang": "en"}]},
        raw_reasoning("raw"),
        raw_reasoning("raw", "rawer", encrypted_content="gAAA"),
        {k: v for k, v in raw_reasoning("raw", encrypted_content="gAAA").items() if k != "id"},
        raw_reasoning("raw", summary=[{"type": "summary_text", "text": "short"}], status="completed"),
        call('{"a":1}'),
        call("", namespace="n", caller={"type": "direct"}),
        OUTPUT,
        OUTPUT | {"id": "fco_1", "status": "completed"},
        OUTPUT | {"output": ""},
        OUTPUT | {"output": [{"type": "input_text", "text": "a"}, {"type": "input_image", "file_id": "f"}]},
        OUTPUT | {"output": [{"type": "hologram"}]},
        {"type": "function_call_output", "name": "look", "output": "no call id"},
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "n", "input": "i"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "o"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "item_reference", "id": "msg_9"},
        {"id": "msg_9"},
        {"type": "configuration_update", "reasoning": {"effort": "high"}},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"},
        {"type": "program_output", "id": "po_1", "call_id": "c", "result": "r", "status": "completed"},
    ],
    ids=str,
)
def test_an_item_comes_back_as_it_was(item: dict[str, Any]) -> None:
    assert there_and_back(item) == [item]
    assert there_and_back(USER, item, item, USER) == [USER, item, item, USER]


def test_what_the_model_said_in_a_row_is_one_turn() -> None:
    search = {"type": "web_search_call", "id": "ws_1"}
    items = [USER, reasoning("Hm."), search, message("Hello."), call("{}"), OUTPUT, USER, USER]
    turns = turns_of(*items)
    assert [(turn.role, len(turn.blocks)) for turn in turns] == [
        ("user", 1),
        ("assistant", 4),
        ("user", 2),
        ("user", 1),
    ]
    assert turns[2].blocks == (RESULT, Text("Hi"))
    assert items_of(*turns) == (items, [])


def test_items_of_the_users_side_stand_before_the_message_that_follows() -> None:
    update = {"type": "configuration_update", "reasoning": {"effort": "low"}}
    (turn,) = turns_of(OUTPUT, update, {**USER, "type": "message"})
    assert turn == Turn(
        "user", (RESULT, Opaque("openai_responses", update), Text("Hi")), extras=native(type="message")
    )


def test_the_parts_of_a_message_are_texts_that_know_their_place() -> None:
    parts = [{"type": "output_text", "text": "a"}, {"type": "refusal", "refusal": "b"}]
    (turn,) = turns_of({"type": "message", "id": "msg_1", "role": "assistant", "content": parts})
    assert turn.blocks == (
        Text("a", extras=native(id="msg_1")),
        Text("b", refusal=True, extras=native(part=1)),
    )


@pytest.mark.parametrize(
    ("item", "thinking"),
    [
        (reasoning(), Thinking(form="hidden", seal=Seal("openai.item", "rs_a"))),
        (
            reasoning("a", "b"),
            Thinking(
                "a\n\nb",
                form="summary",
                seal=Seal("openai.item", "rs_a"),
                extras=native(parts=[1, 1], id="rs_a"),
            ),
        ),
        (
            reasoning("a", encrypted_content=ENCRYPTED.data),
            Thinking("a", form="summary", seal=ENCRYPTED, extras=native(id="rs_a")),
        ),
        (
            {"type": "reasoning", "summary": [], "encrypted_content": ENCRYPTED.data, "content": None},
            Thinking(form="hidden", seal=ENCRYPTED),
        ),
        (raw_reasoning("a", encrypted_content=None), Thinking("a", extras=native(id="rs_a"))),
        (
            raw_reasoning("a", encrypted_content=ENCRYPTED.data),
            Thinking("a", seal=ENCRYPTED, extras=native(id="rs_a")),
        ),
    ],
    ids=["stored", "summary, stored", "summary, sealed", "sealed only", "raw", "raw and sealed"],
)
def test_reasoning_items(item: dict[str, Any], thinking: Thinking) -> None:
    assert turns_of(item) == (Turn("assistant", (thinking,)),)


@pytest.mark.parametrize(
    "thinking",
    [
        Thinking("no seal"),
        Thinking("signed elsewhere", seal=SIGNED),
        Thinking("from Google", form="summary", seal=GEMINI),
        Thinking(form="redacted", seal=Seal("anthropic.redacted", "x")),
        Thinking("broken off", interrupted=True, extras=native(id="rs_a")),
    ],
    ids=lambda thinking: thinking.text or thinking.form,
)
def test_thinking_that_is_not_of_this_wire_stays_home(thinking: Thinking) -> None:
    assert items_of(Turn("assistant", (thinking,))) == ([], ["thinking.dropped"])


def test_a_models_words_go_as_a_message_without_an_id() -> None:
    items, notes = items_of(Turn("assistant", (Text("a"), Text("b", refusal=True), Text("", seal=GEMINI))))
    assert items == [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "b"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ""}]},
    ]
    assert notes == ["seal.dropped"]


def test_what_was_interrupted_has_no_id_any_more() -> None:
    blocks = (
        Text("Hal", interrupted=True, extras=native(id="msg_a", phase="commentary")),
        ToolCall("call_1", "look", '{"ci', interrupted=True, extras=native(id="fc_a")),
    )
    text, tool = items_of(Turn("assistant", blocks))[0]
    assert "id" not in text
    assert text["phase"] == "commentary"
    assert "id" not in tool


@pytest.mark.parametrize("call_id", ["x" * 65, "a b", "", "kall_ø"])
def test_a_call_id_that_the_wire_refuses_is_changed_for_call_and_result_alike(call_id: str) -> None:
    turns = (
        Turn("assistant", (ToolCall(call_id, "look", "{}"), ToolCall("call_2", "look", "{}"))),
        Turn("user", (ToolResult(call_id), ToolResult("call_2"))),
    )
    items, notes = items_of(*turns)
    assert notes == ["field.changed"]
    changed = items[0]["call_id"]
    assert changed.startswith("call_")
    assert len(changed) <= 64
    assert [item["call_id"] for item in items] == [changed, "call_2", changed, "call_2"]


@pytest.mark.parametrize("call_id", ["resp_0:call_0", "functions.look:0", "toolu_01-x", "x" * 64])
def test_other_makers_call_ids_that_the_wire_takes_are_kept(call_id: str) -> None:
    assert items_of(Turn("user", (ToolResult(call_id),)))[1] == []


@pytest.mark.parametrize(
    ("result", "output", "notes"),
    [
        (ToolResult("c", (Text("a"),)), "a", []),
        (ToolResult("c"), "", []),
        (ToolResult("c", (Text("no"),), failed=True), "no", ["block.degraded"]),
        (
            ToolResult("c", (Text("a"), Text("b"))),
            [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}],
            [],
        ),
        (
            ToolResult("c", (Image("image/png", data="aGk="), Document(url="https://a.org/b"))),
            [
                {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
                {"type": "input_file", "file_url": "https://a.org/b"},
            ],
            [],
        ),
        (
            ToolResult("c", (Opaque("anthropic", {"type": "search_result"}), Document(text="doc"))),
            [{"type": "input_text", "text": "doc"}],
            ["block.dropped", "block.degraded"],
        ),
        (ToolResult("c", (Image(), Document())), [], ["block.dropped", "block.dropped"]),
    ],
    ids=["text", "nothing", "failed", "texts", "media", "of another make", "empty media"],
)
def test_tool_results(result: ToolResult, output: Any, notes: list[str]) -> None:
    items, said = items_of(Turn("user", (result,)))
    assert items == [{"type": "function_call_output", "call_id": "c", "output": output}]
    assert said == notes


def test_what_a_models_turn_has_no_place_for_is_noted() -> None:
    blocks = (
        Image("image/png", data="aGk="),
        Opaque("anthropic", {"type": "server_tool_use"}),
        ToolCall("c", "f", "{}", seal=GEMINI),
    )
    items, notes = items_of(Turn("assistant", blocks))
    assert items == [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}]
    assert notes == ["block.dropped", "block.dropped", "seal.dropped"]


def test_a_system_turn_in_mid_conversation_keeps_its_place_and_name() -> None:
    items, notes = items_of(Turn("user", (Text("Hi"),)), Turn("system", (Text("Now in French."),)))
    assert items == [USER, {"role": "system", "content": "Now in French."}]
    assert notes == []


def test_ids_that_we_made_up_are_nobodys_when_a_client_sends_them_back() -> None:
    said = (Thinking("Hm.", seal=SIGNED), Text("Hi"), ToolCall("call_1", "look", "{}"))
    output = OPENAI_RESPONSES.encode_response(Answer(Turn("assistant", said), "tool_calls")).body["output"]
    assert all(item["id"] for item in output)
    (turn,) = turns_of(*output)
    thinking, text, asked = turn.blocks
    assert thinking == Thinking("Hm.", form="summary")
    assert "id" not in {**text.extras["openai_responses"], **asked.extras["openai_responses"]}  # type: ignore[union-attr]
    items, notes = items_of(turn)
    assert [item["type"] for item in items] == ["message", "function_call"]
    assert notes == ["thinking.dropped"]


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("computer_call_output", "user"),
        ("custom_tool_call_output", "user"),
        ("mcp_approval_response", "user"),
        ("item_reference", "user"),
        ("configuration_update", "user"),
        ("program_output", "assistant"),
        ("web_search_call", "assistant"),
        ("mcp_list_tools", "assistant"),
        ("compaction", "assistant"),
        ("unheard_of", "assistant"),
    ],
)
def test_whose_side_an_unknown_item_is_on(kind: str, role: str) -> None:
    assert [turn.role for turn in turns_of({"type": kind, "id": "x"})] == [role]


@pytest.mark.parametrize("lengths", [[1, 1], [3, 99], [], "ab", [-1, 4], [None]])
def test_lengths_of_parts_that_do_not_fit_the_text_are_ignored(lengths: Any) -> None:
    thinking = Thinking("a new text", form="summary", seal=ENCRYPTED, extras=native(parts=lengths))
    ((item,), _) = items_of(Turn("assistant", (thinking,)))
    assert item["summary"] == [{"type": "summary_text", "text": "a new text"}]
