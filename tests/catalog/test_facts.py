"""The tables that come with the package: rows that hold together, and names that find the right row."""

from __future__ import annotations

import datetime
from itertools import pairwise

import msgspec
import pytest

from tests.grouping import for_each
from thinkwire.catalog import Facts, default_catalog
from thinkwire.catalog.tables import Family

CATALOG = default_catalog()
ROWS = list(CATALOG)
FAMILIES = CATALOG._families
LEVELS = ["none", "minimal", "low", "med", "high", "xhigh", "max"]
DIALECTS = {"anthropic", "openai-chat", "openai-responses", "gemini"}


def name_of(facts: Facts) -> str:
    return f"{facts.provider}/{facts.id}"


def row(provider: str, name: str) -> Facts:
    """The facts of a model that must be known."""
    found = CATALOG.find(provider, name)
    assert found is not None, f"{provider} {name} is not known"
    return found.facts


# ---- rows hold together ----


def test_every_row_says_where_it_is_from_and_when_it_was_checked() -> None:
    assert [name_of(facts) for facts in ROWS if not facts.source.strip()] == []
    assert [name_of(facts) for facts in ROWS if facts.checked < datetime.date(2026, 11, 15)] == []


def test_every_row_speaks_a_dialect_that_exists() -> None:
    assert {facts.dialect for facts in ROWS} == DIALECTS


def test_providers_are_the_ones_that_others_name() -> None:
    expected = (
        "anthropic cerebras deepseek fireworks google groq llamacpp lmstudio minimax mistral moonshot ollama "
        "openai openrouter qwen together vertex vllm xai xiaomi zai"
    )
    assert CATALOG.providers() == expected.split()


def test_names_are_levels_of_ours_and_words_of_the_model() -> None:
    odd = [
        (name_of(facts), level, word)
        for facts in ROWS
        for level, word in facts.names.items()
        if level not in LEVELS or word not in facts.efforts
    ]
    assert odd == []


def test_more_of_ours_is_never_less_of_the_models() -> None:
    """Except `none` of the o-series, which is its default by the seeds."""
    falling = [
        name_of(facts)
        for facts in ROWS
        for weaker, stronger in pairwise([level for level in LEVELS[1:] if level in facts.names])
        if facts.efforts.index(facts.names[weaker]) > facts.efforts.index(facts.names[stronger])
    ]
    assert falling == []
    raised = {facts.id for facts in ROWS if facts.names.get("none") not in (None, *facts.efforts[:1])}
    assert {name for name in raised if not name.startswith(("o1", "o3", "o4"))} == {"codex-mini-latest"}


def test_defaults_are_words_of_the_model() -> None:
    odd = [
        name_of(facts)
        for facts in ROWS
        if facts.default not in (None, "off", "on", "dynamic", *facts.efforts)
        or (facts.default == "off" and not facts.can_be_off)
    ]
    assert odd == []


def test_only_models_with_efforts_list_them() -> None:
    without = [facts for facts in ROWS if facts.mechanism in ("toggle", "always", "none")]
    assert [name_of(facts) for facts in without if facts.efforts] == []


OFF_WORDS = {
    "anthropic": {"disabled", "between_tools"},
    "reasoning_effort": {"none"},
    "responses": {"none"},
    "gemini": {"zero"},
    "openrouter": {"false"},
    "thinking_type": {"disabled"},
    "enable_thinking": {"false"},
    "template_kwargs": {"false"},
    "reasoning_enabled": {"false"},
}


def test_the_off_word_fits_the_spelling() -> None:
    odd = [name_of(facts) for facts in ROWS if facts.off and facts.off not in OFF_WORDS[facts.shape]]
    assert odd == []


def test_off_is_never_among_the_efforts() -> None:
    assert [name_of(facts) for facts in ROWS if {"none", "off", "NONE", "OFF"} & {*facts.efforts}] == []


def test_gemini_levels_are_upper_case_and_all_other_words_lower() -> None:
    for facts in ROWS:
        words = [*facts.efforts, *facts.names.values()]
        expected = [word.upper() if facts.shape == "gemini" else word.lower() for word in words]
        assert words == expected, name_of(facts)


def test_models_that_do_not_think_claim_nothing() -> None:
    for facts in ROWS:
        if not facts.can_think:
            claims = (facts.budget, facts.names, facts.default, facts.visible)
            assert claims == (None, {}, None, "none"), name_of(facts)


def test_openai_names_the_responses_api_where_it_is_used() -> None:
    named = {name_of(facts): facts.api for facts in ROWS if facts.api}
    models = [facts for facts in ROWS if facts.provider == "openai" and facts.dialect == "openai-responses"]
    assert named == {name_of(facts): "Responses API" for facts in models}


def test_models_without_a_control_have_a_shape_that_says_nothing() -> None:
    shapes = {facts.shape for facts in ROWS if facts.mechanism == "always"}
    assert shapes <= {"reasoning_effort", "responses", "gemini", "openrouter"}


