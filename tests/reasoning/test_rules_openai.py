"""Rules 28 to 57: what OpenAI and those who speak like it take."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from tests.grouping import for_each
from tests.reasoning.test_recovery import recovery_of, second_try
from tests.reasoning.test_resolver import HELLO, TOOL, told
from thinkwire import dialects
from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import parse
from thinkwire.providers import find_provider
from thinkwire.reasoning import LEVELS, Intent
from thinkwire.reasoning.explain import Explanation, explain
from thinkwire.reasoning.levels import LADDER
from thinkwire.reasoning.native_params import FIELDS
from thinkwire.reasoning.target import Target, all_targets, find_target

MODELS = {f"{target.found.facts.provider}/{target.model}": target for target in all_targets() if target.found}
CONTROLS = frozenset(path.split(".")[0] for paths in FIELDS.values() for path in paths)
BUDGETS = (-1, 0, 1, 2_000, 16_000, 50_000)


def codes(shown: Explanation) -> set[str]:
    return {note.code for note in shown.notes}


def provider_of(name: str) -> str:
    return name.partition("/")[0]


def wishes() -> Iterator[Intent]:
    yield from (Intent(level=level) for level in LEVELS)
    yield from (Intent(budget=budget) for budget in BUDGETS)
    yield from (Intent(level="low", budget=8_000), Intent(on=True), Intent(on=False))


def bodies(target: Target) -> Iterator[dict[str, Any]]:
    """What a model gets for everything that can be asked of it."""
    for wish in wishes():
        yield explain(target, wish, HELLO).body


def effort(shown: Explanation) -> str | None:
    """The effort on the wire, in either of OpenAI's two spellings."""
    word: str | None = shown.body.get("reasoning_effort") or shown.body.get("reasoning", {}).get("effort")
    return word


def efforts(name: str) -> set[str | None]:
    """Every effort that a model can be sent."""
    return {effort(explain(find_target(name), wish, HELLO)) for wish in wishes()}


@pytest.mark.parametrize("name", ["o3-mini", "o3-mini-2025-01-31"])
def test_rule_28_a_name_is_not_taken_for_a_shorter_one(name: str) -> None:
    found, other = find_target(name).found, find_target("o3").found
    assert found is not None
    assert other is not None
    assert found.facts.id == "o3-mini"
    assert found.facts.dialect != other.facts.dialect


@pytest.mark.parametrize("name", ["o1-mini", "o1-mini-2024-09-12", "o1-preview"])
def test_rule_28_models_without_an_effort_get_none(name: str) -> None:
    assert all(not CONTROLS & set(body) for body in bodies(find_target(name)))
    assert "reasoning.unsupported" in codes(told(f"{name}/high"))


# By the design none becomes medium on the o-series, and the lowest word on later models that are always on.
@pytest.mark.parametrize(
    ("name", "instead"),
    [
        *((name, "medium") for name in ("o1", "o3", "o3-mini", "o4-mini", "o1-pro", "o3-pro")),
        *((name, "minimal") for name in ("gpt-5", "gpt-5-mini", "gpt-5-nano")),
        *(("gpt-5-codex", "low"), ("gpt-5-pro", "high")),
    ],
)
def test_rule_29_none_is_not_sent_to_models_before_5_1(name: str, instead: str) -> None:
    shown = told(f"{name}/none")
    assert effort(shown) == instead
    assert "reasoning.minimum" in codes(shown)
    assert "none" not in efforts(name)


def test_rule_29_none_is_sent_where_it_exists() -> None:
    assert effort(told("gpt-5.1/none")) == "none"


@pytest.mark.parametrize(
    "name",
    [
        *("gpt-5.1", "gpt-5.1-2025-11-13", "gpt-5.2", "gpt-5.5", "gpt-5.6-sol", "gpt-6.1-sol", "gpt-7"),
        *("o1", "o3", "o3-mini", "o4-mini", "o9", "gpt-5.1-codex", "gpt-5-codex", "gpt-5-pro"),
        *("openrouter/openai/gpt-5.1", "openrouter/openai/o3"),
    ],
)
def test_rule_30_minimal_is_sent_only_to_the_first_gpt_5(name: str) -> None:
    assert "minimal" not in efforts(name)
    assert "minimal" in efforts("gpt-5")


