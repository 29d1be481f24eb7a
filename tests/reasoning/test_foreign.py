"""What other servers of the chat wire are told about thinking never reaches the one that is asked."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from thinkwire import dialects
from thinkwire.catalog import default_catalog
from thinkwire.client.prepare import CallSpec, PreparedRequest, prepare_request
from thinkwire.reasoning import Intent
from thinkwire.reasoning.native_params import OPTIONS
from thinkwire.reasoning.parse_controls import read_intent
from thinkwire.replay import ReplaySettings

ZAI: dict[str, Any] = {"thinking": {"type": "enabled", "clear_thinking": False}}


def sent(model: str, said: dict[str, Any]) -> PreparedRequest:
    """A chat client's request as it goes out to a model."""
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], **said}
    intent, request = read_intent(dialects.get("openai-chat").decode_request(body))
    return prepare_request(CallSpec(request, model, intent, ReplaySettings()), 0)


def dropped(prepared: PreparedRequest) -> list[str]:
    notes = [note for note in prepared.notes if note.code == "field.dropped"]
    return [field for note in notes for field in note.detail["fields"]]


def test_an_option_goes_to_the_server_that_knows_it_beside_the_control() -> None:
    prepared = sent("zai/glm-4.7", ZAI)
    assert prepared.body["thinking"] == {"type": "enabled", "clear_thinking": False}
    assert dropped(prepared) == []
    effort = sent("zai/glm-5.3", ZAI | {"reasoning_effort": "low"})
    assert effort.body["thinking"] == {"clear_thinking": False}
    assert effort.body["reasoning_effort"] == "low"


@pytest.mark.parametrize("model", ["moonshot/kimi-k3", "qwen/qwen3.7-max", "groq/openai/gpt-oss-120b"])
def test_what_is_left_of_another_servers_object_is_dropped_and_said(model: str) -> None:
    prepared = sent(model, ZAI)
    assert "thinking" not in prepared.body
    assert dropped(prepared) == ["thinking.clear_thinking"]
    assert prepared.plan.requested.on is True, "and what it asked for is planned"
    assert "reasoning.native_wins" not in [note.code for note in prepared.notes]


def test_the_same_object_with_another_servers_word_keeps_the_control() -> None:
    prepared = sent("deepseek/deepseek-v3.2", ZAI)
    assert prepared.body["thinking"] == {"type": "enabled"}
    assert dropped(prepared) == ["thinking.clear_thinking"]


def test_a_word_that_nobody_knows_yet_goes_to_the_object_it_belongs_to() -> None:
    said = {"thinking": {"type": "enabled", "colour": "blue"}}
    assert sent("deepseek/deepseek-v3.2", said).body["thinking"] == {"type": "enabled", "colour": "blue"}
    assert dropped(sent("moonshot/kimi-k3", said)) == ["thinking.colour"]


@pytest.mark.parametrize(
    ("field", "value", "at", "not_at"),
    [
        ("reasoning_split", True, "minimax/MiniMax-M3", "deepseek/deepseek-v4-pro"),
        ("reasoning_format", "parsed", "groq/openai/gpt-oss-120b", "moonshot/kimi-k3"),
        ("clear_thinking", False, "cerebras/gpt-oss-120b", "zai/glm-5.2"),
        ("preserve_thinking", True, "qwen/qwen3.7-max", "zai/glm-5.2"),
        ("reasoning_history", "preserved", "fireworks/accounts/fireworks/models/glm-5p2", "zai/glm-5.2"),
        ("chat_template_kwargs", {"style": "terse"}, "vllm/any", "moonshot/kimi-k3"),
    ],
)
def test_each_option_goes_only_where_it_is_known(field: str, value: Any, at: str, not_at: str) -> None:
    assert sent(at, {field: value}).body[field] == value
    away = sent(not_at, {field: value})
    assert field not in away.body
    assert [name.partition(".")[0] for name in dropped(away)] == [field]


def test_a_control_that_was_set_by_hand_is_sent_as_it_is() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "reasoning_effort": "low"}
    request = dialects.get("openai-chat").decode_request(body)
    asking = CallSpec(request, "moonshot/kimi-k3", Intent(level="max"), ReplaySettings())
    prepared = prepare_request(asking, 0)
    assert prepared.body["reasoning_effort"] == "low"
    assert "reasoning.native_wins" in [note.code for note in prepared.notes]


def test_every_option_of_a_row_is_a_known_one() -> None:
    assert {option for facts in default_catalog() for option in facts.options} <= set(OPTIONS)
    assert {facts.options for facts in default_catalog() if facts.provider == "openrouter"} == {()}


def test_another_wire_is_none_of_its_business() -> None:
    prepared = sent("anthropic/claude-opus-5-5", ZAI)
    assert "clear_thinking" not in str(prepared.body)


@pytest.mark.parametrize("field", ["logprobs", "top_logprobs", "logit_bias"])
def test_what_the_chat_wire_says_of_sampling_goes_with_the_rest(field: str) -> None:
    value: Any = {"logprobs": True, "top_logprobs": 3, "logit_bias": {"7": 1}}[field]
    assert sent("openai/gpt-4.1", {field: value}).body[field] == value
    refused = sent("openai/o3-mini", {field: value})
    assert field not in refused.body
    assert [note.detail["fields"] for note in refused.notes if note.code == "sampling.dropped"] == [[field]]


def test_the_request_itself_is_not_changed() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], **ZAI}
    request = dialects.get("openai-chat").decode_request(body)
    before = msgspec.json.encode(request)
    prepare_request(CallSpec(read_intent(request)[1], "moonshot/kimi-k3", Intent(), ReplaySettings()), 0)
    assert msgspec.json.encode(request) == before
