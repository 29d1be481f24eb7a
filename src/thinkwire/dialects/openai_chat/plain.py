"""The answer that nearly every request gets: a message of words and calls, its thinking in a field if at all.

It is read at once, without the machine that puts deltas together, and amounts to the same.
"""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.openai_chat import finish, usage
from thinkwire.dialects.openai_chat import google_signatures as google
from thinkwire.dialects.openai_chat.constants import NAME, keep
from thinkwire.dialects.openai_chat.quirks import Quirks
from thinkwire.dialects.openai_chat.reasoning import FIELDS, PLAIN
from thinkwire.events import Answer
from thinkwire.jsonvalue import JsonObject, unknown_fields
from thinkwire.messages import Block, Extras, Origin, Text, Thinking, ToolCall, Turn
from thinkwire.wire.think_tags import may_begin_with_tag

_READ = frozenset({"id", "object", "model", "choices", "usage", "obfuscation"})
_CHOICE = frozenset({"index", "message", "finish_reason", "logprobs"})
_WORDS = frozenset({"role", "content", "refusal", "tool_calls"})
_MESSAGE = _WORDS.union(PLAIN)
_CALL = frozenset({"index", "id", "type", "function"})
_FUNCTION = frozenset({"name", "arguments"})

_NOT_PLAIN = frozenset({"error", "base_resp", "x_groq", "created_at"})
_NOT_PLAIN_CHOICE = frozenset({"delta", "usage", "error"})
_NOT_PLAIN_MESSAGE = FIELDS.difference(PLAIN) | {"function_call", google.FIELD}


def read_plain(body: JsonObject, quirks: Quirks) -> Answer | None:
    """The answer, if it is plain; None for one that has to be decoded."""
    choice = _only_choice(body)
    if choice is None or quirks.answer_field is not None or quirks.think_tags == "inside":
        return None
    turn = _turn(choice["message"], body, quirks)
    if turn is None or not _NOT_PLAIN.isdisjoint(body):
        return None
    word = choice.get("finish_reason")
    reason, note = finish.read(word, calls=type(turn.blocks[-1]) is ToolCall, refused=False)
    tokens, notes = usage.read(body.get("usage") or None)
    fields: JsonObject = {}
    for name in body:
        if name not in _READ and (name != "created" or body[name]):
            fields[name] = body[name]
    if not _CHOICE.issuperset(choice) or choice.get("logprobs") is not None:
        fields |= _beside_choice(choice)
    if (note is not None or word not in finish.OWN) and finish.worth_keeping(word, reason, refused=False):
        fields["_finish_reason"] = word
    return Answer(
        turn,
        reason,
        tokens,
        notes if note is None else (note, *notes),
        extras={NAME: fields} if fields else {},
    )


def _only_choice(body: JsonObject) -> JsonObject | None:
    """The one choice, with a message; None if it is not so."""
    choices = body.get("choices")
    if type(choices) is not list or len(choices) != 1 or type(choices[0]) is not dict:
        return None
    choice: JsonObject = choices[0]
    if choice.get("index") or not _NOT_PLAIN_CHOICE.isdisjoint(choice):
        return None
    return choice if type(choice.get("message")) is dict else None


def _beside_choice(choice: JsonObject) -> JsonObject:
    """What the choice says beside its message, as fields to be kept."""
    said = unknown_fields(choice, _CHOICE)
    if choice.get("logprobs") is not None:
        said["logprobs"] = choice["logprobs"]
    return {"_choice": said} if said else {}


def _turn(message: JsonObject, body: JsonObject, quirks: Quirks) -> Turn | None:
    """The thinking, the words and the calls of a message that has nothing else to be read."""
    model, given = body.get("model"), body.get("id")
    if not model or type(model) is not str or (given and type(given) is not str):
        return None
    words: Any = message.get("content")
    entries = message.get("tool_calls")
    if message.get("refusal") or not (words or entries) or (entries and type(entries) is not list):
        return None
    blocks: list[Block] = []
    extras: Extras = {}
    if not message.keys() <= _WORDS:
        thought, beside = _thought(message), _beside(message)
        if thought is None or beside is None:
            return None
        blocks, extras = [*thought], beside
    if words:
        if type(words) is not str or (quirks.think_tags != "off" and may_begin_with_tag(words)):
            return None
        blocks.append(Text(words))
    for entry in entries or ():
        call = _call(entry)
        if call is None:
            return None
        blocks.append(call)
    return Turn("assistant", tuple(blocks), Origin(None, None, model, given or None), extras)


def _thought(message: JsonObject) -> list[Thinking] | None:
    """The thinking in one of the fields for it; None if there is more than that."""
    said = [(field, message[field]) for field in PLAIN if message.get(field)]
    if len(said) > 1 or (said and type(said[0][1]) is not str):
        return None
    return [Thinking(text, field=field) for field, text in said]


def _beside(message: JsonObject) -> Extras | None:
    """The fields of a message that nobody reads; None if there is one that the decoder does."""
    rest = unknown_fields(message, _MESSAGE)
    if not _NOT_PLAIN_MESSAGE.isdisjoint(rest):
        return None
    if "logprobs" in rest and rest["logprobs"] is None:
        del rest["logprobs"]
    return keep(rest)


def _call(entry: Any) -> ToolCall | None:
    """A call with its id, its name and its arguments, and nothing else."""
    if type(entry) is not dict or not entry.keys() <= _CALL or entry.get("type", "function") != "function":
        return None
    function = entry.get("function")
    if type(function) is not dict or function.keys() != _FUNCTION:
        return None
    given, name, arguments = entry.get("id"), function["name"], function["arguments"]
    if type(given) is not str or type(name) is not str or type(arguments) is not str:
        return None
    return ToolCall(given, name, arguments) if given.strip() and name.strip() and arguments else None
