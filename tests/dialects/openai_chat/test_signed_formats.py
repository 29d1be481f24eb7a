"""Routers whose upstream checks signatures: readable details without one stay behind, and that is said."""

from __future__ import annotations

from typing import Any

import pytest

from thinkwire.dialects.openai_chat.quirks import Quirks
from thinkwire.dialects.openai_chat.request import encode_request
from thinkwire.jsonvalue import dump_text
from thinkwire.messages import Seal, Text, Thinking, Turn
from thinkwire.request import Request

STRICT = Quirks(signed_formats=("google-gemini-v1",))
TEXT = {"type": "reasoning.text", "text": "Hm.", "format": "google-gemini-v1", "index": 0}
SIGNED = TEXT | {"signature": "c2ln"}
SEALED = {"type": "reasoning.encrypted", "data": "ZW5j", "format": "google-gemini-v1", "index": 0}
OTHER = TEXT | {"format": "unknown"}


def sent(quirks: Quirks, *entries: Any, field: str = "reasoning_details") -> tuple[dict[str, Any], list[str]]:
    seal = Seal("openrouter.details", dump_text(entries))
    turn = Turn("assistant", (Thinking("Hm.", field=field, seal=seal), Text("Yes.")))
    encoded = encode_request(Request(model="m", turns=(turn,)), quirks=quirks)
    return encoded.body["messages"][0], [note.code for note in encoded.notes]


@pytest.mark.parametrize("entries", [(SIGNED,), (SEALED,), (OTHER,), (SIGNED, SEALED, OTHER)])
def test_what_is_signed_sealed_or_unchecked_goes_back_as_it_is(entries: tuple[Any, ...]) -> None:
    message, notes = sent(STRICT, *entries)
    assert message["reasoning_details"] == list(entries)
    assert notes == []


def test_unsigned_text_of_a_checked_format_stays_behind_and_is_said() -> None:
    message, notes = sent(STRICT, TEXT, SEALED)
    assert message["reasoning_details"] == [SEALED]
    assert notes == ["thinking.dropped"]


def test_with_all_details_gone_the_plain_text_goes_too() -> None:
    message, notes = sent(STRICT, TEXT, field="reasoning")
    assert not {"reasoning", "reasoning_details"} & message.keys()
    assert notes == ["thinking.dropped"]


def test_elsewhere_nothing_is_touched() -> None:
    message, notes = sent(Quirks(), TEXT, SEALED)
    assert message["reasoning_details"] == [TEXT, SEALED]
    assert notes == []
