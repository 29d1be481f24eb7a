"""Claude Code on other vendors: its marks for Anthropic, efforts by turn, and tools that are loaded later."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.ingress.asked import CLAUDE, DEEPSEEK, GEMINI, GPT, GROK, OLD_CLAUDE, codes, normal
from thinkwire import dialects
from thinkwire.gateway.ingress import Normalised, normalise
from thinkwire.messages import Text, ToolResult
from thinkwire.reasoning.parse_controls import read_intent
from thinkwire.replay import Destination
from thinkwire.request import Tool

FOREIGN = [GPT, GEMINI, DEEPSEEK, GROK]
USER = {"role": "user", "content": "Go."}
BASH = {"name": "Bash", "description": "Runs.", "input_schema": {"type": "object", "properties": {}}}
MINE: dict[str, Any] = {"max_tokens": 100, "messages": [USER]}
SAME_WIRE = Destination("minimax", "MiniMax-M3", "anthropic")


def asked(model: str, **body: Any) -> Normalised:
    return normal("anthropic", MINE | body, model)


def level(done: Normalised) -> str | None:
    return read_intent(done.request)[0].level


@pytest.mark.parametrize("model", FOREIGN)
def test_the_billing_marker_stays_away_from_others(model: str) -> None:
    system = [
        {"type": "text", "text": "x-anthropic-billing-header: cc_version=2; cc_entrypoint=cli;"},
        {"type": "text", "text": "Be brief."},
    ]
    done = asked(model, system=system)
    assert [text.text for text in done.request.system] == ["Be brief."]
    assert codes(done) == ["field.dropped"]
    assert len(asked(CLAUDE, system=system).request.system) == 2


@pytest.mark.parametrize("model", FOREIGN)
def test_the_effort_of_the_last_system_turn_counts(model: str) -> None:
    messages = [
        USER,
        {"role": "system", "content": [], "output_config": {"effort": "low"}},
        {"role": "assistant", "content": "Hm."},
        USER,
        {"role": "system", "content": "Mind the gap.", "output_config": {"effort": "max"}},
    ]
    done = asked(model, messages=messages, output_config={"effort": "medium"})
    assert level(done) == "max"
    assert [(turn.role, turn.text) for turn in done.request.turns] == [
        ("user", "Go."),
        ("assistant", "Hm."),
        ("user", "Go."),
        ("system", "Mind the gap."),
    ]
    assert level(asked(model, output_config={"effort": "medium"})) == "med"


def test_the_schema_of_an_answer_is_not_lost_beside_an_effort() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    system = {"role": "system", "content": [], "output_config": {"effort": "low"}}
    form = {"format": {"type": "json_schema", "schema": schema}}
    done = asked(DEEPSEEK, messages=[USER, system], output_config=form)
    assert done.request.output is not None
    assert done.request.output.schema == schema
    assert level(done) == "low"


@pytest.mark.parametrize("model", FOREIGN)
def test_tools_that_a_search_found_are_named_in_words_and_sent_in_full(model: str) -> None:
    fetch = BASH | {"name": "WebFetch", "defer_loading": True}
    placeholder = BASH | {"name": "DeferredToolPlaceholder", "defer_loading": True}
    found = [{"type": "tool_reference", "tool_name": name} for name in ("WebFetch", "Gone")]
    messages = [
        USER,
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "ToolSearch", "input": {}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": found}]},
    ]
    done = asked(model, messages=messages, tools=[BASH, fetch, placeholder])
    assert [tool.name for tool in done.request.tools if isinstance(tool, Tool)] == ["Bash", "WebFetch"]
    (result,) = done.request.turns[-1].blocks
    assert isinstance(result, ToolResult)
    assert result.content == (
        Text("The tool WebFetch is loaded and can be called now."),
        Text("The tool Gone was found, but cannot be called here."),
    )


TYPED: list[dict[str, Any]] = [
    {"type": "bash_20250124", "name": "bash"},
    {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
    {"type": "memory_20250818", "name": "memory"},
    {"type": "computer_20251124", "name": "computer", "display_width_px": 800, "display_height_px": 600},
]


@pytest.mark.parametrize("model", FOREIGN)
def test_tools_that_the_client_runs_are_functions_and_those_of_the_vendor_are_left_out(model: str) -> None:
    search = {"type": "web_search_20250305", "name": "web_search", "max_uses": 2}
    done = asked(model, tools=[*TYPED, search, BASH])
    tools = [tool for tool in done.request.tools if isinstance(tool, Tool)]
    assert [tool.name for tool in tools] == [*(str(tool["name"]) for tool in TYPED), "Bash"]
    assert all(tool.schema and tool.schema["type"] == "object" for tool in tools)
    assert "800" in (tools[3].description or "")
    assert codes(done) == ["block.dropped"]
    assert "web_search_20250305" in done.notes[0].message


def test_who_the_user_is_goes_to_no_other_vendor_on_the_same_wire() -> None:
    private = {
        "metadata": {"user_id": "device"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "thinking": {"type": "adaptive", "display": "updates"},
    }
    decoded = dialects.get("anthropic").decode_request(MINE | private)
    done = normalise(decoded, "anthropic", SAME_WIRE)
    assert set(done.request.extras["anthropic"]) == {"thinking"}
    assert codes(done) == ["field.dropped"]
    intent, _ = read_intent(done.request)
    assert (intent.on, intent.show) == (True, True)


def test_anthropic_itself_gets_everything_as_it_came() -> None:
    body = {
        **MINE,
        "model": CLAUDE,
        "messages": [USER, {"role": "system", "content": "a", "output_config": {"effort": "low"}}],
        "system": "x-anthropic-billing-header: 1;",
        "tools": [BASH | {"defer_loading": True}, TYPED[0]],
        "metadata": {"user_id": "device"},
    }
    done = normal("anthropic", body, CLAUDE)
    assert done.request == dialects.get("anthropic").decode_request(body)
    assert codes(done) == []


def test_a_ceiling_above_the_models_own_is_lowered_and_that_is_said() -> None:
    done = asked(OLD_CLAUDE, max_tokens=128_000)
    assert done.request.max_tokens == 64_000
    assert codes(done) == ["field.changed"]
    assert asked(OLD_CLAUDE, max_tokens=64_000).notes == ()
    assert asked("ollama/some-model", max_tokens=10**9).request.max_tokens == 10**9


def test_a_ceiling_below_what_a_wire_takes_is_raised_and_that_is_said() -> None:
    done = asked(GPT, max_tokens=1)
    assert done.request.max_tokens == 16
    assert codes(done) == ["field.changed"]
    assert asked(DEEPSEEK, max_tokens=1).request.max_tokens == 1
