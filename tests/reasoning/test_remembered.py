"""What a model is told is decided once for all requests alike; a request changes it for nobody else."""

from __future__ import annotations

from itertools import product

import msgspec
import pytest

from thinkwire.catalog import CatalogMatch, Facts, default_catalog
from thinkwire.messages import Text, Turn
from thinkwire.reasoning import Intent
from thinkwire.reasoning.constraints import _FIELDS, Companions, _companions_refused
from thinkwire.reasoning.plan import Plan, Setting
from thinkwire.reasoning.resolve import ConversationState, _decided, resolve
from thinkwire.request import Request, Tool, ToolChoice

MODELS = list(default_catalog())
PROVIDERS = sorted({facts.provider for facts in MODELS})
INTENTS = (
    Intent(),
    Intent(level="high"),
    Intent(level="none", said="off"),
    Intent(budget=20_000),
    Intent(level="auto", show=True, summary="detailed"),
)
HELLO = Request(turns=(Turn("user", (Text("Hello"),)),), max_tokens=4_096)
LADEN = Request(
    turns=(
        Turn("user", (Text("Hello"),)),
        Turn("system", (Text("Be brief."),)),
        Turn("assistant", (Text("So"),)),
    ),
    tools=(Tool("f"),),
    tool_choice=ToolChoice("any"),
    max_tokens=100,
    temperature=1.7,
    top_k=3,
    presence_penalty=0.5,
    stop=("END",),
    extras={"openai_chat": {"logprobs": True, "prompt_mode": "reasoning"}},
)
SAID = {
    "temperature": 0.5,
    "top_p": 0.5,
    "top_k": 5,
    "presence_penalty": 0.5,
    "frequency_penalty": 0.5,
    "stop": ("x",),
}


def models_of(provider: str) -> list[Facts]:
    return [facts for facts in MODELS if facts.provider == provider]


def planned(found: CatalogMatch, intent: Intent, request: Request) -> Plan:
    return resolve(intent, found, request)[0]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_plan_is_the_same_before_and_after_others(provider: str) -> None:
    for facts, intent, by in product(models_of(provider), INTENTS, ("exact", "family")):
        found = CatalogMatch(facts, by)
        fresh = msgspec.to_builtins(_decided.__wrapped__(found, intent, False))
        before = planned(found, intent, LADEN)
        assert msgspec.to_builtins(_decided(found, intent, False)) == fresh
        assert planned(found, intent, LADEN) == before
        assert msgspec.to_builtins(_decided(found, intent, False)) == fresh


def test_what_is_known_of_a_model_counts_not_only_its_name() -> None:
    facts = next(facts for facts in MODELS if len(facts.efforts) > 2 and facts.mechanism == "effort")
    learnt = msgspec.structs.replace(facts, efforts=facts.efforts[:1])
    assert hash(learnt) == hash(facts)
    strong = Intent(level="max")
    plans = [planned(CatalogMatch(known, "exact"), strong, HELLO) for known in (facts, learnt, facts)]
    assert plans[0] == plans[2] != plans[1]
    assert plans[1].effective.effort == facts.efforts[0]


def test_a_long_conversation_is_decided_apart() -> None:
    facts = next(facts for facts in MODELS if facts.mechanism == "budget" and facts.provider == "anthropic")
    found, intent = CatalogMatch(facts, "exact"), Intent(budget=20_000)
    long = ConversationState(context_tokens=200_000)
    got = [resolve(intent, found, HELLO, at)[0].effective.budget for at in (None, long, ConversationState(1))]
    assert got == [20_000, 10_000, 20_000]


def test_a_clients_own_words_are_not_remembered() -> None:
    found = CatalogMatch(MODELS[0], "exact")
    before = _decided.cache_info()
    plan = planned(found, Intent(level="high", summary="x" * 1000), HELLO)
    assert plan.requested.summary == "x" * 1000
    assert _decided.cache_info() == before


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_refused_field_is_found(provider: str) -> None:
    for facts, on in product(models_of(provider), (True, False)):
        names = _companions_refused(facts.refuses, on, False).names
        for kind, fields in _FIELDS.items():
            for field in fields:
                asked = msgspec.structs.replace(HELLO, **{field: SAID[field]})
                companions = Companions(msgspec.structs.replace(facts, temperature=None))
                _, fitting = companions.fit(Setting(on=on), msgspec.structs.replace(asked, stream=True))
                left = getattr(fitting, field)
                assert (left == getattr(HELLO, field)) is (kind in names), (facts.id, field)
                assert bool(companions.controls) is (kind in names)