# ---- every model that the seeds name ----

SEEDS = """
anthropic claude-sonnet-4-5 claude-sonnet-4-5-20250929 claude-opus-4-5 claude-haiku-4-5 claude-3-7-sonnet
anthropic claude-sonnet-4 claude-opus-4 claude-opus-4-1
google gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite gemini-3-pro gemini-2.0-flash
openai o1 o3 o3-mini o4-mini gpt-5 gpt-5.2 gpt-4o
xai grok-3 grok-3-mini grok-4 grok-4-fast
qwen qwen2.5-72b-instruct qwen3-32b
minimax MiniMax-M2
deepseek deepseek-r1 deepseek-chat
moonshot kimi-k2 kimi-k2-thinking
openrouter anthropic/claude-3.7-sonnet:thinking anthropic/claude-opus-4.5 anthropic/claude-sonnet-4
openrouter openai/gpt-5 openai/gpt-5.2 google/gemini-3-pro google/gemini-3-pro-preview google/gemini-2.5-flash
openrouter x-ai/grok-4 x-ai/grok-4-fast x-ai/grok-3-mini qwen/qwen3-32b
openrouter moonshotai/kimi-k2-thinking minimax/minimax-m2 deepseek/deepseek-r1
"""
SEED_MODELS = [
    (provider, name) for provider, *names in map(str.split, SEEDS.strip().splitlines()) for name in names
]


@for_each("provider, name", SEED_MODELS)
def test_every_model_of_the_seeds_has_a_row(provider: str, name: str) -> None:
    found = CATALOG.find(provider, name)
    assert found is not None
    assert found.by != "family"


RETIREMENTS = {
    "anthropic claude-3-7-sonnet": "2026-02-19",
    "anthropic claude-opus-4": "2026-06-15",
    "anthropic claude-sonnet-4": "2026-06-15",
    "anthropic claude-opus-4-1": "2026-08-05",
    "anthropic claude-sonnet-4-5-20250929": "2026-11-30",
    "google gemini-3-pro": "2026-03-09",
    "vertex gemini-2.5-pro": "2026-10-20",
    "openai o1": "2026-10-23",
    "openai o3-mini": "2026-10-23",
    "openai o4-mini": "2026-10-23",
    "openai o3": "2026-12-11",
    "openai gpt-5": "2026-12-11",
    "openai gpt-4o": "2027-01-14",
    "openai gpt-5.4-nano": "2027-04-01",
    "xai grok-3": "2026-05-15",
    "xai grok-4-0709": "2026-05-15",
}


@pytest.mark.parametrize(("model", "day"), RETIREMENTS.items())
def test_retired_models_say_when(model: str, day: str) -> None:
    assert row(*model.split()).retires == datetime.date.fromisoformat(day)


def test_a_row_that_is_like_another_has_dates_of_its_own() -> None:
    assert row("openai", "gpt-5.4-mini").retires is None
    assert row("openai", "o3-deep-research").released is None


BUDGETS = [
    ("anthropic", "claude-sonnet-4-5", 1024, 64_000, 63_999, False),
    ("anthropic", "claude-opus-4-5", 1024, 64_000, 63_999, False),
    ("anthropic", "claude-haiku-4-5", 1024, 32_000, 63_999, False),
    ("anthropic", "claude-3-7-sonnet", 1024, 32_000, 63_999, False),
    ("google", "gemini-2.5-pro", 128, 32_768, 32_768, True),
    ("google", "gemini-2.5-flash", 0, 24_576, 24_576, True),
    ("google", "gemini-2.5-flash-lite", 512, 24_576, 24_576, True),
    ("vertex", "gemini-2.5-flash-lite", 512, 24_576, 24_576, True),
    ("qwen", "qwen3-32b", 1024, 38_912, 38_912, False),
    ("qwen", "qwen3.6-plus", 1024, 81_920, 81_920, False),
    ("qwen", "qwen3.8-max", 1024, 262_144, 262_144, False),
    ("openrouter", "anthropic/claude-haiku-4.5", 1024, 32_000, 63_999, False),
]


@for_each("provider, name, least, most, limit, dynamic", BUDGETS)
def test_budgets(provider: str, name: str, least: int, most: int, limit: int, dynamic: bool) -> None:
    facts = row(provider, name)
    assert facts.budget is not None
    assert (facts.budget.min, facts.budget.max, facts.budget_limit) == (least, most, limit)
    assert facts.budget.dynamic == dynamic


# ---- names find the right row ----

# provider, name: how it is found, mechanism, efforts, off word; and the row, where its id is not the name
LOOKUPS = """
anthropic claude-sonnet-5: exact adaptive low,medium,high,xhigh,max disabled
anthropic claude-sonnet-5-5: exact adaptive low,medium,high,xhigh,max between_tools
anthropic claude-sonnet-50: family adaptive low,medium,high,xhigh,max -
anthropic claude-sonnet-5-mini: family adaptive low,medium,high,xhigh,max -
anthropic claude-sonnet-4-6: exact adaptive low,medium,high,max disabled
anthropic claude-sonnet-4-5-20250929: dated budget - disabled claude-sonnet-4-5
anthropic claude-sonnet-4-5@20250929: dated budget - disabled claude-sonnet-4-5
anthropic claude-opus-4-1-20250805-v1:0: dated budget - disabled claude-opus-4-1
anthropic claude-opus-4-20250514: dated budget - disabled claude-opus-4
anthropic claude-3-5-haiku-latest: dated none - - claude-3-5-haiku
openai o3: exact effort low,medium,high -
openai o3-2025-04-16: dated effort low,medium,high - o3
openai o3-mini-2025-01-31: dated effort low,medium,high - o3-mini
openai o1-mini: exact always - -
openai o5: family effort low,medium,high -
openai gpt-5-2025-08-07: dated effort minimal,low,medium,high - gpt-5
openai gpt-5-pro: exact effort high -
openai gpt-5-chat-latest: exact none - -
openai gpt-5.1: exact effort low,medium,high none
openai gpt-5.1-codex-max: exact effort low,medium,high,xhigh -
openai gpt-5.2-pro: exact effort medium,high,xhigh -
openai gpt-5.3-chat-latest: exact effort medium -
openai gpt-5.6: exact effort low,medium,high,xhigh,max none
openai gpt-6.1-sol: exact effort low,medium,high,xhigh,max -
openai gpt-7-nova: family effort low,medium,high,xhigh,max -
openai gpt-4o-2024-11-20: dated none - - gpt-4o
google gemini-2.5-flash-lite: exact budget - zero
google gemini-2.5-flash-lite-preview-09-2025: pattern budget - zero gemini-2.5-flash-lite
google gemini-2.5-pro-preview-05-06: pattern budget - - gemini-2.5-pro
google gemini-2.5-flash-image: exact none - -
google gemini-2.5-pro-preview-tts: exact none - -
google gemini-2.0-flash-001: pattern none - - gemini-2.0-flash
google gemini-3-pro-preview: exact level LOW,HIGH -
google gemini-3-flash-preview: exact level MINIMAL,LOW,MEDIUM,HIGH -
google gemini-3.9-flash: family level LOW,MEDIUM,HIGH -
google gemini-5-neon: family level LOW,MEDIUM,HIGH -
vertex claude-opus-4-1@20250805: dated budget - disabled claude-opus-4-1
xai grok-3-mini-fast-latest: dated effort low,high none grok-3-mini-fast
xai grok-4-0709: dated always - - grok-4
xai grok-4.20-0309-reasoning: pattern always - - grok-4.20-reasoning
xai grok-4.20-0309-non-reasoning: pattern none - - grok-4.20-non-reasoning
xai grok-4.20-beta: family always - -
xai grok-4.3: exact effort low,medium,high none
xai grok-4.5: exact effort low,medium,high -
xai grok-4.8: family effort low,medium,high,xhigh -
deepseek deepseek-v4-pro-0813: dated effort high,max disabled deepseek-v4-pro
deepseek deepseek-v5: family effort low,high,max disabled
deepseek deepseek-reasoner: exact always - -
deepseek deepseek-r1-0528: dated always - - deepseek-r1
moonshot kimi-k2.6: exact toggle - disabled
moonshot kimi-k2.7-code: exact always - -
moonshot kimi-k3: exact effort low,high,max -
minimax MiniMax-M3: exact toggle - disabled
minimax MiniMax-M4: family adaptive low,medium,high,xhigh,max -
qwen qwen3.8-max: exact effort low,medium,xhigh -
qwen qwen3.8-27b: exact effort low,medium,xhigh false
qwen qwen3-32b: exact toggle+budget - false
qwen qwen3-235b-a22b-thinking-2507: exact budget - -
qwen qwen3-vl-235b-a22b-thinking: family budget - -
qwen qwen-plus-2025-07-28: dated toggle+budget - false qwen-plus
zai glm-4.7: exact toggle - disabled
zai glm-5.2: exact effort high,max disabled
zai glm-5.3: exact effort low,high,max -
zai glm-50: family effort low,high,max -
mistral mistral-small-latest: exact effort high none
mistral mistral-small-2506: exact none - -
mistral magistral-medium-2506: family always - -
groq qwen/qwen3-32b: exact effort default none
groq openai/gpt-oss-120b: exact effort low,medium,high -
cerebras zai-glm-4.7: exact effort low,medium,high none
together zai-org/GLM-5.2: exact toggle - false
fireworks accounts/fireworks/models/glm-5p3: exact effort low,high,max -
ollama gpt-oss:20b: pattern effort low,medium,high - gpt-oss
ollama qwen3:4b: pattern effort low,medium,high,max none qwen3
ollama llama3.2:1b: pattern none - - llama3.2
vllm Qwen/Qwen3-4B: family toggle - false
llamacpp Qwen3-1.7B-Q4_K_M: family toggle - false
lmstudio openai/gpt-oss-20b: exact effort low,medium,high -
xiaomi mimo-v2.5: exact toggle - disabled
openrouter anthropic/claude-haiku-4.5: exact budget - false
openrouter anthropic/claude-3.7-sonnet:thinking: exact budget - false
openrouter anthropic/claude-opus-5.5: exact effort low,medium,high,xhigh,max -
openrouter z-ai/glm-5.2:free: pattern effort high,xhigh false z-ai/glm-5.2
openrouter openai/gpt-5-mini: exact effort minimal,low,medium,high -
openrouter openai/gpt-oss-20b:free: pattern effort low,medium,high - openai/gpt-oss-20b
openrouter google/gemini-2.5-pro: exact budget - -
openrouter google/gemini-3-pro-preview: exact effort low,high -
openrouter google/gemini-3.8-flash: exact effort low,medium,high -
openrouter x-ai/grok-4.20: exact toggle - false
openrouter deepseek/deepseek-v4-flash: exact effort high,xhigh false
openrouter deepseek/deepseek-v4-flash-0731: exact effort low,high,max false
openrouter minimax/minimax-m2:free: pattern always - -
openrouter z-ai/glm-5.3: exact effort low,high,max -
openrouter ~anthropic/claude-haiku-latest: exact effort low,medium,high,xhigh,max false
openrouter ~openai/gpt-sol-latest: exact effort low,medium,high,xhigh,max -
openrouter ~google/gemini-pro-latest: exact effort low,medium,high -
""".strip().splitlines()


