"""Thinking inside the visible text: `<think>` and its kin, read and written."""

from __future__ import annotations

from thinkwire.dialects.openai_chat.constants import keep, memory
from thinkwire.messages import Text, Thinking
from thinkwire.wire.think_tags import TAGS, split

GOOGLE = "tag:thought"
"""Gemini's OpenAI endpoint wraps thoughts in these and marks them beside the text."""

_NAMED = {f"tag:{opening.strip('<>[]')}": (opening, closing) for opening, closing in TAGS.items()}
_NAMED[GOOGLE] = ("<thought>", "</thought>")
_EITHER = (*TAGS, *TAGS.values())


def field_of(text: str) -> str:
    """The name of the tag with which a message begins."""
    text = text.lstrip()
    return next((name for name, (opening, _) in _NAMED.items() if text.startswith(opening)), "tag:think")


def frame_of(thinking: Thinking, field: str | None = None) -> tuple[str, str]:
    """What goes before and after thinking that is written into the text."""
    remembered = memory(thinking.extras, "tag")
    if remembered and (field is None or field == thinking.field):
        return remembered[0], remembered[1]
    opening, closing = _NAMED.get(field or thinking.field or "", _NAMED["tag:think"])
    return f"{opening}\n", f"\n{closing}\n\n"


def read_inline(text: str) -> tuple[Thinking | Text, ...]:
    """A whole message's text: thinking, if it begins with a tag, and the rest. Nothing is lost."""
    if not text.lstrip().startswith(_EITHER):
        return (Text(text),) if text else ()
    pieces = split(text)
    thought = "".join(piece.text for piece in pieces if piece.thinking)
    answer = "".join(piece.text for piece in pieces if not piece.thinking)
    head = text[: len(text) - len(answer)]
    if not thought:
        return (Text(answer, extras=keep({}, lead=head or None)),)
    field = field_of(text)
    opening = _NAMED[field][0]
    at = head.index(thought, head.index(opening) + len(opening))
    thinking = Thinking(thought, field=field)
    written = (head[:at], head[at + len(thought) :])
    if written != frame_of(thinking):
        thinking = Thinking(thought, field=field, extras=keep({}, tag=list(written)))
    return (thinking, Text(answer)) if answer else (thinking,)
