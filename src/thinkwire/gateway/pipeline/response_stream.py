"""An answer on its way out while it still comes in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from thinkwire.errors import Failure
from thinkwire.events import Answer, Event, Failed
from thinkwire.gateway.http.client_response import ClientResponse
from thinkwire.gateway.http.errors import in_our_words
from thinkwire.gateway.http.headers import HeaderPairs
from thinkwire.gateway.pipeline.context import RequestContext
from thinkwire.gateway.pipeline.translate import DeltaFrame, ResponseTranslator

_json = msgspec.json.Encoder().encode


class FramedTextWriter:
    """A block that grows: its texts go right between the bytes that stand around each of them."""

    # One small object: hundreds of streams take turns in the processor's cache.
    __slots__ = ("_after", "_before", "_more", "_parts", "_way")

    def __init__(self, outlet: ClientResponse, growth: DeltaFrame) -> None:
        takers, self._before, self._after = growth
        self._parts, self._more = takers[0], tuple(takers[1:])
        self._way = outlet.way
        outlet.expect(self._after)

    def grow(self, texts: list[str]) -> None:
        self._parts.extend(texts)
        for parts in self._more:
            parts.extend(texts)
        before, after = self._before, self._after
        told = _json(texts[0]) if len(texts) == 1 else (after + before).join(map(_json, texts))
        self._way.put(before, told, after)


class StreamingResponse:
    """Hears a model's answer and tells it to the client, in the network's own callback."""

    __slots__ = ("_call", "_headers", "_keep", "_last", "_outlet", "_telling", "begun", "failure", "way")

    def __init__(
        self,
        call: RequestContext,
        telling: ResponseTranslator,
        headers: Callable[[], HeaderPairs],
        keep: Callable[[ResponseTranslator], Awaitable[None]],
    ) -> None:
        """`keep` is awaited before the answer's end is told."""
        self.begun = False
        """Whether something of the answer is out."""
        self.failure: Failure | None = None
        """Why there is no answer, with nothing told yet."""
        self._last: bytes | None = None
        self._call = call
        self._outlet = call.outlet
        self._telling = telling
        self._headers = headers
        self._keep = keep
        self.way = call.outlet.way

    def growing(self, index: int) -> FramedTextWriter | None:
        growth = self._telling.growth(index) if self.begun else None
        return None if growth is None else FramedTextWriter(self._outlet, growth)

    def hear(self, batch: list[Event]) -> None:
        failed = batch[-1]
        if type(failed) is Failed:
            if len(batch) == 1 and not self.begun:
                self.failure = failed.failure
                return
            batch = [*batch[:-1], Failed(in_our_words(failed.failure), failed.usage)]
        telling = self._telling
        data = telling.feed(batch)
        self._call.told()
        if telling.ending is not None:
            # The end leaves when what must be remembered is.
            self._last = data if self._last is None else self._last + data
            self.begun = True
            return
        if telling.notes:
            self._take_notes()
        if data:
            if self._outlet.began:
                self._outlet.push(data)
            else:
                self._outlet.begin(200, self._headers(), data)
            self.begun = True

    def hear_whole(self, answer: Answer) -> None:
        self._call.told()
        self._telling.take(answer)

    async def finish(self) -> None:
        """Emit the last event, once. An answer that is not streamed is emitted as a whole, elsewhere."""
        if self._last is None or not self._telling.is_streamed:
            return
        last, self._last = self._last, None
        await self._keep(self._telling)
        last += self._telling.close()
        self._take_notes()
        if not self._outlet.began:
            self._outlet.begin(200, self._headers())
        await self._outlet.end(last)

    def _take_notes(self) -> None:
        self._call.notes += self._telling.notes
        self._telling.notes.clear()
