"""What goes back: every vendor's own thinking to it, nobody else's, and nothing that it would refuse."""

from __future__ import annotations

from itertools import permutations

import msgspec
import pytest

from thinkwire import dialects
from thinkwire.messages import Block, Origin, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.reasoning.target import find_target
from thinkwire.replay import Destination, Replay, ReplaySettings, plan_replay
from thinkwire.replay.origin import endpoint_key
from thinkwire.replay.pairing import NO_RESULT
from thinkwire.request import Request

MODELS = {
    "anthropic": "claude-opus-5",
    "openai": "gpt-5.6-terra",
    "google": "gemini-3.8-flash",
    "openrouter": "openrouter/anthropic/claude-opus-5",
    "xai": "grok-4.6",
    "qwen": "qwen3.7-max",
    "minimax": "MiniMax-M3",
    "deepseek": "deepseek-v4-pro",
    "moonshot": "kimi-k3",
    "zai": "glm-5.2",
}


def destination(name: str) -> Destination:
    target = find_target(MODELS.get(name, name))
    assert target.provider is not None
    assert target.found is not None
    facts = target.found.facts
    return Destination(target.provider.name, target.model, facts.dialect, facts)


def origin(to: Destination) -> Origin:
    return Origin(provider=to.provider, model=to.model)


def thought(to: Destination, text: str = "Hm.") -> Thinking:
    """Thinking as this model gives it."""
    match to.dialect:
        case "anthropic":
            return Thinking(text, seal=Seal("anthropic.signature", "c2ln"))
        case "openai-responses":
            return Thinking(text, "summary", seal=Seal("openai.encrypted", "Z0FB"))
        case "gemini":
            return Thinking(text, "summary")
    if to.provider in ("openrouter", "minimax"):
        details = f'[{{"type":"reasoning.text","text":"{text}","index":0}}]'
        return Thinking(text, field="reasoning_details", seal=Seal("openrouter.details", details))
    return Thinking(text, field="reasoning_content")


def loop(to: Destination, call_id: str = "call_1") -> tuple[Turn, ...]:
    """One step of a tool loop: thinking, a call, its result."""
    seal = Seal("gemini.thought", "Q3NR") if to.dialect == "gemini" else None
    call = ToolCall(call_id, "get_weather", '{"city":"Oslo"}', seal=seal)
    result = ToolResult(call_id, (Text("12 °C"),), name="get_weather")
    return Turn("assistant", (thought(to), call), origin=origin(to)), Turn("user", (result,))


QUESTION = Turn("user", (Text("Weather?"),))
PAIRS = list(permutations(MODELS, 2))


def codes(replay: Replay) -> list[str]:
    return [note.code for note in replay.notes]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_gets_its_own_thinking_back_unchanged(name: str) -> None:
    to = destination(name)
    turns = (QUESTION, *loop(to))
    replay = plan_replay(turns, to)
    assert replay.notes == ()
    if to.dialect == "gemini":  # a summary of thoughts means nothing to it; the signature on the call does
        turns = (QUESTION, msgspec.structs.replace(turns[1], blocks=turns[1].blocks[1:]), turns[2])
    assert replay.turns == turns
    encoded = dialects.get(to.dialect).encode_request(Request(model=to.model, turns=replay.turns))
    assert not [note for note in encoded.notes if note.code.endswith("dropped")]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_switching_and_coming_back_gives_the_first_its_thinking_again(first: str, second: str) -> None:
    a, b = destination(first), destination(second)
    turns = (QUESTION, *loop(a, "call_1"), *loop(b, "call_2"))
    away = plan_replay(turns, b)
    there = [block for block in away.turns[1].blocks if isinstance(block, Thinking)]
    assert there == []
    assert [call.id for turn in away.turns for call in turn.tool_calls] == ["call_1", "call_2"]
    back = plan_replay(turns, a)
    alone = plan_replay(turns[:3], a)
    assert back.turns[:3] == alone.turns[:3]
    body = dialects.get(a.dialect).encode_request(Request(model=a.model, turns=back.turns)).body
    only_a = dialects.get(a.dialect).encode_request(Request(model=a.model, turns=alone.turns)).body
    key = {"openai-responses": "input", "gemini": "contents"}.get(a.dialect, "messages")
    assert body[key][: len(only_a[key])] == only_a[key]


def test_foreign_thinking_sleeps_and_is_said() -> None:
    turns = (QUESTION, *loop(destination("anthropic")))
    replay = plan_replay(turns, destination("openai"))
    assert "thinking.dormant" in codes(replay)
    assert replay.turns[1].blocks == (ToolCall("call_1", "get_weather", '{"city":"Oslo"}'),)


