"""Strict servers: what one of them does not know it refuses, so it is left out, and said."""

from __future__ import annotations

from thinkwire.dialects.openai_chat.quirks import Quirks
from thinkwire.jsonvalue import JsonObject
from thinkwire.notes import Note


def without_refused(body: JsonObject, quirks: Quirks, notes: list[Note]) -> None:
    """Takes out of a request the fields that the server answers with an error."""
    refused = sorted([name for name in body if name in quirks.refused_fields or not quirks.takes(name)])
    for name in refused:
        del body[name]
    if refused:
        words = f"{', '.join(refused)}: this server refuses it"
        notes.append(Note("field.dropped", words, detail={"fields": refused}))


def without_refused_inside(messages: list[JsonObject], quirks: Quirks, notes: list[Note]) -> None:
    """Takes out of the messages the fields that the server does not know there."""
    refused: list[str] = []
    for message in messages:
        known = quirks.message_fields.get(message["role"])
        if known is not None:
            foreign = [name for name in message if name != "role" and name not in known]
            refused += foreign
            for name in foreign:
                del message[name]
    if refused:
        fields = sorted(set(refused))
        named = ", ".join(fields)
        times = f" ({len(refused)} times)" if len(refused) > 1 else ""
        detail = {"fields": fields, "inside": True}
        notes.append(
            Note("field.dropped", f"{named} in messages{times}: this server refuses it", detail=detail)
        )
