"""The dialect's name, and how it remembers the form in which something was written.

Extras hold native fields as they came. A key that begins with `_` is no field: it remembers a form of
writing (a string or a list, one spelling or another) that the neutral format does not keep apart, and is
used when the same thing is written again.
"""

from __future__ import annotations

from typing import Any

from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Extras

NAME = "openai_chat"


def fields(extras: Extras) -> JsonObject:
    """The native fields that this dialect kept."""
    own = extras.get(NAME)
    return {key: value for key, value in own.items() if not key.startswith("_")} if own else {}


def memory(extras: Extras, key: str) -> Any:
    """What was remembered under `_key`; None when nothing was."""
    own = extras.get(NAME)
    return own.get(f"_{key}") if own else None


def keep(native: JsonObject, **remembered: Any) -> Extras:
    """Native fields and remembered forms as extras; a form that is None is not remembered."""
    if remembered:
        native = dict(native)
        for key in remembered:
            if remembered[key] is not None:
                native[f"_{key}"] = remembered[key]
    return {NAME: native} if native else {}
