"""The messages of a request as turns."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.openai_chat import google_signatures as google
from thinkwire.dialects.openai_chat.constants import NAME, keep
from thinkwire.dialects.openai_chat.content import read_content
from thinkwire.dialects.openai_chat.reasoning import FIELDS as REASONING
from thinkwire.dialects.openai_chat.reasoning import read_message
from thinkwire.dialects.openai_chat.think_tags import read_inline
from thinkwire.dialects.pending_calls import PendingCalls
from thinkwire.dialects.shared import arguments_text, made_up_id
from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import (
    JsonObject,
    Path,
    malformed,
    objects,
    opt_list,
    opt_object,
    opt_str,
    render,
    require_object,
    require_str,
    unknown_fields,
)
from thinkwire.messages import (
    Block,
    Document,
    Extras,
    Image,
    Opaque,
    ResultContent,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)

_MESSAGE = frozenset({"role", "content"})
_ASSISTANT = _MESSAGE | REASONING | {"tool_calls", "function_call", "refusal"}
_NULLABLE = frozenset({"audio", "annotations", "name"})
_RESULT = _MESSAGE | {"tool_call_id"}
_NAMED = ("name", "tool_name")
_CALL = frozenset({"id", "type", "function", google.FIELD})
_FUNCTION = frozenset({"name", "arguments"})
_USUAL_RESULT = len(_RESULT)
"""How many fields a tool's result has when it says nothing beside its words."""


class MessagesReader:
    """Reads all messages of one request, in order."""

    def __init__(self) -> None:
        self.system: tuple[Text, ...] = ()
        self._turns: list[Turn] = []
        self._results: list[ToolResult] = []
        self._calls_and_answers: list[ToolCall | str] = []
        """Calls, and the ids of results, in order; not yet told to `_waiting`."""
        self._waiting = PendingCalls()

    def read(self, items: list[Any], path: Path) -> tuple[Turn, ...]:
        for index, message in enumerate(items):
            if not self._results and (words := _plain_words(message)):
                self._turns.append(Turn("user", (Text(words),)))
                continue
            at = (*path, index)
            if type(message) is not dict:
                raise malformed(at, "an object", message)
            role = require_str(message, "role", at)
            if role in ("tool", "function"):
                self._results.append(self._result(message, at, legacy=role == "function"))
            elif role == "user":
                self._user(message, at)
            else:
                if self._results:
                    self._end_results()
                self._other(role, message, at)
        if self._results:
            self._end_results()
        return tuple(self._turns)

    def _other(self, role: str, message: JsonObject, path: Path) -> None:
        if role == "assistant":
            self._assistant(message, path)
        elif role not in ("system", "developer"):
            raise MalformedInput(f"unknown role {role[:40]!r}", path=render((*path, "role")))
        elif self.system or self._turns or not self._first_system(message, path):
            native = unknown_fields(message, _MESSAGE) | ({"role": role} if role == "developer" else {})
            blocks = read_content(message.get("content"), (*path, "content"))
            self._turns.append(Turn("system", blocks, extras=keep(native)))

    def _first_system(self, message: JsonObject, path: Path) -> bool:
        """The first message as the request's system text, if it is nothing but text."""
        texts = read_content(message.get("content"), (*path, "content"))
        if any(not isinstance(text, Text) or text.refusal for text in texts):
            return False
        rest = unknown_fields(message, _MESSAGE)
        developer = {"role": "developer"} if message["role"] == "developer" else {}
        first = next((text for text in texts if isinstance(text, Text)), Text())
        if not texts and not rest:
            return True
        native = first.extras.get(NAME, {}) | developer
        self.system = (
            Text(first.text, extras=keep(native, message=rest or None)),
            *(text for text in texts[1:] if isinstance(text, Text)),
        )
        return True

    def _user(self, message: JsonObject, path: Path) -> None:
        blocks = read_content(message.get("content"), (*path, "content"))
        native = unknown_fields(message, _MESSAGE)
        if not self._results:
            self._turns.append(Turn("user", blocks, extras=keep(native) if native else {}))
            return
        results, self._results = tuple(self._results), []
        extras = keep(native, content=None if blocks else "")
        self._turns.append(Turn("user", results + blocks, extras=extras))

    def _end_results(self) -> None:
        self._turns.append(Turn("user", tuple(self._results)))
        self._results = []

    def _result(self, message: JsonObject, path: Path, *, legacy: bool) -> ToolResult:
        named = None
        for key in _NAMED:
            if key in message and opt_str(message, key, path):
                named = key
                break
        name = message[named] if named else None
        call_id = opt_str(message, "tool_call_id", path)
        if call_id:
            self._calls_and_answers.append(call_id)
        content = read_content(message.get("content"), (*path, "content"))
        if call_id and len(message) == _USUAL_RESULT and len(content) == 1 and type(content[0]) is Text:
            return ToolResult(call_id, (content[0],))
        native = {key: value for key, value in unknown_fields(message, _RESULT).items() if key != named}
        extras = keep(
            native,
            named=None if legacy else named,
            no_id=None if legacy or call_id else True,
            media=_has_media(content) or None,
        )
        if not call_id:
            answered = self._answered(name)
            call_id = answered.id if answered else made_up_id("result", len(self._turns), len(self._results))
        kept = tuple(_result_content(block) for block in content)
        return ToolResult(call_id, kept, name=name, extras=extras)

    def _answered(self, name: str | None) -> ToolCall | None:
        """The call that a result without an id belongs to: by name, else the first one that waits."""
        for said in self._calls_and_answers:
            if isinstance(said, str):
                self._waiting.take_id(said)
            else:
                self._waiting.add(said)
        self._calls_and_answers.clear()
        return self._waiting.take_next() if name is None else self._waiting.take_name(name)

    def _assistant(self, message: JsonObject, path: Path) -> None:
        thinking, silent = read_message(message, path)
        content = message.get("content")
        blocks: list[Block] = [thinking] if thinking else []
        if type(content) is str and thinking is None:
            blocks += read_inline(content)
        else:
            blocks += read_content(content, (*path, "content"))
        said = len(blocks) > (thinking is not None)
        refusal = opt_str(message, "refusal", path) if "refusal" in message else None
        if refusal:
            blocks.append(Text(refusal, refusal=True))
        calls: list[ToolCall | Opaque] = []
        if "tool_calls" in message or "function_call" in message:
            calls = self._calls(message, path)
            blocks += calls
            self._calls_and_answers += [call for call in calls if isinstance(call, ToolCall)]
        native = unknown_fields(message, _ASSISTANT)
        for key in _NULLABLE.intersection(native) if native else ():
            if native[key] is None:
                del native[key]
        if refusal == "":
            native["refusal"] = ""
        if google.FIELD in native:
            blocks = _signed(blocks, native)
        usual = None if calls or refusal else ""
        written = content if content is not None and not said and content != usual else None
        extras: Extras = {}
        if native or silent or written is not None:
            extras = keep(native, content=written, silent=silent or None)
        self._turns.append(Turn("assistant", tuple(blocks), extras=extras))

    def _calls(self, message: JsonObject, path: Path) -> list[ToolCall | Opaque]:
        at = (*path, "tool_calls")
        calls: list[ToolCall | Opaque] = [
            _read_call(entry, place, turn=len(self._turns))
            for entry, place in objects(opt_list(message, "tool_calls", path), at)
        ]
        legacy = opt_object(message, "function_call", path)
        if legacy:
            place = (*path, "function_call")
            name = require_str(legacy, "name", place)
            call_id = made_up_id("function_call", len(self._turns), name)
            arguments = opt_str(legacy, "arguments", place) or "{}"
            calls.append(ToolCall(call_id, name, arguments, extras=keep({}, legacy=True)))
        return calls


