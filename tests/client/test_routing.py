"""A bare name goes to its maker, else to a reseller with a key, and never where its thinking is not shown."""

from __future__ import annotations

import pytest

from thinkwire.catalog import default_catalog
from thinkwire.client.engine import Client
from thinkwire.client.routing import RouteChoice, asks_for_thinking, choose_route
from thinkwire.errors import ConfigError
from thinkwire.providers import Provider, default_providers
from thinkwire.providers.resale import resale_routes
from thinkwire.reasoning import Intent

PROVIDERS = default_providers()
HIGH = Intent(level="high")


def route(name: str, keys: tuple[str, ...], *, thinking: bool = True) -> RouteChoice:
    return choose_route(name, thinking, lambda provider: provider.name in keys, PROVIDERS)


@pytest.mark.parametrize(
    ("name", "keys", "thinking", "went"),
    [
        # The table of routes that the product was asked for.
        ("claude-3-7-sonnet", ("openrouter",), True, "openrouter/anthropic/claude-3.7-sonnet:thinking"),
        ("claude-sonnet-4", ("openrouter",), True, "anthropic/claude-sonnet-4"),
        ("claude-opus-4", ("openrouter",), True, "anthropic/claude-opus-4"),
        ("claude-opus-4-1", ("openrouter",), True, "anthropic/claude-opus-4-1"),
        ("claude-opus-4-5", ("openrouter",), True, "anthropic/claude-opus-4-5"),
        ("claude-opus-4-5", ("openrouter", "anthropic"), True, "claude-opus-4-5"),
        ("gpt-5", ("openrouter",), True, "openrouter/openai/gpt-5"),
        ("gpt-5.2", ("openrouter",), True, "openrouter/openai/gpt-5.2"),
        ("gemini-3-pro-preview", ("openrouter",), True, "openrouter/google/gemini-3-pro-preview"),
        # A direct key wins, and without thinking nothing is lost at the reseller.
        ("gpt-5.2", ("openrouter", "openai"), True, "gpt-5.2"),
        ("claude-opus-4-5-20251101", ("openrouter",), False, "openrouter/anthropic/claude-opus-4.5"),
        ("MiniMax-M2", ("openrouter",), True, "openrouter/minimax/minimax-m2"),
        # No key at all: the maker, whose error names its variable.
        ("gpt-5.2", (), True, "openai/gpt-5.2"),
        # A name that says its service is obeyed; a name that no route knows is left alone.
        ("openrouter/anthropic/claude-opus-4.5", (), True, "openrouter/anthropic/claude-opus-4.5"),
        ("llama3.3", ("openrouter",), True, "llama3.3"),
    ],
)
def test_where_a_name_goes(name: str, keys: tuple[str, ...], thinking: bool, went: str) -> None:
    assert route(name, keys, thinking=thinking).name == went


def test_another_way_than_the_makers_is_said() -> None:
    (note,) = route("gpt-5.2", ("openrouter",)).notes
    assert note.code == "route.changed"
    assert "OpenAI" in note.message
    assert "OpenRouter" in note.message


@pytest.mark.parametrize("way", resale_routes(), ids=lambda way: f"{way.own}-{way.models[0]}")
def test_every_model_of_a_route_is_known_at_the_reseller(way: object) -> None:
    catalog = default_catalog()
    known = [facts.id for facts in catalog if facts.provider == way.own]  # type: ignore[attr-defined]
    routed = [name for name in known if route(name, (way.over,), thinking=False).notes]  # type: ignore[attr-defined]
    assert routed
    lost = [
        name
        for name in routed
        if catalog.find("openrouter", route(name, ("openrouter",), thinking=False).name.partition("/")[2])
        is None
    ]
    assert lost == []


@pytest.mark.anyio
async def test_a_missing_key_names_the_variable_and_nothing_else_is_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    async with Client(keys={"openrouter": "k"}) as client:
        with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
            await client.complete("hi", model="claude-opus-4-5/high")


@pytest.mark.parametrize(
    ("intent", "name", "wants"),
    [
        (HIGH, "claude-opus-4-5", True),
        (Intent(level="none"), "claude-opus-5-5", False),
        (Intent(budget=0), "claude-opus-4-5", False),
        (None, "claude-opus-4-5", False),
        (None, "claude-opus-5-5", True),
        (None, "nobody-knows", False),
    ],
)
def test_thinking_is_wanted_when_asked_for_or_unasked(intent: Intent | None, name: str, wants: bool) -> None:
    assert asks_for_thinking(intent, name) is wants


@pytest.mark.parametrize(
    "provider", [each for each in PROVIDERS.values() if each.first], ids=lambda each: each.name
)
def test_the_model_to_begin_with_is_one_that_is_known(provider: Provider) -> None:
    found = default_catalog().find(provider.name, provider.first or "")
    assert found is not None
    assert found.by == "exact"
