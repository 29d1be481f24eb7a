"""What every framing parser shares: feed, close, a limit, and one failure that stays."""

from __future__ import annotations

from typing import Generic, NoReturn, TypeVar

from thinkwire.errors import Failure, ProtocolError, protocol_failure

BOM = b"\xef\xbb\xbf"
DEFAULT_LIMIT = 16 * 1024 * 1024
_SHOWN = 200

T = TypeVar("T")


class Parser(Generic[T]):
    """Bytes in, whole items out, however the bytes are cut.

    After a failure the parser is dead and says so again on every call. Items that were complete before
    the bad bytes are never lost: when one `feed` brings both, it returns the items and the next call raises.
    """

    def __init__(self, *, limit: int = DEFAULT_LIMIT) -> None:
        if limit < 1:
            raise ValueError(f"limit must be at least 1 byte, not {limit}")
        self._limit = limit
        self._failure: Failure | None = None

    def feed(self, chunk: bytes) -> list[T]:
        """The items that `chunk` completes. Raises `ProtocolError` when an item is larger than the limit."""
        if self._failure is not None:
            raise self._failure.as_error()
        items: list[T] = []
        try:
            self._take(chunk, items)
        except ProtocolError:
            if not items:
                raise
        return items

    def close(self) -> list[T]:
        """What is left at the end of the stream."""
        if self._failure is not None:
            raise self._failure.as_error()
        items: list[T] = []
        self._finish(items)
        return items

    def _take(self, chunk: bytes, items: list[T]) -> None:
        raise NotImplementedError

    def _finish(self, items: list[T]) -> None:
        raise NotImplementedError

    def _fail(self, message: str, seen: bytes | bytearray, at: int = 0) -> NoReturn:
        shown = seen[at : at + _SHOWN].decode("utf-8", "replace")
        self._failure = protocol_failure(message, body=shown)
        raise self._failure.as_error()

    def _too_large(self, what: str, seen: bytes | bytearray) -> NoReturn:
        self._fail(f"{what} is larger than the limit of {self._limit} bytes", seen)
