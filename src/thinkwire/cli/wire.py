"""`thinkwire wire`: look at any provider's traffic in the neutral format, and turn one wire into another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, TypeVar

import click

from thinkwire.cli.dialect import DIALECT, NAMES
from thinkwire.cli.io import chunks, designed_errors, fail, whole, write, write_json, write_notes
from thinkwire.dialects import Dialect
from thinkwire.errors import MalformedInput
from thinkwire.events import Answer, Event, Noted, collect, events_of
from thinkwire.jsonvalue import parse_as, parse_object
from thinkwire.request import Request

F = TypeVar("F", bound=Callable[..., Any])


_SSE = re.compile(rb"(\xef\xbb\xbf)?\s*(data|event|id|retry)?:")


def _shape_options(command: F) -> F:
    for option in (
        click.argument("file", default="-"),
        click.option("--stream", is_flag=True, help="The answer is a stream: SSE, NDJSON or a JSON array."),
        click.option("--request", "what", flag_value="request", help="A request body."),
        click.option("--response", "what", flag_value="response", default=True, help="An answer (default)."),
    ):
        command = option(command)
    return command


@click.group()
def wire() -> None:
    """Read, write and convert provider traffic.

    \b
    Examples:
      thinkwire wire decode --dialect anthropic --stream answer.sse
      thinkwire wire decode --dialect openai-chat --stream --events answer.sse
      thinkwire wire encode --dialect gemini --request neutral.json
      thinkwire wire convert --from anthropic --to openai-responses --stream answer.sse
    """


@wire.command()
@click.option("--dialect", type=DIALECT, required=True, metavar=NAMES)
@click.option("--events", is_flag=True, help="Print one event per line instead of the whole answer.")
@_shape_options
def decode(*, dialect: Dialect, events: bool, what: str, stream: bool, file: str) -> None:
    """Print a provider's request or answer in the neutral format.

    An answer is {"turn", "finish", "usage", "notes"}, and "failure" when it broke off.
    """
    with designed_errors():
        if what == "request":
            write_json(dialect.decode_request(parse_object(whole(chunks(file)))))
            return
        happened = _read_answer(dialect, file, stream)
        if events:
            happened = _written(happened)
        answer = collect(happened)
        if not events:
            write_json(_shown(answer))
        _complain_if_unreadable(answer)


@wire.command()
@click.option("--dialect", type=DIALECT, required=True, metavar=NAMES)
@click.option("--events", is_flag=True, help="The input is one event per line.")
@_shape_options
def encode(*, dialect: Dialect, events: bool, what: str, stream: bool, file: str) -> None:
    """Print a neutral request or answer as a provider's wire. Notes go to standard error."""
    with designed_errors():
        if what == "request":
            _write_request(dialect, parse_as(whole(chunks(file)), Request))
            return
        happened = _read_events(file) if events else events_of(parse_as(whole(chunks(file)), Answer))
        _write_answer(dialect, happened, stream)


@wire.command()
@click.option("--from", "source", type=DIALECT, required=True, metavar=NAMES)
@click.option("--to", "target", type=DIALECT, required=True, metavar=NAMES)
@_shape_options
def convert(*, source: Dialect, target: Dialect, what: str, stream: bool, file: str) -> None:
    """Turn one provider's wire into another's. Notes, what could not be said, go to standard error."""
    with designed_errors():
        if what == "request":
            _write_request(target, source.decode_request(parse_object(whole(chunks(file)))))
            return
        _write_answer(target, _read_answer(source, file, stream), stream)


def _read_answer(dialect: Dialect, file: str, stream: bool) -> Iterable[Event]:
    pieces = chunks(file)
    first = next(pieces, b"")
    pieces = chain([first], pieces)
    if stream or _SSE.match(first):
        return _stream_events(dialect, pieces)
    return events_of(dialect.decode_response(parse_object(whole(pieces))))


def _stream_events(dialect: Dialect, pieces: Iterable[bytes]) -> Iterator[Event]:
    decoder = dialect.stream_decoder()
    for piece in pieces:
        yield from decoder.feed(piece)
    yield from decoder.close()


def _read_events(file: str) -> Iterator[Event]:
    for line in whole(chunks(file)).splitlines():
        if line.strip():
            yield parse_as(line, Event)


def _written(events: Iterable[Event]) -> Iterator[Event]:
    for event in events:
        write_json(event)
        yield event


def _shown(answer: Answer) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "turn": answer.turn,
        "finish": answer.finish,
        "usage": answer.usage,
        "notes": answer.notes,
    }
    if answer.failure is not None:
        shown["failure"] = answer.failure
    if answer.extras:
        shown["extras"] = answer.extras
    return shown


def _complain_if_unreadable(answer: Answer) -> None:
    """A broken-off answer is shown for what it is; input that is not of this dialect is an error."""
    failure = answer.failure
    if failure is None:
        return
    if failure.kind == "protocol":
        fail(failure.as_error())
    if failure.kind == "connection_lost" and not answer.turn.blocks and answer.turn.origin is None:
        fail(MalformedInput("there is no answer of this dialect in the input"))


def _write_request(dialect: Dialect, request: Request) -> None:
    encoded = dialect.encode_request(request)
    write_json(encoded.body)
    write_notes(encoded.notes)


def _write_answer(dialect: Dialect, events: Iterable[Event], stream: bool) -> None:
    if not stream:
        answer = collect(events)
        _complain_if_unreadable(answer)
        encoded = dialect.encode_response(answer)
        write_json(encoded.body)
        write_notes((*answer.notes, *encoded.notes))
        return
    encoder = dialect.stream_encoder()
    notes = []
    for event in events:
        if isinstance(event, Noted):
            notes.append(event.note)
        write(encoder.feed(event))
    write(encoder.close())
    write_notes((*notes, *encoder.notes))