@for_each("line", LOOKUPS)
def test_lookup(line: str) -> None:
    asked, _, expected = line.rpartition(": ")
    provider, name = asked.split()
    by, mechanism, efforts, off, *others = expected.split()
    found = CATALOG.find(provider, name)
    assert found is not None
    facts = found.facts
    assert (facts.provider, facts.id, found.by) == (provider, *(others or [name]), by)
    assert (facts.mechanism, ",".join(facts.efforts) or "-", facts.off or "-") == (mechanism, efforts, off)


UNKNOWN = [
    ("anthropic", "vendor/claude-sonnet-5"),
    ("anthropic", "gpt-5"),
    ("openai", "o3-mini-high"),
    ("openai", "my-gpt-5"),
    ("openai", "gpt-image-1"),
    ("google", "models-gemini-3-pro"),
    ("zai", "my-glm-5.3"),
    ("moonshot", "k9s"),
    ("groq", "bad model"),
    ("openrouter", "gpt-5"),
    ("nobody", "gpt-5"),
]


@for_each("provider, name", UNKNOWN)
def test_nobody_knows(provider: str, name: str) -> None:
    assert CATALOG.find(provider, name) is None


# ---- facts that others build on ----


def test_o3_goes_to_the_responses_api_and_o3_mini_does_not() -> None:
    assert (row("openai", "o3").api, row("openai", "o3").dialect) == ("Responses API", "openai-responses")
    assert (row("openai", "o3-mini").api, row("openai", "o3-mini").dialect) == (None, "openai-chat")


def test_the_o_series_takes_none_as_its_default() -> None:
    for name in ("o1", "o3", "o3-mini", "o4-mini"):
        assert row("openai", name).names == {"none": "medium"}


def test_gemini_3_pro_knows_two_levels() -> None:
    names = row("google", "gemini-3-pro").names
    assert [names[level] for level in ("none", "low", "med", "high")] == ["LOW", "LOW", "HIGH", "HIGH"]


THRESHOLDS = {
    "google gemini-3-pro": ((16_000, "low"),),
    "google gemini-3.9-flash": ((16_000, "low"),),
    "google gemini-4-carbon": (),
    "openrouter google/gemini-3-pro-preview": ((16_000, "low"),),
    "openrouter google/gemini-3.8-flash": ((16_000, "low"),),
    "xai grok-3-mini": ((20_000, "low"),),
    "openai o3": (),
}


@pytest.mark.parametrize(("model", "thresholds"), THRESHOLDS.items())
def test_thresholds_of_the_seeds(model: str, thresholds: tuple[tuple[int, str], ...]) -> None:
    assert row(*model.split()).thresholds == thresholds


