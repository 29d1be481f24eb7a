"""One request: its id, what its answer's headers tell, and its record."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkwire.errors import Failure
from thinkwire.gateway.auth.keys import Tenant
from thinkwire.gateway.common import ids as drawn_ids
from thinkwire.gateway.common.ids import new_id
from thinkwire.gateway.config.gateway_config import GatewayConfig
from thinkwire.gateway.http.client_response import ClientResponse
from thinkwire.gateway.http.headers import told_headers
from thinkwire.gateway.http.request_head import RequestHead
from thinkwire.gateway.http.routes import Route
from thinkwire.gateway.pipeline.context import RequestContext
from thinkwire.gateway.telemetry.cost import cost_of
from thinkwire.gateway.telemetry.record import RequestLabels, RequestRecord
from thinkwire.notes import Note
from thinkwire.usage import Usage


class Sent(NamedTuple):
    """Stands where an outlet is, when everything is over."""

    status: int | None


def new_call(status: int | None = 200, *, trace: str | None = None) -> RequestContext:
    place = Route("generate", "anthropic")
    entrance = RequestHead("generate", place, "anthropic", True, trace=trace)
    return RequestContext({}, entrance, GatewayConfig(), cast(ClientResponse, Sent(status)))


def test_a_record_has_everything_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_800_000_000.5)
    clock = iter((10.0, 10.25, 11.5))
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    call = new_call(206, trace="00-1-2-03")
    call.told()
    call.told()
    call.tenant = Tenant("t1", "ci")
    call.dialect, call.operation, call.asked = "gemini", "count_tokens", "fast"
    call.provider, call.model = "anthropic", "claude-opus-5"
    call.requested, call.effective, call.finish, call.response_id = "max", "high", "stop", "msg_1"
    call.failure = Failure("auth", "no")
    call.streamed, call.restored = True, 3
    call.usage = usage = Usage(70, 20, 10, 100, 30, 20, 50)
    call.notes = [Note("field.dropped", "a"), Note("cache.lost", "b"), Note("field.dropped", "c")]
    cost = cost_of(usage, "anthropic", "claude-opus-5")
    assert cost
    kind = RequestLabels(
        tenant="t1",
        dialect="gemini",
        operation="count_tokens",
        asked="fast",
        provider="anthropic",
        model="claude-opus-5",
        status=206,
        failure="auth",
        client_left=False,
        streamed=True,
        passed_through=False,
        requested="max",
        effective="high",
        finish="stop",
        notes=("field.dropped", "cache.lost"),
    )
    assert call.record() == RequestRecord(
        id=call.id,
        time=1_800_000_000.5,
        kind=kind,
        ms=1500.0,
        first_ms=250.0,
        usage=usage,
        cost=cost,
        restored=3,
        response_id="msg_1",
        trace="00-1-2-03",
    )


@pytest.mark.parametrize("name", ["client_left", "streamed", "passed_through"])
def test_no_two_kinds_are_taken_for_each_other(name: str) -> None:
    one, other = new_call(), new_call()
    setattr(other, name, True)
    kinds = [call.record().kind for call in (one, other, one)]
    assert [getattr(kind, name) for kind in kinds] == [False, True, False]
    assert kinds[0] is kinds[2]


def test_of_a_call_that_came_to_nothing_nothing_is_known() -> None:
    record = new_call(None).record()
    assert record.kind.status == 499
    assert (record.first_ms, record.usage, record.cost, record.trace, record.kind.notes) == (*[None] * 4, ())


def test_every_id_is_another() -> None:
    ids = [new_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert all(re.fullmatch(r"[0-9a-f]{24}", one) for one in ids)


def test_ids_are_drawn_from_the_systems_source_of_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_ids, "_drawn", [])
    monkeypatch.setattr("os.urandom", lambda size: bytes(range(256)) * (size // 256))
    ids = [new_id() for _ in range(64)]
    assert sorted(bytes.fromhex("".join(ids))) == sorted(bytes(range(256)) * 3)


FORK = """
import os
from thinkwire.gateway.common.ids import new_id
new_id()
child = os.fork()
text = " ".join(new_id() for _ in range(64)) + "\\n"
if child:
    assert os.waitpid(child, 0)[1] == 0
os.write(1, text.encode())
os._exit(0)
"""


def test_a_process_and_its_child_give_different_ids() -> None:
    """Ids that are drawn beforehand do not go along."""
    run = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True)
    theirs, ours = [set(line.split()) for line in run.stdout.splitlines()]
    assert len(theirs) == len(ours) == 64
    assert theirs.isdisjoint(ours)


WORDS = st.none() | st.sampled_from(["high", "4096", "é\n", "x" * 300])


@given(WORDS, WORDS, WORDS, WORDS, st.lists(st.builds(Note, st.just("field.dropped"), st.text(max_size=5))))
def test_headers_without_notes_are_the_usual_ones(
    requested: Any, effective: Any, provider: Any, model: Any, notes: list[Note]
) -> None:
    call = new_call()
    call.requested, call.effective, call.provider, call.model = requested, effective, provider, model
    usual = list(call.answer_headers())
    call.notes = notes
    noted = list(call.answer_headers())
    told = told_headers(notes, requested=requested, effective=effective)
    assert noted[: len(told)] == told
    assert [pair for pair in noted if pair[0] != b"x-thinkwire-notes"] == usual
    assert {name for name, _ in usual} == {
        name
        for name, value in (
            (b"x-thinkwire-requested", requested),
            (b"x-thinkwire-effective", effective),
            (b"x-thinkwire-model", model),
            (b"x-thinkwire-provider", provider),
        )
        if value is not None
    }
