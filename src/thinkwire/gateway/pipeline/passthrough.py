"""Same dialect in and out and nothing to change: the bytes go through untouched, and are only observed."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

import msgspec

from thinkwire import dialects
from thinkwire.client.prepare import PreparedRequest, ResolvedModel
from thinkwire.dialects import StreamDecoder
from thinkwire.dialects.delta_template import DeltaTemplate
from thinkwire.dialects.shared import own
from thinkwire.errors import Failure, MalformedInput, ProviderError
from thinkwire.events import Answer, Collector, Event, Failed, Finished, Started
from thinkwire.gateway.http.errors import JSON, STREAM
from thinkwire.gateway.http.headers import HeaderPairs, header_value
from thinkwire.gateway.http.routes import Route
from thinkwire.gateway.pipeline.context import RequestContext
from thinkwire.gateway.pipeline.question import ANY, recall, spoken
from thinkwire.gateway.pipeline.services import Services
from thinkwire.gateway.pipeline.upstream import Upstream
from thinkwire.gateway.pipeline.vendor_state import is_shared, made_ids
from thinkwire.gateway.seals.payload import PREFIX
from thinkwire.jsonvalue import JsonObject, dump, parse_object
from thinkwire.messages import Thinking, ToolCall, Turn
from thinkwire.reasoning.parse_controls import read_intent
from thinkwire.reasoning.plan import Plan
from thinkwire.reasoning.refusal import is_seal_rejection
from thinkwire.reasoning.resolve import resolve
from thinkwire.request import Request
from thinkwire.transport.aiohttp_transport import Response
from thinkwire.usage import Usage
from thinkwire.wire import retry_after

_CARRIER = f'"{PREFIX}'.encode()
_NO_CHANGE = ("reasoning.unknown_model", "reasoning.native_wins")
"""What a plan may say without wanting anything changed."""
_RETURNED = ("request-id", "x-request-id", "x-should-retry")
_AFTERWORDS = 1.0
"""Seconds that are waited for bytes behind an answer's end, all together."""
_MOST_AFTERWORDS = 64 * 1024
"""Bytes behind an answer's end; more are not passed on."""
_MENDABLE = re.compile(
    r"thinking|reasoning|effort|budget|thought|extra inputs are not permitted|unknown parameter|"
    r"first message must|duplicate item|input\[\d+\]\.id|tool_use|tool_result|tool_call|tool output|"
    r"function call turn|function response|max_tokens\W+and\W+max_completion_tokens|"
    r"only supports? stream|non-streaming|to stream this model|'stream' does not|streaming is not supported",
    re.IGNORECASE,
)
"""What refusals talk about that a plan does better: reasoning, others' fields and ids, calls and results."""


async def plan_passthrough(
    parts: Services, call: RequestContext, meant: Upstream, *, raw: bytes, body: JsonObject
) -> PassthroughExchange | None:
    """The way through for a request to the vendor whose wire it is, under its own name and in its own words;
    None when something of it has to change, so that it must be translated.
    """
    if is_shared(call.tenant):
        # What was checked is what is sent: a body may have a field twice, or spell it with escapes.
        raw = dump(body)
    if _CARRIER in raw or (call.dialect == "openai-responses" and _refers(parts, raw)):
        return None
    located = meant.located
    recalled = recall(parts.passings, body, (call.place, meant), _read_and_planned)
    if recalled is None:
        request = _read(call.dialect, body)
        plan = _plan(request, located)
    else:
        words, (common, plan) = recalled
        request = msgspec.structs.replace(common, turns=spoken(words))
    if plan.notes and any(note.code not in _NO_CHANGE for note in plan.notes):
        return None
    if parts.ledger is not None and _lacks_thinking(request.turns):
        who = call.tenant.id, meant.upstream
        _, restored = await parts.ledger.restore(*who, request, bound=meant.binds_prefix)
        if restored:
            return None
    if not call.place.name and body.get("model") != located.model:
        raw = dump(body | {"model": located.model})
    return PassthroughExchange(parts, call, _prepared(call, located, plan), raw=raw, request=request)


def _read_and_planned(
    body: JsonObject, place: Route, meant: Upstream, way: bytes
) -> tuple[Request, Plan] | None:
    """What holds for every question that is asked in one way."""
    request = _read(place.dialect, body)
    return (request, _plan(request, meant.located)) if request.turns == ANY else None


def _refers(parts: Services, raw: bytes) -> bool:
    """Whether the request names responses or items that this gateway may keep itself."""
    return parts.responses is not None and (b'"previous_response_id"' in raw or b'"item_reference"' in raw)


def _read(dialect: str, body: JsonObject) -> Request:
    """The request as far as we understand it; the vendor may understand more."""
    try:
        return dialects.get(dialect).decode_request(body)
    except MalformedInput:
        return Request()


