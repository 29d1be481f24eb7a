"""The answer body, read and written."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.base import Encoded
from thinkwire.dialects.gemini.constants import NAME, camel, signature
from thinkwire.dialects.gemini.errors import encode_error
from thinkwire.dialects.gemini.finish import write_finish
from thinkwire.dialects.gemini.parts import foreign_seal, write_part
from thinkwire.dialects.gemini.plain import read_plain
from thinkwire.dialects.gemini.stream_decoder import StreamDecoder
from thinkwire.dialects.gemini.usage import write_usage
from thinkwire.dialects.shared import own
from thinkwire.errors import MalformedInput
from thinkwire.events import Answer, FinishReason
from thinkwire.jsonvalue import JsonObject, kind, unknown_fields
from thinkwire.messages import Block, Origin, Text, Thinking
from thinkwire.notes import Note
from thinkwire.usage import Usage

_TELLING = frozenset(["candidates", "promptFeedback", "usageMetadata", "responseId", "modelVersion", "error"])
_MARKS = frozenset(("candidate", "finishReason"))


def decode_response(body: JsonObject | list[Any]) -> Answer:
    """A whole answer: the same fold as a stream's, over one chunk. An array of chunks is read as well."""
    if type(body) is dict and (answer := read_plain(body)) is not None:
        return answer
    chunks = body if isinstance(body, list) else [body]
    decoder = StreamDecoder()
    for chunk in chunks:
        if not isinstance(chunk, dict) or not camel(chunk).keys() & _TELLING:
            what = "an unknown one" if isinstance(chunk, dict) else kind(chunk)
            raise MalformedInput(f"expected a GenerateContentResponse object, got {what}")
        decoder.take(chunk)
    if not chunks:
        raise MalformedInput("expected a GenerateContentResponse object, got an empty array")
    return decoder.answer()


def encode_response(answer: Answer) -> Encoded:
    notes: list[Note] = []
    parts = [
        part
        for index, block in enumerate(answer.turn.blocks)
        if (part := answer_part(block, notes, f"blocks[{index}]")) is not None
    ]
    origin = answer.turn.origin or Origin()
    held = own(answer.extras, NAME)
    body = ending(answer.finish, parts, held) if answer.finish or parts else {}
    body |= head(origin.model, origin.response_id, held)
    body |= counted(answer.usage, notes)
    if answer.failure is not None:
        body |= encode_error(answer.failure)[1]
    return Encoded(body, tuple(notes))


def answer_part(block: Block, notes: list[Note], path: str) -> JsonObject | None:
    """The part that shows a block to a client; None for what holds nothing to show."""
    if isinstance(block, Thinking) and not block.text and (block.seal is None or foreign_seal(block)):
        if block.seal is not None:
            notes.append(
                Note("thinking.dropped", f"thinking with no text, only a {block.seal.scheme} seal", path=path)
            )
        return None
    if isinstance(block, Text) and not block.text and not own(block.extras, NAME):
        sealed = signature(block.seal, notes, path)
        return {"text": "", **sealed} if sealed else None
    return write_part(block, notes, path)


def ending(finish: FinishReason | None, parts: list[JsonObject], held: JsonObject) -> JsonObject:
    """The candidate with these parts and how it ended. A blocked prompt has none, only its feedback."""
    candidate: JsonObject = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = held.get("finishReason") or write_finish(finish)
    candidate |= held.get("candidate", {})
    if blocked(held) and finish == "refusal" and not any(part != {"text": ""} for part in parts):
        return {}
    return {"candidates": [candidate]}


def blocked(held: JsonObject) -> bool:
    feedback = held.get("promptFeedback")
    return isinstance(feedback, dict) and bool(camel(feedback).get("blockReason"))


def head(model: str | None, response_id: str | None, held: JsonObject) -> JsonObject:
    """What every chunk says about the answer as a whole."""
    named = {"modelVersion": model, "responseId": response_id}
    return {name: value for name, value in named.items() if value is not None} | unknown_fields(held, _MARKS)


def counted(usage: Usage | None, notes: list[Note]) -> JsonObject:
    counts = write_usage(usage, notes) if usage is not None else {}
    return {"usageMetadata": counts} if counts else {}
