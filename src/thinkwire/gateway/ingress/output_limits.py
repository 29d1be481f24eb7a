"""Numbers that a client set for the model it thinks it is talking to."""

from __future__ import annotations

import msgspec

from thinkwire.notes import Note
from thinkwire.replay import Destination
from thinkwire.request import Request

_LEAST = {"openai-responses": 16}
"""The smallest ceiling that a wire takes, where it does not take 1."""


def within_limits(request: Request, to: Destination, notes: list[Note]) -> Request:
    """The request with a ceiling that the wire takes and that the model has."""
    asked = request.max_tokens
    if asked is None:
        return request
    most = to.facts.max_output if to.facts else None
    given = _LEAST.get(to.dialect, asked)
    if given < asked:
        given = asked
    if most is not None and given > most:
        given = most
    if given == asked:
        return request
    message = f"{to.model} takes {given:,} for max_tokens, which was {asked:,}"
    notes.append(Note("field.changed", message, path="max_tokens", detail={"asked": asked}))
    return msgspec.structs.replace(request, max_tokens=given)
