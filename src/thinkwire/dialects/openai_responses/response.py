"""The whole response, both ways."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from thinkwire.dialects.base import Encoded
from thinkwire.dialects.error_bodies import failure_from
from thinkwire.dialects.openai_responses.constants import NAME, minted
from thinkwire.dialects.openai_responses.errors import response_error
from thinkwire.dialects.openai_responses.items import grouped, read_item
from thinkwire.dialects.openai_responses.outcome import (
    read_failure,
    read_finish,
    read_usage,
    usual_end,
    write_finish,
    write_usage,
)
from thinkwire.dialects.openai_responses.output_items import complete_item, id_for, note_seals, opaque_item
from thinkwire.dialects.openai_responses.parse_context import Reading
from thinkwire.dialects.shared import as_extras, own
from thinkwire.errors import MalformedInput
from thinkwire.events import Answer, FinishReason
from thinkwire.jsonvalue import JsonObject, kind, unknown_fields
from thinkwire.messages import Block, Extras, Origin, Thinking, ToolCall, Turn
from thinkwire.notes import Note


def defaults() -> JsonObject:
    """What a response says of its request when nobody tells; the official client wants most of it."""
    return {
        "created_at": 0,
        "background": False,
        "instructions": None,
        "max_output_tokens": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "truncation": "disabled",
        "user": None,
    }


_DEFAULTS = defaults()
_FIELDS = frozenset({"id", "object", "model", "status", "error", "incomplete_details", "output", "usage"})
_NULLABLE = frozenset(
    {
        "access_programs",
        "completed_at",
        "conversation",
        "image",
        "max_tool_calls",
        "moderation",
        "prompt",
        "prompt_cache_diagnostics",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
        "tool_usage",
        "top_logprobs",
        *_DEFAULTS,
    }
)


def decode_response(body: JsonObject) -> Answer:
    """A native response. An error in its place is an answer with a `failure`."""
    output = _output(body)
    if output is None:
        return Answer(Turn("assistant"), failure=failure_from(body))
    response_id, model = word(body.get("id")), word(body.get("model"))
    reading = Reading(response=True, response_id=response_id)
    blocks: list[Block] = []
    for position, item in enumerate(output):
        if isinstance(item, dict):
            blocks += read_item(item, position, reading)
        else:
            reading.notes.append(Note("block.dropped", f"an output item that is {kind(item)}"))
    usage, odd = read_usage(body.get("usage"))
    notes = [*reading.notes, *odd]
    usual = usual_end(blocks)
    failed = body.get("status") == "failed" or (bool(body.get("error")) and not blocks)
    finish = None if failed else read_finish(body.get("status"), body.get("incomplete_details"), usual, notes)
    return Answer(
        Turn("assistant", tuple(blocks), origin=origin_of(response_id, model)),
        finish=finish,
        usage=usage,
        notes=tuple(notes),
        failure=read_failure(body.get("error"), error_type=body.get("error_type")) if failed else None,
        extras=read_echo(body, None if failed else (finish, usual)),
    )


def _output(body: Any) -> list[Any] | None:
    """The output items; None when the body is an error and nothing else."""
    if not isinstance(body, dict):
        raise MalformedInput(f"expected an object, got {kind(body)}", dialect=NAME)
    output = body.get("output")
    if isinstance(output, list):
        return output
    if output is None and body.get("object") == "response":
        return []
    if body.get("error"):
        return None
    if "choices" in body:
        raise MalformedInput(
            "this is an answer of Chat Completions, not of Responses", path="choices", dialect=NAME
        )
    raise MalformedInput(f"expected an array, got {kind(output)}", path="output", dialect=NAME)


def word(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def origin_of(response_id: str | None, model: str | None) -> Origin | None:
    return Origin(model=model, response_id=response_id) if response_id or model else None


def read_echo(body: JsonObject, ending: tuple[FinishReason | None, FinishReason] | None = None) -> Extras:
    """What the response says beyond its output, as far as it is not what we would say anyway.

    `ending` is the reason that was read, and the usual one: a status that these do not tell is kept.
    """
    fields = {
        key: value
        for key, value in unknown_fields(body, _FIELDS).items()
        if not (value is None and key in _NULLABLE) and not (key in _DEFAULTS and value == _DEFAULTS[key])
    }
    if ending is not None:
        status, details = write_finish(*ending)
        if word(body.get("status")) not in (None, status):
            fields["status"] = body["status"]
        if body.get("incomplete_details") not in (None, details):
            fields["incomplete_details"] = body["incomplete_details"]
    return as_extras(NAME, fields)


def encode_response(answer: Answer) -> Encoded:
    """The native response, and what could not be said in it."""
    notes: list[Note] = []
    origin = answer.turn.origin or Origin()
    echo = own(answer.extras, NAME)
    response_id = origin.response_id or made_up_response_id(origin.model)
    body = skeleton(response_id, origin.model, echo)
    body["output"] = _write_items(answer.turn.blocks, response_id, notes)
    if answer.finish == "continue":
        notes.append(CONTINUE)
    failed = answer.failure is not None
    finish = "error" if failed else answer.finish
    body.update(write_end(finish, usual_end(answer.turn.blocks), echo))
    if finish == "error":
        body["error"] = response_error(answer.failure)
    body["usage"] = write_usage(answer.usage)
    return Encoded(body, tuple(notes))


CONTINUE = Note("field.changed", "the answer wants to be continued; this wire says so with max_output_tokens")


def made_up_response_id(model: str | None) -> str:
    return minted("resp", model or "")


def skeleton(response_id: str, model: str | None, echo: JsonObject) -> JsonObject:
    """A response with nothing in it yet."""
    return {
        "id": response_id,
        "object": "response",
        **_DEFAULTS,
        "model": model or "",
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "output": [],
        "usage": None,
        **unknown_fields(echo, _FIELDS),
    }


def write_end(finish: FinishReason | None, usual: FinishReason, echo: JsonObject) -> JsonObject:
    """`status` and `incomplete_details`: the native ones where they say more than the reason does."""
    status, details = write_finish(finish, usual)
    if finish == "error":
        return {"status": status, "incomplete_details": None}
    return {
        "status": echo.get("status", status),
        "incomplete_details": echo.get("incomplete_details", details),
    }


def _write_items(blocks: Iterable[Block], response_id: str, notes: list[Note]) -> list[JsonObject]:
    items: list[JsonObject] = []
    for group in grouped(blocks):
        if isinstance(group, (list, ToolCall, Thinking)):
            given = id_for(group, response_id, len(items))
            note_seals(group, given, notes)
            items.append(complete_item(group, given))
        elif (item := opaque_item(group, notes)) is not None:
            items.append(item)
    return items
