"""Turns as they may leave the server: without seals, and without thinking unless it is asked for."""

from __future__ import annotations

import re

import msgspec

from thinkwire.messages import Thinking, Turn
from thinkwire.web.api.explain_record import without_seals

_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def released(turn: Turn, *, thinking: bool) -> Turn:
    """The turn without what belongs to its provider."""
    blocks = (
        bare
        for block in turn.blocks
        if (thinking or not isinstance(block, Thinking)) and (bare := without_seals(block)) is not None
    )
    return msgspec.structs.replace(turn, blocks=tuple(blocks), extras={})


def file_name(title: str | None, ending: str) -> str:
    """A name that any system takes."""
    return f"{_ODD.sub('-', title or '').strip('-.')[:60] or 'conversation'}.{ending}"
