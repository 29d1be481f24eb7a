"""Calls of stand-in functions on their way back: the client gets the calls of the tools that it knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from thinkwire.dialects.openai_responses.constants import NAME
from thinkwire.dialects.shared import own
from thinkwire.events import (
    BlockEnded,
    BlockGrew,
    BlockSealed,
    BlockStarted,
    Event,
    Failed,
    Finished,
    Started,
)
from thinkwire.gateway.ingress.response_tools import Known, native_call
from thinkwire.messages import Opaque, ToolCall

Feed = Callable[[list[Event]], list[Event]]


def restore_tool_calls(known: Mapping[str, Known]) -> Feed | None:
    """The way back for these tools; None when all of them are plain functions under their own names."""
    if not known:
        return None
    special = {name: tool for name, tool in known.items() if not (tool.is_plain and tool.name == name)}
    return ToolCallRestorer(special).feed if special else None


class ToolCallRestorer:
    """One answer's events, batch by batch. A call of another kind is held until it is whole."""

    def __init__(self, known: Mapping[str, Known]) -> None:
        self._known = known
        self._held: dict[int, tuple[ToolCall, list[str]]] = {}

    def feed(self, events: list[Event]) -> list[Event]:
        if not self._held and BlockStarted not in set(map(type, events)):
            return events
        out: list[Event] = []
        for event in events:
            self._take(event, out)
        return out

    def _take(self, event: Event, out: list[Event]) -> None:
        match event:
            case BlockGrew(index=index, text=text) if index in self._held:
                self._held[index][1].append(text)
            case BlockSealed(index=index) if index in self._held:
                return
            case BlockEnded(index=index) if index in self._held:
                self._release(index, out, whole=True)
            case BlockStarted(index=index, block=ToolCall() as call) if call.name in self._known:
                self._start(index, call, out)
            case Started() | Failed():
                self._held.clear()
                out.append(event)
            case Finished():
                for index in list(self._held):
                    self._release(index, out, whole=False)
                out.append(event)
            case _:
                out.append(event)

    def _start(self, index: int, call: ToolCall, out: list[Event]) -> None:
        known = self._known[call.name]
        if known.kind != "function":
            self._held[index] = (call, [call.arguments])
            return
        fields = own(call.extras, NAME)
        if known.namespace is not None:
            fields = fields | {"namespace": known.namespace}
        renamed = msgspec.structs.replace(call, name=known.name, extras=call.extras | {NAME: fields})
        out.append(BlockStarted(index, renamed))

    def _release(self, index: int, out: list[Event], *, whole: bool) -> None:
        call, parts = self._held.pop(index)
        item = native_call(self._known[call.name], call.id, "".join(parts), whole=whole)
        out.append(BlockStarted(index, Opaque(NAME, item)))
        out.append(BlockEnded(index))
