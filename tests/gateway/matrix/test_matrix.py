"""Every client dialect on every provider, through everything that happens to a conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product

import pytest
from _pytest.mark import ParameterSet

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

ONE_PER_DIALECT = ("anthropic", "openai", "google", "deepseek")


@pytest.fixture(scope="module")
def talkers(served: Served) -> Iterator[dict[str, Talker]]:
    everyone = {name: Talker(served, name) for name in dialects.NAMES}
    yield everyone
    for talker in everyone.values():
        talker.close()


def cells() -> Iterator[ParameterSet]:
    """Every client with every provider in every scenario; `make test` runs the part that is in `is_usual`."""
    for ingress, provider, scenario in product(dialects.NAMES, MODELS, SCENARIOS):
        marks = () if is_usual(ingress, provider, scenario) else (pytest.mark.full,)
        yield pytest.param(ingress, provider, scenario, marks=marks)


def is_usual(ingress: str, provider: str, scenario: str) -> bool:
    """All cells of one provider per dialect; of the others every pair of client, provider and scenario."""
    if provider in ONE_PER_DIALECT:
        return True
    at = list(MODELS).index(provider) + list(SCENARIOS).index(scenario)
    return dialects.NAMES[at % len(dialects.NAMES)] == ingress


def test_the_usual_cells_contain_every_pair() -> None:
    usual = [cell for cell in product(dialects.NAMES, MODELS, SCENARIOS) if is_usual(*cell)]
    sides = (dialects.NAMES, tuple(MODELS), tuple(SCENARIOS))
    for one, other in combinations(range(3), 2):
        assert {(cell[one], cell[other]) for cell in usual} == set(product(sides[one], sides[other]))


@pytest.mark.parametrize(("ingress", "provider", "scenario"), list(cells()))
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
