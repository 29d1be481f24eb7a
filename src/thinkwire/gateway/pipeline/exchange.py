"""One request's life, from its body to the end of its answer."""

from __future__ import annotations

import time

import msgspec

from thinkwire import dialects
from thinkwire.client.prepare import prepare_request
from thinkwire.errors import Failure, ThinkwireError
from thinkwire.events import Failed
from thinkwire.gateway.config.gateway_config import RouteChoice
from thinkwire.gateway.http.errors import JSON, STREAM, explained, failure_of
from thinkwire.gateway.http.headers import HeaderPairs
from thinkwire.gateway.http.keepalive import KeepAlive, beat
from thinkwire.gateway.ingress.untrusted_thinking import still_true
from thinkwire.gateway.pipeline.context import RequestContext
from thinkwire.gateway.pipeline.passthrough import plan_passthrough
from thinkwire.gateway.pipeline.question import like_before
from thinkwire.gateway.pipeline.request_size import check_request_size, check_turns
from thinkwire.gateway.pipeline.response_stream import StreamingResponse
from thinkwire.gateway.pipeline.services import Services
from thinkwire.gateway.pipeline.spending import charge, hold
from thinkwire.gateway.pipeline.translate import (
    ECHOED,
    ClientRequest,
    ResponseTranslator,
    asking_for,
    normalise_request,
)
from thinkwire.gateway.pipeline.upstream import Upstream
from thinkwire.gateway.pipeline.vendor_state import check_ids, is_shared
from thinkwire.gateway.telemetry.cost import has_price
from thinkwire.gateway.telemetry.logs import log_content
from thinkwire.jsonvalue import JsonObject, dump, parse_object
from thinkwire.messages import Origin
from thinkwire.notes import Note
from thinkwire.request import Request


async def generate(parts: Services, call: RequestContext, raw: bytes) -> None:
    """Answers the request in `raw`, or tells why not."""
    body = parse_object(raw)
    check_request_size(raw, body)
    if call.config.logging.content:
        log_content(call.id, "request", raw)
    routed = parts.directory.route(call, body)
    meant = parts.directory.find(routed.names[0], call.tenant.scope)
    exchange = Exchange(parts, call, body)
    if call.entrance.explains:
        await parts.limits.check_question(call.tenant)
        await exchange.explain(routed, meant)
        return
    limits, tenant = parts.limits, call.tenant
    with limits:
        if tenant.rate_per_minute is not None:
            await limits.check_rate(tenant)
        if tenant.spend_per_day is None:
            await exchange.serve(raw, routed, meant)
            return
        held = await hold(limits, call, meant.located, body)
        try:
            await exchange.serve(raw, routed, meant)
        finally:
            if held is not None:
                limits.settle(held.reservation, charge(call, held.estimate))


