"""One request's life, from its body to the end of its answer."""

from __future__ import annotations

import time

import msgspec

from thinkwire import dialects
from thinkwire.asking import Asking, prepare
from thinkwire.errors import Failure, ThinkwireError
from thinkwire.events import Failed
from thinkwire.gateway.answers import JSON, STREAM, explained, failure_of
from thinkwire.gateway.asked import Meant, find_route
from thinkwire.gateway.call import Call
from thinkwire.gateway.config import Routed
from thinkwire.gateway.cost import has_price
from thinkwire.gateway.headers import HeaderPairs, header_of
from thinkwire.gateway.ingress import is_home
from thinkwire.gateway.ingress.thoughts import still_true
from thinkwire.gateway.keepalive import KeepAlive, beat
from thinkwire.gateway.live import Live
from thinkwire.gateway.logs import log_content
from thinkwire.gateway.parts import Parts
from thinkwire.gateway.passthrough import Passing, find_passing
from thinkwire.gateway.translate import ECHOED, Telling, Understood, intent_for, understand
from thinkwire.jsonvalue import JsonObject, dump, parse_object
from thinkwire.messages import Origin
from thinkwire.notes import Note
from thinkwire.request import Request


class Exchange:
    """Serves one request: passes it through where nothing must change, else translates it."""

    def __init__(self, parts: Parts, call: Call) -> None:
        self._parts = parts
        self._call = call
        self._written: Request | None = None
        self._decoded = Request()
        self._understood: Understood | None = None
        self._routing: list[Note] = []
        self._body: JsonObject = {}
        self._live: Live | None = None

    async def generate(self, raw: bytes) -> None:
        """Answers the request in `raw`, or tells why not."""
        call = self._call
        self._body = body = parse_object(raw)
        log_content(call.id, "request", raw)
        routed = find_route(call, body, self._parts.directory.route)
        meant = self._parts.directory.find(routed.names[0])
        if (header_of(call.scope, b"x-thinkwire-explain") or "").lower() in ("true", "1"):
            await self._explain(body, routed, meant)
            return
        located = meant.located
        priced = call.tenant.spend_per_day is None or has_price(located.provider.name, located.model)
        async with self._parts.limits.enter(call.tenant, priced=priced) as slot:
            try:
                passing = await find_passing(self._parts, call, routed, meant, raw=raw, body=body)
                await self._serve(body, routed, meant, passing)
            finally:
                if call.tenant.spend_per_day is not None:
                    slot.cost = call.cost

    async def _explain(self, body: JsonObject, routed: Routed, meant: Meant) -> None:
        """The plan instead of an answer; nobody is called."""
        self._call.operation = "explain"
        self._routing = list(self._call.notes)
        understood = await self._understand(body, meant)
        prepared = prepare(self._asking(meant, understood), time.time())
        self._call.prepared(prepared)
        told = explained(prepared, self._call.notes, routed, self._call.tenant)
        await self._call.outlet.whole(200, [*JSON, *self._call.answer_headers()], dump(told))

    async def _serve(self, body: JsonObject, routed: Routed, meant: Meant, passing: Passing | None) -> None:
        """Asks the model that was named, and after it the configured ones, until one begins to answer."""
        call = self._call
        self._routing = list(call.notes)
        call.streamed = passing.streamed if passing else _wants_stream(call, body)
        seconds = call.config.server.keepalive_seconds
        pulse = KeepAlive(call.outlet, seconds, self._speak) if call.streamed else None
        try:
            failure = await self._first(body, meant, passing)
            for name in routed.names[1:]:
                if failure is None or failure.kind not in call.config.fallback_on:
                    break
                note = _fell_back(call, name, failure)
                self._routing.append(note)
                call.notes.append(note)
                failure = await self._next(body, name)
            if failure is not None and not (passing and await passing.hand_over(failure)):
                await call.fail(failure)
        finally:
            if pulse is not None:
                pulse.stop()

    async def _first(self, body: JsonObject, meant: Meant, passing: Passing | None) -> Failure | None:
        """Asks the model that was named; None when it has answered, else why not, with nothing told yet."""
        if passing is not None:
            failure = await passing.run()
            if failure is None or not passing.may_be_mended(failure):
                return failure
            message = f"refused as it came: {failure.message[:200]}; asked again by plan"
            self._routing.append(Note("reasoning.learned", message))
        return await self._translated(meant, await self._understand(body, meant))

    async def _next(self, body: JsonObject, name: str) -> Failure | None:
        """Asks a fallback."""
        try:
            meant = self._parts.directory.find(name)
        except ThinkwireError as error:
            return failure_of(error)
        return await self._translated(meant, await self._understand(body, meant))

    async def _understand(self, body: JsonObject, meant: Meant) -> Understood:
        """The request as this model can be asked it, with all that the client gave back or lost."""
        call, parts = self._call, self._parts
        call.notes = [*self._routing, *meant.notes]
        query = call.scope.get("query_string", b"").decode("latin-1") if call.place.streamed else ""
        destination = meant.located.destination
        understood = understand(await self._decode(body, meant), call.place, destination, query=query)
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

    async def _decode(self, body: JsonObject, meant: Meant) -> Request:
        """The request as the client wrote it, with the responses that it only names."""
        dialect, names_others = self._call.dialect, self._call.dialect == "openai-responses"
        if self._written is None:
            self._written = self._decoded = dialects.get(dialect).decode_request(body)
            responses = self._parts.responses
            if responses is not None and names_others:
                self._decoded, _ = await responses.open(self._call.tenant.id, self._written)
        named = _named(self._decoded) if names_others else None
        if named and not is_home(dialect, meant.located.destination):
            raise _not_kept(named)
        return self._decoded

    def _asking(self, meant: Meant, understood: Understood) -> Asking:
        return msgspec.structs.replace(
            meant.asking,
            request=understood.request,
            thinking=intent_for(meant, understood.intent),
            streamed=understood.streamed,
        )

    async def _translated(self, meant: Meant, understood: Understood) -> Failure | None:
        call = self._call
        telling = self._telling(meant, understood)
        self._live = live = Live(call, telling, self._stream_headers, self._keep)
        call.breaks_off = telling.break_off
        try:
            await self._parts.client.tell(self._asking(meant, understood), live, watch=call.prepared)
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

    def _telling(self, meant: Meant, understood: Understood) -> Telling:
        call, parts = self._call, self._parts
        after = understood.request if meant.binds_prefix else None
        sealer = parts.carrier.sealer(call.tenant.id, call.dialect, Origin(), after=after)
        if call.dialect != "openai-responses":
            return Telling(understood, sealer, call.asked)
        said = self._body
        echo = {name: said[name] for name in ECHOED if said.get(name) is not None}
        keeps = parts.responses is not None and said.get("store") is not False
        return Telling(understood, sealer, call.asked, keeps=keeps, echo=echo)

    async def _keep(self, telling: Telling) -> None:
        """What must be remembered of an answer, before its end is told."""
        call, ending = self._call, telling.ending
        assert ending is not None
        call.usage, call.response_id = ending.usage, telling.id
        if isinstance(ending, Failed):
            call.failure = ending.failure
            return
        call.finish = ending.reason
        turn = telling.turn
        if call.config.logging.content:
            log_content(call.id, "answer", dump(turn))
        after = self._understood.request if self._understood else None
        await self._parts.remember(call, turn, after=after, items=telling.sealer.items)
        if telling.keeps and self._parts.responses is not None and self._written is not None:
            await self._parts.responses.keep(call.tenant.id, self._written, telling.whole())

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


def _named(request: Request) -> str | None:
    named = request.extras.get("openai_responses", {}).get("previous_response_id")
    return named if isinstance(named, str) else None


def _not_kept(named: str) -> Exception:
    """OpenAI's own words; the vendor keeps what it answered itself, and nobody else does."""
    return Failure(
        "bad_request",
        f"Previous response with id '{named[:100]}' not found.",
        status=400,
        code="previous_response_not_found",
        param="previous_response_id",
    ).as_error()


def _wants_stream(call: Call, body: JsonObject) -> bool:
    return call.place.streamed if call.place.streamed is not None else body.get("stream") is True


def _fell_back(call: Call, name: str, failure: Failure) -> Note:
    message = f"{call.model or call.asked} failed ({failure.kind}); {name} is asked instead, as configured"
    return Note("fallback.used", message, detail={"model": name, "failure": failure.kind})
