"""A model that was found just before is not looked up again, unless something was learned meanwhile."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import msgspec
import pytest

from thinkwire.client.learned_facts import LEARNED_DAYS, LOCAL_USER, LearnedFact, LearnedFactsFile
from thinkwire.client.prepare import CallSpec, prepare_request, resolve_model
from thinkwire.messages import Text, Turn
from thinkwire.notes import Note
from thinkwire.reasoning import Intent
from thinkwire.reasoning.recovery import Recovery
from thinkwire.replay import ReplaySettings
from thinkwire.request import Request
from thinkwire.settings.overrides import ModelOverrides

NOW = 1_790_000_000.0
HELLO = Request(turns=(Turn("user", (Text("Hello"),)),))
MODELS = (
    "anthropic/claude-opus-5",
    "claude-haiku-5-5/high",
    "deepseek/deepseek-v4-pro",
    "google/gemini-3.5-flash",
    "ollama/whatever",
)
INTENTS = (None, Intent(), Intent(level="none"), Intent(budget=4_000), Intent(on=False), Intent(level="high"))
GROK = "xai/grok-4.6"
CHANGE = {"efforts": ["low", "medium"]}
FACT = LearnedFact(LOCAL_USER, "xai", "grok-4.6", CHANGE, "does not support value high", NOW)


@pytest.fixture
def file(tmp_path: Path) -> LearnedFactsFile:
    return LearnedFactsFile(tmp_path / "learned_facts.jsonl")


def asked(model: str, **how: object) -> CallSpec:
    how = {"thinking": None, "replay": ReplaySettings()} | how
    return CallSpec(HELLO, model, **how)  # type: ignore[arg-type]


def found_before(asking: CallSpec) -> CallSpec:
    return msgspec.structs.replace(asking, located=resolve_model(asking, NOW))


@pytest.mark.parametrize(("model", "intent"), list(product(MODELS, INTENTS)))
def test_it_makes_no_difference(model: str, intent: Intent | None, file: LearnedFactsFile) -> None:
    before = found_before(asked(model, learned_facts=file))
    known = msgspec.structs.replace(before, thinking=intent)
    anew = asked(model, thinking=intent, learned_facts=file)
    assert resolve_model(known, NOW) == resolve_model(anew, NOW)
    assert prepare_request(known, NOW) == prepare_request(anew, NOW)


def test_what_was_found_is_what_is_taken() -> None:
    known = found_before(asked(GROK))
    assert known.located is not None
    moved = msgspec.structs.replace(known.located, model="grok-elsewhere")
    assert prepare_request(msgspec.structs.replace(known, located=moved), NOW).model == "grok-elsewhere"


def test_a_learned_fact_counts_at_once_and_as_long_as_it_is_believed(file: LearnedFactsFile) -> None:
    known = found_before(asked(GROK, thinking=Intent(level="high"), learned_facts=file))
    assert prepare_request(known, NOW).plan.effective.effort == "high"
    file.add(FACT)
    assert prepare_request(known, NOW + 1).plan.effective.effort == "medium"
    learned = found_before(known)
    assert prepare_request(learned, NOW + 1).plan.effective.effort == "medium"
    assert prepare_request(learned, NOW + LEARNED_DAYS * 86_400 + 1).plan.effective.effort == "high"


def test_so_do_the_correction_of_this_try_and_settings() -> None:
    known = found_before(asked(GROK, thinking=Intent(level="high")))
    recovery = Recovery(Note("reasoning.learned", "refused"), CHANGE)
    told = msgspec.structs.replace(known, recovery=recovery)
    assert prepare_request(told, NOW).plan.effective.effort == "medium"
    field = msgspec.structs.replace(known, overrides=ModelOverrides(field="thinking"))
    assert prepare_request(field, NOW).provider.quirks.reasoning_field == "thinking"
