"""A streamed answer. Every chunk is a `GenerateContentResponse` with the new parts and the counts so far."""

from __future__ import annotations

from typing import Any

import msgspec

from thinkwire.dialects.error_bodies import failure_from
from thinkwire.dialects.frame_decoder import CUT, FrameDecoder
from thinkwire.dialects.gemini.constants import CALL, NAME, PART, camel, fields
from thinkwire.dialects.gemini.finish import given, read_finish
from thinkwire.dialects.gemini.partial_arguments import PartialArguments
from thinkwire.dialects.gemini.parts import call_extras, read_part, read_seal
from thinkwire.dialects.gemini.usage import read_usage
from thinkwire.dialects.pieces import GrowingFields
from thinkwire.dialects.shared import arguments_text, as_extras, made_up_id
from thinkwire.errors import Failure, MalformedInput
from thinkwire.events import Answer, BlockGrew, Failed, Finished, Noted, Started, collect
from thinkwire.jsonvalue import JsonObject, dump_text, malformed, parse_object, unknown_fields
from thinkwire.messages import Block, Opaque, Seal, Text, Thinking, ToolCall, ToolResult

_TOP = frozenset(["candidates", "usageMetadata", "modelVersion", "responseId"])
_CANDIDATE = frozenset(["content", "finishReason", "index"])
_TIMED = frozenset(("createTime",))  # on every chunk of Vertex
_IN_PIECES = frozenset(("citationMetadata", "logprobsResult"))


