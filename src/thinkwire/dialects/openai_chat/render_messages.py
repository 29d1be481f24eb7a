"""The conversation of a request as native messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from thinkwire.dialects.openai_chat.constants import NAME, fields, memory
from thinkwire.dialects.openai_chat.content import content_value, write_part, write_text
from thinkwire.dialects.openai_chat.known_fields import without_refused_inside
from thinkwire.dialects.openai_chat.quirks import Quirks
from thinkwire.dialects.openai_chat.render_assistant import write_history
from thinkwire.dialects.shared import made_up_id, plain_words
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Block, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.notes import Note
from thinkwire.request import Request

_ALNUM = re.compile(r"[A-Za-z0-9]+")


class MessagesWriter:
    """Writes all messages of one request."""

    def __init__(self, quirks: Quirks) -> None:
        self.notes: list[Note] = []
        self._quirks = quirks
        self._messages: list[JsonObject] = []
        self._later_systems: list[str | list[JsonObject]] = []
        """Contents of later system messages, for a server that takes only one."""
        self._legacy: set[str] = set()
        self._renamed = False

    def write(self, request: Request) -> list[JsonObject]:
        if request.system:
            self._messages.append(self._system(request.system))
        for turn in request.turns:
            match turn.role:
                case "system":
                    self._later_system(turn)
                case "assistant":
                    self._assistant(turn)
                case "user":
                    self._user(turn)
        if self._later_systems:
            self._join_systems()
        if self._quirks.message_fields:
            without_refused_inside(self._messages, self._quirks, self.notes)
        return self._messages

    def _system(self, texts: tuple[Text, ...]) -> JsonObject:
        if (words := plain_words(texts, NAME)) is not None:
            return {"role": self._quirks.system_role or "system", "content": words}
        first = fields(texts[0].extras)
        role = self._quirks.system_role or first.get("role") or "system"
        parts = [self._system_part(text) for text in texts]
        content = content_value(parts, lists=self._quirks.text_lists)
        return {"role": role, "content": content} | (memory(texts[0].extras, "message") or {})

    def _system_part(self, text: Text) -> JsonObject:
        native = fields(text.extras)
        native.pop("role", None)
        self._note_seal(text)
        return {"type": "text", "text": text.text} | native

    def _later_system(self, turn: Turn) -> None:
        native = fields(turn.extras)
        role = self._quirks.system_role or native.pop("role", "system")
        native.pop("role", None)
        parts: list[JsonObject] = []
        self._write_parts(turn.blocks, parts)
        content = content_value(parts, lists=self._quirks.text_lists)
        if self._quirks.several_systems:
            self._messages.append({"role": role, "content": content} | native)
            return
        self.notes.append(Note("system.moved", "this server takes one system message; a later one joined it"))
        if not (self._messages and self._messages[0]["role"] in ("system", "developer")):
            self._messages.insert(0, {"role": role, "content": content} | native)
            return
        self._later_systems.append(content)

    def _join_systems(self) -> None:
        """Put the contents of later system messages behind the first one's: texts as one, else parts."""
        first = self._messages[0]
        contents = [first["content"], *self._later_systems]
        texts = list(takewhile(lambda content: type(content) is str, contents))
        text = "\n\n".join(texts) if texts else ""
        if len(texts) == len(contents):
            first["content"] = text
        else:
            rest = [part for content in contents[len(texts) :] for part in _as_parts(content)]
            first["content"] = _as_parts(text) + rest

    def _assistant(self, turn: Turn) -> None:
        message = write_history(turn, self._quirks, self.notes)
        for block in turn.blocks:
            if type(block) is ToolCall and block.extras and memory(block.extras, "legacy"):
                self._legacy.add(block.id)
        if message is None:
            return
        if "tool_calls" in message:
            for entry in message["tool_calls"]:
                if "id" in entry:
                    entry["id"] = self._tool_id(entry["id"])
        self._messages.append(message)

    def _user(self, turn: Turn) -> None:
        if NAME not in turn.extras and (words := plain_words(turn.blocks, NAME)) is not None:
            self._messages.append({"role": "user", "content": words})
            return
        parts: list[JsonObject] = []
        results = [block for block in turn.blocks if type(block) is ToolResult]
        for result in results:
            self._messages.append(self._result(result, parts))
        rest = [block for block in turn.blocks if type(block) is not ToolResult] if results else turn.blocks
        self._write_parts(rest, parts)
        native = fields(turn.extras)
        if results and not parts and not native and memory(turn.extras, "content") is None:
            return
        if results and self._quirks.answer_after_tools is not None:
            self._messages.append({"role": "assistant", "content": self._quirks.answer_after_tools})
            self.notes.append(Note("field.changed", "an assistant's message was put after the results"))
        if turn.blocks and not parts and not results:
            return
        content = content_value(parts, lists=self._quirks.text_lists)
        self._messages.append({"role": "user", "content": content} | native)

    def _result(self, result: ToolResult, media: list[JsonObject]) -> JsonObject:
        content: Any = plain_words(result.content, NAME)
        if content is None:
            content = content_value(self._result_parts(result, media), lists=self._quirks.text_lists)
        if result.failed:
            self.notes.append(Note("block.degraded", "a tool message cannot say that the tool failed"))
        message: JsonObject = {"role": "tool", "tool_call_id": self._tool_id(result.call_id)}
        if result.call_id in self._legacy:
            message = {"role": "function", "name": result.name}
        elif result.extras and memory(result.extras, "no_id"):
            del message["tool_call_id"]
        message["content"] = content
        if not result.extras:
            return message
        if named := memory(result.extras, "named"):
            message[named] = result.name
        return message | fields(result.extras)

    def _result_parts(self, result: ToolResult, media: list[JsonObject]) -> list[JsonObject]:
        """What a tool message holds; what it may not hold goes to `media`."""
        inside = self._quirks.tool_result_images or memory(result.extras, "media")
        parts: list[JsonObject] = []
        for block in result.content:
            if type(block) is Text:
                self._note_seal(block)
                parts.append(write_text(block))
                continue
            part = write_part(block, self.notes)
            if part is None:
                continue
            if inside:
                parts.append(part)
            else:
                media.append(part)
                self.notes.append(Note("block.degraded", "media of a tool result follow in a user message"))
        return parts

    def _write_parts(self, blocks: Sequence[Block], parts: list[JsonObject]) -> None:
        """Adds the parts of a message to those that it has."""
        for block in blocks:
            if type(block) is Text:
                self._note_seal(block)
                parts.append(write_text(block))
            elif isinstance(block, (Thinking, ToolCall)):
                what = type(block).__name__
                self.notes.append(Note("block.dropped", f"a user's message has no place for a {what}"))
            elif (part := write_part(block, self.notes)) is not None:
                parts.append(part)

    def _note_seal(self, block: Text) -> None:
        if block.seal is not None:
            self.notes.append(Note("seal.dropped", f"{block.seal.scheme}: this wire has no place for it"))

    def _tool_id(self, given: str) -> str:
        size, longest = self._quirks.tool_id_length, self._quirks.tool_id_longest
        if size is None and (longest is None or len(given) <= longest):
            return given
        if size is not None and len(given) == size and _ALNUM.fullmatch(given):
            return given
        if not self._renamed:
            self._renamed = True
            words = f"have {size}" if size is not None else f"have at most {longest}"
            self.notes.append(Note("field.changed", f"tool-call ids were replaced; they {words} characters"))
        if size is None:
            return f"call_{made_up_id(given)}"
        return "".join(_ALNUM.findall(made_up_id(given))).ljust(size, "0")[:size]


def _as_parts(content: object) -> list[JsonObject]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []
