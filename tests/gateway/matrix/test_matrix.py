"""Every client dialect on every provider, through everything that happens to a conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.gateway.gateways import Served
from tests.gateway.matrix.clients import Talker
from tests.gateway.matrix.scenarios import SCENARIOS, Cell
from tests.gateway.matrix.table import CELL, lines_of
from thinkwire import dialects
from thinkwire.sim.fixture import Running

MODELS = {
    "anthropic": "claude-opus-5-5",
    "openai": "gpt-5.6-terra",
    "google": "gemini-3.8-flash",
    "openrouter": "moonshotai/kimi-k3",
    "xai": "grok-4.6",
    "deepseek": "deepseek-v4-pro",
    "moonshot": "kimi-k3",
    "minimax": "MiniMax-M3",
    "qwen": "qwen3.8-max",
    "zai": "glm-5.3",
    "mistral": "mistral-large-4",
    "groq": "openai/gpt-oss-120b",
    "cerebras": "gpt-oss-120b",
    "ollama": "gpt-oss:20b",
}
ELSEWHERE = {
    "anthropic": "google/gemini-3.8-flash",
    "openai": "anthropic/claude-opus-5-5",
    "google": "openai/gpt-5.6-terra",
}
"""Where a conversation goes in between; to Claude, where nothing else is said."""


@pytest.fixture(scope="module")
def talkers(served: Served) -> Iterator[dict[str, Talker]]:
    everyone = {name: Talker(served, name) for name in dialects.NAMES}
    yield everyone
    for talker in everyone.values():
        talker.close()


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("ingress", dialects.NAMES)
def test_cell(
    talkers: dict[str, Talker],
    served: Served,
    simulator: Running,
    ingress: str,
    provider: str,
    scenario: str,
    record_property: Callable[[str, object], None],
) -> None:
    record_property(CELL, f"{ingress}/{provider}/{scenario}")
    before = simulator.app.fired.copy()
    cell = Cell(
        talkers[ingress],
        served,
        f"{provider}/{MODELS[provider]}",
        ELSEWHERE.get(provider, "anthropic/claude-opus-5-5"),
    )
    SCENARIOS[scenario](cell)
    assert simulator.app.fired - before == {}, "a provider refused something"


def test_the_table_names_every_cell_and_its_failures() -> None:
    lines = list(lines_of({("gemini", "xai", "plain"): "ok", ("gemini", "xai", "429"): "FAILED"}))
    assert lines[0].split("|")[1:-1] == [" client ", " provider ", " plain ", " 429    "]
    assert lines[2].split() == ["|", "gemini", "|", "xai", "|", "ok", "|", "FAILED", "|"]