class Exchange:
    """Serves one request: passes it through where nothing must change, else translates it."""

    _written: Request | None = None
    """The request as its client wrote it."""
    _decoded: Request | None = None
    """The same, with the responses that it only names."""
    _understood: ClientRequest | None = None
    _live: StreamingResponse | None = None

    def __init__(self, parts: Services, call: RequestContext, body: JsonObject) -> None:
        self._parts = parts
        self._call = call
        self._body = body
        self._routing = list(call.notes)

    async def explain(self, routed: RouteChoice, meant: Upstream) -> None:
        """The plan instead of an answer; nobody is called."""
        call = self._call
        call.operation = "explain"
        understood = await self._understand(meant)
        prepared = prepare_request(asking_for(meant, understood, call.tenant.scope), time.time())
        call.prepared(prepared)
        told = explained(prepared, call.notes, routed, call.tenant)
        await call.outlet.whole(200, [*JSON, *call.answer_headers()], dump(told))

    async def serve(self, raw: bytes, routed: RouteChoice, meant: Upstream) -> None:
        """Asks the model that was named, and after it the configured ones, until one begins to answer."""
        call = self._call
        streamed = call.place.streamed
        call.streamed = self._body.get("stream") is True if streamed is None else streamed
        if is_shared(call.tenant):
            await self._check_ids(meant)
        passing = None
        if meant.home == call.dialect and meant.level is None and not routed.notes:
            passing = await plan_passthrough(self._parts, call, meant, raw=raw, body=self._body)
        pulse = KeepAlive(call.outlet, self._speak, self._parts.round(call.config)) if call.streamed else None
        try:
            if passing is None:
                failure = await self._translated(meant)
            else:
                failure = await passing.run()
                if failure is not None and passing.may_be_mended(failure):
                    message = f"refused as it came: {failure.message[:200]}; asked again by plan"
                    self._routing.append(Note("reasoning.learned", message))
                    failure = await self._translated(meant)
            for name in routed.names[1:]:
                if failure is None or failure.kind not in call.config.fallback_on:
                    break
                note = _fell_back(call, name, failure)
                self._routing.append(note)
                call.notes.append(note)
                failure = await self._next(name)
            if failure is not None and not (passing and await passing.hand_over(failure)):
                await call.fail(failure)
        finally:
            if pulse is not None:
                pulse.stop()

    async def _next(self, name: str) -> Failure | None:
        """Asks a fallback."""
        try:
            meant = self._parts.directory.find(name, self._call.tenant.scope)
            if self._call.tenant.spend_per_day is not None:
                to = meant.located
                self._parts.limits.check_price(self._call.tenant, has_price(to.provider.name, to.model))
            if is_shared(self._call.tenant):
                await self._check_ids(meant)
        except ThinkwireError as error:
            return failure_of(error)
        return await self._translated(meant)

    async def _check_ids(self, meant: Upstream) -> None:
        """Refuse ids of what the provider keeps that the tenant did not make, where they would reach it."""
        call, parts = self._call, self._parts
        if meant.located.destination.dialect == call.dialect:
            await check_ids(call, self._body, parts.responses, parts.ledger)

    async def _understand(self, meant: Upstream) -> ClientRequest:
        """The request as this model can be asked it, with all that the client gave back or lost."""
        call, parts = self._call, self._parts
        call.notes = [*self._routing, *meant.notes]
        query = call.scope.get("query_string", b"").decode("latin-1") if call.place.streamed else ""
        decoded = self._decoded
        if decoded is None:
            self._written = decoded = dialects.get(call.dialect).decode_request(self._body)
            if call.dialect == "openai-responses" and parts.responses is not None:
                decoded, _ = await parts.responses.open(call.tenant.id, decoded)
                check_turns(decoded.turns)
            self._decoded = decoded
        if call.dialect == "openai-responses" and meant.home != call.dialect:
            _require_model(decoded)
        understood = normalise_request(decoded, call.place, meant.located.destination, query=query)
        request, opened = parts.carrier.open_request(
            understood.request, call.tenant.id, call.dialect, bound=meant.binds_prefix
        )
        call.notes += [*understood.notes, *opened]
        if parts.ledger is not None:
            request, restored = await parts.ledger.restore(
                call.tenant.id, meant.upstream, request, bound=meant.binds_prefix
            )
            call.restored = 0
            if restored:
                put_back = {at for note in restored for at in note.detail.get("at", ())}
                call.notes = [*still_true(call.notes, put_back), *restored]
                call.restored = sum(note.detail.get("turns", 0) for note in restored)
        if request is not understood.request:
            understood = msgspec.structs.replace(understood, request=request)
        self._understood = understood
        return understood

    async def _translated(self, meant: Upstream) -> Failure | None:
        """Asks a model; None when it has answered, else why not, with nothing told yet."""
        call, parts = self._call, self._parts
        known = like_before(parts.questions, self._body, call.place, meant, scope=call.tenant.scope)
        if known is None:
            understood = await self._understand(meant)
            asking = asking_for(meant, understood, call.tenant.scope)
        else:
            self._understood = understood = known[0]
            asking = known[1]
            call.notes = [*self._routing, *meant.notes, *understood.notes]
        telling = self._telling(meant, understood)
        self._live = live = StreamingResponse(call, telling, self._stream_headers, self._keep)
        call.breaks_off, call.so_far = telling.break_off, telling.so_far
        try:
            await parts.client.tell(asking, live, watch=call.prepared)
        finally:
            # Each knows the other; without this only the collector could let them go.
            self._live = None
        if live.failure is not None:
            return live.failure
        if understood.streamed:
            await live.finish()
            return None
        if telling.ending is not None:
            await self._keep(telling)
        body = dump(telling.whole())
        call.notes += telling.notes
        await call.outlet.whole(200, [*JSON, *call.answer_headers()], body)
        return None

    def _telling(self, meant: Upstream, understood: ClientRequest) -> ResponseTranslator:
        call, parts = self._call, self._parts
        after = understood.request if meant.binds_prefix else None
        sealer = parts.carrier.sealer(call.tenant.id, call.dialect, Origin(), after=after)
        if call.dialect != "openai-responses":
            return ResponseTranslator(understood, sealer, call.asked)
        said = self._body
        echo = {name: said[name] for name in ECHOED if said.get(name) is not None}
        keeps = parts.responses is not None and said.get("store") is not False
        return ResponseTranslator(understood, sealer, call.asked, keeps=keeps, echo=echo)

    async def _keep(self, telling: ResponseTranslator) -> None:
        """What must be remembered of an answer, before its end is told."""
        call, ending = self._call, telling.ending
        assert ending is not None
        call.usage, call.response_id = ending.usage, telling.id
        if isinstance(ending, Failed):
            call.failure = ending.failure
            return
        call.finish = ending.reason
        if call.config.logging.content:
            log_content(call.id, "answer", dump(telling.turn))
        if not telling.only_words and self._parts.keeps(turn := telling.turn):
            after = self._understood.request if self._understood else None
            await self._parts.remember(call, turn, after=after, items=telling.sealer.items)
        if telling.keeps and self._parts.responses is not None:
            written = self._written or dialects.get(call.dialect).decode_request(self._body)
            await self._parts.responses.keep(call.tenant.id, written, telling.whole())

    def _stream_headers(self) -> HeaderPairs:
        understood = self._understood
        head = JSON if understood is not None and understood.array else STREAM
        return [*head, *self._call.answer_headers()]

    def _speak(self) -> None:
        """Something to hear, after a silence."""
        outlet = self._call.outlet
        if not outlet.began:
            outlet.begin(200, self._stream_headers())
        outlet.push(beat(self._call.dialect, begun=self._live is not None and self._live.begun))


def _require_model(request: Request) -> None:
    """The vendor keeps what it answered itself, and nobody else does; the words are OpenAI's own."""
    named = request.extras.get("openai_responses", {}).get("previous_response_id")
    if named and isinstance(named, str):
        raise Failure(
            "bad_request",
            f"Previous response with id '{named[:100]}' not found.",
            status=400,
            code="previous_response_not_found",
            param="previous_response_id",
        ).as_error()


def _fell_back(call: RequestContext, name: str, failure: Failure) -> Note:
    message = f"{call.model or call.asked} failed ({failure.kind}); {name} is asked instead, as configured"
    return Note("fallback.used", message, detail={"model": name, "failure": failure.kind})
