"""A client's request understood, and an answer in the client's own words."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from thinkwire import dialects
from thinkwire.client.prepare import CallSpec
from thinkwire.dialects import Dialect, Encoded, StreamEncoder
from thinkwire.dialects.gemini.stream_encoder import StreamEncoder as GeminiEncoder
from thinkwire.dialects.openai_chat.response import encode_response as encode_chat
from thinkwire.dialects.openai_chat.stream_encoder import StreamEncoder as ChatEncoder
from thinkwire.dialects.openai_responses.stream_encoder import StreamEncoder as ResponsesEncoder
from thinkwire.errors import Failure
from thinkwire.events import (
    Answer,
    Collector,
    Event,
    Failed,
    Finished,
    Noted,
    Started,
    collect,
    events_of,
)
from thinkwire.gateway.common.ids import new_id
from thinkwire.gateway.http.routes import Route
from thinkwire.gateway.ingress import normalise, same
from thinkwire.gateway.pipeline.upstream import Upstream
from thinkwire.gateway.seals.sealer import Sealer
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Extras, Origin, Turn
from thinkwire.notes import Note
from thinkwire.reasoning import Intent
from thinkwire.reasoning.parse_controls import read_intent
from thinkwire.replay import Destination
from thinkwire.request import Request
from thinkwire.usage import Usage

FIELD, ALSO = "reasoning_content", "reasoning"
"""Where chat clients look for thinking; both have the same text."""

ECHOED = (
    *("max_output_tokens", "metadata", "parallel_tool_calls", "previous_response_id", "reasoning", "store"),
    *("temperature", "text", "tool_choice", "top_p", "truncation", "user"),
)
"""What a response repeats of its request; not what is long."""

_IDS = {"anthropic": "msg_01", "openai-chat": "chatcmpl-", "openai-responses": "resp_", "gemini": ""}


class ClientRequest(msgspec.Struct, frozen=True):
    """A client's request. `intent` is what its own reasoning controls said; they are out of `request`."""

    dialect: Dialect
    request: Request
    intent: Intent
    streamed: bool
    restore: Callable[[list[Event]], list[Event]]
    notes: tuple[Note, ...] = ()
    counts: bool = True
    """Whether a chat client asked for token counts in the stream."""
    array: bool = False
    """Whether a Gemini client takes the stream as a JSON array."""


def normalise_request(
    request: Request, place: Route, to: Destination | None = None, *, query: str = ""
) -> ClientRequest:
    """A decoded request as a destination can be asked it, and how its client wants the answer."""
    normal = normalise(request, place.dialect, to)
    intent, asked = read_intent(normal.request)
    options = None
    if "openai_chat" in asked.extras:
        asked, options = _without_stream_options(asked)
    return ClientRequest(
        dialect=dialects.get(place.dialect),
        request=asked,
        intent=intent,
        streamed=place.streamed if place.streamed is not None else request.stream is True,
        restore=normal.restore,
        notes=normal.notes,
        counts=isinstance(options, dict) and options.get("include_usage") is True,
        array=place.streamed is True and "alt=sse" not in query,
    )


def _without_stream_options(request: Request) -> tuple[Request, Any]:
    """Counts are always asked for upstream; whether the client gets them is decided on the way back."""
    own = request.extras["openai_chat"]
    if "stream_options" not in own:
        return request, None
    rest = {key: value for key, value in own.items() if key != "stream_options"}
    without = msgspec.structs.replace(request, extras=request.extras | {"openai_chat": rest})
    return without, own["stream_options"]


def intent_for(meant: Upstream, said: Intent) -> Intent:
    """What is asked of a model: the level in its configured or given name, else what the client said.

    A model that thinks without being asked is asked to show it, so that it can be given back. A client that
    wants to see thinking, and says no more, wants the model to think.
    """
    if meant.level is not None:
        return msgspec.structs.replace(meant.level, show=said.show, summary=said.summary)
    if said.says_anything:
        return said
    if meant.thinks_unasked:
        return msgspec.structs.replace(said, level="auto")
    return msgspec.structs.replace(said, on=True) if said.show else said


def asking_for(meant: Upstream, understood: ClientRequest, scope: str) -> CallSpec:
    """How a model is asked what a client said; what its refusals teach counts in the scope."""
    return msgspec.structs.replace(
        meant.asking,
        request=understood.request,
        thinking=intent_for(meant, understood.intent),
        streamed=understood.streamed,
        scope=scope,
    )


class DeltaFrame(NamedTuple):
    """How a block grows: the lists that take its texts, and the bytes around each of them."""

    takers: list[list[str]]
    before: bytes
    after: bytes


