"""The streamed response, read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from thinkwire.dialects.error_bodies import failure_from
from thinkwire.dialects.openai_responses.constants import NAME
from thinkwire.dialects.openai_responses.items import bare, read_call
from thinkwire.dialects.openai_responses.outcome import read_failure, read_finish, read_usage
from thinkwire.dialects.openai_responses.parse_context import id_of
from thinkwire.dialects.openai_responses.reasoning import BREAK
from thinkwire.dialects.openai_responses.response import decode_response, read_echo, word
from thinkwire.dialects.openai_responses.stream_items import Growing, Slot, SlotDecoder, kind_of
from thinkwire.dialects.shared import as_extras
from thinkwire.errors import Failure, protocol_failure
from thinkwire.events import BlockGrew, Failed, Finished, Noted, Started, events_of
from thinkwire.jsonvalue import JsonObject, parse
from thinkwire.messages import Form, Text, Thinking

_FAILED = b'"response.failed"'


class StreamDecoder(SlotDecoder):
    """Events of the wire to events.

    Items may be open side by side and are told apart by their place in the output. `output_item.done` has the
    last word on an item: it completes what the deltas left out, and only its seal counts.
    """

    def __init__(self) -> None:
        super().__init__()
        self._begun = False
        self._created = False
        self._failed = False

    def _on_frame(self, name: str | None, data: bytes) -> None:
        event = parse(data)
        if type(event) is not dict:
            return
        kind = event.get("type")
        handler = self._HANDLERS.get(kind if type(kind) is str else name or "")
        if handler is not None:
            handler(self, event)
        elif type(kind) is not str:
            self._on_stranger(event)

    def _on_stranger(self, event: JsonObject) -> None:
        """A frame that is no event: an error of a proxy, a whole response, or another dialect."""
        if event.get("error"):
            self._fail(failure_from(event))
        elif "choices" in event:
            self._fail(protocol_failure("this is a stream of Chat Completions, not of Responses", body=event))
        elif "output" in event and not self._begun:
            self._begun = True
            answer = decode_response(event)
            self._events += events_of(answer)
            self._over = answer.finish is not None or answer.failure is not None

    def _surplus(self, data: bytes) -> None:
        if not (self._failed and _FAILED in data):
            super()._surplus(data)

    def _fail(self, failure: Failure) -> None:
        if not self._over:
            self._begin({})
        super()._fail(failure)

    def _begin(self, response: JsonObject) -> None:
        if not self._begun:
            self._begun = True
            self._reading.response_id = word(response.get("id"))
            started = Started(self._reading.response_id, word(response.get("model")), read_echo(response))
            self._events.append(started)

    def _on_created(self, event: JsonObject) -> None:
        if self._created:
            self._note("stream.irregular", "the stream began twice; the first beginning counts")
        self._created = True
        self._begin(_object(event, "response"))

    def _on_progress(self, event: JsonObject) -> None:
        self._begin(_object(event, "response"))

    # items

    def _slot(self, event: JsonObject, kind: str) -> Slot | None:
        """The item that an event is about; None when that item is complete already."""
        position, item_id = event.get("output_index"), event.get("item_id")
        slot = self._find(kind, position, item_id)
        if slot is None:
            self._begin({})
            slot = self._add(kind, position, {"type": kind, "id": item_id})
            self._note("stream.irregular", f"an item ({kind}) grew before it was announced")
        elif slot.done:
            self._note("stream.irregular", f"an item ({kind}) grew after its end; this was ignored")
            return None
        return slot

    def _on_added(self, event: JsonObject) -> None:
        item = _object(event, "item")
        kind = kind_of(item)
        slot = self._find(kind, event.get("output_index"), item.get("id"))
        if slot is None or slot.done or (slot.announced and slot.item_id != item.get("id")):
            self._begin({})
            slot = self._add(kind, event.get("output_index"), item)
        slot.announced = True
        if kind == "function_call" and word(item.get("name")) and word(item.get("call_id")):
            self._open_call(slot, item)

    def _open_call(self, slot: Slot, item: JsonObject) -> None:
        if 0 in slot.growing:
            return
        call = read_call({**item, "status": None}, slot.position, self._reading)
        growing = self._start_block(slot, 0, bare(call))
        growing.head = call.arguments

    def _on_item_done(self, event: JsonObject) -> None:
        item = _object(event, "item")
        kind = kind_of(item)
        slot = self._find(kind, event.get("output_index"), item.get("id"))
        if slot is None:
            self._begin({})
            slot = self._add(kind, event.get("output_index"), item)
        if not slot.done:
            self._finalize(slot, item, kind)

    # texts

    def _text(self, event: JsonObject, *, refusal: bool = False) -> Growing | None:
        slot = self._slot(event, "message")
        if slot is None:
            return None
        place = event.get("content_index")
        if type(place) is not int:
            place = 0
        growing = slot.growing.get(place)
        if growing is not None:
            return growing
        fields: JsonObject = {"part": place} if place else {}
        if not slot.growing:
            about = {"id": id_of(slot.item), "phase": slot.item.get("phase")}
            fields.update((key, value) for key, value in about.items() if value is not None)
        return self._start_block(slot, place, Text(refusal=refusal, extras=as_extras(NAME, fields)))

    def _on_text(self, event: JsonObject) -> None:
        delta = event.get("delta")
        if type(delta) is str and delta:
            growing = self._text(event)
            if growing is None:
                return
            if growing.head:
                self._more(growing, delta)
                return
            growing.texts.append(delta)
            self._events.append(BlockGrew(growing.index, delta))

    def _on_refusal(self, event: JsonObject) -> None:
        delta = _text_in(event, "delta")
        growing = self._text(event, refusal=True) if delta else None
        if growing is not None:
            self._more(growing, delta)

    def _on_text_done(self, event: JsonObject) -> None:
        text = _text_in(event, "text")
        refusal = "" if text else _text_in(event, "refusal")
        growing = self._text(event, refusal=bool(refusal)) if text or refusal else None
        if growing is not None:
            self._catch_up(growing, text or refusal)

    def _on_annotation(self, event: JsonObject) -> None:
        growing = self._text(event)
        if growing is not None:
            growing.annotations.append(event.get("annotation"))

    def _on_part_added(self, event: JsonObject) -> None:
        part = _object(event, "part")
        if part.get("type") == "reasoning_text":
            return
        if part.get("type") in ("output_text", "refusal", "text"):
            refusal = part["type"] == "refusal"
            growing = self._text(event, refusal=refusal)
            if growing is not None and not growing.texts:
                growing.head = _text_in(part, "refusal" if refusal else "text")

    def _on_part_done(self, event: JsonObject) -> None:
        part = _object(event, "part")
        if part.get("type") == "reasoning_text":
            self._on_raw_done({**event, "text": part.get("text")})
        elif part.get("type") in ("output_text", "refusal", "text"):
            self._on_text_done({**event, "text": part.get("text"), "refusal": part.get("refusal")})

    # tool calls

    def _arguments(self, event: JsonObject) -> Growing | None:
        slot = self._slot(event, "function_call")
        return slot.growing.setdefault(0, Growing()) if slot is not None else None

    def _on_arguments(self, event: JsonObject) -> None:
        delta = _text_in(event, "delta")
        growing = self._arguments(event) if delta else None
        if growing is not None:
            self._more(growing, delta)

    def _on_arguments_done(self, event: JsonObject) -> None:
        arguments = _text_in(event, "arguments")
        growing = self._arguments(event) if arguments else None
        if growing is not None:
            self._catch_up(growing, arguments)

    # thinking

    def _thought(self, event: JsonObject, form: Form, place: Any) -> Growing | None:
        """The thinking that grows, made ready for this part; None when another form of it is shown."""
        slot = self._slot(event, "reasoning")
        if slot is None:
            return None
        growing = slot.growing.get(0)
        if growing is None:
            growing = self._start_thinking(slot, form)
            growing.place = place
        if not isinstance(growing.block, Thinking) or growing.block.form != form:
            return None
        if place != growing.place:
            growing.place = place
            self._more(growing, BREAK)
            growing.mark = len(growing.texts)
        return growing

    def _start_thinking(self, slot: Slot, form: Form) -> Growing:
        found = id_of(slot.item)
        extras = as_extras(NAME, {"id": found} if found is not None else {})
        return self._start_block(slot, 0, Thinking(form=form, extras=extras))

    def _on_thought(self, event: JsonObject, form: Form, place: Any) -> None:
        delta = _text_in(event, "delta")
        growing = self._thought(event, form, place) if delta else None
        if growing is not None:
            growing.texts.append(delta)
            self._events.append(BlockGrew(growing.index, delta))

    def _on_summary(self, event: JsonObject) -> None:
        self._on_thought(event, "summary", event.get("summary_index"))

    def _on_raw(self, event: JsonObject) -> None:
        self._on_thought(event, "full", event.get("content_index"))

    def _on_summary_done(self, event: JsonObject) -> None:
        self._on_thought_done(event, "summary", event.get("summary_index"))

    def _on_raw_done(self, event: JsonObject) -> None:
        self._on_thought_done(event, "full", event.get("content_index"))

    def _on_thought_done(self, event: JsonObject, form: Form, place: Any) -> None:
        text = _text_in(event, "text")
        slot = self._slot(event, "reasoning") if text else None
        if slot is None or (0 in slot.growing and _is_before(place, slot.growing[0].place)):
            return
        growing = self._thought(event, form, place)
        if growing is not None:
            self._catch_up(growing, text)

    # the end

    def _on_error(self, event: JsonObject) -> None:
        self._failed = True
        self._fail(failure_from({key: value for key, value in event.items() if key != "type"}))

    def _on_failed(self, event: JsonObject) -> None:
        response = _object(event, "response")
        self._begin(response)
        error_type = event.get("error_type") or response.get("error_type")
        usage, _ = read_usage(response.get("usage"))
        self._over = True
        self._events.append(Failed(read_failure(response.get("error"), error_type=error_type), usage))

    def _on_completed(self, event: JsonObject) -> None:
        self._on_end(event, "completed")

    def _on_incomplete(self, event: JsonObject) -> None:
        self._on_end(event, "incomplete")

    def _on_cancelled(self, event: JsonObject) -> None:
        self._on_end(event, "cancelled")

    def _on_end(self, event: JsonObject, status: str) -> None:
        response = _object(event, "response")
        self._begin(response)
        said = response.get("status")
        if said == "failed":
            self._on_failed(event)
            return
        if not isinstance(said, str) or said in ("queued", "in_progress"):
            response = {**response, "status": status}
        output = response.get("output")
        self._fill_in(output if isinstance(output, list) else [])
        self._end_stragglers()
        usage, odd = read_usage(response.get("usage"))
        notes = list(odd)
        details = response.get("incomplete_details")
        finish = read_finish(response["status"], details, self._usual, notes) or self._usual
        self._events += map(Noted, notes)
        self._finish(Finished(finish, usage, read_echo(response, (finish, self._usual))))

    _HANDLERS: ClassVar[dict[str, Callable[[StreamDecoder, JsonObject], None]]] = {
        "response.created": _on_created,
        "response.queued": _on_progress,
        "response.in_progress": _on_progress,
        "response.output_item.added": _on_added,
        "response.output_item.done": _on_item_done,
        "response.content_part.added": _on_part_added,
        "response.content_part.done": _on_part_done,
        "response.reasoning_part.added": _on_part_added,
        "response.reasoning_part.done": _on_part_done,
        "response.output_text.delta": _on_text,
        "response.output_text.done": _on_text_done,
        "response.output_text.annotation.added": _on_annotation,
        "response.refusal.delta": _on_refusal,
        "response.refusal.done": _on_text_done,
        "response.function_call_arguments.delta": _on_arguments,
        "response.function_call_arguments.done": _on_arguments_done,
        "response.reasoning_summary_text.delta": _on_summary,
        "response.reasoning_summary_text.done": _on_summary_done,
        "response.reasoning_text.delta": _on_raw,
        "response.reasoning_text.done": _on_raw_done,
        "response.completed": _on_completed,
        "response.done": _on_completed,
        "response.incomplete": _on_incomplete,
        "response.cancelled": _on_cancelled,
        "response.failed": _on_failed,
        "error": _on_error,
    }


def _object(event: JsonObject, key: str) -> JsonObject:
    value = event.get(key)
    return value if isinstance(value, dict) else {}


def _text_in(event: JsonObject, key: str) -> str:
    value = event.get(key)
    return value if isinstance(value, str) else ""


def _is_before(place: Any, current: Any) -> bool:
    return type(place) is int and type(current) is int and place < current
