"""One request: what came, what is known of it so far, and what is told about it in the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from thinkwire.client.prepare import PreparedRequest
from thinkwire.errors import Failure
from thinkwire.gateway.auth.keys import UNKNOWN, Tenant
from thinkwire.gateway.common.ids import new_id
from thinkwire.gateway.config.gateway_config import GatewayConfig
from thinkwire.gateway.http.client_response import ClientResponse
from thinkwire.gateway.http.errors import error_answer, in_our_words
from thinkwire.gateway.http.headers import HeaderPairs, Scope, header_value, told_headers
from thinkwire.gateway.http.request_head import RequestHead
from thinkwire.gateway.telemetry.cost import bound_of, cost_of
from thinkwire.gateway.telemetry.record import RequestRecord, labels_of
from thinkwire.messages import Turn
from thinkwire.notes import Note
from thinkwire.reasoning.intent import Intent
from thinkwire.reasoning.plan import Plan, Setting
from thinkwire.usage import Usage


class RequestContext:
    """Filled in as the request is served; `record` is its sum."""

    def __init__(
        self, scope: Scope, entrance: RequestHead, config: GatewayConfig, outlet: ClientResponse
    ) -> None:
        self.id = "req_" + new_id()
        self.scope = scope
        self.entrance = entrance
        self.place = place = entrance.place
        self.config = config
        self.outlet = outlet
        self.dialect = entrance.dialect
        self.operation: str = place.operation
        self.tenant: Tenant = UNKNOWN
        self.asked = ""
        self.streamed = False
        self.passed_through = False
        self.provider: str | None = None
        self.model: str | None = None
        self.requested: str | None = None
        self.effective: str | None = None
        self.notes: list[Note] = []
        self.usage: Usage | None = None
        self.finish: str | None = None
        self.response_id: str | None = None
        self.failure: Failure | None = None
        self.client_left = False
        self.restored = 0
        self.breaks_off: Callable[[Failure], bytes] | None = None
        """The last words of a stream that has begun, in the client's dialect."""
        self.so_far: Callable[[], tuple[Turn, Usage | None]] | None = None
        """What was received of the answer, and the usage reported up to now."""
        self.estimated_cost: float | None = None
        """US dollars, where the usage was not reported and a limit needs a number."""
        self._time = time.time()
        self._began = time.perf_counter()
        self._first: float | None = None

    def prepared(self, prepared: PreparedRequest) -> None:
        """Who will be asked, and how."""
        self.provider, self.model = prepared.provider.name, prepared.model
        self.planned(prepared.plan)

    def planned(self, plan: Plan) -> None:
        self.requested = requested_words(plan.requested) if plan.requested.said else None
        self.effective = effective_words(plan.effective)

    def told(self) -> None:
        """The first piece of the answer is here."""
        if self._first is None:
            self._first = time.perf_counter()

    def answer_headers(self) -> Sequence[tuple[bytes, bytes]]:
        """`x-thinkwire-*`: who answers, what was asked and sent, and what was changed on the way."""
        if not self.notes:
            return _usual_headers(self.requested, self.effective, self.provider, self.model)
        told = told_headers(self.notes, requested=self.requested, effective=self.effective)
        return [*told, *_by(self.provider, self.model)]

    async def fail(self, failure: Failure) -> None:
        """Tells a failure: by status and body, or inside the stream that has begun."""
        self.failure = failure = in_our_words(failure)
        if not self.outlet.began:
            status, headers, body = error_answer(self.dialect, failure)
            await self.outlet.whole(status, [*headers, *self.answer_headers()], body)
        elif not self.outlet.over:
            await self.outlet.end(self.breaks_off(failure) if self.breaks_off else b"")

    @property
    def seconds(self) -> float:
        """How long the request has been served."""
        return time.perf_counter() - self._began

    def record(self) -> RequestRecord:
        # Both are made from values in the order of their fields: names cost more.
        began, first, notes = self._began, self._first, self.notes
        cost, estimated = cost_of(self.usage, self.provider, self.model), False
        if cost is None:
            cost = self.estimated_cost
            if cost is None and self.usage is not None:
                cost = bound_of(self.usage, self.provider, self.model)
            estimated = cost is not None
        kind = labels_of(
            self.tenant.id or None,
            self.dialect,
            self.operation,
            self.asked,
            self.provider,
            self.model,
            self.outlet.status or 499,
            None if self.failure is None else self.failure.kind,
            self.client_left,
            self.streamed,
            self.passed_through,
            self.requested,
            self.effective,
            self.finish,
            tuple(dict.fromkeys([note.code for note in notes])) if notes else (),
            estimated,
        )
        return RequestRecord(
            self.id,
            self._time,
            kind,
            (time.perf_counter() - began) * 1000,
            None if first is None else (first - began) * 1000,
            self.usage,
            cost,
            self.restored,
            self.response_id,
            self.entrance.trace,
        )


@lru_cache(maxsize=1024)
def _usual_headers(
    requested: str | None, effective: str | None, provider: str | None, model: str | None
) -> Sequence[tuple[bytes, bytes]]:
    """Where nothing was changed, many answers have the same."""
    return (*told_headers(requested=requested, effective=effective), *_by(provider, model))


@lru_cache(maxsize=1024)
def _by(provider: str | None, model: str | None) -> HeaderPairs:
    """Who answers."""
    named = ((b"x-thinkwire-model", model), (b"x-thinkwire-provider", provider))
    return [(name, header_value(value).encode()) for name, value in named if value]


def requested_words(intent: Intent) -> str | None:
    """What was asked for, in a word or a number."""
    if intent.level is not None:
        return intent.level
    if intent.budget is not None:
        return str(intent.budget)
    if intent.between_tools:
        return "between_tools"
    return None if intent.on is None else _switch(intent.on)


def effective_words(setting: Setting) -> str | None:
    """What was sent: the very word or number; None when nothing was said and the model does as it does."""
    if setting.on is None:
        return None
    if setting.between_tools:
        return "between_tools"
    value: Any = setting.effort if setting.effort is not None else setting.budget
    return str(value) if setting.on and value is not None else _switch(setting.on)


def _switch(on: bool) -> str:
    return "on" if on else "off"