class ResponseTranslator:
    """One answer on its way to the client: events of the model in, bytes of the client's dialect out."""

    __slots__ = (
        *("_encoder", "_original", "_shown", "_answer", "_told", "_restore", "_understood"),
        *("_asked", "_echo", "ending", "id", "keeps", "notes", "only_words", "sealer"),
    )

    def __init__(
        self,
        understood: ClientRequest,
        sealer: Sealer,
        asked: str,
        *,
        keeps: bool = False,
        echo: JsonObject | None = None,
    ) -> None:
        """`keeps` gathers the whole answer also when it is streamed; `echo` is what a response repeats."""
        self.ending: Finished | Failed | None = None
        self.only_words = False
        """Whether a client is known to lose nothing of the ended answer: it has no thinking and no seal."""
        self.id: str | None = None
        self._original: Collector | None = None
        self._shown: Collector | None = None
        self._answer: Answer | None = None
        self._told: Answer | None = None
        self.notes: list[Note] = []
        self.sealer = sealer
        self._understood = understood
        self._restore = understood.restore
        self._asked = asked
        self._echo = echo
        self._encoder = _encoder(understood) if understood.streamed else None
        self.keeps = keeps

    @property
    def is_streamed(self) -> bool:
        """Whether the client takes the answer as a stream, however the model gives it."""
        return self._encoder is not None

    def growth(self, index: int) -> DeltaFrame | None:
        """How a block grows until something else is fed; None while growing is not all that a text does."""
        around = self._encoder.around(index) if self._encoder is not None else None
        takers, original = self.sealer.grown(index), self._original
        if around is None or takers is None or self._restore is not same or self._shown is not None:
            return None
        return None if original is None else DeltaFrame([original.parts_of(index), *takers], *around)

    def feed(self, batch: list[Event]) -> bytes:
        """The bytes for a batch; none when the answer is not streamed."""
        original = self._original or self._begin()
        original.take(batch)
        for event in batch:
            if type(event) is Noted:
                self.notes.append(event.note)
            elif type(event) is Finished or type(event) is Failed:
                self.ending = event
                self.only_words = original.only_words()
        shown = self.sealer.feed(batch)
        if self._restore is not same:
            shown = self._restore(shown)
        if shown and type(first := shown[0]) is Started:
            # Clients are told the model that they asked for.
            extras = self._name(first.id, first.extras)
            shown[0] = Started(self.id, self._asked or first.model, extras)
        if self._shown is not None:
            self._shown.take(shown)
        return b"".join(map(self._encoder.feed, shown)) if self._encoder is not None else b""

    def _begin(self) -> Collector:
        """What gathers the answer as the model gives it, and as the client is shown it where that is kept."""
        if self.keeps or self._encoder is None:
            self._shown = Collector()
        self._original = Collector()
        return self._original

    def take(self, answer: Answer) -> None:
        """A whole answer; `whole` gives it in the client's words."""
        self._answer = answer
        self.notes += answer.notes
        self.ending = Finished(answer.finish, usage=answer.usage) if answer.finish else None
        told, restore = answer.turn.origin, self._restore
        if restore is same:
            blocks = self.sealer.answer(answer).turn.blocks
        else:
            blocks = collect(restore(self.sealer.feed(list(events_of(answer))))).turn.blocks
        extras = self._name(told.response_id if told else None, answer.extras)
        by = Origin(None, None, self._asked or (told.model if told else None), self.id)
        self._told = Answer(
            Turn("assistant", blocks, by, answer.turn.extras),
            answer.finish,
            answer.usage,
            answer.notes,
            extras=extras,
        )

    @property
    def turn(self) -> Turn:
        """The turn as the model gave it."""
        return (self._answer or (self._original or self._begin()).answer()).turn

    def so_far(self) -> tuple[Turn, Usage | None]:
        """What was received of the answer, and its usage if that was reported."""
        answer = self._answer or (self._original or self._begin()).answer()
        return answer.turn, answer.usage

    def _name(self, given: str | None, extras: Extras) -> Extras:
        """Gives the answer an id in the form of the client's dialect; its extras, as that dialect begins."""
        dialect = self._understood.dialect.name
        head = _IDS[dialect]
        native = given if given and head and given.startswith(head) else None
        self.id = native or head + new_id()
        if dialect != "openai-responses":
            return extras
        own = extras.get("openai_responses", {})
        return extras | {"openai_responses": {"created_at": int(time.time()), **own, **(self._echo or {})}}

    def break_off(self, failure: Failure) -> bytes:
        """The last words of a stream that goes no further."""
        if self._encoder is None:
            return b""
        return self._encoder.feed(Failed(failure)) + self._encoder.close()

    def close(self) -> bytes:
        if self._encoder is None:
            return b""
        last = self._encoder.close()
        self.notes += self._encoder.notes
        return last

    def whole(self) -> JsonObject:
        """The answer as one body."""
        told = self._told
        if told is None:
            assert self._shown is not None
            told = self._shown.answer()
        body, notes = _whole(self._understood.dialect, told)
        self.notes += notes if self._encoder is None else ()
        return body


def _encoder(understood: ClientRequest) -> StreamEncoder:
    match understood.dialect.name:
        case "openai-chat":
            return ChatEncoder(
                reasoning_field=FIELD,
                also=(ALSO,),
                include_usage=understood.counts,
                created=int(time.time()),
            )
        case "openai-responses":
            return ResponsesEncoder(created_at=int(time.time()))
        case "gemini":
            return GeminiEncoder(framing="array" if understood.array else "sse")
    return understood.dialect.stream_encoder()


def _whole(dialect: Dialect, answer: Answer) -> Encoded:
    if dialect.name != "openai-chat":
        return dialect.encode_response(answer)
    body, notes = encode_chat(answer, created=int(time.time()), reasoning_field=FIELD)
    message: dict[str, Any] = body["choices"][0]["message"]
    if FIELD in message:
        message[ALSO] = message[FIELD]
    return Encoded(body, notes)
