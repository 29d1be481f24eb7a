"""From an accepted request to the last byte of its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from thinkwire import dialects
from thinkwire.catalog import CatalogMatch
from thinkwire.errors import Failure, MalformedInput
from thinkwire.events import Event, Failed, collect
from thinkwire.jsonvalue import dump
from thinkwire.request import Request
from thinkwire.sim import encode as wires
from thinkwire.sim import error_bodies as bodies
from thinkwire.sim.chaos import ChaosWriter, Gone
from thinkwire.sim.error_bodies import Complaint, Refused
from thinkwire.sim.model.actions import Cut, Fail, Stall
from thinkwire.sim.model.answer import Fitted, Part, finished, fit, input_tokens, parts_of
from thinkwire.sim.model.script import Scene, next_moves
from thinkwire.sim.model.thinking_depth import depth_of
from thinkwire.sim.response_store import ResponseStore, items_of
from thinkwire.sim.routes import Place
from thinkwire.sim.rules.rule import RuleInput
from thinkwire.sim.seals import digest
from thinkwire.sim.vendors.thinking_format import SimulatedModel

_ENCRYPTED = {"include": ["reasoning.encrypted_content"]}
_HOW = ("stream", "stream_options")
"""How an answer is sent changes nothing in it."""
_IN_STREAM_AFTER = 12
"""How many events come before an error inside a stream."""


class Served(NamedTuple):
    """An answer that is decided and not yet sent."""

    speaker: SimulatedModel
    fitted: Fitted
    stream: bool
    query: str


class Responder:
    """Asks the scripted model, writes its answer in the vendor's words, and stores what the API stores."""

    def __init__(self, seed: int, shelf: ResponseStore) -> None:
        self.shelf = shelf
        self._seed = seed
        self._failed: Counter[str] = Counter()

    def prepare(
        self, place: Place, asked: RuleInput, found: CatalogMatch, query: str
    ) -> Served | dict[str, Any]:
        """The answer to a request, or its token count if that is what was asked for."""
        request = _decoded(place, asked)
        if place.operation == "count":
            count = input_tokens(request)
            return {"totalTokens": count} if place.dialect == "gemini" else {"input_tokens": count}
        depth = depth_of(request, found)
        moves = next_moves(Scene(request, place.provider, depth, self._seed))
        said = {name: value for name, value in asked.body.items() if name not in _HOW}
        nonce = digest(self._seed, place.provider.name, place.dialect, asked.model, said)
        moves = [move for move in moves if not isinstance(move, Fail) or self._fails(move, nonce)]
        speaker = SimulatedModel(
            *(place.provider, place.dialect, asked.model, found.facts, request, asked.body),
            *(asked.account, asked.sealer, depth.show, nonce),
        )
        stream = place.operation == "stream" or request.stream is True
        return Served(speaker, fit(moves, request.max_tokens, request.stop), stream, query)

    def _fails(self, fail: Fail, nonce: str) -> bool:
        """Whether this request is among those that shall fail."""
        self._failed[nonce] += 1
        return fail.times is None or self._failed[nonce] <= fail.times

    async def deliver(self, served: Served, outlet: ChaosWriter) -> None:
        parts = self._parts(served, broken=outlet.chaos.error_in_stream)
        if served.stream:
            await _stream(served, parts, outlet)
        else:
            await _whole(served, parts, outlet)
        self._keep(served)

    def _parts(self, served: Served, *, broken: bool) -> Iterator[Part]:
        speaker, fitted = served.speaker, served.fitted
        yield wires.started(speaker, stream=served.stream)
        for number, part in enumerate(parts_of(speaker, fitted)):
            if broken and number == _IN_STREAM_AFTER:
                break
            yield part
        yield Failed(_failure(503)) if broken else finished(speaker, fitted)

    def _keep(self, served: Served) -> None:
        """Stores an answer of the Responses API with its reasoning, shown or not."""
        speaker = served.speaker
        if speaker.dialect != "openai-responses" or speaker.body.get("store") is False:
            return
        sealed = speaker._replace(body=speaker.body | _ENCRYPTED)
        parts = self._parts(served._replace(speaker=sealed), broken=False)
        body = wires.whole(
            sealed, collect(part for part in parts if not isinstance(part, Fail | Cut | Stall))
        )
        self.shelf.put(body["id"], items_of(speaker.body), body["output"])


def _decoded(place: Place, asked: RuleInput) -> Request:
    try:
        request = dialects.get(place.dialect).decode_request(asked.body)
    except MalformedInput as error:
        raise Refused(Complaint(400, str(error), param=error.path)) from None
    return msgspec.structs.replace(request, model=asked.model)


def _failure(status: int) -> Failure:
    complaint = bodies.trouble(status)
    return Failure("rate_limit" if status == 429 else "overloaded", complaint.message, status=status)


async def _stream(served: Served, parts: Iterator[Part], outlet: ChaosWriter) -> None:
    stream = wires.Stream(served.speaker, served.fitted, query=served.query, twice=outlet.chaos.dup)
    head = {"content-type": stream.content_type, "cache-control": "no-cache"}
    waiting: list[Event] = []
    for part in parts:
        match part:
            case Stall(seconds=seconds):
                await outlet.pause(seconds)
            case Cut():
                raise Gone
            case Fail(status=status):
                if not outlet.started:
                    await _fail(served, status, outlet)
                    return
                await outlet.write(stream.feed(Failed(_failure(status))))
                break
            case _:
                if not waiting and not outlet.started:
                    waiting.append(part)  # the start, which waits to see whether anything follows
                    continue
                if not outlet.started:
                    await outlet.begin(head)
                    await outlet.write(stream.feed(waiting[0]))
                await outlet.write(stream.feed(part))
    await outlet.write(stream.close())
    await outlet.end()


async def _whole(served: Served, parts: Iterator[Part], outlet: ChaosWriter) -> None:
    events: list[Event] = []
    cut = False
    for part in parts:
        match part:
            case Stall(seconds=seconds):
                await outlet.pause(seconds)
            case Cut():
                cut = True
            case Fail(status=status):
                await _fail(served, status, outlet)
                return
            case _:
                events.append(part)
    body = dump(wires.whole(served.speaker, collect(events), twice=outlet.chaos.dup))
    if cut:
        outlet.chaos = msgspec.structs.replace(outlet.chaos, cut=len(body) // 2)
    await outlet.whole(200, {"content-type": "application/json"}, body)


async def _fail(served: Served, status: int, outlet: ChaosWriter) -> None:
    speaker = served.speaker
    body = bodies.write(speaker.provider.name, speaker.dialect, bodies.trouble(status))
    await outlet.whole(status, {"content-type": "application/json"}, dump(body))