# gpt-5-chat-latest, the oldest of these names, does not think by the newer reference: it gets nothing.
@pytest.mark.parametrize(
    ("name", "only"),
    [
        ("gpt-5-pro", "high"),
        ("gpt-5-pro-2025-10-06", "high"),
        ("gpt-5.1-chat-latest", "medium"),
        ("gpt-5.2-chat-latest", "medium"),
        ("gpt-5.3-chat-latest", "medium"),
        ("gpt-5.4-chat-latest", "medium"),
        ("gpt-5-chat-latest", None),
    ],
)
def test_rule_31_models_with_one_effort_get_that_one(name: str, only: str | None) -> None:
    assert efforts(name) - {None} == ({only} - {None})


# Rule 32 has max on gpt-5.6 only; the models after it have it too.
@pytest.mark.parametrize(
    ("name", "xhigh", "most"),
    [
        ("o3", "high", "high"),
        ("gpt-5", "high", "high"),
        ("gpt-5.1", "high", "high"),
        ("gpt-5.1-codex", "high", "high"),
        ("gpt-5.1-codex-max", "xhigh", "xhigh"),
        ("gpt-5.2", "xhigh", "xhigh"),
        ("gpt-5.4-mini", "xhigh", "xhigh"),
        ("gpt-5.5", "xhigh", "xhigh"),
        ("gpt-5.6-sol", "xhigh", "max"),
        ("gpt-5.6-luna", "xhigh", "max"),
        ("gpt-6.1-sol", "xhigh", "max"),
    ],
)
def test_rule_32_the_strongest_words_go_only_where_they_exist(name: str, xhigh: str, most: str) -> None:
    assert effort(told(f"{name}/xhigh")) == xhigh
    assert effort(told(f"{name}/max")) == most


@pytest.mark.parametrize(
    "name", ["gpt-4o", "gpt-4o-mini", "gpt-4-turbo", "gpt-4-turbo-2024-04-09", "gpt-4.1"]
)
def test_rule_33_models_that_do_not_think_get_no_field(name: str) -> None:
    assert all(not CONTROLS & set(body) for body in bodies(find_target(name)))
    assert codes(told(f"{name}/high")) == {"reasoning.unsupported"}


@for_each("name", [name for name in MODELS if name.split("/")[0] in ("openai", "xai")], group=provider_of)
def test_rule_34_each_api_has_its_own_spelling(name: str) -> None:
    chat = explain(MODELS[name], Intent(), HELLO).dialect == "openai-chat"
    foreign = "reasoning" if chat else "reasoning_effort"
    assert all(foreign not in body for body in bodies(MODELS[name]))


@pytest.mark.parametrize("name", ["gpt-5.4", "gpt-5.5", "gpt-5.6-terra", "gpt-6.1-sol", "gpt-8"])
def test_rule_35_tools_beside_an_effort_take_the_responses_api(name: str) -> None:
    shown = told(f"{name}/high", tools=(TOOL,))
    assert shown.dialect == "openai-responses"
    assert shown.endpoint is not None
    assert shown.endpoint.endswith("/v1/responses")
    assert shown.body["reasoning"]["effort"] == "high"


@pytest.mark.parametrize("name", ["no-such-model", "friendli/some-model", "crusoe/meta/some-model"])
def test_rule_36_an_unknown_host_gets_no_field_and_that_is_said(name: str) -> None:
    for word in ("high", "none", "max"):
        shown = told(f"{name}/{word}")
        assert not CONTROLS & set(shown.body)
        assert codes(shown) == {"reasoning.unknown_host"}
    assert codes(told(name)) == set()


# Rule 37 forbids thinking beside reasoning_effort; DeepSeek and GLM-5.2 document exactly this pair.
TOGETHER = {"thinking_type": {"thinking", "reasoning_effort"}}


@for_each("name", MODELS, group=provider_of)
def test_rule_37_one_wish_is_said_in_one_dialect(name: str) -> None:
    facts = MODELS[name].found
    assert facts is not None
    for body in bodies(MODELS[name]):
        used = (set(body) & CONTROLS) - {"thinking_budget", "output_config"}
        assert len(used) <= 1 or used == TOGETHER.get(facts.facts.shape)


LOOKALIKES = [
    *("openrouter.ai.attacker.example", "attacker.openrouter", "openrouter2", "notopenai", "openai.com"),
    *("anthropic-proxy", "open", "router"),
]


@for_each("name", LOOKALIKES, group=provider_of)
def test_rule_38_a_lookalike_of_a_provider_is_unknown(name: str) -> None:
    assert find_provider(name) is None


