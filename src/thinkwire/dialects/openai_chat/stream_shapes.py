"""How a block looks in a stream: its first delta, the bytes around each piece of text, its last deltas."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.openai_chat import google_signatures as google
from thinkwire.dialects.openai_chat import reasoning_details as details
from thinkwire.dialects.openai_chat import think_tags as inline
from thinkwire.dialects.openai_chat.constants import fields, memory
from thinkwire.dialects.openai_chat.reasoning import OPAQUE_FIELD, OPAQUE_SCHEME, PLAIN
from thinkwire.dialects.openai_chat.render_assistant import DEFAULT_FIELD
from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Extras, Seal, Text, Thinking, ToolCall
from thinkwire.notes import Note


def _around(field: str) -> tuple[bytes, bytes]:
    return b'{"%b":' % field.encode(), b"}"


_CONTENT, _REFUSAL = _around("content"), _around("refusal")


class Shape:
    """A block whose text goes into one field of the delta.

    `around` is JSON before and after a piece of text; without it, `grow` makes the delta.
    """

    around: tuple[bytes, bytes] | None = None
    opening: JsonObject | None = None

    def __init__(self, notes: list[Note], field: str) -> None:
        self._notes = notes
        self.around = _around(field)

    def grow(self, text: str) -> JsonObject | None:
        raise NotImplementedError

    def close(self, seal: Seal | None, extras: Extras) -> list[JsonObject]:
        return []

    def _no_place(self, seal: Seal | None) -> None:
        if seal is not None:
            self._notes.append(Note("seal.dropped", f"{seal.scheme}: this wire has no place for it"))


class TextShape(Shape):
    """Visible text, or a refusal."""

    def __init__(self, notes: list[Note], block: Text) -> None:
        self._notes = notes
        self.around = _REFUSAL if block.refusal else _CONTENT

    def close(self, seal: Seal | None, extras: Extras) -> list[JsonObject]:
        extra: JsonObject = fields(extras).get(google.FIELD, {})
        if seal is not None and google.has_place(extra, seal):
            return [{google.FIELD: google.write_signature(extra, seal)}]
        self._no_place(seal)
        return []


class CallShape(Shape):
    """A tool call: announced with its id and name, then its arguments."""

    def __init__(self, notes: list[Note], block: ToolCall, index: int) -> None:
        self._notes = notes
        self._index = index
        self._said = False
        function = {"name": block.name, "arguments": ""}
        if memory(block.extras, "legacy"):
            self.opening = {"function_call": function}
            self.around = (b'{"function_call":{"arguments":', b"}}")
        else:
            entry = {"index": index, "id": block.id, "type": "function", "function": function}
            self.opening = {"tool_calls": [entry]}
            self.around = (b'{"tool_calls":[{"index":%d,"function":{"arguments":' % index, b"}}]}")

    def close(self, seal: Seal | None, extras: Extras) -> list[JsonObject]:
        native = fields(extras)
        extra: JsonObject = native.pop(google.FIELD, {})
        if seal is not None and google.has_place(extra, seal):
            signed = {google.FIELD: google.write_signature(extra, seal)}
            if memory(extras, "at") == "message":
                return [signed]
            native |= signed
        else:
            self._no_place(seal)
        entry = {"index": self._index, "function": {"arguments": ""}}
        return [{"tool_calls": [entry | native]}] if native else []


class ThinkingShape(Shape):
    """Thinking in a field of its own; a seal of this wire follows it."""

    def __init__(self, notes: list[Note], block: Thinking, names: tuple[str, ...]) -> None:
        super().__init__(notes, names[0])
        self._names = names
        self._shown = False
        if len(names) > 1:
            self.around = None
        if block.form == "summary" and block.field in PLAIN:
            self.opening = {details.FIELD: [{"type": "reasoning.summary", "summary": ""}]}

    def grow(self, text: str) -> JsonObject | None:
        return dict.fromkeys(self._names, text)

    def close(self, seal: Seal | None, extras: Extras) -> list[JsonObject]:
        if seal is None:
            return []
        if seal.scheme == OPAQUE_SCHEME:
            return [{OPAQUE_FIELD: seal.data}]
        if seal.scheme == details.SCHEME:
            try:
                return [{details.FIELD: details.read_entries(seal.data)}]
            except MalformedInput:
                pass
        self._no_place(seal)
        return []


class HeldShape(ThinkingShape):
    """Thinking that came in `reasoning_details` alone: its parts are known when it is sealed, not before."""

    def __init__(self, notes: list[Note], block: Thinking) -> None:
        super().__init__(notes, block, (DEFAULT_FIELD,))
        self.around = self.opening = None
        self._held: list[str] = []

    def grow(self, text: str) -> JsonObject | None:
        self._held.append(text)
        return None

    def close(self, seal: Seal | None, extras: Extras) -> list[JsonObject]:
        sealed = super().close(seal, extras)
        return sealed or ([{DEFAULT_FIELD: "".join(self._held)}] if self._held else [])


class TagShape(ThinkingShape):
    """Thinking in tags, at the start of the text."""

    def __init__(self, notes: list[Note], block: Thinking, field: str) -> None:
        super().__init__(notes, block, ("content",))
        opening, self._closing = inline.frame_of(block, field)
        self.opening = {"content": opening}

    def close(self, seal: Seal | None, extras: Extras) -> list[JsonObject]:
        return [{"content": self._closing}, *super().close(seal, extras)]


class PartShape(ThinkingShape):
    """Thinking in parts of the content, as Mistral and Cohere write it."""

    def __init__(self, notes: list[Note], block: Thinking) -> None:
        super().__init__(notes, block, ("content",))
        self._bare = bool(memory(block.extras, "bare"))
        start, end = b'{"content":[{"type":"thinking","thinking":', b"}]}"
        self.around = (start, end) if self._bare else (start + b'[{"type":"text","text":', b"}]" + end)

    def close(self, seal: Seal | None, extras: Extras) -> list[JsonObject]:
        native = fields(extras)
        nothing: Any = "" if self._bare else []
        part = {"type": "thinking", "thinking": nothing} | native
        return ([{"content": [part]}] if native else []) + super().close(seal, extras)


class OmittedShape(Shape):
    """Thinking that is not shown."""

    def __init__(self, notes: list[Note]) -> None:
        self._notes = notes

    def grow(self, text: str) -> JsonObject | None:
        return None

    def close(self, seal: Seal | None, extras: Extras) -> list[JsonObject]:
        self._notes.append(Note("thinking.dropped", "thinking is not wanted here"))
        return []


def thinking_shape(block: Thinking, notes: list[Note], *, names: tuple[str, ...], spoke: bool) -> Shape:
    """The shape for thinking: in these fields if any are named, else as it came."""
    if names and names[0] in PLAIN:
        return ThinkingShape(notes, block, names)
    field = names[0] if names else block.field or DEFAULT_FIELD
    if field == "omit":
        return OmittedShape(notes)
    if field == details.FIELD:
        return HeldShape(notes, block)
    if field == "content":
        return PartShape(notes, block)
    if field.startswith("tag:") and not spoke:
        return TagShape(notes, block, field)
    return ThinkingShape(notes, block, (field if field in PLAIN else DEFAULT_FIELD,))