def _plan(request: Request, located: ResolvedModel) -> Plan:
    """What we would send. Where that is not what the client says, the vendor would refuse it."""
    intent, bare = read_intent(request)
    if bare.model != located.model:
        bare = msgspec.structs.replace(bare, model=located.model)
    plan, _ = resolve(intent, located.found, bare)
    return plan


def _lacks_thinking(turns: Sequence[Turn]) -> bool:
    """Whether the client may have dropped some: a model's turn calls tools, and nothing in it tells why."""
    for turn in turns:
        if turn.role != "assistant":
            continue
        calls = False
        for block in turn.blocks:
            if type(block) is Thinking or (type(block) is ToolCall and block.seal is not None):
                break
            calls = calls or type(block) is ToolCall
        else:
            if calls:
                return True
    return False


def _prepared(call: RequestContext, located: ResolvedModel, plan: Plan) -> PreparedRequest:
    provider, model = located.provider, located.model
    dialect = dialects.get(call.dialect)
    url = provider.endpoint(dialect.name, model, stream=call.streamed)
    assert url is not None
    query = call.scope.get("query_string", b"")
    if dialect.name == "gemini" and b"alt=sse" not in query:
        url = url.partition("?")[0]
    elif query == b"beta=true":
        url += "?beta=true"
    return PreparedRequest(
        provider=provider,
        dialect=dialect,
        model=model,
        endpoint=located.destination.endpoint,
        url=url,
        headers=provider.headers | call.entrance.forwarded,
        data=b"",
        plan=plan,
        notes=(),
        streamed=call.streamed,
        request=Request(),
    )