@for_each("name", LOOKALIKES, group=provider_of)
def test_rule_38_a_model_at_a_lookalike_is_at_no_known_service(name: str) -> None:
    assert find_target(f"{name}/some-model").provider is None


BY_HAND: list[tuple[str, str, str]] = [
    ("claude-opus-5/high", "anthropic", "thinking"),
    ("claude-opus-5/high", "anthropic", "output_config"),
    ("gpt-5.6-sol/high", "openai_responses", "reasoning"),
    ("o3-mini/high", "openai_chat", "reasoning_effort"),
    ("openrouter/anthropic/claude-opus-5/high", "openai_chat", "reasoning"),
    ("deepseek-v4-pro/high", "openai_chat", "thinking"),
    ("deepseek-v4-pro/high", "openai_chat", "reasoning_effort"),
    ("qwen3.7-plus/high", "openai_chat", "enable_thinking"),
    ("vllm/Qwen/Qwen3-32B/high", "openai_chat", "chat_template_kwargs"),
    ("kimi-k3/high", "openai_chat", "reasoning_effort"),
    ("kimi-k3/high", "openai_chat", "thinking"),
]


@pytest.mark.parametrize(("name", "dialect", "field"), BY_HAND)
@pytest.mark.parametrize("value", [None, "by hand", 7])
def test_rule_39_a_field_set_by_hand_is_sent_alone_and_unchanged(
    name: str, dialect: str, field: str, value: Any
) -> None:
    shown = told(name, extras={dialect: {field: value}})
    assert {key: value for key, value in shown.body.items() if key in CONTROLS} == {field: value}
    assert codes(shown) == {"reasoning.native_wins"}


@pytest.mark.parametrize("value", [None, "by hand", {"thinkingBudget": 1, "thinkingLevel": "LOW"}])
def test_rule_39_a_config_set_by_hand_is_sent_unchanged(value: Any) -> None:
    extras = {"gemini": {"generationConfig": {"thinkingConfig": value}}}
    assert told("gemini-3.5-flash/high", extras=extras).body["generationConfig"] == {"thinkingConfig": value}


@for_each("name", MODELS, group=provider_of)
def test_rule_40_our_own_words_never_reach_the_wire(name: str) -> None:
    target = MODELS[name]
    assert target.found is not None
    facts = target.found.facts
    plain = set(explain(target, Intent(), HELLO).untouched)
    native = {path.split(".")[0] for path in FIELDS[facts.shape]} | {"include", "max_tokens", "stream"}
    for body in bodies(target):
        assert set(body) - plain <= native | set(facts.always_send)


NUMBERS: list[tuple[str, dict[str, Any]]] = [
    ("anthropic", {"messages": []}),
    ("openai-chat", {"messages": []}),
    ("openai-responses", {"input": []}),
]


@pytest.mark.parametrize("value", [".95", True, math.inf, math.nan], ids=str)
@pytest.mark.parametrize(("dialect", "body"), NUMBERS, ids=[dialect for dialect, _ in NUMBERS])
def test_rule_41_what_should_be_a_number_is_one(dialect: str, body: dict[str, Any], value: Any) -> None:
    with pytest.raises(MalformedInput):
        dialects.get(dialect).decode_request({"model": "m", **body, "top_p": value})


@pytest.mark.parametrize("value", [".95", True, math.inf, math.nan], ids=str)
def test_rule_41_what_should_be_a_number_is_one_inside_a_config(value: Any) -> None:
    with pytest.raises(MalformedInput):
        dialects.get("gemini").decode_request({"contents": [], "generationConfig": {"topP": value}})


def test_rule_41_a_number_beyond_all_numbers_is_not_read() -> None:
    with pytest.raises(MalformedInput):
        parse(b'{"top_p": 1e400}')


@for_each("name", [name for name in MODELS if name.startswith("qwen/")], group=provider_of)
def test_rule_42_a_switch_or_budget_and_an_effort_never_go_together(name: str) -> None:
    for body in bodies(MODELS[name]):
        assert not {"enable_thinking", "thinking_budget"} & set(body) or "reasoning_effort" not in body


