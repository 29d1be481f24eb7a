"""The answer that nearly every request gets: one message of words, perhaps with its thinking in a field.

It is read at once, without the machine that puts deltas together, and amounts to the same.
"""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.openai_chat import finish, usage
from thinkwire.dialects.openai_chat.form import keep
from thinkwire.dialects.openai_chat.quirks import Quirks
from thinkwire.dialects.openai_chat.reasoning import PLAIN
from thinkwire.events import Answer
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Block, Origin, Text, Thinking, Turn
from thinkwire.wire.tags import may_begin_with_tag

_READ = frozenset({"id", "object", "model", "choices", "usage", "obfuscation"})
_CHOICE = frozenset({"index", "message", "finish_reason", "logprobs"})
_MESSAGE = frozenset({"role", "content", "refusal", *PLAIN})
_NOT_PLAIN = frozenset({"error", "base_resp", "x_groq", "created_at"})


def read_plain(body: JsonObject, quirks: Quirks) -> Answer | None:
    """The answer, if it is plain; None for one that has to be decoded."""
    if quirks.answer_field is not None or quirks.think_tags == "inside":
        return None
    choice, origin = _only_choice(body), _origin(body)
    blocks = _blocks(choice["message"], quirks) if choice is not None else None
    if choice is None or blocks is None or origin is None or not _NOT_PLAIN.isdisjoint(body):
        return None
    word = choice.get("finish_reason")
    reason, note = finish.read(word, calls=False, refused=False)
    tokens, notes = usage.read(body.get("usage") or None)
    fields = {key: value for key, value in body.items() if key not in _READ}
    if not fields.get("created", True):
        del fields["created"]
    return Answer(
        turn=Turn("assistant", blocks, origin=origin),
        finish=reason,
        usage=tokens,
        notes=notes if note is None else (note, *notes),
        extras=keep(
            fields, finish_reason=word if finish.worth_keeping(word, reason, refused=False) else None
        ),
    )


def _only_choice(body: JsonObject) -> JsonObject | None:
    """The one choice, with a message and nothing that has to be kept; None if it is not so."""
    choices = body.get("choices")
    if type(choices) is not list or len(choices) != 1 or type(choices[0]) is not dict:
        return None
    choice: JsonObject = choices[0]
    plain = choice.keys() <= _CHOICE and not choice.get("index") and choice.get("logprobs") is None
    return choice if plain and type(choice.get("message")) is dict else None


def _origin(body: JsonObject) -> Origin | None:
    model, given = body.get("model"), body.get("id")
    if not model or type(model) is not str or (given and type(given) is not str):
        return None
    return Origin(model=model, response_id=given or None)


def _blocks(message: JsonObject, quirks: Quirks) -> tuple[Block, ...] | None:
    """The thinking and the words of a message that has nothing else."""
    words: Any = message.get("content")
    if type(words) is not str or not message.keys() <= _MESSAGE or message.get("refusal"):
        return None
    if not words or (quirks.think_tags != "off" and may_begin_with_tag(words)):
        return None
    thought = [(field, message[field]) for field in PLAIN if message.get(field)]
    if not thought:
        return (Text(words),)
    field, text = thought[0]
    if len(thought) > 1 or type(text) is not str:
        return None
    return Thinking(text, field=field), Text(words)
