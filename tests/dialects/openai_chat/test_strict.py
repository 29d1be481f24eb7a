"""Servers that refuse what they do not know get nothing else, and what was left out is said."""

from __future__ import annotations

from typing import Any

import pytest

from thinkwire.client.prepare import CallSpec, PreparedRequest, prepare_request
from thinkwire.dialects import Encoded
from thinkwire.dialects.openai_chat.quirks import USUAL, Quirks
from thinkwire.dialects.openai_chat.request import decode_request, encode_request
from thinkwire.messages import Text, Turn
from thinkwire.providers import default_providers
from thinkwire.replay import ReplaySettings
from thinkwire.request import Request

HI = {"role": "user", "content": "hi"}
FUNCTION = {"type": "function", "function": {"name": "get_weather"}}
ADVISOR = {"type": "openrouter:advisor", "model": "any"}
MISTRAL, OPENAI = (default_providers()[name].quirks for name in ("mistral", "openai"))


def through(quirks: Quirks, *messages: dict[str, Any], **said: Any) -> Encoded:
    return encode_request(
        decode_request({"model": "m", "messages": list(messages) or [HI], **said}), quirks=quirks
    )


def codes(encoded: Encoded) -> list[str]:
    return [note.code for note in encoded.notes]


@pytest.mark.parametrize("quirks", [MISTRAL, OPENAI])
def test_fields_of_other_servers_are_left_out(quirks: Quirks) -> None:
    encoded = through(quirks, provider={"order": ["x"]}, temperature=0.5, top_k=3)
    assert encoded.body == {"model": "m", "messages": [HI], "temperature": 0.5}
    assert [note.detail["fields"] for note in encoded.notes] == [["provider", "top_k"]]


def test_a_server_that_nobody_knows_gets_everything() -> None:
    encoded = through(USUAL, HI | {"colour": "blue"}, provider={}, tools=[ADVISOR])
    assert encoded.body["provider"] == {}
    assert encoded.body["messages"][0]["colour"] == "blue"
    assert encoded.body["tools"] == [ADVISOR]
    assert encoded.notes == ()


def test_fields_inside_messages_are_left_out_by_role() -> None:
    call = {"id": "abcdefghi", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said: dict[str, Any] = {
        "role": "assistant",
        "content": None,
        "tool_calls": [call],
        "metadata": {},
        "prefix": False,
    }
    result = {"role": "tool", "tool_call_id": "abcdefghi", "name": "f", "content": "1", "metadata": {}}
    encoded = through(MISTRAL, HI | {"name": "me"}, said, result)
    user, assistant, tool = encoded.body["messages"]
    assert user == HI
    assert set(assistant) == {"role", "content", "tool_calls", "prefix"}
    assert set(tool) == {"role", "content", "tool_call_id", "name"}
    assert encoded.notes[0].detail == {"fields": ["metadata", "name"], "inside": True}
    assert "(3 times)" in encoded.notes[0].message
    assert through(OPENAI, HI | {"name": "me"}).body["messages"] == [HI | {"name": "me"}]


@pytest.mark.parametrize("name", ["mistral", "deepseek", "openai"])
def test_tools_of_unknown_types_are_left_out(name: str) -> None:
    quirks = default_providers()[name].quirks
    encoded = through(quirks, tools=[ADVISOR, FUNCTION], tool_choice="auto")
    assert encoded.body["tools"] == [FUNCTION]
    assert encoded.body["tool_choice"] == "auto"
    assert [(n.code, n.detail["type"]) for n in encoded.notes] == [("block.dropped", "openrouter:advisor")]


def test_where_no_tool_is_left_nothing_is_said_of_a_choice() -> None:
    encoded = through(MISTRAL, tools=[ADVISOR], tool_choice="required", parallel_tool_calls=False)
    assert encoded.body == {"model": "m", "messages": [HI]}
    assert codes(encoded) == ["block.dropped", "tool_choice.degraded"]


def test_the_seed_goes_under_the_servers_name_for_it() -> None:
    assert through(MISTRAL, seed=7).body["random_seed"] == 7
    assert "seed" not in through(MISTRAL, seed=7).body
    assert through(OPENAI, seed=7).body["seed"] == 7


def test_the_developers_words_are_the_systems_where_there_is_no_such_role() -> None:
    developer = {"role": "developer", "content": "Be brief."}
    for name in ("mistral", "deepseek"):
        encoded = through(default_providers()[name].quirks, developer, HI)
        assert encoded.body["messages"][0]["role"] == "system"


def prepared(model: str, **how: Any) -> PreparedRequest:
    turns = (Turn("user", (Text("hi"),)), Turn("assistant", (Text("Yes."),)), Turn("user", (Text("?"),)))
    return prepare_request(CallSpec(Request(turns=turns), model, None, ReplaySettings(**how)), 0)


def test_counts_are_asked_for_only_where_that_can_be_said() -> None:
    assert "stream_options" not in prepared("mistral/mistral-large-4").body
    assert prepared("deepseek/deepseek-v4-pro").body["stream_options"] == {"include_usage": True}


def test_a_field_for_thinking_that_the_user_names_is_known() -> None:
    quirks = prepared("mistral/mistral-large-4", field="reasoning_content").provider.quirks
    assert "reasoning_content" in quirks.message_fields["assistant"]
    assert quirks.message_fields["user"] == MISTRAL.message_fields["user"]


@pytest.mark.parametrize(("model", "filled"), [("deepseek-v4-pro", True), ("deepseek-r1", False)])
def test_no_empty_thinking_goes_to_a_model_that_takes_none_back(model: str, filled: bool) -> None:
    said = prepared(f"deepseek/{model}").body["messages"][1]
    assert ("reasoning_content" in said) is filled
