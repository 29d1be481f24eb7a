"""What holds for every model in the catalog, whoever made it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from thinkwire.catalog import CatalogMatch, Facts, default_catalog
from thinkwire.jsonvalue import dump_text
from thinkwire.messages import Text, Turn
from thinkwire.reasoning import LEVELS, Intent, Level
from thinkwire.reasoning.levels import LADDER
from thinkwire.reasoning.native_params import FIELDS
from thinkwire.reasoning.plan import Plan
from thinkwire.reasoning.resolve import resolve
from thinkwire.request import Request

MODELS = {f"{facts.provider}/{facts.id}": facts for facts in default_catalog()}
PROVIDERS = sorted({facts.provider for facts in MODELS.values()})
BUDGETS = (-1, 0, 1, 512, 1_024, 4_000, 16_000, 20_000, 32_000, 64_000, 200_000)
HELLO = Request(turns=(Turn("user", (Text("Hello"),)),), max_tokens=4_096)
GOLDEN = Path(__file__).with_name("matrix.txt")


def plan_for(facts: Facts, intent: Intent) -> Plan:
    return resolve(intent, CatalogMatch(facts, "exact"), HELLO)[0]


def strength(facts: Facts, plan: Plan) -> float | None:
    """How much a model will think, comparable on the same model; None when nothing is said."""
    setting = plan.effective
    if setting.on is None:
        return None
    if not setting.on:
        return 0
    if setting.between_tools:
        return 0.5
    if setting.budget is not None:
        return float("inf") if setting.budget < 0 else 1 + setting.budget
    return 1 + facts.efforts.index(setting.effort) if setting.effort else 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_asking_for_more_never_gives_less(provider: str) -> None:
    for facts in models_of(provider):
        ladder: tuple[Level, ...] = LADDER if "none" in facts.names else ("none", *LADDER)
        got = [strength(facts, plan_for(facts, Intent(level=level))) for level in ladder]
        known = [value for value in got if value is not None]
        assert known == sorted(known), facts.id


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_larger_budget_never_gives_less(provider: str) -> None:
    asked = [budget for budget in BUDGETS if budget > 0]
    for facts in models_of(provider):
        got = [strength(facts, plan_for(facts, Intent(budget=budget))) for budget in asked]
        known = [value for value in got if value is not None]
        assert known == sorted(known), facts.id


def models_of(provider: str) -> list[Facts]:
    found = [facts for facts in MODELS.values() if facts.provider == provider]
    assert found
    return found


def intents() -> Iterator[Intent]:
    yield from (Intent(level=level) for level in LEVELS)
    yield from (Intent(budget=budget) for budget in BUDGETS)
    yield from (Intent(on=True), Intent(on=False), Intent(level="high", show=False))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_wish_is_sent_or_answered_for(provider: str) -> None:
    for facts, intent in product(models_of(provider), list(intents())):
        plan = plan_for(facts, intent)
        assert plan.patch or plan.notes or plan.outcome == "implied", (intent, plan)
        if plan.outcome in ("adjusted", "unsupported"):
            assert plan.notes, (intent, plan)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_only_one_vendors_words_are_used(provider: str) -> None:
    for facts, intent in product(models_of(provider), list(intents())):
        allowed = {path.split(".")[0] for path in FIELDS[facts.shape]} | {"include"} | set(facts.always_send)
        patch = plan_for(facts, intent).patch
        assert set(patch) <= allowed, (facts.id, intent)
        assert not {"thinking_budget", "enable_thinking"} & set(patch) or "reasoning_effort" not in patch
        config = patch.get("generationConfig", {}).get("thinkingConfig", {})
        assert not {"thinkingBudget", "thinkingLevel"} <= set(config)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_is_sent_is_what_the_model_accepts(provider: str) -> None:
    for facts, intent in product(models_of(provider), list(intents())):
        plan, request = resolve(intent, CatalogMatch(facts, "exact"), HELLO)
        setting = plan.effective
        if setting.effort is not None:
            assert setting.effort in facts.efforts
        if setting.budget is not None and setting.budget >= 0:
            assert facts.budget is not None
            assert facts.budget.min <= setting.budget <= (facts.budget_limit or 0)
            if facts.shape == "anthropic":
                assert request.max_tokens is not None
                assert setting.budget < request.max_tokens <= (facts.max_output or 0)
        if setting.on is False:
            assert facts.off is not None


def test_the_matrix_of_all_models_and_levels_is_as_reviewed() -> None:
    """After a deliberate change of facts: write the new matrix with `python -m tests.reasoning.matrix`."""
    assert GOLDEN.read_text("utf-8").splitlines() == list(matrix())


def matrix() -> Iterator[str]:
    """One line per model and wish: what is sent, and which Notes say why."""
    wishes = [(f"/{level}", Intent(level=level)) for level in LEVELS]
    wishes += [(f"{budget}", Intent(budget=budget)) for budget in (0, 2_000, 16_000, 50_000)]
    for name, facts in MODELS.items():
        yield name
        for word, intent in wishes:
            plan = plan_for(facts, intent)
            codes = " ".join(note.code for note in plan.notes)
            yield f"  {word:<9}{plan.outcome:<12}{dump_text(plan.patch)} {codes}".rstrip()