# Rule 43 has low as high and xhigh as max; the server now knows low on flash, and takes xhigh for high.
@pytest.mark.parametrize(
    ("name", "thinking", "word"),
    [
        ("deepseek-r1/high", None, None),
        ("deepseek-v3/high", None, None),
        ("deepseek-v4-pro/low", {"type": "enabled"}, "high"),
        ("deepseek-v4-pro/med", {"type": "enabled"}, "high"),
        ("deepseek-v4-pro/xhigh", {"type": "enabled"}, "high"),
        ("deepseek-v4-pro/max", {"type": "enabled"}, "max"),
        ("deepseek-v4-pro/none", {"type": "disabled"}, None),
        ("deepseek-v4-flash/low", {"type": "enabled"}, "low"),
        ("deepseek-v4-flash/med", {"type": "enabled"}, "high"),
        ("deepseek-v5/high", {"type": "enabled"}, "high"),
        ("deepseek-v5/none", {"type": "disabled"}, None),
    ],
)
def test_rule_43_deepseek_gets_a_switch_and_the_words_it_knows(
    name: str, thinking: dict[str, str] | None, word: str | None
) -> None:
    body = told(name).body
    assert (body.get("thinking"), body.get("reasoning_effort")) == (thinking, word)


@for_each("name", [name for name in MODELS if name.startswith("zai/")], group=provider_of)
def test_rule_44_glm_gets_only_words_that_it_advertises(name: str) -> None:
    target = MODELS[name]
    assert target.found is not None
    for body in bodies(target):
        assert body.get("reasoning_effort") in (None, *target.found.facts.efforts)
        assert body.get("thinking") in (None, {"type": "enabled"}, {"type": "disabled"})


@pytest.mark.parametrize(
    ("name", "word"),
    [
        *(("glm-5.2/low", "high"), ("glm-5.2/high", "high"), ("glm-5.2/max", "max")),
        *(("glm-5.3/none", "low"), ("glm-5.3/med", "high"), ("glm-5.3/xhigh", "max")),
    ],
)
def test_rule_44_a_weak_wish_is_not_turned_into_the_strongest(name: str, word: str) -> None:
    assert told(name).body["reasoning_effort"] == word


@pytest.mark.parametrize("version", ["4.5", "4.6", "4.7", "4.9", "5", "5.1", "5.2", "5.3", "5.9", "6"])
def test_rule_45_every_glm_from_4_5_on_has_a_control(version: str) -> None:
    body = told(f"glm-{version}/high").body
    assert {"thinking", "reasoning_effort"} & set(body)


def test_rule_45_older_glm_has_none() -> None:
    assert not CONTROLS & set(told("glm-4-plus/high").body)


# Rule 45 has glm-50 match nothing; by the design a newer version is treated like its newest kin, with a Note.
def test_rule_45_names_match_as_a_whole() -> None:
    assert codes(told("my-glm-5.3/high")) == {"reasoning.unknown_host"}
    assert codes(told("xglm-5/high")) == {"reasoning.unknown_host"}
    assert "reasoning.unknown_model" in codes(told("glm-50/high"))


@pytest.mark.parametrize(
    "name",
    [
        *("grok-4", "grok-4-0709", "grok-4-fast-reasoning", "grok-4.20", "grok-4.20-0309-reasoning"),
        *(
            "grok-4.20-0309-non-reasoning",
            "grok-4-1-fast-non-reasoning",
            "grok-build-0.1",
            "grok-code-fast-1",
        ),
    ],
)
def test_rule_46_grok_without_an_effort_gets_none(name: str) -> None:
    assert all(not CONTROLS & set(body) for body in bodies(find_target(name)))
    assert "reasoning.unsupported" in codes(told(f"{name}/high"))


def test_rule_46_none_goes_only_to_the_grok_that_takes_it() -> None:
    assert effort(told("grok-4.3/none")) == "none"
    for name in ("grok-4.5", "grok-4.6", "grok-4.7"):
        assert "none" not in efforts(name)
        assert "reasoning.minimum" in codes(told(f"{name}/none"))


UNKNOWN = [
    ("grok-9/high", "Model grok-9 does not support parameter reasoningEffort."),
    ("gpt-9/high", "Unsupported parameter: 'reasoning.effort' is not supported with this model."),
    ("kimi-k9/high", "Unsupported parameter: 'reasoning_effort' is not supported with this model."),
    ("gemini-9-flash/high", "Thinking level is not supported for this model."),
]


