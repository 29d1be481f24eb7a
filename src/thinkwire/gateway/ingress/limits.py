"""Numbers that a client set for the model it thinks it is talking to."""

from __future__ import annotations

import msgspec

from thinkwire.notes import Note
from thinkwire.replay import Destination
from thinkwire.request import Request


def within_limits(request: Request, to: Destination, notes: list[Note]) -> Request:
    """The request with no larger ceiling than the model has."""
    most = to.facts.max_output if to.facts else None
    if most is None or request.max_tokens is None or request.max_tokens <= most:
        return request
    message = f"{to.model} puts out {most:,} tokens at most; max_tokens was {request.max_tokens:,}"
    notes.append(Note("field.changed", message, path="max_tokens", detail={"asked": request.max_tokens}))
    return msgspec.structs.replace(request, max_tokens=most)
