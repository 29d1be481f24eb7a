"""No function that a request passes through costs more than its size: twice the request, twice the work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from tests.laws.growth import STEP, excess
from tests.laws.request_shapes import SHAPES
from thinkwire import dialects
from thinkwire.client.engine import Client
from thinkwire.client.prepare import prepare_request
from thinkwire.context import count
from thinkwire.gateway.http.routes import Route
from thinkwire.gateway.ledger.ledger import Ledger
from thinkwire.gateway.ledger.matching import prefixes_of
from thinkwire.gateway.pipeline.request_size import MAX_TOOLS, check_request_size, check_turns
from thinkwire.gateway.pipeline.translate import asking_for, normalise_request
from thinkwire.gateway.pipeline.upstream import Upstream, resolve_upstream
from thinkwire.gateway.responses.store import ResponseStore
from thinkwire.gateway.seals.carrier import Carrier
from thinkwire.jsonvalue import dump
from thinkwire.replay import plan_replay
from thinkwire.replay.doctor import examine, healed, mend_request
from thinkwire.request import Request
from thinkwire.sim.rules.rule import RuleInput
from thinkwire.sim.rules.table import first_refusal
from thinkwire.sim.seals import SimSealer

MODELS = {
    "anthropic": "anthropic/claude-sonnet-4-5/high",
    "openai-chat": "deepseek/deepseek-v4",
    "openai-responses": "openai/gpt-5.6",
    "gemini": "google/gemini-3.8-flash",
}
"""A model for each dialect."""
SMALL, LARGE = 300, 2_400
SECRET = bytes(range(32))
MANY_OBJECTS = b"{" * (MAX_TOOLS + 1)
"""Bytes that keep `check_request_size` from its shortcut for small requests, whatever the body is."""


class NoShelf:
    """A ledger's store that knows nothing."""

    async def find(self, names: object, now: float) -> dict[bytes, bytes]:
        return {}


def meant(dialect: str) -> Upstream:
    return resolve_upstream(Client(), MODELS[dialect])


def steps(dialect: str, to: Upstream, body: dict[str, Any]) -> Iterator[tuple[str, Callable[[], object]]]:
    """Everything that a request of this body goes through, one after the other."""
    shelf: Any = NoShelf()
    ledger, stored = Ledger(shelf, SECRET, 60), ResponseStore(shelf, SECRET)
    place = Route("generate", dialect, streamed=True if dialect == "gemini" else None)
    destination = to.located.destination
    decode = dialects.get(dialect).decode_request
    yield "check_request_size", lambda: check_request_size(MANY_OBJECTS, body)
    yield "decode_request", lambda: decode(body)
    request = decode(body)
    yield "check_turns", lambda: check_turns(request.turns)
    yield "stored responses", lambda: asyncio.run(stored.open("t", request))
    yield "understand", lambda: normalise_request(request, place, destination)
    understood = normalise_request(request, place, destination)
    asked = understood.request
    carrier = Carrier(SECRET)
    yield "carriers", lambda: carrier.open_request(asked, "t", dialect, bound=True)
    yield "ledger", lambda: asyncio.run(ledger.restore("t", to.upstream, asked, bound=True))
    yield "prefixes", lambda: list(prefixes_of(asked))
    yield "plan_replay", lambda: plan_replay(asked.turns, destination)
    yield "prepare", lambda: prepare_request(asking_for(to, understood, "tenant:t"), 0.0)
    yield "count", lambda: count(asked.turns, model=to.located.model, tools=asked.tools)
    yield "examine", lambda: examine(asked, destination)
    yield "mend_request", lambda: mend_request(asked, destination)
    yield "healed", lambda: healed(asked.turns, destination)
    told = prepare_request(asking_for(to, understood, "tenant:t"), 0.0)
    sent = RuleInput(
        *(
            told.provider.name,
            told.dialect.name,
            told.model,
            destination.facts,
            told.body,
            {},
            SimSealer(),
            "a",
        )
    )
    yield "rules of the simulator", lambda: first_refusal(sent)


def body_of(dialect: str, request: Request) -> dict[str, Any]:
    """A native body that says the request."""
    body = dialects.get(dialect).encode_request(msgspec.structs.replace(request)).body
    return msgspec.json.decode(dump(body))


def costly(dialect: str, to: str, shape: str, size: int, *, timed: bool = True) -> dict[str, str]:
    """The steps whose cost grows faster than the request, with how fast."""
    target = meant(to)
    make = SHAPES[shape]
    pairs = zip(
        steps(dialect, target, body_of(dialect, make(size))),
        steps(dialect, target, body_of(dialect, make(STEP * size))),
        strict=True,
    )
    found = {name: excess(single, larger, timed=timed) for (name, single), (_, larger) in pairs}
    return {name: how for name, how in found.items() if how is not None}


def other(dialect: str) -> str:
    """The next dialect in the list of all."""
    return dialects.NAMES[(dialects.NAMES.index(dialect) + 1) % len(dialects.NAMES)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_the_work_grows_like_the_request(dialect: str, shape: str) -> None:
    assert costly(dialect, other(dialect), shape, SMALL) == {}


@pytest.mark.full
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_the_work_grows_like_a_large_request(dialect: str, shape: str) -> None:
    """Calls only: the time of large requests depends on the memory that other processes use."""
    assert costly(dialect, dialect, shape, LARGE, timed=False) == {}


def test_quadratic_work_is_seen() -> None:
    def join(count: int) -> Callable[[], object]:
        def work() -> tuple[int, ...]:
            joined: tuple[int, ...] = ()
            for at in range(count):
                joined += (at,)
            return joined

        return work

    assert excess(join(4_000), join(16_000)) is not None