SPARSE = [
    ("moonshot", "kimi-k3", "low low high high max max"),
    ("zai", "glm-5.3", "low low high high max max"),
    ("zai", "glm-5.2", "high high high high max max"),
    ("deepseek", "deepseek-flash", "low low high high high max"),
    ("deepseek", "deepseek-v4-pro", "high high high high high max"),
    ("qwen", "qwen3.8-max", "low low medium xhigh xhigh xhigh"),
    ("mistral", "mistral-medium-latest", "high high high high high high"),
    ("groq", "qwen/qwen3-32b", "default default default default default default"),
    ("openrouter", "deepseek/deepseek-v4-pro", "high high high high xhigh xhigh"),
]


@for_each("provider, name, words", SPARSE)
def test_models_with_gaps_name_every_level(provider: str, name: str, words: str) -> None:
    facts = row(provider, name)
    spelled = {"med": "medium"}
    assert [facts.names.get(level, spelled.get(level, level)) for level in LEVELS[1:]] == words.split()
    assert set(words.split()) <= set(facts.efforts)


REPLAYS = {
    "anthropic claude-opus-5-5": "bound_prefix",
    "anthropic claude-sonnet-4-5": "tool_loop",
    "openai gpt-6.1-sol": "tool_loop",
    "openai o3-mini": "never",
    "google gemini-3-pro": "tool_loop",
    "google gemini-2.5-pro": "optional",
    "deepseek deepseek-flash": "always",
    "deepseek deepseek-r1": "never",
    "moonshot kimi-k2-thinking": "tool_loop",
    "moonshot kimi-k3": "tool_loop",
    "minimax MiniMax-M2": "always",
    "xiaomi mimo-v2.6-pro": "always",
    "qwen qwen3.8-max": "optional",
    "xai grok-4.7": "optional",
}


@pytest.mark.parametrize(("model", "replay"), REPLAYS.items())
def test_replay_contracts(model: str, replay: str) -> None:
    assert row(*model.split()).replay == replay


REFUSALS = [
    ("anthropic", "claude-opus-5-5", "sampling forced_tools prefill"),
    ("anthropic", "claude-opus-4-8", "sampling prefill"),
    ("anthropic", "claude-opus-4-7", "sampling prefill system_turns"),
    ("openai", "o3", "sampling penalties stop"),
    ("openai", "gpt-5", "sampling penalties stop"),
    ("openai", "gpt-5.2", "sampling_when_thinking"),
    ("openai", "gpt-5.4", "sampling_when_thinking tools_on_chat_when_thinking"),
    ("google", "gemini-3.5-flash", ""),
    ("google", "gemini-3.6-flash", "prefill"),
    ("deepseek", "deepseek-flash", "forced_tools_when_thinking sampling_when_thinking"),
    ("qwen", "qwen3-32b", "forced_tools_when_thinking streaming_off_when_thinking"),
    ("xai", "grok-4.7", "stop penalties"),
    ("openrouter", "openai/gpt-5.4", "sampling_when_thinking"),
]


@for_each("provider, name, refused", REFUSALS)
def test_refusals(provider: str, name: str, refused: str) -> None:
    assert list(row(provider, name).refuses) == refused.split()


def test_minimax_splits_its_thinking_from_the_text() -> None:
    for name in ("MiniMax-M2", "MiniMax-M2.7-highspeed", "MiniMax-M3"):
        facts = row("minimax", name)
        assert facts.always_send == {"reasoning_split": True}
    assert row("minimax", "MiniMax-M3").on == "adaptive"
    assert row("openrouter", "minimax/minimax-m2").always_send == {}


def test_what_is_resold_is_spelled_the_resellers_way() -> None:
    facts = row("openrouter", "google/gemini-4-argon:batch")
    assert (facts.provider, facts.maker, facts.dialect, facts.shape) == (
        *("openrouter", "Google", "openai-chat", "openrouter"),
    )
    assert row("openrouter", "minimax/minimax-m3.1-flash").dialect == "openai-chat"
    assert row("openrouter", "openai/o3").api is None


# ---- rules for what has no row ----

FIREWORKS = "accounts/fireworks/models/"

