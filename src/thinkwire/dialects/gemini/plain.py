"""The answer that nearly every request gets: one candidate with texts, thoughts and whole calls.

It is read at once, without the machine that puts chunks together, and amounts to the same.
"""

from __future__ import annotations

from thinkwire.dialects.gemini.constants import NAME, SCHEME
from thinkwire.dialects.gemini.finish import given, read_finish
from thinkwire.dialects.gemini.usage import read_usage
from thinkwire.dialects.shared import arguments_text
from thinkwire.events import Answer
from thinkwire.jsonvalue import JsonObject, unknown_fields
from thinkwire.messages import Block, Origin, Seal, Text, Thinking, ToolCall, Turn

_TOP = frozenset(["candidates", "usageMetadata", "modelVersion", "responseId"])
_CANDIDATE = frozenset(["content", "finishReason", "index"])
_TIMED = frozenset(["createTime"])
_SIGNED = frozenset(["text", "thoughtSignature"])
_CALLING = frozenset(["functionCall", "thoughtSignature"])
_CALL = frozenset(["id", "name", "args"])


def read_plain(body: JsonObject) -> Answer | None:
    """The answer, if it is plain; None for one that has to be decoded."""
    candidate, extras = _only_candidate(body), _beside(body, _TOP)
    blocks, counts = _blocks(candidate), body.get("usageMetadata")
    response_id, model = body.get("responseId"), body.get("modelVersion")
    if not blocks or extras is None or type(response_id) is not str or type(model) is not str:
        return None
    said = _beside(candidate, _CANDIDATE)
    if said is None or not extras.keys() <= _TIMED or type(counts) is not dict or None in counts.values():
        return None
    calls = ToolCall in map(type, blocks)
    reason, kept, note = read_finish(given(candidate.get("finishReason")), calls=calls)
    usage, notes = read_usage(counts)
    extras |= kept
    if said:
        extras["candidate"] = said
    return Answer(
        Turn("assistant", blocks, Origin(None, None, model, response_id)),
        reason,
        usage,
        notes if note is None else (note, *notes),
        extras={NAME: extras} if extras else {},
    )


def _only_candidate(body: JsonObject) -> JsonObject:
    """The one candidate; an empty one if it is not so."""
    candidates = body.get("candidates")
    if type(candidates) is not list or len(candidates) != 1 or type(candidates[0]) is not dict:
        return {}
    candidate: JsonObject = candidates[0]
    return {} if candidate.get("index") else candidate


def _beside(native: JsonObject, known: frozenset[str]) -> JsonObject | None:
    """The fields that nobody reads; None if one of them says nothing, or is not spelled in camelCase."""
    if native.keys() <= known:
        return {}
    rest = unknown_fields(native, known)
    return None if None in rest.values() or "_" in "".join(rest) else rest


def _blocks(candidate: JsonObject) -> tuple[Block, ...] | None:
    """The blocks of a candidate; None if anything in it is unusual."""
    content = candidate.get("content")
    parts = content.get("parts") if type(content) is dict else None
    if type(parts) is not list:
        return None
    blocks: list[Block] = []
    for part in parts:
        block = _block(part)
        if block is None:
            return None
        last = blocks[-1] if blocks else None
        if type(block) is Text and type(last) is Text and block.seal is None and last.seal is None:
            blocks[-1] = Text(last.text + block.text)
        elif type(block) is Thinking and type(last) is Thinking:
            blocks[-1] = Thinking(last.text + block.text, form="summary")
        else:
            blocks.append(block)
    return tuple(blocks)


def _block(part: object) -> Text | Thinking | ToolCall | None:
    """A part with some text and perhaps its seal, or with a whole call that has an id."""
    if type(part) is not dict:
        return None
    text, seal = part.get("text"), part.get("thoughtSignature")
    if seal is not None and (type(seal) is not str or not seal):
        return None
    if type(text) is str and part.keys() <= _SIGNED and (text or seal):
        return Text(text, seal=Seal(SCHEME, seal) if seal else None)
    if type(text) is str and text and len(part) == 2 and "thought" in part:
        return Thinking(text, form="summary") if part["thought"] is True else Text(text)
    call = part.get("functionCall")
    if type(call) is not dict or not call.keys() <= _CALL or not part.keys() <= _CALLING:
        return None
    call_id, name, args = call.get("id"), call.get("name"), call.get("args")
    if type(call_id) is not str or not call_id or type(name) is not str or not name or type(args) is not dict:
        return None
    return ToolCall(call_id, name, arguments_text(args), Seal(SCHEME, seal) if seal else None)