class StreamDecoder(FrameDecoder):
    """Reads SSE and the JSON array alike.

    Text grows one block until a part of another kind comes. A signed text part is a block of its own: its
    seal is told at the start already, since whoever writes this wire must put it on the same part again.
    """

    def __init__(self) -> None:
        super().__init__()
        self._begun = False
        self._id: str | None = None
        self._index = 0
        self._thought: bool | None = None  # what the open text block is; None when none is open
        self._call: PartialArguments | None = None  # an open call whose arguments come in pieces
        self._call_seal: Seal | None = None
        self._calls = False
        self._usage: JsonObject = {}
        self._reason: str | None = None
        self._blocked = False
        self._more_candidates = False
        self._top: JsonObject = {}
        self._candidate: GrowingFields | None = None

    def _on_frame(self, name: str | None, data: bytes) -> None:
        self.take(parse_object(data))

    def take(self, chunk: JsonObject) -> None:
        """One chunk, parsed. Raises `MalformedInput` when it is no such thing."""
        error = None
        more = chunk.keys() - _TOP
        if more == _TIMED and chunk["createTime"] is not None:
            self._top["createTime"] = chunk["createTime"]
        elif more:
            chunk = camel(chunk)
            error = self._beside(chunk)
        if not self._begun:
            self._begin(chunk)
        usage = chunk.get("usageMetadata")
        if usage:
            self._count(usage)
        candidates = chunk.get("candidates")
        if candidates:
            self._candidates(candidates)
        if error:
            self._fail(failure_from(chunk))

    def end(self, *, whole: bool) -> None:
        """The answer is complete. A stream must have said so; a whole body need not."""
        if self._reason is None and not self._blocked and not whole:
            self._fail(Failure("connection_lost", CUT))
            return
        self._close_text()
        self._close_call()
        reason, extras, note = read_finish("SAFETY" if self._blocked else self._reason, calls=self._calls)
        usage, notes = read_usage(self._usage)
        self._events += [Noted(each) for each in (note, *notes) if each]
        extras |= self._top
        if self._candidate is not None:
            extras["candidate"] = self._candidate.whole()
        self._finish(Finished(reason, usage=usage, extras=as_extras(NAME, extras)))

    def answer(self) -> Answer:
        """What the chunks taken so far amount to, as a whole body."""
        if not self._over:
            self.end(whole=True)
        return collect(self._take())

    def _end_of_bytes(self) -> None:
        self.end(whole=False)

    def _fail(self, failure: Failure) -> None:
        if self._over:
            return
        self._over = True
        if self._call is not None:
            self._grow(self._index, dump_text(self._call.whole()))
        self._events.append(Failed(failure, usage=read_usage(self._usage)[0]))

    def _begin(self, chunk: JsonObject) -> None:
        self._begun = True
        response_id, model = chunk.get("responseId"), chunk.get("modelVersion")
        self._id = response_id if isinstance(response_id, str) else None
        self._events.append(
            Started(
                id=self._id,
                model=model if isinstance(model, str) else None,
                extras=as_extras(NAME, dict(self._top)),
            )
        )

    def _beside(self, chunk: JsonObject) -> Any:
        """Keeps what a chunk says beyond the usual, and gives the error in it, if there is one."""
        rest = unknown_fields(chunk, _TOP)
        error = rest.pop("error", None)
        if not error and rest.keys() & {"message", "detail"} and len(rest) == len(chunk):
            return rest
        feedback = rest.get("promptFeedback")
        if isinstance(feedback, dict) and camel(feedback).get("blockReason") and not chunk.get("candidates"):
            self._blocked = True
        self._top.update({key: value for key, value in rest.items() if value is not None})
        return error

    def _count(self, usage: Any) -> None:
        if type(usage) is dict:
            if None in usage.values():
                usage = {key: value for key, value in usage.items() if value is not None}
            self._usage.update(usage)

    def _candidates(self, candidates: Any) -> None:
        if type(candidates) is not list:
            raise malformed(("candidates",), "an array", candidates)
        taken = False
        for candidate in candidates:
            if type(candidate) is not dict:
                raise malformed(("candidates", 0), "an object", candidate)
            number = candidate.get("index")
            if not taken and (type(number) is not int or number == 0):
                taken = True
                self._one_candidate(candidate)
            elif not self._more_candidates:
                self._more_candidates = True
                self._note("choices.dropped", "there is more than one candidate; the first is kept")

    def _one_candidate(self, candidate: JsonObject) -> None:
        beside: JsonObject = {}
        if not candidate.keys() <= _CANDIDATE:
            candidate = camel(candidate)
            beside = unknown_fields(candidate, _CANDIDATE)
            self._beside_content(beside)
        content = candidate.get("content")
        if content:
            if type(content) is not dict:
                raise malformed(("candidates", 0, "content"), "an object", content)
            self._parts(content.get("parts") or [])
        reason = candidate.get("finishReason")
        if reason:
            self._reason = given(reason) or self._reason
        self._steady = self._steady and not beside

    def _beside_content(self, rest: JsonObject) -> None:
        for key, value in rest.items():
            if value is None:
                continue
            self._candidate = self._candidate or GrowingFields(texts=(), levels=1)
            if key in _IN_PIECES and isinstance(value, dict):
                self._candidate.add(key, value)
            else:
                self._candidate.replace(key, value)

    def _parts(self, parts: Any) -> None:
        if type(parts) is not list:
            raise malformed(("candidates", 0, "content", "parts"), "an array", parts)
        for part in parts:
            if type(part) is not dict:
                raise malformed(("candidates", 0, "content", "parts", 0), "an object", part)
            text = part.get("text")
            if type(text) is str and (len(part) == 1 or (len(part) == 2 and "thought" in part)):
                if text:
                    self._text(text, part.get("thought") is True)
            else:
                self._part(part)

    def _text(self, text: str, thought: bool) -> None:
        if thought is not self._thought:
            self._close_text()
            self._close_call()
            self._index = self._open(Thinking(form="summary") if thought else Text())
            self._thought = thought
        self._steady = True
        self._events.append(BlockGrew(self._index, text))

    def _part(self, part: JsonObject) -> None:
        part = fields(part, PART)
        if part.get("thought") is False:
            part = unknown_fields(part, frozenset(("thought",)))
        if type(part.get("text")) is str and part.keys() <= {"text", "thought"}:
            self._parts([part])
            return
        if not part:
            return
        self._close_text()
        call = part.get("functionCall")
        if (
            type(call) is dict
            and len(part.keys() & {"text", "inlineData", "fileData", "functionResponse"}) == 0
        ):
            self._function_call(part, fields(call, CALL))
            return
        self._close_call()
        try:
            block = read_part(part, ("candidates", 0, "content", "parts"))
        except MalformedInput:
            block = Opaque(NAME, part)
        if isinstance(block, ToolResult):
            block = Opaque(NAME, part)
        self._whole(block)

    def _whole(self, block: Block) -> None:
        if not isinstance(block, (Text, Thinking)):
            self._end(self._open(block))
            return
        index = self._open(msgspec.structs.replace(block, text=""))
        if block.text:
            self._grow(index, block.text)
        if block.seal is not None:
            self._seal(index, block.seal)
        self._end(index)

    def _function_call(self, part: JsonObject, call: JsonObject) -> None:
        in_pieces = bool(call.get("willContinue") or call.get("partialArgs"))
        if self._call is not None and not call.get("name"):
            self._more_arguments(call)
            return
        self._close_call()
        name, args = call.get("name"), call.get("args")
        if type(name) is not str or not (args is None or isinstance(args, (dict, str))):
            self._whole(Opaque(NAME, part))
            return
        arguments = "" if in_pieces else arguments_text(args) or "{}"
        self._open_call(part, call, arguments)
        if in_pieces:
            self._call = PartialArguments()
            self._call.value.update(args if isinstance(args, dict) else {})
            self._more_arguments(call)
            return
        self._grow(self._index, arguments)
        self._end_call()

    def _open_call(self, part: JsonObject, call: JsonObject, arguments: str) -> None:
        self._calls = True
        name, call_id = call["name"], call.get("id")
        known = type(call_id) is str and bool(call_id)
        if not known:
            call_id = made_up_id(self._id, self._blocks, name, arguments)
            self._note("tool_call.id_generated", f"the provider gave the call of {name} no id")
        rest = unknown_fields(call, frozenset(("partialArgs", "willContinue")))
        extras = call_extras(part, rest, no_id=not known)
        self._index = self._open(ToolCall(id=str(call_id), name=name, extras=extras))
        self._call_seal = read_seal(part, ()) if type(part.get("thoughtSignature")) is str else None

    def _end_call(self) -> None:
        if self._call_seal is not None:
            self._seal(self._index, self._call_seal)
        self._end(self._index)

    def _more_arguments(self, call: JsonObject) -> None:
        if self._call is not None:
            self._call.add(call.get("partialArgs"))
            if not call.get("willContinue"):
                self._close_call()

    def _close_call(self) -> None:
        if self._call is not None:
            if not self._call.regular:
                self._note("stream.irregular", "a piece of the function arguments had no readable place")
            self._grow(self._index, dump_text(self._call.whole()))
            self._end_call()
            self._call = None

    def _close_text(self) -> None:
        if self._thought is not None:
            self._end(self._index)
            self._thought = None
