"""Histories that begin with the model, tool loops by budget, and calls and results without ids."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.replay.test_planner import QUESTION, codes, destination, loop
from thinkwire import dialects
from thinkwire.messages import Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.providers import find_provider
from thinkwire.providers.encoding import encode_for
from thinkwire.replay import plan_replay
from thinkwire.replay.doctor import examine, healed, mend
from thinkwire.replay.first_turn import BEGINNING
from thinkwire.replay.planner import PLACEHOLDER
from thinkwire.request import Request

ADDED = Turn("user", (Text(BEGINNING),))


@pytest.mark.parametrize("name", ["anthropic", "google"])
def test_where_the_user_must_begin_a_turn_of_the_user_is_put_first(name: str) -> None:
    to = destination(name)
    turns = (*loop(to), QUESTION)
    replay = plan_replay(turns, to)
    assert replay.turns[0] == ADDED
    assert "field.changed" in codes(replay)
    assert plan_replay((QUESTION, *turns), to).turns[1:] == replay.turns[1:]
    assert turns[0].role == "assistant", "what is stored is not touched"


@pytest.mark.parametrize("name", ["openai", "deepseek", "openrouter", "xai"])
def test_where_the_model_may_begin_nothing_is_added(name: str) -> None:
    to = destination(name)
    replay = plan_replay((*loop(to), QUESTION), to)
    assert replay.turns[0].role == "assistant"
    assert replay.notes == ()


def test_on_gemini_words_may_begin_and_only_a_call_may_not() -> None:
    to = destination("google")
    greeting = Turn("assistant", (Text("Hello."),))
    assert plan_replay((greeting, QUESTION), to).turns[0] == greeting


def test_sealed_thinking_stays_behind_the_added_turn() -> None:
    to = destination("anthropic")
    first = loop(to)[0]
    replay = plan_replay((*loop(to), QUESTION), to)
    assert replay.turns[1] == first
    assert isinstance(replay.turns[1].blocks[0], Thinking)


def test_a_call_behind_the_added_turn_is_signed_as_in_any_exchange() -> None:
    to = destination("google")
    foreign = loop(destination("deepseek"))
    replay = plan_replay(foreign, to)
    assert replay.turns[0] == ADDED
    assert replay.turns[1].tool_calls[0].seal == PLACEHOLDER


def test_system_text_stands_behind_the_added_turn() -> None:
    to = destination("anthropic")
    system = Turn("system", (Text("Be brief."),))
    replay = plan_replay((system, *loop(to)), to)
    assert [turn.role for turn in replay.turns[:3]] == ["user", "system", "assistant"]


@pytest.mark.parametrize(
    ("name", "severity"), [("anthropic", "refused"), ("google", "refused"), ("openai", "odd")]
)
def test_the_doctor_goes_by_the_same_rule(name: str, severity: str) -> None:
    to = destination(name)
    turns = (*loop(to), QUESTION)
    found = {finding.code: finding.severity for finding in examine(turns, to)}
    assert found["turn.first"] == severity
    assert mend(turns, to).turns[0] == ADDED
    assert healed(turns, to).turns[0] == ADDED


@pytest.mark.parametrize("budgeted", [True, False])
def test_a_model_that_also_thinks_by_budget_goes_on_without_in_a_foreign_loop(budgeted: bool) -> None:
    to = msgspec.structs.replace(destination("claude-opus-4-6"), budgeted=budgeted)
    replay = plan_replay((QUESTION, *loop(destination("deepseek"))), to)
    assert replay.thinking_off is budgeted
    assert ("replay.thinking_off" in codes(replay)) is budgeted


NAMELESS: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "get_time", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "content": "mild"},
        {"role": "tool", "name": "get_time", "content": "noon"},
    ],
}


def test_results_without_an_id_go_with_that_of_their_call() -> None:
    to = destination("deepseek")
    request = dialects.get("openai-chat").decode_request(NAMELESS)
    replay = plan_replay(request.turns, to)
    assert codes(replay) == ["field.changed"]
    assert replay.notes[0].detail == {"count": 2}
    body = encode_for(find_provider("deepseek"), "openai-chat", Request(turns=replay.turns)).body
    assert [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"] == ["a", "b"]
    same = dialects.get("openai-chat").encode_request(request).body
    assert "tool_call_id" not in same["messages"][2], "on its own the wire keeps what was written"


def test_calls_and_results_with_ids_are_left_alone() -> None:
    turns = (
        QUESTION,
        Turn("assistant", (ToolCall("a", "get_weather", "{}"),)),
        Turn("user", (ToolResult("a", (Text("mild"),)),)),
    )
    assert plan_replay(turns, destination("deepseek")).notes == ()
