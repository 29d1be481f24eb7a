"""What the resolver plans, for any model and any level, no vendor's rules refuse."""

from __future__ import annotations

import pytest

from tests.sim.rules.ask import ACCOUNT, SEALER
from thinkwire.messages import Text, Turn
from thinkwire.reasoning import LEVELS, Intent
from thinkwire.reasoning.explain import explain
from thinkwire.reasoning.target import Target, all_targets
from thinkwire.request import Request
from thinkwire.sim.rules.rule import RuleInput
from thinkwire.sim.rules.table import first_refusal

HELLO = Request(turns=(Turn("user", (Text("Hello"),)),), max_tokens=4096, temperature=0.5, stream=True)
"""Streamed, because some models only think in a stream, which is not the resolver's to choose."""

PROVIDERS = sorted({target.provider.name for target in all_targets() if target.provider})


@pytest.mark.parametrize("provider", PROVIDERS)
def test_takes_what_is_planned(provider: str) -> None:
    targets = [target for target in all_targets() if target.provider and target.provider.name == provider]
    intents = [Intent(), Intent(budget=100_000), *(Intent(level=level) for level in LEVELS)]
    refused = {
        (target.model, intent.level): _refusal(target, intent) for target in targets for intent in intents
    }
    assert {key: why for key, why in refused.items() if why} == {}


def _refusal(target: Target, intent: Intent) -> str | None:
    shown = explain(target, intent, HELLO)
    facts = target.found.facts if target.found else None
    name = target.provider.name if target.provider else ""
    asked = RuleInput(name, shown.dialect, target.model, facts, shown.body, shown.headers, SEALER, ACCOUNT)
    found = first_refusal(asked)
    return f"{found[0].id}: {found[1].message}" if found else None