class PassthroughExchange:
    """One request on its way through."""

    _decoder: StreamDecoder
    _seen: Collector
    """Both of an answer that is streamed."""
    _ending: Finished | Failed | None = None
    _repeat: DeltaTemplate | None = None
    _grown: list[str]
    """What takes the texts of a block that grows."""
    _held = b""
    _remembered = False
    _wrote = False
    _failure: Failure | None = None
    _refusal: tuple[int, HeaderPairs, bytes] | None = None

    def __init__(
        self,
        parts: Services,
        call: RequestContext,
        prepared: PreparedRequest,
        *,
        raw: bytes,
        request: Request,
    ) -> None:
        self.streamed = prepared.streamed
        self._parts = parts
        self._call = call
        self._prepared = prepared
        self._raw = raw
        self._request = request
        if prepared.streamed:
            self._decoder = prepared.decoder()
            self._seen = Collector()
        self._claimed = not is_shared(call.tenant)
        """Whether nothing is left to store of whose the answer is."""
        self._outlet = call.outlet
        self.way = call.outlet.way

    async def run(self) -> Failure | None:
        """Sends it, and the answer back; a failure before anything was told is given back instead."""
        call, prepared = self._call, self._prepared
        call.prepared(prepared)
        call.passed_through = True
        call.breaks_off = self._break_off
        call.so_far = self._so_far if self.streamed else None
        try:
            reply = await self._parts.client.ask(prepared, self._raw)
            try:
                if reply.status >= 300:
                    return await self._refused(reply)
                await (self._stream(reply) if self.streamed else self._whole(reply))
            finally:
                reply.close()
                if self.streamed and not self._claimed:
                    # It broke off, or the client left; the provider may keep it all the same.
                    await self._claim(self._seen.answer())
        except ProviderError as error:
            failure = msgspec.structs.replace(error.failure, provider=prepared.provider.name)
            if not self._wrote:
                self._failure = failure
                return failure
            await call.fail(failure)
        return None

    def may_be_mended(self, failure: Failure) -> bool:
        """Whether the refusal was about what a planned request may do better."""
        if self._call.outlet.over or failure.status not in (400, 404, 422):
            return False
        said = f"{failure.param or ''} {failure.message}"
        return is_seal_rejection(failure) or (failure.status != 404 and _MENDABLE.search(said) is not None)

    async def hand_over(self, failure: Failure) -> bool:
        """Gives the client the vendor's own refusal; not one that talks about keys, which are ours."""
        if self._refusal is None or failure is not self._failure or failure.kind == "auth":
            return False
        if self._call.outlet.began:
            return False
        status, headers, body = self._refusal
        self._call.failure = failure
        await self._call.outlet.whole(status, [*headers, *self._call.answer_headers()], body)
        return True

    async def _refused(self, reply: Response) -> Failure:
        body = await reply.read()
        if reply.status < 400:
            name = self._prepared.provider.name
            message = f"{name} points elsewhere, which is not followed"
            self._failure = Failure("protocol", message, provider=name)
            return self._failure
        failure = self._prepared.dialect.decode_error(reply.status, reply.headers, body)
        self._failure = msgspec.structs.replace(failure, provider=self._prepared.provider.name)
        self._refusal = (reply.status, _returned(reply.headers, JSON), body)
        return self._failure

    async def _whole(self, reply: Response) -> None:
        body = await reply.read()
        self._call.told()
        try:
            answer = self._prepared.read(parse_object(body))
        except MalformedInput:
            # The client may understand it.
            pass
        else:
            await self._remember(answer)
        headers = [*_returned(reply.headers, JSON), *self._call.answer_headers()]
        await self._call.outlet.whole(reply.status, headers, body)

    async def _stream(self, reply: Response) -> None:
        call, outlet = self._call, self._outlet
        if not outlet.began:
            outlet.begin(reply.status, [*_returned(reply.headers, STREAM), *call.answer_headers()])
        await reply.pour(self)
        last = b""
        if self._ending is None:
            self._see(self._decoder.close())
            if isinstance(self._ending, Failed):
                last = self._break_off(self._ending.failure)
        if self._ending is not None and not self._remembered:
            self._remembered = True
            await self._remember(self._seen.answer())
        outlet.push(self._held)
        self._held = b""
        # Whatever the vendor says after the end goes through too, if it says it soon.
        with suppress(ProviderError):
            await reply.pour(self, within=_AFTERWORDS)
        await outlet.end(self._held + last)

    def take(self, piece: bytes) -> bool:
        """A piece on its way; the one with the end in it waits until what must be remembered is."""
        repeat = self._repeat
        if repeat is not None and (texts := repeat.texts_in(piece)) is not None:
            self._grown.extend(texts)
            self.way.write(piece)
            return True
        self._call.told()
        self._wrote = True
        if self._remembered:
            self._held += piece
            return len(self._held) < _MOST_AFTERWORDS
        self._see(self._decoder.feed(piece))
        if self._ending is not None:
            self._repeat = None
            self._held += piece
            return False
        self._outlet.push(piece)
        self._repeat = repeat = self._decoder.repeats()
        if repeat is not None:
            self._grown = self._seen.parts_of(repeat.index)
        return True

    def _see(self, events: list[Event]) -> None:
        add = self._seen.add
        for event in events:
            add(event)
            if type(event) is Finished or type(event) is Failed:
                self._ending = event

    async def _remember(self, answer: Answer) -> None:
        """Usage and the ledger learn what went through, if it came to an end."""
        call = self._call
        await self._claim(answer)
        if answer.failure is not None:
            call.usage, call.failure = answer.usage, answer.failure
            return
        if answer.finish is None:
            return
        call.usage, call.finish = answer.usage, answer.finish
        call.response_id = answer.turn.origin.response_id if answer.turn.origin else None
        if self._parts.keeps(answer.turn):
            origin = self._prepared.origin(call.response_id, time.time())
            turn = msgspec.structs.replace(answer.turn, origin=origin)
            await self._parts.remember(call, turn, after=self._request)

    async def _claim(self, answer: Answer) -> None:
        """Store that this tenant made what the provider keeps of the answer."""
        call, responses = self._call, self._parts.responses
        if self._claimed or responses is None:
            return
        self._claimed = True
        if own(self._request.extras, "openai_responses").get("store") is not False:
            made = made_ids(answer, call.dialect)
            if made:
                await responses.claim(call.tenant.id, made)

    def _so_far(self) -> tuple[Turn, Usage | None]:
        """What was received of the answer, and the usage that was reported up to now."""
        answer = self._seen.answer()
        return answer.turn, answer.usage or self._decoder.usage_so_far()

    def _break_off(self, failure: Failure) -> bytes:
        """The end of a broken stream: what an encoder that had told the beginning would say."""
        encoder = self._prepared.dialect.stream_encoder()
        origin = self._seen.answer().turn.origin
        encoder.feed(Started(origin.response_id, origin.model) if origin else Started())
        return b"\n\n" + encoder.feed(Failed(failure)) + encoder.close()


def _returned(headers: Mapping[str, str], usual: HeaderPairs) -> HeaderPairs:
    """The vendor's headers that concern the client."""
    kind = headers.get("content-type")
    pairs = [_of_kind(kind), *usual[1:]] if kind else list(usual)
    told = [(name.encode(), header_value(headers[name]).encode()) for name in _RETURNED if name in headers]
    if "retry-after" in headers or "retry-after-ms" in headers:
        told += [(name.encode(), value.encode()) for name, value in retry_after.forwarded(headers).items()]
    return [*pairs, *told]


@lru_cache(maxsize=64)
def _of_kind(kind: str) -> tuple[bytes, bytes]:
    return b"content-type", header_value(kind).encode()
