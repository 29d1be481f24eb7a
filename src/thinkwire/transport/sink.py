"""Protocols of what takes a response body piece by piece, and of its back-pressure."""

from __future__ import annotations

from typing import Protocol


class Backpressure(Protocol):
    """Where pieces go in the end."""

    @property
    def congested(self) -> bool:
        """Whether it has to be waited for before the next piece."""

    async def drained(self) -> None:
        """Waits for it."""


class BodySink(Protocol):
    """Takes an answer's pieces as they come."""

    @property
    def way(self) -> Backpressure:
        """Where they go."""

    def take(self, piece: bytes) -> bool:
        """One piece; whether more are wanted."""
