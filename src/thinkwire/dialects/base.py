"""What every dialect offers: eight functions, gathered in a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from thinkwire.dialects.delta_template import DeltaTemplate
from thinkwire.errors import Failure
from thinkwire.events import Answer, Event
from thinkwire.jsonvalue import JsonObject
from thinkwire.notes import Note
from thinkwire.request import Request
from thinkwire.usage import Usage


class Encoded(NamedTuple):
    """A wire body and what could not be said in it."""

    body: JsonObject
    notes: tuple[Note, ...] = ()


class StreamDecoder(Protocol):
    """Bytes of a streamed answer in, events out. Never raises: what cannot be read is a `Failed`.

    Any split of the bytes gives the same events. After `Finished` or `Failed` nothing more comes but Notes.
    """

    def feed(self, chunk: bytes, /) -> list[Event]: ...

    def repeats(self) -> DeltaTemplate | None:
        """The event that the next piece may be made of; whoever reads its texts need not feed that piece."""
        ...

    def usage_so_far(self) -> Usage | None:
        """The usage that the stream has reported up to now, if any; its output may still grow."""
        ...

    def close(self) -> list[Event]:
        """The bytes are at their end. An answer without its end is a `Failed`."""
        ...


class StreamEncoder(Protocol):
    """Events in, bytes of a streamed answer out. `notes` grows with what the dialect could not say."""

    notes: list[Note]

    def feed(self, event: Event, /) -> bytes: ...

    def around(self, index: int) -> tuple[bytes, bytes] | None:
        """The bytes before and after each text by which a block grows; None where more is to be said."""
        ...

    def close(self) -> bytes:
        """The last bytes. Events that never finished make a stream that says so."""
        ...


class Dialect(NamedTuple):
    """One wire format, as its client (first four) and as its server (last four)."""

    name: str
    encode_request: Callable[[Request], Encoded]
    decode_response: Callable[[JsonObject], Answer]
    stream_decoder: Callable[[], StreamDecoder]
    decode_error: Callable[[int, Mapping[str, str], bytes], Failure]
    decode_request: Callable[[JsonObject], Request]
    encode_response: Callable[[Answer], Encoded]
    stream_encoder: Callable[[], StreamEncoder]
    encode_error: Callable[[Failure], tuple[int, JsonObject]]
