"""Words about thinking that other servers of the same wire know. The one that is asked never gets them."""

from __future__ import annotations

from typing import Any

import msgspec

from thinkwire.catalog import Facts
from thinkwire.notes import Note
from thinkwire.reasoning.native_params import FIELDS, OPTIONS, WORDS
from thinkwire.request import Request

_CHAT = "openai_chat"
_ABOUT_THINKING = frozenset((*WORDS, *OPTIONS))


def without_foreign(request: Request, facts: Facts) -> tuple[Request, tuple[Note, ...]]:
    """The request without what is left of another server's reasoning fields, once the intent was read."""
    said = request.extras.get(_CHAT)
    if not said or facts.dialect != "openai-chat" or _ABOUT_THINKING.isdisjoint(said):
        return request, ()
    roots = {path.partition(".")[0] for path in FIELDS[facts.shape]}
    kept: dict[str, Any] = {}
    dropped: list[str] = []
    for name, value in said.items():
        if name in WORDS and name not in facts.options and isinstance(value, dict):
            inner = {
                key: item for key, item in value.items() if _known(f"{name}.{key}", name in roots, facts)
            }
            dropped += [f"{name}.{key}" for key in value if key not in inner]
            if inner or name in roots:
                kept[name] = inner
        elif name in OPTIONS and name not in facts.options:
            dropped.append(name)
        else:
            kept[name] = value
    if not dropped:
        return request, ()
    kept = {name: value for name, value in kept.items() if value != {} or said[name] == {}}
    message = f"{', '.join(dropped)}: {facts.id} is not told about its thinking in these words; not sent"
    note = Note("field.dropped", message, detail={"fields": dropped})
    extras = {key: value for key, value in request.extras.items() if key != _CHAT}
    return msgspec.structs.replace(request, extras=extras | ({_CHAT: kept} if kept else {})), (note,)


def _known(path: str, own: bool, facts: Facts) -> bool:
    """Whether a word inside a reasoning object means something to the model, or may."""
    return path in facts.options or (own and path not in OPTIONS)