def test_foreign_thinking_is_carried_as_labelled_text_only_when_asked_for() -> None:
    turns = (QUESTION, *loop(destination("anthropic")))
    replay = plan_replay(turns, destination("openai"), ReplaySettings(carry="text"))
    assert replay.turns[1].blocks[0] == Text("[Earlier reasoning of claude-opus-5]\nHm.")
    assert "thinking.carried" in codes(replay)


def test_an_empty_signed_thought_is_given_back() -> None:
    to = destination("anthropic")
    empty = Thinking("", "hidden", seal=Seal("anthropic.signature", "c2ln"))
    turns = (QUESTION, Turn("assistant", (empty, Text("Hi")), origin=origin(to)))
    assert plan_replay(turns, to).turns == turns


def test_turns_of_unknown_origin_are_left_alone() -> None:
    to = destination("anthropic")
    turns = (QUESTION, Turn("assistant", (thought(to), Text("Hi"))))
    assert plan_replay(turns, to).turns == turns


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("https://API.example.org/v1/", "https://api.example.org:443/v1", True),
        ("http://localhost:80", "http://localhost/", True),
        ("https://a.example.org/v1", "https://b.example.org/v1", False),
        ("https://a.example.org/v1", "https://a.example.org/v2", False),
        ("https://a.example.org:8443", "https://a.example.org", False),
    ],
)
def test_addresses_are_compared_without_what_does_not_matter(first: str, second: str, same: bool) -> None:
    assert (endpoint_key(first) == endpoint_key(second)) is same


def test_another_address_of_the_same_vendor_is_another_origin() -> None:
    to = msgspec.structs.replace(destination("anthropic"), endpoint="https://api.anthropic.com")
    elsewhere = Origin(provider="anthropic", model="claude-opus-5", endpoint="https://proxy.example.org")
    turns = (QUESTION, Turn("assistant", (thought(to), Text("Hi")), origin=elsewhere))
    assert "thinking.dormant" in codes(plan_replay(turns, to))


def test_encrypted_reasoning_stays_within_its_model_family() -> None:
    turns = (QUESTION, *loop(destination("openai")))
    sibling = plan_replay(turns, destination("gpt-5.6-luna"))
    assert any(isinstance(block, Thinking) for block in sibling.turns[1].blocks)
    other = plan_replay(turns, destination("gpt-6-sol"))
    assert not any(isinstance(block, Thinking) for block in other.turns[1].blocks)


def test_items_lose_their_ids_together_with_their_reasoning() -> None:
    to = destination("openai")
    call = ToolCall("call_1", "f", "{}", extras={"openai_responses": {"id": "fc_1", "status": "completed"}})
    foreign = Thinking("Hm.", seal=Seal("anthropic.signature", "c2ln"))
    turns = (
        QUESTION,
        Turn("assistant", (foreign, call), origin=origin(to)),
        Turn("user", (ToolResult("call_1", (Text("1"),)),)),
    )
    (kept,) = plan_replay(turns, to).turns[1].blocks
    assert isinstance(kept, ToolCall)
    assert kept.extras == {"openai_responses": {"status": "completed"}}


def test_gemini_gets_the_documented_placeholder_for_calls_of_others() -> None:
    to = destination("google")
    turns = (QUESTION, *loop(destination("anthropic")))
    replay = plan_replay(turns, to)
    (call,) = replay.turns[1].tool_calls
    assert call.seal == Seal("gemini.thought", "skip_thought_signature_validator")
    assert "seal.placeholder" in codes(replay)
    earlier = plan_replay((*turns, Turn("assistant", (Text("Cold."),)), QUESTION), to)
    assert earlier.turns[1].tool_calls[0].seal is None


def test_only_the_first_of_parallel_calls_gets_a_placeholder() -> None:
    calls = (ToolCall("a", "f", "{}"), ToolCall("b", "f", "{}"))
    results = (ToolResult("a", (Text("1"),)), ToolResult("b", (Text("2"),)))
    replay = plan_replay((QUESTION, Turn("assistant", calls), Turn("user", results)), destination("google"))
    assert [call.seal is None for call in replay.turns[1].tool_calls] == [False, True]


def test_a_foreign_tool_loop_goes_on_without_thinking_on_a_budget_model() -> None:
    to = destination("claude-sonnet-4-5")
    turns = (QUESTION, *loop(destination("openai")))
    replay = plan_replay(turns, to)
    assert replay.thinking_off
    assert "replay.thinking_off" in codes(replay)
    assert not plan_replay((QUESTION, *loop(to)), to).thinking_off
    assert not plan_replay(turns, destination("anthropic")).thinking_off
    assert not plan_replay((*turns, Turn("assistant", (Text("x"),)), QUESTION), to).thinking_off


