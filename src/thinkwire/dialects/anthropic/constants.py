"""The words that this dialect's modules share."""

from __future__ import annotations

from thinkwire.dialects.shared import as_extras
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Extras

NAME = "anthropic"
SIGNATURE = "anthropic.signature"
REDACTED = "anthropic.redacted"

_MAY_BE_NOTHING = frozenset({"cache_control", "citations", "context", "title", "type", "is_error"})
_NOTHING: tuple[object, ...] = (None, [])


def kept(native: JsonObject, known: frozenset[str]) -> Extras:
    """The fields that nobody has read, as extras. Where the vendor means nothing by null, nothing is kept."""
    if known.issuperset(native):
        return {}
    fields = {
        key: value
        for key, value in native.items()
        if key not in known and not (value in _NOTHING and key in _MAY_BE_NOTHING)
    }
    return as_extras(NAME, fields)
