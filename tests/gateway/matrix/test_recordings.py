"""The recorded requests, in their own dialect, for every provider: none breaks anything or is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import pytest

from tests.gateway.gateways import Served
from tests.gateway.matrix.clients import Said, Talker
from tests.gateway.matrix.test_matrix import MODELS
from tests.recordings.loader import Recording, requests
from thinkwire import dialects
from thinkwire.catalog import Facts, default_catalog
from thinkwire.client.engine import Client
from thinkwire.client.prepare import PreparedRequest, prepare_request
from thinkwire.gateway.http.routes import Route
from thinkwire.gateway.pipeline.translate import intent_for, normalise_request
from thinkwire.gateway.pipeline.upstream import resolve_upstream
from thinkwire.gateway.seals.carrier import Carrier
from thinkwire.jsonvalue import dump, dump_text, parse
from thinkwire.providers import default_providers
from thinkwire.replay import ReplaySettings
from thinkwire.request import Request
from thinkwire.sim.rules.rule import RuleInput
from thinkwire.sim.rules.table import rules_for
from thinkwire.sim.seals import SimSealer

pytestmark = pytest.mark.needs("recordings")

STORED = ("previous_response_id", "item_reference", "conversation")
UNKNOWABLE = frozenset(
    {
        *("anthropic.signature_invalid", "gemini.signature_corrupted", "openrouter.details_altered"),
        *("openai.encrypted_content_unverified", "openai.item_not_stored"),
    }
)
"""Seals that a real vendor made, and items that it stored: no simulator can know them."""
PORTION = 6
"""Of the models besides `MODELS`, each gets one in so many recordings."""
STEPS = (0, 5, 9)
"""How far apart the three providers stand that each recording is sent to over a socket."""


class Asking(NamedTuple):
    """A recorded request as the gateway would get it."""

    recording: Recording
    request: Request

    @property
    def place(self) -> Route:
        streamed = self.recording.kind == "stream" if self.recording.dialect == "gemini" else None
        return Route("generate", self.recording.dialect, streamed=streamed)

    @property
    def body(self) -> dict[str, Any]:
        assert self.recording.request is not None
        return self.recording.request

    @property
    def is_whole(self) -> bool:
        """Whether it brings everything along; some name what their vendor had stored for somebody."""
        return not any(f'"{name}"' in dump_text(self.body) for name in STORED)


@cache
def recorded() -> tuple[Asking, ...]:
    """Every recorded request that its provider answered or refused; without recordings, none."""
    found = [value for case in requests() if isinstance(value := case.values[0], Recording)]
    return tuple(
        Asking(one, dialects.get(one.dialect).decode_request(one.request))
        for one in found
        if one.request is not None
    )


@cache
def kinds_of_models() -> tuple[Facts, ...]:
    """One model of every kind: the first of those that are told, think and refuse in the same way."""
    kinds: dict[object, Facts] = {}
    for facts in default_catalog():
        told = (facts.dialect, facts.shape, facts.mechanism, facts.efforts, facts.off)
        kind = (facts.provider, *told, facts.replay, facts.refuses, facts.visible, facts.maker)
        if facts.provider in default_providers():
            kinds.setdefault(kind, facts)
    return tuple(kinds.values())


def planned(
    client: Client, model: str, askings: Sequence[Asking], **how: Any
) -> Iterator[tuple[Asking, PreparedRequest]]:
    """Requests as the gateway sends them on: understood, opened, planned."""
    meant, carrier = resolve_upstream(client, model), Carrier(bytes(32))
    for asking in askings:
        if not asking.is_whole:
            continue
        understood = normalise_request(asking.request, asking.place, meant.located.destination)
        request, _ = carrier.open_request(understood.request, "me", asking.recording.dialect)
        thinking = intent_for(meant, understood.intent)
        yield (
            asking,
            prepare_request(client.asking(request, model=meant.upstream, thinking=thinking, **how), 0),
        )


@pytest.mark.parametrize("provider", MODELS)
def test_no_provider_refuses_what_was_answered(provider: str) -> None:
    assert wrongly_refused(provider, MODELS[provider], recorded()) == []


@pytest.mark.parametrize("provider", sorted({facts.provider for facts in kinds_of_models()}))
def test_no_kind_of_model_refuses_what_was_answered(provider: str) -> None:
    kinds = [facts for facts in kinds_of_models() if facts.provider == provider]
    wrong = [
        flaw
        for number, facts in enumerate(kinds)
        for flaw in wrongly_refused(provider, facts.id, recorded()[number % PORTION :: PORTION])
    ]
    assert wrong == []


def wrongly_refused(provider: str, model: str, askings: Sequence[Asking]) -> list[tuple[str, str, str]]:
    """What a strict provider refuses of requests that were answered elsewhere."""
    client = Client(keys=dict.fromkeys(default_providers(), "any-key"), learned_facts=False, sim=False)
    wrong: list[tuple[str, str, str]] = []
    for asking, prepared in planned(client, f"{provider}/{model}", askings):
        rules = refusals(prepared) if asking.recording.status == 200 else []
        if rules and not is_excused(client, asking, prepared, rules[0]):
            wrong.append((model, asking.recording.id, ", ".join(rules)))
    return wrong


def refusals(prepared: PreparedRequest) -> list[str]:
    """Every rule that refuses a request, in the order in which the provider looks."""
    headers = {name.lower(): value for name, value in prepared.headers.items()}
    provider, dialect = prepared.provider.name, prepared.dialect.name
    asked = RuleInput(
        *(provider, dialect, prepared.model, prepared.plan.facts),
        *(parse(dump(prepared.body)), headers, SimSealer(), "someone"),
    )
    return [rule.id for rule in rules_for(provider, dialect) if rule.check(asked) is not None]


def is_excused(client: Client, asking: Asking, prepared: PreparedRequest, rule: str) -> bool:
    """Whether a request is refused for what nobody but its vendor can know, and for nothing else.

    Then it is taken without its seals, which is what the client tries after such a refusal.
    """
    name = f"{prepared.provider.name}/{prepared.model}"
    again = planned(client, name, [asking], replay=ReplaySettings(seals=False))
    return rule in UNKNOWABLE and all(refusals(bare) == [] for _, bare in again)


@pytest.fixture(scope="module")
def talkers(served: Served) -> Iterator[dict[str, Talker]]:
    everyone = {name: Talker(served, name) for name in dialects.NAMES}
    yield everyone
    for talker in everyone.values():
        talker.close()


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_over_a_socket_what_was_answered_is_answered(
    talkers: dict[str, Talker], dialect: str, step: int
) -> None:
    names = list(MODELS)
    broken: list[tuple[str, str, str]] = []
    for number, asking in enumerate(recorded()):
        if asking.recording.dialect != dialect:
            continue
        provider = names[(number + step) % len(names)]
        said = asked_of(talkers[dialect], asking, f"{provider}/{MODELS[provider]}")
        if not is_good(asking, said):
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
