"""The names that this wire uses, in the two spellings that it reads and the one that we write."""

from __future__ import annotations

import re

from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Seal
from thinkwire.notes import Note

NAME = "gemini"
SCHEME = "gemini.thought"

PART = frozenset(
    [
        "text",
        "thought",
        "thoughtSignature",
        "inlineData",
        "fileData",
        "functionCall",
        "functionResponse",
        "executableCode",
        "codeExecutionResult",
        "toolCall",
        "toolResponse",
        "videoMetadata",
        "mediaResolution",
        "partMetadata",
        "audioTranscription",
        "mediaProcessing",
        "speechMetadata",
    ]
)
BLOB = frozenset(["mimeType", "data", "fileUri", "displayName"])
CALL = frozenset(["id", "name", "args", "partialArgs", "willContinue"])
RESULT = frozenset(["id", "name", "response", "parts", "willContinue", "scheduling"])
CONTENT = frozenset(("role", "parts"))

_HUMP = re.compile(r"(?<=[A-Za-z0-9])_([a-z0-9])")


def camel(obj: JsonObject) -> JsonObject:
    """The same object, its own keys in camelCase. A key whose camelCase twin is there too stays as it is."""
    if "_" not in "".join(obj):
        return obj
    spelled = {key: _HUMP.sub(lambda hump: hump[1].upper(), key) for key in obj}
    return {(key if spelled[key] in obj else spelled[key]): value for key, value in obj.items()}


def fields(obj: JsonObject, known: frozenset[str]) -> JsonObject:
    """In camelCase, and without the known fields that are null: on this wire null is the same as absent."""
    obj = camel(obj)
    if None not in obj.values():
        return obj
    return {key: value for key, value in obj.items() if value is not None or key not in known}


def signature(seal: Seal | None, notes: list[Note], path: str) -> JsonObject:
    """The part's field for a seal that this wire made; another maker's is left off, and said."""
    if seal is None:
        return {}
    if seal.scheme == SCHEME:
        return {"thoughtSignature": seal.data}
    notes.append(Note("seal.dropped", f"the seal {seal.scheme} means nothing to {NAME}; left off", path=path))
    return {}
