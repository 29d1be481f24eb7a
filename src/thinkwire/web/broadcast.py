"""Frames of one answer, numbered and kept: anyone may follow from any number, as often as they like."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from thinkwire.web.ui_stream.encoder import Frame, merged

Numbered = tuple[int, Frame]


class Broadcast:
    """The first frame has number 1. Whoever is behind gets deltas joined."""

    def __init__(self) -> None:
        self._frames: list[Frame] = []
        self._changed = asyncio.Event()
        self.over = False

    @property
    def count(self) -> int:
        return len(self._frames)

    def say(self, *frames: Frame) -> None:
        if frames:
            self._frames += frames
            self._tell()

    def end(self) -> None:
        self.over = True
        self._tell()

    async def follow(self, after: int = 0, *, joined: bool = True) -> AsyncGenerator[list[Numbered], None]:
        """Every frame after this number, in batches, until the end."""
        at = max(0, after)
        while True:
            changed = self._changed
            if at < len(self._frames):
                pending = self._frames[at:]
                numbered = enumerate(pending, at + 1)
                at += len(pending)
                yield list(merged(numbered) if joined else numbered)
            elif self.over:
                return
            else:
                await changed.wait()

    def _tell(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
