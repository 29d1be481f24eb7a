"""What the commands share: bounded input, JSON out, and errors that say where."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from thinkwire.errors import MalformedInput, ProviderError, ThinkwireError
from thinkwire.jsonvalue import dump

MAX_BODY = 64 * 1024 * 1024
_CHUNK = 64 * 1024


def chunks(file: str) -> Iterator[bytes]:
    """The bytes of a file or of standard input (`-`), piece by piece."""
    try:
        with click.open_file(file, "rb") as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk
    except OSError as error:
        raise MalformedInput(f"cannot read {file}: {error.strerror}") from None


def whole(pieces: Iterable[bytes]) -> bytes:
    """All the bytes, if they are not more than a body may have."""
    parts: list[bytes] = []
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > MAX_BODY:
            raise MalformedInput(f"the input is larger than {MAX_BODY // 1024 // 1024} MiB")
        parts.append(piece)
    return b"".join(parts)


def write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_json(value: Any) -> None:
    write(dump(value) + b"\n")


def write_notes(notes: Any) -> None:
    """Notes beside a wire body go to standard error, so that standard output stays the wire."""
    if notes:
        click.echo(dump({"notes": notes}), err=True)


def fail(error: ThinkwireError) -> NoReturn:
    """The error as one JSON object on standard error; exit code 1."""
    told: dict[str, Any] = {"kind": "error", "message": str(error), "advice": error.advice}
    if isinstance(error, MalformedInput):
        told |= {"kind": "malformed_input", "message": error.message, "path": error.path}
    elif isinstance(error, ProviderError):
        told |= {"kind": error.failure.kind}
    click.echo(dump({"error": told}), err=True)
    sys.exit(1)


@contextmanager
def designed_errors() -> Iterator[None]:
    """Every error that we know of ends a command in the same way; a closed pipe ends it quietly."""
    try:
        yield
    except ThinkwireError as error:
        fail(error)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