# in the order of the tables: the row it is like, a name that the rule is for, one that it must leave alone
RULES = {
    "anthropic": [
        ("claude-opus-5-5", "claude-opus-6", "claude-opus-4-4"),
        ("claude-opus-5-5", "claude-nova-1", "claude-opus-4.5"),
    ],
    "cerebras": [
        ("gpt-oss-120b", "gpt-oss-20b", "gpt-4o"),
        ("qwen-3.8-27b", "qwen-3.9-32b", "qwen-3-8b"),
        ("zai-glm-4.7", "zai-glm-5.3", "zai-glm-4"),
        ("llama-3.3-70b", "llama-4-scout", "meta-llama-4"),
    ],
    "deepseek": [
        ("deepseek-v4-pro", "deepseek-v5-pro", "deepseek-v5-prover"),
        ("deepseek-flash", "deepseek-v5", "deepseek-v3.9"),
        ("deepseek-v3.2", "deepseek-v3.2-speciale", "deepseek-v3-0324"),
        ("deepseek-flash", "deepseek-flash-lite", "my-deepseek-flash-lite"),
        ("deepseek-chat", "deepseek-coder", "deepseek-math"),
    ],
    "fireworks": [
        (f"{FIREWORKS}glm-5p3", f"{FIREWORKS}glm-6", f"{FIREWORKS}glm-5p2"),
        (f"{FIREWORKS}glm-5p1", f"{FIREWORKS}glm-4p6", f"{FIREWORKS}glm-5p3"),
        (f"{FIREWORKS}kimi-k3", f"{FIREWORKS}kimi-k4", f"{FIREWORKS}kimi-k2p6"),
        (f"{FIREWORKS}deepseek-v4p1-flash", f"{FIREWORKS}deepseek-v5", f"{FIREWORKS}deepseek-v3"),
        (f"{FIREWORKS}minimax-m3", f"{FIREWORKS}minimax-m4", f"{FIREWORKS}minimax-m2p7"),
        (f"{FIREWORKS}qwen3p8-max", f"{FIREWORKS}qwen4-max", f"{FIREWORKS}qwen3p6-27b"),
        (f"{FIREWORKS}llama-v3p3-70b-instruct", f"{FIREWORKS}llama-v4-scout", "llama-v4"),
    ],
    "google": [
        ("gemini-2.5-flash-preview-tts", "gemini-4-flash-tts", "gemini-4-flashtts"),
        ("gemini-3.1-flash-image", "gemini-3.5-flash-image", "gemini-2.5-pro-image"),
        ("gemini-4-carbon", "gemini-5-neon", "gemini-3.9-flash"),
        ("gemini-3.8-flash", "gemini-3.9-flash", "gemini-3.5-flash"),
        ("gemini-3.1-pro-preview", "gemini-3-flash", "gemini-4-carbon"),
        ("gemini-2.5-flash", "gemini-2.5-computer-use-preview-10-2025", "gemini-2x5-flash"),
        ("gemini-2.0-flash", "gemini-0.9-pro", "gemini-2.5-pro"),
        ("gemma-4-31b-it", "gemma-5-31b-it", "gemma-3n-e4b-it"),
        ("gemma-3-27b-it", "gemma-3n-e4b-it", "shieldgemma-2"),
    ],
    "groq": [
        ("openai/gpt-oss-120b", "openai/gpt-oss-240b", "gpt-oss-120b"),
        ("qwen/qwen3.8-27b", "qwen/qwen4-32b", "qwen/qwen3.6-27b"),
        ("qwen/qwen3-32b", "qwen/qwen3.7-27b", "qwen/qwen2.5-32b"),
        ("llama-3.3-70b-versatile", "meta-llama/llama-guard-4-12b", "codellama-70b"),
    ],
    "llamacpp": [
        ("gpt-oss", "ggml-org/gpt-oss-20b-GGUF", "gpt-4o"),
        ("qwq", "Qwen3-30B-A3B-Thinking-2507-Q4_K_M.gguf", "Qwen3-8B"),
        ("deepseek-r1", "DeepSeek-R1-Distill-Qwen-7B-Q4_K_M", "DeepSeek-V3.1"),
        ("qwen2.5", "Qwen3-VL-2B-Instruct-Q8_0", "Qwen3-8B"),
        ("qwen3.8", "unsloth/Qwen3.8-27B-GGUF", "unsloth/Qwen3.6-27B-GGUF"),
        ("gemma-4", "unsloth/gemma-4-E2B-it-GGUF", "gemma-3-4b-it"),
        ("gemma-3", "gemma-3-4b-it-Q4_0.gguf", "gemma-12b"),
        ("llama-3", "Meta-Llama-3.1-8B-Instruct", "my-llama-3"),
        ("mistral-small", "Mistral-7B-Instruct-v0.3", "Ministral-3B"),
        ("qwen3", "Qwen3-1.7B-Q4_K_M", "my-qwen3"),
        ("*", "mystery.gguf", ""),
    ],
    "lmstudio": [
        ("openai/gpt-oss-20b", "gpt-oss-20b-mlx", "gpt-4o"),
        ("meta-llama-3.1-8b-instruct", "llama-3.2-3b-instruct", "codellama-7b"),
        ("qwen2.5-7b-instruct", "qwen2.5-coder-14b-instruct", "qwen3-4b"),
        ("google/gemma-3-12b", "google/gemma-3-4b", "google/gemma-4-e4b"),
        ("*", "mystery", ""),
    ],
    "minimax": [
        ("MiniMax-M3.1-Flash", "MiniMax-M4", "MiniMax-M3"),
        ("MiniMax-M3", "MiniMax-M3-highspeed", "MiniMax-M3.1"),
        ("MiniMax-M2.7", "minimax-m2.9", "minimax-m20"),
    ],
    "mistral": [
        ("magistral-medium-2509", "magistral-small-2506", "my-magistral-small"),
        ("mistral-large-4", "mistral-large-5", "mistral-large-2411"),
        ("mistral-medium-latest", "mistral-medium-2611", "mistral-medium-2505"),
        ("mistral-small-latest", "mistral-small-2610", "mistral-small-2506"),
        ("mistral-medium-latest", "mistral-medium-4", "mistral-medium-3.1"),
        ("mistral-small-latest", "mistral-small-4", "mistral-small-3.2"),
        ("codestral-latest", "ministral-14b-2512", "mathstral-7b"),
    ],
    "moonshot": [
        ("kimi-k3", "kimi-k4-pro", "kimi-k2.9"),
        ("kimi-k2.7-code", "kimi-k2.8-code", "kimi-k2.8"),
        ("kimi-k2.6", "kimi-k2.8", "kimi-k2.4"),
        ("kimi-k2", "kimi-k2-preview", "kimi-latest"),
    ],
    "ollama": [
        ("gpt-oss", "user/gpt-oss:20b-tuned", "gpt-4o"),
        ("llama3.3", "llama4:scout", "codellama:7b"),
        ("qwen2.5", "user/qwen2.5:7b", "qwen3:8b"),
        ("gemma3", "gemma2:9b", "gemma4:e2b"),
        ("mistral", "mixtral:8x7b", "ministral-3:8b"),
        ("*", "mystery:latest", ""),
    ],
    "openai": [
        ("o3-deep-research", "o5-mini-deep-research", "o3-deep"),
        ("o3", "o5-mini", "o3-mini-high"),
        ("gpt-5.3-chat-latest", "gpt-5.5-chat-latest", "gpt-5-chat-latest"),
        ("gpt-5.3-codex", "gpt-5.5-codex-mini", "gpt-6-codex"),
        ("gpt-5.5-pro", "gpt-5.3-pro", "gpt-6-pro"),
        ("gpt-6.1-sol", "gpt-7", "gpt-5.5-mini"),
        ("gpt-5.5", "gpt-5.5-mini", "gpt-5.6-mini"),
        ("gpt-5", "gpt-5-search-api", "gpt-50"),
        ("gpt-4o", "gpt-4o-audio-preview", "gpt-4ox"),
    ],
    "openrouter": [
        ("meta-llama/llama-3.3-70b-instruct", "meta-llama/llama-4-scout", "meta/llama-4"),
        ("meta/muse-spark-1.3", "meta/muse-spark-2", "meta/llama-4"),
        ("openrouter/auto", "newcomer/model-1:free", "no-maker"),
    ],
    "qwen": [
        ("qwen3-235b-a22b-thinking-2507", "qwen3-vl-8b-thinking", "qwen3-vl-8b"),
        ("qwq-plus", "qvq-plus", "qaq-plus"),
        ("qwen3-235b-a22b-instruct-2507", "qwen3-coder-next", "qwen3-encoder"),
        ("qwen3.8-max", "qwen4-max", "qwen3.7-omni"),
        ("qwen3.7-plus", "qwen3.7-omni", "qwen3.8-omni"),
        ("qwen3.6-plus", "qwen3.5-plus-02-15", "qwen3-omni"),
        ("qwen3-32b", "qwen3-omni-flash", "qwen30-omni"),
        ("qwen2.5-72b-instruct", "qwen-2.5-coder-32b-instruct", "qwen-3-32b"),
        ("qwen-plus", "qwen-plus-us", "qwen-mt-plus"),
    ],
    "together": [
        ("openai/gpt-oss-120b", "openai/gpt-oss-240b", "openai/gpt-4o"),
        ("zai-org/GLM-5.3", "zai-org/GLM-6", "zai-org/GLM-5.2-FP8"),
        ("zai-org/GLM-5.2", "zai-org/GLM-4.6", "zai-org/GLM-4"),
        ("deepseek-ai/DeepSeek-R1", "deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "deepseek-ai/DeepSeek-V3"),
        ("deepseek-ai/DeepSeek-V4-Pro", "deepseek-ai/DeepSeek-V5-Pro", "deepseek-ai/DeepSeek-V3-Pro"),
        ("deepseek-ai/DeepSeek-V4.1-Flash", "deepseek-ai/DeepSeek-V3.1", "deepseek-ai/DeepSeek-V3"),
        ("moonshotai/Kimi-K3", "moonshotai/Kimi-K2.6", "moonshotai/Kimi-K2-Instruct"),
        ("MiniMaxAI/MiniMax-M3", "MiniMaxAI/MiniMax-M4", "MiniMaxAI/MiniMax-M2"),
        ("Qwen/Qwen3.6-Plus", "Qwen/Qwen4-Max", "Qwen/Qwen3-235B-A22B"),
        ("meta-llama/Llama-3.3-70B-Instruct-Turbo", "meta-llama/Llama-4-Scout", "Llama-4-Scout"),
    ],
    "vertex": [
        ("claude-opus-5-5", "claude-opus-6", "claude-opus-4.5"),
        ("gemini-4-carbon", "gemini-5-neon", "gemini-3.5-pro"),
        ("gemini-3.8-flash", "gemini-3.9-pro", "gemini-4-pro"),
        ("gemini-3.1-pro-preview", "gemini-3.5-pro", "gemini-3.6-pro"),
        ("gemini-2.5-flash", "gemini-2.5-nano", "gemini-25-nano"),
        ("gemini-2.0-flash", "gemini-1.0-pro", "gemini-3-pro"),
    ],
    "vllm": [
        ("openai/gpt-oss-120b", "unsloth/gpt-oss-20b-BF16", "gpt-4o"),
        ("Qwen/Qwen3-235B-A22B-Thinking-2507", "Qwen/Qwen3-VL-8B-Thinking", "Qwen/Qwen3-8B"),
        ("Qwen/Qwen2.5-72B-Instruct", "Qwen/Qwen3-VL-8B-Instruct", "Qwen/Qwen3-14B"),
        ("Qwen/Qwen3.8-27B", "Qwen/Qwen4-32B", "Qwen/Qwen3.7-32B"),
        ("zai-org/GLM-5.3", "zai-org/GLM-6-Air", "zai-org/GLM-5.1"),
        ("deepseek-ai/DeepSeek-R1", "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "deepseek-ai/DeepSeek-V3"),
        ("deepseek-ai/DeepSeek-V4-Pro", "deepseek-ai/DeepSeek-V5", "deepseek-ai/DeepSeek-V3.2-Exp"),
        ("deepseek-ai/DeepSeek-V3.2", "deepseek-ai/DeepSeek-V3.2-Exp", "deepseek-ai/DeepSeek-V3"),
        ("moonshotai/Kimi-K3", "moonshotai/Kimi-K4", "moonshotai/Kimi-K2.6"),
        ("MiniMaxAI/MiniMax-M2", "MiniMaxAI/MiniMax-M2.7", "MiniMaxAI/MiniMax-Text-01"),
        ("google/gemma-4-31b-it", "google/gemma-4-E4B-it", "google/gemma-3-4b-it"),
        ("google/gemma-3-27b-it", "google/gemma-3-4b-it", "google/gemma-12-4b-it"),
        ("meta-llama/Llama-3.3-70B-Instruct", "meta-llama/Llama-4-Scout-17B-16E", "codellama/CodeLlama-7b"),
        ("mistralai/Mistral-Small-3.2-24B-Instruct-2506", "mistralai/Mixtral-8x7B", "mistralai/Ministral-3"),
        ("Qwen/Qwen3-32B", "Qwen/Qwen3-4B", "Qwen/Qwen-7B"),
        ("zai-org/GLM-4.7", "zai-org/GLM-4.5-Air", "zai-org/GLM-5.2"),
        ("*", "my-finetune", ""),
    ],
    "xai": [
        ("grok-4.20-non-reasoning", "grok-4.9-non-reasoning", "grok-4.9-reasoning"),
        ("grok-4.20-reasoning", "grok-4.20-beta", "grok-4.2"),
        ("grok-build-0.1", "grok-build-0.2", "grok-builder"),
        ("grok-3-mini", "grok-3-mini-high", "grok-3-minimal"),
        ("grok-4.7", "grok-5", "grok-4.2"),
        ("grok-4", "grok-4-heavy", "grok-4.4-heavy"),
        ("grok-3", "grok-3-beta", "grok-30"),
    ],
    "xiaomi": [("mimo-v2.6-pro", "mimo-v3", "mimo-v1")],
    "zai": [
        ("glm-5.3", "glm-5.4", "glm-5.2-air"),
        ("glm-5.2", "glm-5.2-air", "glm-5.3-air"),
        ("glm-4.7", "glm-4.8v", "glm-4.4"),
        ("glm-4-plus", "glm-4-long", "glm-4.5-long"),
    ],
}


def families_of(provider: str) -> list[Family]:
    return [family for family in FAMILIES if family.provider == provider]


def test_every_rule_has_its_examples() -> None:
    assert {family.provider for family in FAMILIES} == set(RULES)
    for provider, rules in RULES.items():
        assert [family.like for family in families_of(provider)] == [like for like, _, _ in rules], provider


@pytest.mark.parametrize("provider", RULES)
def test_rules_take_what_is_theirs_and_leave_the_rest(provider: str) -> None:
    for family, (like, theirs, not_theirs) in zip(families_of(provider), RULES[provider], strict=True):
        assert not family.matches(not_theirs), (family.pattern, not_theirs)
        found = CATALOG.find(provider, theirs)
        assert found is not None
        assert found.by == "family", theirs
        expected = msgspec.structs.replace(row(provider, like), id=theirs, released=None, retires=None)
        assert found.facts == expected, theirs
