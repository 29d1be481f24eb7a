"""Streamed answers: chunks of any server that speaks this dialect, or nearly, to events."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.error_bodies import failure_from
from thinkwire.dialects.frame_decoder import CUT
from thinkwire.dialects.openai_chat import finish, ollama, usage
from thinkwire.dialects.openai_chat import google_signatures as google
from thinkwire.dialects.openai_chat.constants import NAME, keep
from thinkwire.dialects.openai_chat.quirks import USUAL, Quirks
from thinkwire.dialects.openai_chat.reasoning import FIELDS as REASONING
from thinkwire.dialects.openai_chat.reasoning import PLAIN, only_field
from thinkwire.dialects.openai_chat.stream_blocks import BlockDecoder
from thinkwire.dialects.pieces import GrowingFields
from thinkwire.errors import Failure, MalformedInput, protocol_failure
from thinkwire.events import BlockGrew, BlockStarted, Event, Failed, Finished, Noted, Started
from thinkwire.jsonvalue import JsonObject, malformed, parse
from thinkwire.messages import Block, Extras

_ONCE = ("created", "created_at")
_CHUNK = frozenset(_ONCE) | {"id", "object", "model", "choices", "usage", "error", "obfuscation"}
_TROUBLE = frozenset({"error", "base_resp"})
_CHOICE = frozenset({"index", "delta", "message", "finish_reason", "usage", "error"})
_BARE_CHOICE = frozenset({"index", "delta", "message", "finish_reason", "logprobs"})
"""Most servers say no more than this, and null for the last where nobody asked for them."""
_PLAIN_DELTA = frozenset({"role", "content"})
_DELTA = _PLAIN_DELTA | REASONING | {"refusal", "tool_calls", "function_call", google.FIELD}
_MISSING = object()
_TELLING = 3
_GROWING_TEXTS = ("data", "transcript")
"""String fields of unread objects that arrive in pieces: audio data and its transcript."""


class StreamDecoder(BlockDecoder):
    """Chat Completions chunks over SSE, and Ollama's own lines."""

    __slots__ = (
        *("_answered", "_began", "_changed", "_choice_fields", "_created", "_deltas", "_finish_word"),
        *("_message_fields", "_model", "_seen", "_several", "_top", "_usage"),
    )

    def __init__(self, *, quirks: Quirks = USUAL) -> None:
        super().__init__(quirks=quirks)
        self._began = False
        self._model: str | None = None
        self._changed: JsonObject | None = None
        self._answered = False
        self._choice_fields: GrowingFields | None = None
        self._message_fields: GrowingFields | None = None
        self._finish_word: Any = None
        self._usage: Any = None
        self._several = False
        self._deltas = False
        self._seen: dict[str, list[str]] | None = None
        self._created: JsonObject | None = None
        self._top: JsonObject | None = None

    def _on_frame(self, name: str | None, data: bytes) -> None:
        if name == "error":
            self._fail(failure_from(_error_value(data)))
            return
        chunk = parse(data)
        if type(chunk) is dict and "choices" in chunk:
            self._chunk(chunk)
        elif type(chunk) is not dict:
            self._fail(protocol_failure("a chunk of the stream is not an object", body=chunk))
        elif ollama.is_native(chunk):
            self._line(chunk)
        else:
            self._chunk(chunk)

    def _on_done(self) -> None:
        if not self._answered:
            self._fail(protocol_failure("the stream ended without an answer"))
            return
        self._break()
        calls = self._calls is not None and self._end_calls()
        word = self._finish_word
        reason, note = finish.read(word, calls=calls, refused=self._refused)
        tokens, notes = usage.read(self._usage)
        if not self._began:
            self._begin()
        if note is not None:
            self._events.append(Noted(note))
        for odd in notes:
            self._events.append(Noted(odd))
        kept = word if finish.worth_keeping(word, reason, refused=self._refused) else None
        extras: Extras = {}
        if self._changed or self._choice_fields or kept is not None:
            choice = self._choice_fields.whole() if self._choice_fields else None
            extras = keep(self._changed or {}, choice=choice, finish_reason=kept)
        turn = keep(self._message_fields.whole()) if self._message_fields else {}
        self._over = True
        self._events.append(Finished(reason, tokens, extras, turn))

    def _end_of_bytes(self) -> None:
        if self._finish_word:
            self._on_done()
        else:
            self._fail(Failure("connection_lost", CUT))

    def _fail(self, failure: Failure) -> None:
        if self._over:
            return
        self._begin()
        self._salvage()
        tokens, notes = usage.read(self._usage)
        self._events.extend(Noted(note) for note in notes)
        self._over = True
        self._events.append(Failed(failure, usage=tokens))

    def _line(self, line: JsonObject) -> None:
        """A line of Ollama's own stream, whose last one says so."""
        self._chunk(ollama.as_chunk(line))
        if line.get("done") and not self._over:
            self._on_done()

    def _chunk(self, chunk: JsonObject) -> None:
        choices = chunk.get("choices")
        if not self._began:
            self._note_head(chunk)
            if self._id is not None or self._model is not None:
                self._begin()
        else:
            known = self._top or {}
            for key in chunk:
                if key not in _CHUNK and known.get(key, _MISSING) != chunk[key]:
                    self._top_field(key, chunk[key])
        if tokens := chunk.get("usage"):
            self._usage = tokens
        if type(choices) is list:
            for choice in choices:
                if type(choice) is dict:
                    self._on_choice(choice)
        if (not choices or not _TROUBLE.isdisjoint(chunk)) and (error := error_of(chunk)):
            self._fail(failure_from(error))

    def _note_head(self, chunk: JsonObject) -> None:
        given, model = chunk.get("id"), chunk.get("model")
        if self._id is None and type(given) is str:
            self._id = given or None
        if self._model is None and type(model) is str:
            self._model = model or None
        top = self._top = self._top or {}
        created = self._created = self._created or {}
        for key in chunk:
            if key not in _CHUNK:
                top[key] = chunk[key]
                if key == "x_groq":
                    self._nested_usage(chunk[key])
        for key in _ONCE:
            if value := chunk.get(key):
                created.setdefault(key, value)

    def _open(self, block: Block) -> int:
        if not self._began:
            self._begin()
        index = self._blocks
        self._blocks += 1
        self._events.append(BlockStarted(index, block))
        return index

    def _begin(self) -> None:
        """`Started`, when it is known whose answer this is, or when something has to be said of it."""
        if not self._began:
            self._began = True
            native = {**(self._created or {}), **(self._top or {})}
            self._events.append(Started(self._id, self._model, {NAME: native} if native else {}))

    def _top_field(self, key: str, value: Any) -> None:
        self._top, self._changed = self._top or {}, self._changed or {}
        self._top[key] = self._changed[key] = value
        if key == "x_groq":
            self._nested_usage(value)

    def _nested_usage(self, groq: Any) -> None:
        nested = groq.get("usage") if type(groq) is dict else None
        if nested:
            self._usage = nested

    def _on_choice(self, choice: JsonObject) -> None:
        if choice.get("index") and not self._is_ours(choice["index"]):
            return
        self._answered = True
        delta = choice.get("delta")
        if type(delta) is dict:
            self._deltas = True
            self._delta(delta)
        elif type(choice.get("message")) is dict:
            self._message(choice["message"])
        if word := choice.get("finish_reason"):
            self._finish_word = word
        if not choice.keys() <= _BARE_CHOICE or choice.get("logprobs") is not None or self._whole:
            self._more_of(choice)

    def _more_of(self, choice: JsonObject) -> None:
        """What only some servers say beside a delta."""
        if tokens := choice.get("usage"):
            self._usage = tokens
        for key, value in choice.items():
            if key not in _CHOICE and (value is not None or self._whole):
                self._steady = self._steady and not value
                self._choice_fields = self._keep(self._choice_fields, key, value)
        if error := choice.get("error"):
            self._fail(failure_from({"error": error}))

    def _is_ours(self, index: Any) -> bool:
        """Only the answer of index 0 is read. What is no number counts as none."""
        if type(index) is not int:
            return True
        if not self._several:
            self._several = True
            self._begin()
            self._note("choices.dropped", "the server gave several answers; the first is kept")
        return False

    def _keep(self, store: GrowingFields | None, key: str, value: Any) -> GrowingFields | None:
        """Keeps a field nobody has read. Deltas say null where they say nothing."""
        if value is not None or (self._whole and key != "logprobs"):
            store = GrowingFields(texts=_GROWING_TEXTS) if store is None else store
            store.add(key, value)
        return store

    def _message(self, message: JsonObject) -> None:
        """A message where a delta should be.

        After deltas it repeats them; alone it is the answer, or all of the answer so far, or its next piece.
        """
        if self._deltas and self._blocks:
            return
        fresh = dict(message)
        for key in ("content", *PLAIN):
            if type(message.get(key)) is str:
                fresh[key] = self._unseen(key, message[key])
        if type(message.get("tool_calls")) is list:
            fresh["tool_calls"] = message["tool_calls"][len(self._calls.all) if self._calls else 0 :]
        self._delta(fresh)
        self._steady = False

    def _unseen(self, key: str, text: str) -> str:
        if self._seen is None:
            self._seen = {}
        pieces = self._seen.setdefault(key, [])
        if len(pieces) > 1 and len(text) >= sum(map(len, pieces)):
            pieces[:] = ["".join(pieces)]
        if len(pieces) == 1 and len(pieces[0].strip()) >= _TELLING and text.startswith(pieces[0]):
            seen, pieces[0] = pieces[0], text
            return text[len(seen) :]
        if text:
            pieces.append(text)
        return text

    def _delta(self, delta: JsonObject) -> None:
        for key, value in delta.items():
            # Many servers name every field in every delta, and say null where they say nothing.
            if key not in _PLAIN_DELTA and (value is not None or self._whole or self._quirks.answer_field):
                self._rich_delta(delta)
                return
        content = delta.get("content")
        if content:
            if self._kind == "text" and not (self._tagged or self._in_thought) and type(content) is str:
                self._steady = True
                self._events.append(BlockGrew(self._index, content))
            else:
                if type(content) is str and not self._in_thought:
                    self._text(content)
                else:
                    self._content(content)
                self._steady = self._goes_on("content", content)

    def _rich_delta(self, delta: JsonObject) -> None:
        if self._quirks.answer_field is not None:
            delta = only_field(delta, self._quirks.answer_field)
        if not REASONING.isdisjoint(delta):
            self._reasoning(delta)
        extra = delta.get(google.FIELD)
        content = delta.get("content")
        if extra is not None and google.is_thought(extra):
            self._google_thought(content)
        elif content:
            self._content(content)
        refusal = delta.get("refusal")
        if type(refusal) is str and refusal:
            self._say("refusal", refusal)
        calls = delta.get("tool_calls")
        if calls:
            self._call_deltas(calls)
        self._legacy_delta(delta.get("function_call"))
        if extra is not None:
            self._signature(extra, calls=bool(calls))
        if not delta.keys() <= _DELTA:
            self._keep_unread(delta)
        said = [key for key, value in delta.items() if value and key != "role"]
        if len(said) == 1 and self._quirks.answer_field is None:
            self._steady = self._goes_on(said[0], delta[said[0]])

    def _keep_unread(self, delta: JsonObject) -> None:
        for key, value in delta.items():
            if key not in _DELTA:
                self._message_fields = self._keep(self._message_fields, key, value)

    def _goes_on(self, field: str, text: Any) -> bool:
        """Whether the open block has grown by what this field said, and may do so again."""
        last = self._events[-1] if self._events else None
        if type(last) is not BlockGrew or last.text != text:
            return False
        if field == "content":
            return self._kind == "text" and not self._tagged
        thoughts = self._thoughts
        return self._kind == "thinking" and thoughts is not None and thoughts.leader == field

    def _also(self) -> list[str] | None:
        thoughts = self._thoughts
        return thoughts.parts if thoughts is not None and self._kind == "thinking" else None


