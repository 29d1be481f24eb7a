"""The frame loop that every stream decoder shares."""

from __future__ import annotations

from thinkwire.dialects.delta_template import TRIES, DeltaTemplate, render_around
from thinkwire.errors import Failure, MalformedInput, ProviderError, protocol_failure
from thinkwire.events import BlockEnded, BlockGrew, BlockSealed, BlockStarted, Event, Failed, Finished, Noted
from thinkwire.messages import Block, Extras, Seal
from thinkwire.notes import Note, NoteCode
from thinkwire.usage import Usage
from thinkwire.wire.sniff import FrameReader, reader_for
from thinkwire.wire.sse import DONE, SSEParser, is_done

CUT = "the stream ended before the answer did"


class FrameDecoder:
    """Bytes to frames to events. A dialect says what a frame means, and what the end of the bytes means."""

    # In slots, here and in the dialect that most servers speak: what is read from a class costs several times
    # as much, and a stream's first frames read nearly all of them.
    __slots__ = (
        *("_after_end", "_blocks", "_events", "_over"),
        *("_reader", "_repeat", "_steadily", "_steady", "_tries"),
    )

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._reader: FrameReader | SSEParser | None = None
        self._over = False
        self._after_end = False
        self._blocks = 0
        self._steady = False
        """Whether the frame let a block grow by one text, and would do only that if it came again."""
        self._repeat: DeltaTemplate | None = None
        self._steadily: tuple[str | None, bytes, BlockGrew] | None = None
        """The last frame, if it was steady, and what it told: a pattern is made of it when another comes."""
        self._tries = TRIES

    def feed(self, chunk: bytes | None) -> list[Event]:
        """The events of a chunk; None is the end of the bytes."""
        reader = self._reader
        if reader is None:
            reader = self._reader = reader_for(chunk or b"")
        try:
            frames = reader.close() if chunk is None else reader.feed(chunk)
        except ProviderError as error:
            self._fail(error.failure)
            frames = []
        repeat = self._repeat
        for name, data in frames:
            if self._steadily is not None:
                repeat = self._learn(*self._steadily)
            if repeat is not None and (text := repeat.text_in(name, data)):
                self._events.append(BlockGrew(repeat.index, text))
                if repeat.also is not None:
                    repeat.also.append(text)
                continue
            try:
                self._one(name, data)
            except (MalformedInput, RecursionError) as error:
                cut = Failure("connection_lost", CUT)  # the last frame of a cut stream is a broken one
                broken = protocol_failure(f"a frame of the stream cannot be read: {error}")
                self._fail(cut if chunk is None else broken)
            repeat = None
        events, self._events = self._events, []
        return events

    def close(self) -> list[Event]:
        events = self.feed(None)
        if not self._over:
            try:
                self._end_of_bytes()
            except MalformedInput as error:
                self._fail(protocol_failure(str(error)))
        return events + self._take()

    def repeats(self) -> DeltaTemplate | None:
        """What the next piece is likely made of; None when nobody knows, or while a frame is incomplete."""
        repeat = self._repeat if self._steadily is None else self._learn(*self._steadily)
        return repeat if repeat is not None and self._reader is not None and self._reader.between else None

    def usage_so_far(self) -> Usage | None:
        return None

    def _on_frame(self, name: str | None, data: bytes) -> None:
        """One frame of the wire."""
        raise NotImplementedError

    def _on_done(self) -> None:
        """The `[DONE]` marker, where a server sends one."""

    def _end_of_bytes(self) -> None:
        """Nothing more will come, and the answer has not been ended yet."""
        self._fail(Failure("connection_lost", CUT))

    def _one(self, name: str | None, data: bytes) -> None:
        if self._repeat is not None:
            if self._repeat.used:
                self._tries = TRIES
            self._repeat = None
        if self._over:
            self._surplus(data)
        elif data == DONE or (data[:1] != b"{" and is_done(data)):
            self._on_done()
        else:
            self._steady = False
            events = self._events
            count = len(events)
            self._on_frame(name, data)
            if self._steady:
                new = len(events) - count
                last = events[-1]
                # What opened the block before it let it grow would now only let it grow.
                only = new == 1 or (new == 2 and type(events[count]) is BlockStarted)
                if only and self._tries and type(last) is BlockGrew:
                    self._steadily = (name, data, last)

    def _learn(self, name: str | None, data: bytes, event: BlockGrew) -> DeltaTemplate | None:
        self._steadily = None
        self._tries -= 1
        found = render_around(data, event.text)
        self._repeat = None if found is None else DeltaTemplate(name, found, event.index, self._also())
        return self._repeat

    def _also(self) -> list[str] | None:
        """Where a dialect keeps the texts of the growing block for itself."""
        return None

    def _surplus(self, data: bytes) -> None:
        if not self._after_end and not is_done(data):
            self._after_end = True
            self._note("stream.after_end", "the stream went on after its end; the rest was ignored")

    def _take(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def _open(self, block: Block) -> int:
        index = self._blocks
        self._blocks += 1
        self._events.append(BlockStarted(index, block))
        return index

    def _grow(self, index: int, text: str) -> None:
        self._events.append(BlockGrew(index, text))

    def _seal(self, index: int, seal: Seal) -> None:
        self._events.append(BlockSealed(index, seal))

    def _end(self, index: int, extras: Extras | None = None) -> None:
        self._events.append(BlockEnded(index, extras or {}))

    def _note(self, code: NoteCode, message: str) -> None:
        self._events.append(Noted(Note(code, message)))

    def _finish(self, event: Finished) -> None:
        self._over = True
        self._events.append(event)

    def _fail(self, failure: Failure) -> None:
        if not self._over:
            self._over = True
            self._events.append(Failed(failure))