@pytest.mark.parametrize(("name", "refusal"), UNKNOWN)
def test_rule_47_an_unknown_model_is_asked_and_its_refusal_remembered(name: str, refusal: str) -> None:
    first = told(name)
    assert first.plan.patch
    assert "reasoning.unknown_model" in codes(first)
    recovery, second = second_try(name, refusal)
    assert recovery is not None
    assert refusal in recovery.note.message
    assert second.patch.keys() <= {"include"}
    assert recovery_of(refusal, second) is None


@pytest.mark.parametrize(("name", "_"), UNKNOWN)
@pytest.mark.parametrize(
    "refusal",
    [
        "prompt is too long: 250000 tokens > 200000 maximum",
        "Unsupported parameter: 'temperature' is not supported with this model.",
        "Invalid 'tools[0].name': string does not match pattern.",
    ],
)
def test_rule_47_another_refusal_is_no_reason_to_try_again(name: str, _: str, refusal: str) -> None:
    assert second_try(name, refusal)[0] is None


WORDED = [name for name, target in MODELS.items() if target.found and target.found.facts.efforts]


@for_each("name", [name for name in WORDED if name.split("/")[0] in ("openai", "xai")], group=provider_of)
def test_rule_48_a_refused_word_steps_towards_less(name: str) -> None:
    found = MODELS[name].found
    assert found is not None
    words = found.facts.efforts
    for level in LADDER:
        sent = told(f"{name}/{level}").plan.effective.effort
        recovery, second = second_try(f"{name}/{level}", f"m does not support reasoning_effort value {sent}.")
        assert recovery is not None
        if sent is None or len(words) == 1:
            continue
        # Below the weakest word there is nothing to step to, and leaving it out would ask for the default.
        if words.index(sent) > 0:
            assert second.effective.effort in words[: words.index(sent)]
        else:
            assert second.effective.effort == words[1]


@pytest.mark.parametrize(
    ("name", "listed", "expected"),
    [
        ("gpt-5.6-terra/max", "'none', 'low', 'medium', and 'high'", "high"),
        ("gpt-5.6-terra/high", "'low' and 'medium'", "medium"),
        ("gpt-5.6-terra/high", "'low', 'medium', and 'xhigh'", "medium"),
        ("gpt-5.6-terra/med", "'low' and 'high'", "low"),
    ],
)
def test_rule_48_of_the_words_a_refusal_lists_none_stronger_is_taken(
    name: str, listed: str, expected: str
) -> None:
    word = told(name).plan.effective.effort
    refusal = f"Unsupported value: 'reasoning.effort' does not support '{word}' with this model."
    recovery, second = second_try(name, f"{refusal} Supported values are: {listed}.")
    assert recovery is not None
    assert second.effective.effort == expected


@for_each("name", MODELS, group=provider_of)
def test_rule_49_a_weak_wish_does_not_become_off(name: str) -> None:
    target = MODELS[name]
    wanted = [Intent(level=level) for level in LADDER] + [Intent(budget=1), Intent(on=True)]
    for wish in wanted:
        assert explain(target, wish, HELLO).plan.effective.on is not False


# Rule 50 knows high and xhigh; the newer reference adds max.
@pytest.mark.parametrize("name", ["sakana/fugu-ultra", "sakana/fugu-max", "openrouter/sakana/fugu-ultra-v2"])
@pytest.mark.parametrize("level", ["none", "minimal", "low", "med"])
def test_rule_50_lower_wishes_go_up_to_the_lowest_word(name: str, level: str) -> None:
    shown = told(f"{name}/{level}")
    assert effort(shown) == "high"
    assert codes(shown) == {"reasoning.minimum" if level == "none" else "reasoning.adjusted"}


@pytest.mark.parametrize(
    ("level", "word"),
    [
        *(("none", "low"), ("minimal", "low"), ("low", "low"), ("med", "high"), ("high", "high")),
        *(("xhigh", "max"), ("max", "max")),
    ],
)
def test_rule_51_kimi_k3_gets_an_effort_and_no_thinking_object(level: str, word: str) -> None:
    body = told(f"kimi-k3/{level}").body
    assert body["reasoning_effort"] == word
    assert "thinking" not in body


# Rule 51 sends thinking.type enabled to coding models; it is tolerated and says nothing, so nothing is sent.
@pytest.mark.parametrize("name", ["kimi-k2.7-code", "kimi-k2.7-code-highspeed", "kimi-k2-thinking"])
def test_rule_51_kimi_for_coding_gets_no_effort_and_cannot_be_off(name: str) -> None:
    assert all(not CONTROLS & set(body) for body in bodies(find_target(name)))
    assert "reasoning.minimum" in codes(told(f"{name}/none"))


