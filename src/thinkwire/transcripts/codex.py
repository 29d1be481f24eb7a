"""Codex's rollout logs: Responses items in order, each turn's model before it, and compactions."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from thinkwire import dialects
from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Conversation, Origin, Text, Turn
from thinkwire.notes import Note
from thinkwire.transcripts.jsonl import JsonLine, bad_line, read_lines, seconds, skipped, word
from thinkwire.transcripts.result import Imported

TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_NOT_SENT = frozenset({"ghost_snapshot", "other"})
"""Items that the program writes for itself."""
_PLACE = re.compile(r"input\[(\d+)\]\.?")


class Item(NamedTuple):
    """A Responses item, the line it stands in, and the model that was at work."""

    line: JsonLine
    value: JsonObject
    model: str | None


class _Log:
    """One pass over the lines."""

    def __init__(self) -> None:
        self.segments: list[list[Item]] = [[]]
        self.model: str | None = None
        self.provider = "openai"
        self.system: tuple[Text, ...] = ()
        self.left_out: Counter[str] = Counter()

    def read(self, line: JsonLine) -> None:
        kind, payload = line.value.get("type"), line.value.get("payload")
        if type(payload) is not dict:
            self._old(line)
        elif kind == "session_meta":
            self.provider = word(payload.get("model_provider")) or "openai"
            self.system = _instructions(payload)
        elif kind == "turn_context":
            self.model = word(payload.get("model")) or self.model
        elif kind == "response_item":
            self._item(line, payload)
        elif kind == "compacted":
            self._compacted(line, payload)
        else:
            self.left_out[str(kind)] += 1

    def _old(self, line: JsonLine) -> None:
        """The first rollouts had the items themselves as lines, after a header without a type."""
        if word(line.value.get("type")) is None or line.value.get("type") in TYPES:
            self.left_out["line without an item"] += 1
        else:
            self._item(line, line.value)

    def _item(self, line: JsonLine, item: JsonObject) -> None:
        kind = word(item.get("type"))
        if kind in _NOT_SENT:
            self.left_out[str(kind)] += 1
        else:
            self.segments[-1].append(Item(line, item, self.model))

    def _compacted(self, line: JsonLine, payload: JsonObject) -> None:
        history, summary = payload.get("replacement_history"), word(payload.get("message"))
        self.segments.append([])
        if isinstance(history, list):
            for item in history:
                if type(item) is not dict:
                    raise bad_line(line.number, "expected objects in replacement_history")
                self._item(line, item)
        elif summary:
            self._item(line, {"type": "message", "role": "user", "content": summary})


def _instructions(payload: JsonObject) -> tuple[Text, ...]:
    base = payload.get("base_instructions")
    text = word(base.get("text")) if isinstance(base, dict) else word(base)
    text = text or word(payload.get("instructions"))
    return (Text(text),) if text else ()


def read_codex(data: bytes) -> Imported:
    notes: list[Note] = []
    log = _Log()
    for line in read_lines(data, notes):
        log.read(line)
    conversations = [Conversation(log.system, _turns(segment, log.provider)) for segment in log.segments]
    return Imported(
        "codex",
        conversations[-1],
        earlier=tuple(talk for talk in conversations[:-1] if talk.turns),
        model=log.model,
        notes=(*notes, *skipped(log.left_out)),
    )


def _turns(items: list[Item], provider: str) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    for model, group in groupby(items, lambda item: item.model):
        turns += _of_model(list(group), provider, model)
    return tuple(turns)


def _of_model(items: list[Item], provider: str, model: str | None) -> list[Turn]:
    origin = Origin(provider=provider, model=model, time=_time(items))
    body: dict[str, Any] = {"input": [_said(item.value) for item in items]}
    try:
        request = dialects.get("openai-responses").decode_request(body)
    except MalformedInput as error:
        place = _PLACE.match(error.path)
        number = items[int(place[1])].line.number if place else items[0].line.number
        raise bad_line(number, f"{_PLACE.sub('', error.path)}: {error.message}") from None
    return [
        msgspec.structs.replace(turn, origin=origin) if turn.role == "assistant" else turn
        for turn in request.turns
    ]


def _said(item: JsonObject) -> JsonObject:
    """The item as the API knows it: without nulls, and without the marks of the old logs."""
    return {key: value for key, value in item.items() if value is not None and key != "timestamp"}


def _time(items: list[Item]) -> float | None:
    return seconds(items[0].line.value.get("timestamp")) if items else None
