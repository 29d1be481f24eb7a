"""Assistant messages, for a server (in a request) or for a client (in an answer)."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.openai_chat import google_signatures as google
from thinkwire.dialects.openai_chat import reasoning_details as details
from thinkwire.dialects.openai_chat import think_tags as inline
from thinkwire.dialects.openai_chat.constants import NAME, fields, memory
from thinkwire.dialects.openai_chat.content import content_value, write_part, write_thinking
from thinkwire.dialects.openai_chat.quirks import Quirks
from thinkwire.dialects.openai_chat.reasoning import OPAQUE_FIELD, OPAQUE_SCHEME, PLAIN
from thinkwire.dialects.shared import arguments_object, plain_words
from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Block, Opaque, Seal, Text, Thinking, ToolCall, Turn
from thinkwire.notes import Note

OWN_SCHEMES = frozenset({details.SCHEME, OPAQUE_SCHEME})
DEFAULT_FIELD = "reasoning_content"
_PLAIN_PART = frozenset({"type", "text"})


def write_history(turn: Turn, quirks: Quirks, notes: list[Note]) -> JsonObject | None:
    """A turn of the history in a request as one message; None if nothing of it can be said here."""
    words = plain_words(turn.blocks, NAME) if NAME not in turn.extras else None
    if words is None:
        return AssistantWriter(quirks, notes, asking=True).message(turn)
    return _filled({"role": "assistant", "content": words}, quirks)


class AssistantWriter:
    """Writes one assistant turn as one message. `asking` is true for the history in a request."""

    def __init__(self, quirks: Quirks, notes: list[Note], *, asking: bool) -> None:
        self._quirks = quirks
        self._notes = notes
        self._asking = asking
        self._verbatim = True
        self._parts: list[JsonObject] = []
        self._refusals: list[str] = []
        self._calls: list[JsonObject] = []
        self._function_call: JsonObject | None = None
        self._plain: dict[str, list[str]] = {}
        self._beside: JsonObject = {}
        self._details: list[list[Any]] = []
        self._opaque: str | None = None
        self._tagged: list[str] = []
        self._frame = ("", "")
        self._extra: JsonObject = {}

    def message(self, turn: Turn) -> JsonObject | None:
        """The message; None if nothing of the turn can be said here."""
        # A server's own remarks on a message are not fields that it takes in a request.
        self._verbatim = not self._asking or turn.origin is None
        for block in turn.blocks:
            self._block(block)
        if len(turn.blocks) > 1:
            self._check_order(turn.blocks)
        message: JsonObject = {"role": "assistant", "content": self._content(turn)} | self._reasoning()
        if self._refusals:
            message["refusal"] = "".join(self._refusals)
        if self._calls:
            message["tool_calls"] = self._calls
        if self._function_call is not None:
            message["function_call"] = self._function_call
        if self._extra:
            message[google.FIELD] = self._extra
        if self._asking and turn.blocks and not self._parts and not self._tagged and len(message) == 2:
            return None
        return self._finish(message, turn)

    def _block(self, block: Block) -> None:
        match block:
            case Text():
                self._text(block)
            case Thinking():
                self._thinking(block)
            case ToolCall():
                self._call(block)
            case Opaque(dialect=dialect, data=data) if dialect == NAME and is_call(data):
                self._calls.append(data)
            case Opaque():
                part = write_part(block, self._notes)
                if part is not None:
                    self._parts.append(part)
            case _:
                what = type(block).__name__
                self._notes.append(Note("block.dropped", f"an assistant's message has no place for a {what}"))

    def _thinking(self, block: Thinking) -> None:
        if not self._may_show(block):
            return
        sealed = block.seal is not None and self._seal(block.seal)
        field = self._field(block, sealed)
        if block.extras and block.field != "content":
            self._beside |= fields(block.extras)
        if field is None or not block.text:
            return
        if field == "content":
            self._parts.append(write_thinking(block))
        elif field.startswith("tag:"):
            self._frame = self._frame if self._tagged else inline.frame_of(block, field)
            self._tagged.append(block.text)
        else:
            self._plain.setdefault(field, []).append(block.text)
        if block.extras and self._quirks.reasoning_field is None:
            for name, text in (memory(block.extras, "beside") or {}).items():
                self._beside[name] = block.text if text is True else text

    def _may_show(self, block: Thinking) -> bool:
        foreign = block.seal is not None and block.seal.scheme not in OWN_SCHEMES
        if self._quirks.reasoning_field == "omit":
            self._notes.append(Note("thinking.dropped", "thinking is not wanted here"))
            return False
        if foreign and (self._asking or not block.text):
            maker = block.seal.scheme if block.seal else ""
            self._notes.append(Note("thinking.dropped", f"thinking sealed by another maker ({maker})"))
            return False
        if foreign:
            self._foreign_seal(block.seal)
        elif not block.text and block.seal is None:
            if block.form in ("hidden", "redacted"):
                self._notes.append(Note("thinking.dropped", "hidden thinking without its seal"))
            return False
        return True

    def _seal(self, seal: Seal) -> bool:
        """Writes a seal of this wire; False if it is not one, or is broken."""
        if seal.scheme == OPAQUE_SCHEME:
            if self._opaque is not None:
                self._notes.append(Note("seal.dropped", "this wire takes one sealed thought in a message"))
            self._opaque = seal.data
            return True
        if seal.scheme != details.SCHEME:
            return False
        try:
            self._details.append(details.read_entries(seal.data))
        except MalformedInput:
            self._notes.append(Note("seal.dropped", "reasoning details that cannot be read"))
            return False
        return True

    def _field(self, block: Thinking, sealed: bool) -> str | None:
        """Where the text goes; None if it goes nowhere but into the details."""
        forced, came = self._quirks.reasoning_field, block.field or ""
        if forced is not None and forced != details.FIELD:
            return forced
        if came in PLAIN or came == "content" or came.startswith("tag:"):
            return came
        return None if sealed and self._details else DEFAULT_FIELD

    def _text(self, block: Text) -> None:
        if block.seal is None and not block.extras and not block.refusal:
            self._parts.append({"type": "text", "text": block.text})
        elif block.refusal and not memory(block.extras, "part"):
            self._refusals.append(block.text)
            self._foreign_seal(block.seal)
        else:
            self._text_part(block)

    def _text_part(self, block: Text) -> None:
        part: JsonObject = {"type": "refusal", "refusal": block.text} if block.refusal else {"type": "text"}
        if not block.refusal:
            part["text"] = (memory(block.extras, "lead") or "") + block.text
        native = fields(block.extras)
        if memory(block.extras, "at") == "message":
            self._place(native.pop(google.FIELD, {}), block.seal)
            if not block.text:
                return
        else:
            self._foreign_seal(block.seal)
        self._parts.append(part | native)

    def _call(self, block: ToolCall) -> None:
        function: JsonObject = {"name": block.name, "arguments": block.arguments}
        if not block.arguments.strip():
            function["arguments"] = "{}"
        entry: JsonObject = {"id": block.id, "type": "function", "function": function}
        if not block.extras and block.seal is None:
            self._calls.append(entry)
            return
        if memory(block.extras, "object"):
            function["arguments"] = arguments_object(block.arguments)[0]
        native = fields(block.extras)
        extra = native.pop(google.FIELD, None)
        if memory(block.extras, "at") == "message":
            self._place(extra, block.seal)
        elif google.has_place(extra, block.seal) and block.seal is not None:
            entry[google.FIELD] = google.write_signature(extra, block.seal)
        else:
            self._foreign_seal(block.seal)
            native |= {google.FIELD: extra} if extra is not None else {}
        if memory(block.extras, "legacy") and self._function_call is None:
            self._function_call = function
            return
        if memory(block.extras, "no_id"):
            del entry["id"]
        if self._verbatim:
            function |= native.pop("function", {})
            entry |= native
        self._calls.append(entry)

    def _place(self, extra: Any, seal: Seal | None) -> None:
        if seal is not None and google.has_place(extra, seal):
            self._extra = google.write_signature(extra, seal)
        else:
            self._foreign_seal(seal)

    def _foreign_seal(self, seal: Seal | None) -> None:
        if seal is not None:
            self._notes.append(Note("seal.dropped", f"{seal.scheme}: this wire has no place for it"))

    def _reasoning(self) -> JsonObject:
        fields_ = self._beside
        for field, texts in self._plain.items():
            fields_.setdefault(field, "\n\n".join(texts))
        if sum(map(len, self._plain.values())) > 1 or len(self._tagged) > 1:
            self._notes.append(Note("block.degraded", "several thinking blocks go as one"))
        if self._details:
            entries = details.joined(self._details)
            kept = [entry for entry in entries if not details.unsigned(entry, self._quirks.signed_formats)]
            if len(kept) < len(entries):
                self._notes.append(Note("thinking.dropped", "readable thinking that its maker did not sign"))
            if kept:
                fields_[details.FIELD] = kept
            else:
                fields_.pop("reasoning", None)  # the same text again, which would be refused as well
        if self._opaque is not None:
            fields_[OPAQUE_FIELD] = self._opaque
        return fields_

    def _content(self, turn: Turn) -> Any:
        parts = self._parts
        if self._tagged:
            opening, closing = self._frame
            parts = _led(f"{opening}{_paragraphs(self._tagged)}{closing}", parts)
        if not parts:
            return self._no_content(turn)
        if not self._asking and len(parts) > 1 and all(part.keys() == _PLAIN_PART for part in parts):
            self._notes.append(Note("block.degraded", "several texts go as one"))
            return "".join(part["text"] for part in parts)
        return content_value(parts, lists=self._quirks.text_lists or not self._asking)

    def _no_content(self, turn: Turn) -> Any:
        if not self._asking:
            return None
        came = memory(turn.extras, "content")
        match self._quirks.empty_content:
            case "null" | "omit":
                return None
            case "empty":
                return ""
        if came is not None:
            return came
        return None if self._calls or self._function_call is not None or self._refusals else ""

    def _finish(self, message: JsonObject, turn: Turn) -> JsonObject:
        if not self._asking:
            message.setdefault("refusal", None)
            return message
        if message["content"] is None and self._quirks.empty_content == "omit":
            del message["content"]
        _filled(message, self._quirks)
        if not turn.extras:
            return message
        native = fields(turn.extras)
        if not self._verbatim:
            spoken = native.get("audio")
            native = {"audio": {"id": spoken["id"]}} if type(spoken) is dict and spoken.get("id") else {}
        silent = memory(turn.extras, "silent") if self._quirks.reasoning_field is None else None
        return (silent or {}) | message | native

    def _check_order(self, blocks: tuple[Block, ...]) -> None:
        """Thinking, text, calls: this wire cannot say another order."""
        ranks = [rank for rank in map(self._rank, blocks) if rank is not None]
        if ranks != sorted(ranks):
            self._notes.append(Note("block.degraded", "the order of thinking, text and calls cannot be kept"))

    def _rank(self, block: Block) -> int | None:
        match block:
            case Thinking(text=""):
                return None
            case Thinking():
                return 1 if (self._quirks.reasoning_field or block.field) == "content" else 0
            case ToolCall():
                return 2
            case Opaque(data=data) if is_call(data):
                return 2
        return 1


def _filled(message: JsonObject, quirks: Quirks) -> JsonObject:
    """The message with the reasoning field, for servers that want it on every one."""
    if quirks.fill_reasoning:
        field = quirks.reasoning_field or DEFAULT_FIELD
        if field in PLAIN:
            message.setdefault(field, "")
    return message


def is_call(data: Any) -> bool:
    """Whether a native object is a tool call: it has an id, and its type names what it holds."""
    return isinstance(data, dict) and "id" in data and isinstance(data.get(str(data.get("type"))), dict)


def _paragraphs(texts: list[str]) -> str:
    return "\n\n".join(texts)


def _led(lead: str, parts: list[JsonObject]) -> list[JsonObject]:
    """The parts with words before the first text."""
    if parts and parts[0].get("type") == "text":
        return [parts[0] | {"text": lead + parts[0]["text"]}, *parts[1:]]
    return [{"type": "text", "text": lead}, *parts]