def _plain_words(message: Any) -> str | None:
    """What a user's message says that is some words and nothing else; None for any other."""
    if type(message) is not dict or len(message) != 2 or message.get("role") != "user":
        return None
    words = message.get("content")
    return words if type(words) is str else None


def _read_call(entry: JsonObject, path: Path, *, turn: int) -> ToolCall | Opaque:
    kind = opt_str(entry, "type", path)
    if kind not in (None, "function") and "function" not in entry:
        require_object(entry, kind, path)
        require_str(entry, "id", path)
        return Opaque(NAME, entry)
    function = require_object(entry, "function", path)
    at = (*path, "function")
    name = require_str(function, "name", at)
    arguments = function.get("arguments")
    if arguments is not None and type(arguments) not in (str, dict):
        raise malformed((*at, "arguments"), "a string", arguments)
    call_id = opt_str(entry, "id", path)
    seal = None
    native = unknown_fields(entry, _CALL)
    if kind not in (None, "function"):
        native["type"] = kind
    if entry.get(google.FIELD) is not None:
        seal, extra = google.read_signature(entry[google.FIELD])
        native[google.FIELD] = extra if seal else entry[google.FIELD]
    if rest := unknown_fields(function, _FUNCTION):
        native["function"] = rest
    extras: Extras = {}
    if native or not call_id or type(arguments) is dict:
        spelled = True if type(arguments) is dict else None
        extras = keep(native, no_id=None if call_id else True, object=spelled)
    given = arguments_text(arguments) or "{}"
    call_id = call_id or made_up_id("call", turn, path[-1], name)
    return ToolCall(call_id, name, given, seal=seal, extras=extras)


def _signed(blocks: list[Block], native: JsonObject) -> list[Block]:
    """Puts a signature that stands on the message on its text, else on its first call."""
    seal, extra = google.read_signature(native.get(google.FIELD))
    if seal is None:
        return blocks
    for wanted in (ToolCall, Text):
        for index, block in enumerate(blocks):
            if isinstance(block, (Text, ToolCall)) and type(block) is wanted and not _is_placed(block):
                del native[google.FIELD]
                extras = keep(block.extras.get(NAME, {}) | {google.FIELD: extra}, at="message")
                changed: Block
                if isinstance(block, Text):
                    changed = Text(block.text, seal=seal, extras=extras)
                else:
                    changed = ToolCall(block.id, block.name, block.arguments, seal=seal, extras=extras)
                return [*blocks[:index], changed, *blocks[index + 1 :]]
    return blocks


def _is_placed(block: Text | ToolCall) -> bool:
    """Whether the block has no room for the message's signature."""
    refused = isinstance(block, Text) and block.refusal
    return refused or block.seal is not None or google.FIELD in block.extras.get(NAME, {})


def _has_media(content: tuple[Block, ...]) -> bool:
    return any(not isinstance(block, Text) for block in content)


def _result_content(block: Block) -> ResultContent:
    """A part of a tool message; thinking has no business there and stays as it is."""
    if isinstance(block, (Text, Image, Document, Opaque)):
        return block
    return Opaque(NAME, {"type": "thinking", "thinking": block.text if isinstance(block, Thinking) else ""})
