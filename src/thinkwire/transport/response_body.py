"""Whole response bodies: collected up to a limit, without the key that they may repeat."""

from __future__ import annotations

from thinkwire.errors import Failure, ProviderError

MAX_RESPONSE_BYTES = 64 * 1024 * 1024
"""Bytes that an answer in one piece may have, decompressed."""
_MAX_REFUSAL_BYTES = 1024 * 1024
_REFUSAL_SECONDS = 10.0
_REFUSED = 400
"""From this status on a body only explains why there is no answer."""
_SHORTEST_SECRET = 16
"""Letters of a key that cannot be a word of an answer."""
_HIDDEN = b"[hidden]"


class WholeBody:
    """Collects the pieces of one body.

    A body beyond the limit is an error. Of a refusal the beginning is enough: what is too large, too slow or
    cut off does not replace the status and the headers, which say what happened.
    """

    __slots__ = ("_cut", "_limit", "_pieces", "_refused", "_secret", "_size", "seconds")

    def __init__(self, status: int, limit: int, secret: bytes) -> None:
        """`limit` is in bytes, for an answer; `secret` is the key that was sent."""
        self._refused = status >= _REFUSED
        self._limit = min(limit, _MAX_REFUSAL_BYTES) if self._refused else limit
        self.seconds = _REFUSAL_SECONDS if self._refused else float("inf")
        """In which the whole body has to come."""
        self._secret = secret
        self._pieces: list[bytes] = []
        self._size = 0
        self._cut = False

    def add(self, piece: bytes) -> bool:
        """Takes a piece; whether more are wanted."""
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size <= self._limit:
            return True
        if not self._refused:
            raise _too_large(self._limit)
        self._cut = True
        return False

    def end_early(self, error: ProviderError) -> None:
        """Keeps the beginning of a refusal that broke off; any other body is lost with the error."""
        if not self._refused:
            raise error
        self._cut = True

    def joined(self) -> bytes:
        """The body that has come."""
        body = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        if len(self._secret) >= _SHORTEST_SECRET:
            body = body.replace(self._secret, _HIDDEN)
            if self._cut:
                # The cut may have gone through a key.
                body = body[: -len(self._secret)]
        return body[: self._limit] if self._cut else body


def _too_large(limit: int) -> ProviderError:
    size = f"{limit / 1024 / 1024:.9g} MB"
    return Failure(
        "protocol",
        f"the answer is larger than {size} and was given up; ask for a streamed or shorter one, or raise the "
        "limit (max_response_bytes of the client, server.max_response_mb of the gateway)",
        code="response_too_large",
    ).as_error()
