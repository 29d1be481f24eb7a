"""Gemini's thought signatures where its OpenAI endpoint puts them: `extra_content.google`."""

from __future__ import annotations

from typing import Any

from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Seal

FIELD = "extra_content"
SCHEME = "gemini.thought"


def read_signature(extra: Any) -> tuple[Seal | None, JsonObject]:
    """The signature, and the field without it; its empty place stays there to be found again."""
    inner = extra.get("google") if type(extra) is dict else None
    signature = inner.get("thought_signature") if type(inner) is dict else None
    if type(inner) is not dict or type(signature) is not str or not signature:
        return None, extra if type(extra) is dict else {}
    rest = {key: value for key, value in inner.items() if key != "thought_signature"}
    return Seal(SCHEME, signature), extra | {"google": rest}


def write_signature(extra: JsonObject, seal: Seal) -> JsonObject:
    return extra | {"google": extra.get("google", {}) | {"thought_signature": seal.data}}


def has_place(extra: Any, seal: Seal | None) -> bool:
    """Whether this seal came on this wire and knows where it was."""
    ours = seal is not None and seal.scheme == SCHEME
    return ours and type(extra) is dict and type(extra.get("google")) is dict


def is_thought(extra: Any) -> bool:
    """Whether the text beside it is a thought. A signature marks an answer, whatever `thought` says."""
    inner = extra.get("google") if type(extra) is dict else None
    return type(inner) is dict and inner.get("thought") is True and not inner.get("thought_signature")
