"""Whole answers, read and written."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.base import Encoded
from thinkwire.dialects.openai_chat import finish, ollama, usage
from thinkwire.dialects.openai_chat.constants import NAME, fields
from thinkwire.dialects.openai_chat.errors import error_body
from thinkwire.dialects.openai_chat.plain import read_plain
from thinkwire.dialects.openai_chat.quirks import USUAL, Quirks
from thinkwire.dialects.openai_chat.render_assistant import AssistantWriter
from thinkwire.dialects.openai_chat.stream_decoder import WholeDecoder, error_of
from thinkwire.dialects.shared import made_up_id
from thinkwire.errors import MalformedInput
from thinkwire.events import Answer, collect
from thinkwire.jsonvalue import JsonObject, kind
from thinkwire.messages import Text, Turn
from thinkwire.notes import Note


def decode_response(body: JsonObject, *, quirks: Quirks = USUAL) -> Answer:
    """A JSON answer. An error that came with status 200 is the answer's `failure`."""
    if type(body) is not dict:
        raise MalformedInput(f"expected an object, got {kind(body)}", dialect=NAME)
    if "choices" not in body and not ollama.is_native(body) and not error_of(body):
        raise MalformedInput("required field is missing", path="choices", dialect=NAME)
    return read_plain(body, quirks) or collect(WholeDecoder(quirks=quirks).read(body))


def encode_response(answer: Answer, *, created: int = 0, reasoning_field: str | None = None) -> Encoded:
    """A JSON answer for a client. `reasoning_field` forces where thinking is shown; else it is as it came."""
    notes: list[Note] = []
    turn, native = answer.turn, answer.extras.get(NAME)
    message, refused = _words(turn), False
    if message is None:
        written = AssistantWriter(Quirks(reasoning_field=reasoning_field), notes, asking=False).message(turn)
        message = (written or {}) | fields(turn.extras)
        refused = any([type(block) is Text and block.refusal for block in turn.blocks])
    word = finish.write(answer.finish, native=native and native.get("_finish_reason"), refused=refused)
    if answer.failure is not None:
        word = "error"
    choice: JsonObject = {"index": 0, "message": message, "logprobs": None, "finish_reason": word}
    if native and (beside := native.get("_choice")):
        choice |= beside
    body: JsonObject = {
        "id": response_id(turn, message),
        "object": "chat.completion",
        "created": created,
        "model": (turn.origin.model if turn.origin else None) or "",
        "choices": [choice],
    }
    if answer.usage is not None:
        body["usage"] = usage.write(answer.usage)
    if answer.failure is not None:
        body |= error_body(answer.failure)
    if native:
        body |= fields(answer.extras)
    return Encoded(body, tuple(notes))


def _words(turn: Turn) -> JsonObject | None:
    """The message of a turn that is one text and nothing else; None for any other."""
    if len(turn.blocks) != 1 or turn.extras:
        return None
    block = turn.blocks[0]
    if type(block) is not Text or block.refusal or block.seal is not None or block.extras:
        return None
    return {"role": "assistant", "content": block.text, "refusal": None}


def response_id(turn: Turn, *facts: Any) -> str:
    """The answer's own id, else one made of what it says."""
    given = turn.origin.response_id if turn.origin else None
    return given or f"chatcmpl-{made_up_id(*facts)}"