STRIP: list[tuple[ReplaySettings, list[bool]]] = [
    (ReplaySettings(), [True, True]),
    (ReplaySettings(include=True), [True, True]),
    (ReplaySettings(include=False), [False, False]),
    (ReplaySettings(strip="all"), [False, False]),
    (ReplaySettings(strip="all", include=True), [False, False]),
    (ReplaySettings(strip="allButLast", include=True), [False, True]),
    (ReplaySettings(strip="allButLast", include=False), [False, False]),
]


@pytest.mark.parametrize(("settings", "kept"), STRIP)
def test_strip_comes_first_and_then_include(settings: ReplaySettings, kept: list[bool]) -> None:
    to = destination("moonshot")
    turns = (QUESTION, *loop(to, "call_1"), *loop(to, "call_2"))
    replay = plan_replay(turns, to, settings)
    answers = [turn for turn in replay.turns if turn.role == "assistant"]
    assert [any(isinstance(block, Thinking) for block in turn.blocks) for turn in answers] == kept


def test_a_policy_that_the_vendor_will_refuse_is_said_before_sending() -> None:
    to = destination("moonshot")
    turns = (QUESTION, *loop(to))
    assert "replay.refusable" in codes(plan_replay(turns, to, ReplaySettings(include=False)))
    assert "replay.refusable" not in codes(plan_replay(turns, to))


def test_optional_thinking_is_given_back_within_the_exchange_only() -> None:
    to = destination("groq/openai/gpt-oss-120b")
    turns = (
        QUESTION,
        *loop(to, "call_1"),
        Turn("assistant", (Text("Cold."),)),
        QUESTION,
        *loop(to, "call_2"),
    )
    replay = plan_replay(turns, to)
    answers = [turn for turn in replay.turns if turn.tool_calls]
    assert [any(isinstance(block, Thinking) for block in turn.blocks) for turn in answers] == [False, True]


def test_a_call_without_a_result_is_told_so() -> None:
    to = destination("anthropic")
    turns = (QUESTION, loop(to)[0], Turn("user", (Text("Never mind."),)))
    replay = plan_replay(turns, to)
    assert replay.turns[2].blocks == (
        ToolResult("call_1", (Text(NO_RESULT),), name="get_weather", failed=True),
        Text("Never mind."),
    )
    assert "tool_result.added" in codes(replay)


def test_a_result_without_its_call_is_left_out() -> None:
    stray = Turn("user", (ToolResult("nobody", (Text("?"),)), Text("Hi")))
    replay = plan_replay((stray,), destination("anthropic"))
    assert replay.turns == (Turn("user", (Text("Hi"),)),)
    assert "tool_result.dropped" in codes(replay)


def test_an_interrupted_turn_never_blocks_the_next() -> None:
    to = destination("anthropic")
    half: tuple[Block, ...] = (
        Thinking("half", interrupted=True),
        Text("So far", interrupted=True),
        ToolCall("c", "f", '{"a', interrupted=True),
    )
    turns = (QUESTION, Turn("assistant", half, origin=origin(to)), QUESTION)
    replay = plan_replay(turns, to)
    assert replay.turns[1].blocks == (Text("So far", interrupted=True),)
    only_thought = plan_replay((QUESTION, Turn("assistant", half[:1], origin=origin(to)), QUESTION), to)
    assert [turn.role for turn in only_thought.turns] == ["user"]


def test_neighbours_are_merged_with_results_first_and_empty_text_is_gone() -> None:
    to = destination("anthropic")
    answer, result = loop(to)
    lead = msgspec.structs.replace(answer, blocks=(*answer.blocks[:1], Text("\n\n"), *answer.blocks[1:]))
    replay = plan_replay((QUESTION, lead, Turn("user", (Text("and"),)), result), to)
    assert [turn.role for turn in replay.turns] == ["user", "assistant", "user"]
    assert Text("\n\n") not in replay.turns[1].blocks


@pytest.mark.parametrize("name", MODELS)
def test_planning_twice_changes_nothing_more(name: str) -> None:
    to = destination(name)
    turns = (QUESTION, *loop(destination("anthropic"), "call_1"), *loop(to, "call_2"))
    once = plan_replay(turns, to).turns
    assert plan_replay(once, to).turns == once


@pytest.mark.parametrize("name", MODELS)
def test_a_longer_conversation_begins_like_the_shorter_one(name: str) -> None:
    """Append-only: what was sent before stays as it was, also for the models that check it."""
    to = destination(name)
    turns = (QUESTION, *loop(to, "call_1"), *loop(to, "call_2"))
    short, long = plan_replay(turns[:3], to).turns, plan_replay(turns, to).turns
    assert long[: len(short)] == short