@pytest.mark.parametrize("level", LADDER)
def test_rule_52_minimax_is_turned_on_by_adaptive(level: str) -> None:
    assert told(f"MiniMax-M3/{level}").body["thinking"] == {"type": "adaptive"}
    assert told("MiniMax-M3/none").body["thinking"] == {"type": "disabled"}


# The rule clamps to 0.01; recorded traffic shows that 0 is taken, so it is left alone.
@pytest.mark.parametrize("name", ["MiniMax-M3/high", "MiniMax-M2.7/high"])
@pytest.mark.parametrize(("asked", "sent"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (2.0, 1.0)])
def test_rule_52_minimax_gets_a_temperature_within_its_range(name: str, asked: float, sent: float) -> None:
    assert told(name, temperature=asked).body["temperature"] == sent


@for_each("name", [name for name in MODELS if name.startswith("openrouter/")], group=provider_of)
def test_rule_53_openrouter_gets_an_effort_or_a_budget_or_a_no(name: str) -> None:
    target = MODELS[name]
    assert target.found is not None
    for body in bodies(target):
        reasoning = body.get("reasoning", {})
        assert not {"effort", "max_tokens"} <= set(reasoning)
        assert reasoning.get("enabled") is not False or set(reasoning) == {"enabled"}
        assert reasoning.get("effort") in (None, *target.found.facts.efforts)


def test_rule_53_openrouter_also_wants_the_ceiling_above_the_budget() -> None:
    body = told("openrouter/anthropic/claude-sonnet-4.5/med", max_tokens=4_096).body
    ceiling = body.get("max_tokens") or body.get("max_completion_tokens")
    assert ceiling > body["reasoning"]["max_tokens"]


# Rule 54 puts the effort into the kwargs too; the server now takes it at the top and sets the switch itself.
@pytest.mark.parametrize(("word", "on"), [("high", True), ("none", False)])
def test_rule_54_template_arguments_are_merged_with_those_given(word: str, on: bool) -> None:
    extras = {"openai_chat": {"chat_template_kwargs": {"add_vision_id": True}}}
    body = told(f"vllm/Qwen/Qwen3-32B/{word}", extras=extras).body
    assert body["chat_template_kwargs"] == {"add_vision_id": True, "enable_thinking": on}


# Rule 55 names all thinking models; by the newer reference grok-3-mini refuses stop only.
@pytest.mark.parametrize(
    ("name", "refused"),
    [
        *(
            (f"grok-{kind}", {"stop", "presence_penalty", "frequency_penalty"})
            for kind in ("4.3", "4.6", "4")
        ),
        ("openrouter/x-ai/grok-4.6", {"stop", "presence_penalty", "frequency_penalty"}),
        ("grok-3-mini", {"stop"}),
    ],
)
def test_rule_55_grok_gets_neither_penalties_nor_stop(name: str, refused: set[str]) -> None:
    shown = told(f"{name}/high", presence_penalty=0.5, frequency_penalty=0.5, stop=("END",))
    assert not refused & set(shown.body)
    dropped = [note.detail["fields"] for note in shown.notes if note.code == "sampling.dropped"]
    assert {field for fields in dropped for field in fields} == refused


@for_each("name", WORDED, group=provider_of)
def test_rule_56_an_effort_never_vanishes_on_the_way(name: str) -> None:
    target = MODELS[name]
    assert target.found is not None
    facts = target.found.facts
    for level in LADDER:
        shown = explain(target, Intent(level=level), HELLO)
        if shown.plan.effective.budget is not None:
            assert str(shown.plan.effective.budget) in json.dumps(shown.plan.patch)
            continue
        word = shown.plan.effective.effort
        assert word in facts.efforts
        assert f'"{word}"' in json.dumps({key: shown.body[key] for key in shown.plan.patch})


@pytest.mark.parametrize("name", ["gpt-5.3-codex", "gpt-5.2-codex", "gpt-5.1-codex-max", "gpt-5.5-codex"])
@pytest.mark.parametrize(
    ("level", "word"), [("low", "low"), ("med", "medium"), ("high", "high"), ("xhigh", "xhigh")]
)
def test_rule_57_codex_thinks_as_hard_as_was_asked(name: str, level: str, word: str) -> None:
    shown = told(f"{name}/{level}")
    assert shown.body["reasoning"]["effort"] == word
    assert shown.plan.outcome == "sent"
