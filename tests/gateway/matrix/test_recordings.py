"""The recorded requests, in their own dialect, for every provider: none breaks anything or is refused."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest

from tests.gateway.gateways import Served
from tests.gateway.matrix.clients import Said, Talker
from tests.gateway.matrix.test_matrix import MODELS
from tests.recordings.loader import Recording, folder, requests
from tests.support import ROOT
from thinkwire import dialects
from thinkwire.asking import Prepared, prepare
from thinkwire.catalog import default_catalog
from thinkwire.client import Client
from thinkwire.gateway.asked import find_meant
from thinkwire.gateway.carrier import Carrier
from thinkwire.gateway.ingress.home import HOME
from thinkwire.gateway.paths import Place
from thinkwire.gateway.translate import intent_for, understand
from thinkwire.jsonvalue import dump, dump_text, parse
from thinkwire.providers import default_providers
from thinkwire.request import Request
from thinkwire.sim.fixture import Running
from thinkwire.sim.rules.rule import Asked
from thinkwire.sim.rules.table import first_refusal, rules_for
from thinkwire.sim.seals import Sealer

pytestmark = pytest.mark.needs("recordings")

STORED = ("previous_response_id", "item_reference", "conversation")
UNKNOWN = frozenset({"openrouter.details_altered", "openai.item_not_stored"})
"""Seals that a real vendor made, and items that it stored: no simulator can know them."""
STILL = {
    "anthropic": {"anthropic.first_message_not_user"},  # a history that begins with the model's own words
    "google": {"gemini.call_out_of_order"},  # the same history
    "moonshot": {"kimi.thinking_refused_with_effort"},  # what is left of Z.ai's `thinking` object
    "mistral": {"mistral.unknown_message_field", "mistral.tool_type"},  # another server's own fields, tools
    "deepseek": {"deepseek.tool_type", "deepseek.calls_without_results"},  # the same; a result without an id
}
"""What chat clients of other servers send that is refused still."""
STEPS = (0, 5, 9)
"""How far apart the three providers stand that each recording is sent to over a socket."""


class Asking(NamedTuple):
    """A recorded request as the gateway would get it."""

    recording: Recording
    request: Request

    @property
    def place(self) -> Place:
        streamed = self.recording.kind == "stream" if self.recording.dialect == "gemini" else None
        return Place("generate", self.recording.dialect, streamed=streamed)

    @property
    def body(self) -> dict[str, Any]:
        assert self.recording.request is not None
        return self.recording.request

    @property
    def is_whole(self) -> bool:
        """Whether it brings everything along; some name what their vendor had stored for somebody."""
        return not any(f'"{name}"' in dump_text(self.body) for name in STORED)

    def refused_at_home(self, at: str, model: str) -> set[str]:
        """The rules by which the simulator of its own vendor refuses it, as it was or for this model."""
        vendor = HOME[self.recording.dialect]
        models = {str(self.body.get("model") or ""), *([model] if at == vendor else [])}
        return {rule for name in models for rule in self._refusals(vendor, name)}

    def _refusals(self, vendor: str, model: str) -> Iterator[str]:
        found = default_catalog().find(vendor, model)
        facts = found.facts if found else None
        asked = Asked(vendor, self.recording.dialect, model, facts, self.body, {}, Sealer(), "someone")
        return (r.id for r in rules_for(vendor, self.recording.dialect) if r.check(asked) is not None)


@cache
def recorded() -> tuple[Asking, ...]:
    """Every recorded request that its provider answered or refused; without recordings, none."""
    found = [value for case in requests() if isinstance(value := case.values[0], Recording)]
    return tuple(
        Asking(one, dialects.get(one.dialect).decode_request(one.request))
        for one in found
        if one.request is not None
    )


def planned(client: Client, model: str) -> Iterator[tuple[Asking, Prepared]]:
    """Every request as the gateway sends it on: understood, opened, planned."""
    meant, carrier = find_meant(client, model), Carrier(bytes(32))
    for asking in recorded():
        if not asking.is_whole:
            continue
        understood = understand(asking.request, asking.place, meant.located.destination)
        request, _ = carrier.open_request(understood.request, "me", asking.recording.dialect)
        how: dict[str, Any] = {"thinking": intent_for(meant, understood.intent)}
        yield asking, prepare(client.asking(request, model=meant.upstream, **how), 0)


@pytest.mark.parametrize("provider", MODELS)
def test_no_provider_refuses_what_was_answered(provider: str) -> None:
    client = Client(keys=dict.fromkeys(default_providers(), "any-key"), lessons=False, sim=False)
    wrong: list[tuple[str, str]] = []
    found: set[str] = set()
    for asking, prepared in planned(client, f"{provider}/{MODELS[provider]}"):
        headers = {name.lower(): value for name, value in prepared.headers.items()}
        asked = Asked(
            *(provider, prepared.dialect.name, prepared.model, prepared.plan.facts),
            *(parse(dump(prepared.body)), headers, Sealer(), "someone"),
        )
        refusal = first_refusal(asked)
        if asking.recording.status != 200 or refusal is None:
            continue
        rule = refusal[0].id
        if rule in STILL.get(provider, ()):
            found.add(rule)
        elif rule not in UNKNOWN | asking.refused_at_home(provider, prepared.model):
            wrong.append((asking.recording.id, f"{rule}: {refusal[1].message[:120]}"))
    assert wrong == []
    assert found == STILL.get(provider, set()) or (folder() or ROOT).name != "dev", "mended: take it out"


@pytest.fixture(scope="module")
def talkers(served: Served) -> Iterator[dict[str, Talker]]:
    everyone = {name: Talker(served, name) for name in dialects.NAMES}
    yield everyone
    for talker in everyone.values():
        talker.close()


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_over_a_socket_what_was_answered_is_answered(
    talkers: dict[str, Talker], simulator: Running, dialect: str, step: int
) -> None:
    names = list(MODELS)
    broken: list[tuple[str, str, str]] = []
    for number, asking in enumerate(recorded()):
        if asking.recording.dialect != dialect:
            continue
        provider = names[(number + step) % len(names)]
        before = simulator.app.fired.copy()
        said = asked_of(talkers[dialect], asking, f"{provider}/{MODELS[provider]}")
        rules = set(simulator.app.fired - before) - STILL.get(provider, set()) - UNKNOWN
        if not is_good(asking, said) and not (
            rules <= asking.refused_at_home(provider, MODELS[provider]) and said.status in (400, 404, 422)
        ):
            broken.append((asking.recording.id, provider, f"{said.status} {said.raw[:300]!r}"))
    assert broken == []


def asked_of(talker: Talker, asking: Asking, model: str) -> Said:
    stream = asking.place.streamed if asking.place.streamed is not None else asking.body.get("stream") is True
    body = asking.body if talker.ingress == "gemini" else asking.body | {"model": model}
    return talker.post(model, body, stream=stream)


def is_good(asking: Asking, said: Said) -> bool:
    """A whole answer; a refusal where the recorded provider refused, too, or had more than the recording."""
    if said.status == 200:
        return said.answer.finish is not None
    if said.status >= 500:
        return False
    return asking.recording.status != 200 or not asking.is_whole