def _error_value(data: bytes) -> Any:
    try:
        return parse(data)
    except MalformedInput:
        return data.decode("utf-8", "replace")


def error_of(chunk: JsonObject) -> Any:
    """The error that a chunk reports, whichever way."""
    if chunk.get("error"):
        return chunk
    if chunk.get("object") == "error" or ("choices" not in chunk and _is_complaint(chunk)):
        return chunk
    base = chunk.get("base_resp")
    if type(base) is dict and base.get("status_code"):
        return {"error": {"message": base.get("status_msg") or "", "code": base["status_code"]}}
    return None


def _is_complaint(chunk: JsonObject) -> bool:
    return bool(chunk.get("detail")) or type(chunk.get("message")) is str


class WholeDecoder(StreamDecoder):
    """A JSON answer, read as a stream of one chunk."""

    def read(self, body: JsonObject) -> list[Event]:
        self._whole = True
        choices = body.get("choices")
        if type(choices) is list:
            body = body | {"choices": [_without_delta(choice) for choice in choices]}
        elif "choices" in body and choices is not None:
            raise malformed(("choices",), "an array", choices)
        if ollama.is_native(body):
            body = ollama.as_chunk(body)
        self._chunk(body)
        if not self._over:
            self._on_done()
        return self._take()


def _without_delta(choice: Any) -> Any:
    if type(choice) is dict and type(choice.get("message")) is dict:
        return {key: value for key, value in choice.items() if key != "delta"}
    return choice
