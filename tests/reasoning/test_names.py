"""Names that carry a level, and which service a name means."""

from __future__ import annotations

import pytest

from thinkwire.reasoning import Intent, parse_level, parse_name
from thinkwire.reasoning.target import find_target


@pytest.mark.parametrize(
    ("text", "name", "intent"),
    [
        ("claude-sonnet-4-5/med", "claude-sonnet-4-5", Intent(level="med", said="/med")),
        ("claude-sonnet-4-5/medium", "claude-sonnet-4-5", Intent(level="med", said="/medium")),
        ("openrouter/openai/o3/high", "openrouter/openai/o3", Intent(level="high", said="/high")),
        ("anthropic/claude-opus-5", "anthropic/claude-opus-5", None),
        ("a/b/off", "a/b", Intent(level="none", said="/off")),
        ("m(high)", "m", Intent(level="high", said="(high)")),
        ("m(16384)", "m", Intent(budget=16_384, said="(16384)")),
        ("m(16,384)", "m", Intent(budget=16_384, said="(16,384)")),
        ("m(-1)", "m", Intent(budget=-1, said="(-1)")),
        ("m(quick)", "m(quick)", None),
        ("x/y:thinking", "x/y", Intent(on=True, said=":thinking")),
        ("x/y:free", "x/y:free", None),
        ("/high", "/high", None),
        ("high", "high", None),
        (" m/low ", "m", Intent(level="low", said="/low")),
    ],
)
def test_a_level_is_split_off_only_when_it_is_one(text: str, name: str, intent: Intent | None) -> None:
    named = parse_name(text)
    assert (named.name, named.intent) == (name, intent)


@pytest.mark.parametrize(
    ("word", "level"),
    [
        ("NONE", "none"),
        ("off", "none"),
        ("min", "minimal"),
        ("Medium", "med"),
        ("default", "auto"),
        ("x", None),
    ],
)
def test_levels_have_synonyms(word: str, level: str | None) -> None:
    assert parse_level(word) == level


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("claude-opus-5-5", "anthropic", "claude-opus-5-5"),
        ("claude/claude-opus-5-5", "anthropic", "claude-opus-5-5"),
        ("glm-5.3", "zai", "glm-5.3"),
        ("kimi-k3", "moonshot", "kimi-k3"),
        ("openrouter/anthropic/claude-opus-5", "openrouter", "anthropic/claude-opus-5"),
        ("groq/openai/gpt-oss-120b", "groq", "openai/gpt-oss-120b"),
        ("ollama/anything-at-all", "ollama", "anything-at-all"),
        ("some-new-thing", None, "some-new-thing"),
    ],
)
def test_a_name_means_the_service_that_knows_it_best(name: str, provider: str | None, model: str) -> None:
    target = find_target(name)
    assert (target.provider.name if target.provider else None, target.model) == (provider, model)
