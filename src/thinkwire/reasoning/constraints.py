"""What stands beside the thinking in a request: room for it, and nothing that the model refuses with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from thinkwire.catalog import Facts
from thinkwire.messages import Text, Turn
from thinkwire.notes import Note, NoteCode
from thinkwire.reasoning.plan import Outcome, Setting
from thinkwire.request import Request, ToolChoice

ANSWER_ROOM = 4096
"""Tokens for the answer where nobody said how long it may be."""

_FIELDS = {
    "sampling": ("temperature", "top_p", "top_k"),
    "penalties": ("presence_penalty", "frequency_penalty"),
    "stop": ("stop",),
}
_WITH_ROOM = ("anthropic", "openrouter")
"""The shapes whose ceiling includes the thinking and must lie above its budget."""
_CHAT, _CHAT_SAMPLING = "openai_chat", ("logprobs", "top_logprobs", "logit_bias")
"""What only the chat wire says about sampling; it is refused together with the rest."""


class _Refused(NamedTuple):
    """What a model refuses at a setting."""

    names: frozenset[str]
    asked: Callable[[Request], Any]
    """What a request says in the fields that are refused, all at once."""
    unsaid: Any
    """What one says there that has nothing to say."""


@cache
def _companions_refused(refuses: tuple[str, ...], thinks: bool, forced_tools: bool) -> _Refused:
    """What of a row's refusals counts, some of it only while the model thinks."""
    ending = "_when_thinking"
    names = {name.removesuffix(ending) for name in refuses if thinks or not name.endswith(ending)}
    if forced_tools:
        names.add("forced_tools")
    fields = [field for kind, fields in _FIELDS.items() if kind in names for field in fields]
    asked = attrgetter(*fields) if fields else _nothing
    return _Refused(frozenset(names), asked, asked(Request()))


def _nothing(request: Request) -> None:
    return None


class Companions:
    """Makes a request legal beside a setting; `notes` and `controls` say what that took."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.notes: list[Note] = []
        self.controls: dict[str, Outcome] = {}

    def fit(self, setting: Setting, request: Request) -> tuple[Setting, Request]:
        facts, thinks, budgeted = self.facts, setting.on, setting.budget is not None
        if budgeted and thinks and facts.shape in _WITH_ROOM:
            setting, request = self._with_room(setting, request)
        if request.temperature is not None and facts.temperature is not None:
            request = self._in_range(request, facts.temperature)
        if thinks is None:
            thinks = facts.default not in (None, "off")
        # Forced tools are refused together with a budget on every model of that shape.
        refused = _companions_refused(facts.refuses, thinks, budgeted and facts.shape == "anthropic")
        return setting, self._without_refused(refused, request) if refused.names else request

    def _without_refused(self, refused: _Refused, request: Request) -> Request:
        names = refused.names
        if refused.asked(request) != refused.unsaid:
            for kind, fields in _FIELDS.items():
                if kind in names:
                    request = self._without(fields, request)
        if _CHAT in request.extras and "sampling" in names and self.facts.dialect == "openai-chat":
            request = self._without_chat_sampling(request)
        if request.tool_choice is not None and "forced_tools" in names:
            request = self._unforced(request, request.tool_choice)
        if "prefill" in names and request.turns and request.turns[-1].role == "assistant":
            request = self._closed(request)
        if "system_turns" in names:
            request = self._without_system_turns(request)
        if "streaming_off" in names and not request.stream:
            request = self._streamed(request)
        return request

    def _note(self, code: NoteCode, message: str, **detail: Any) -> None:
        self.notes.append(Note(code, message, detail=detail))

    def _with_room(self, setting: Setting, request: Request) -> tuple[Setting, Request]:
        """The ceiling above the budget."""
        budget, ceiling = setting.budget, request.max_tokens
        assert budget is not None
        if ceiling is not None and ceiling > budget:
            return setting, request
        raised = budget + (ceiling or ANSWER_ROOM)
        if self.facts.max_output is not None and raised > self.facts.max_output:
            raised = self.facts.max_output
            budget = self._below(raised, budget)
        if ceiling is not None:
            message = (
                f"max_tokens went from {ceiling:,} to {raised:,}, above the thinking budget of {budget:,}"
            )
            self._note("max_tokens.raised", message)
        setting = msgspec.structs.replace(setting, budget=budget)
        return setting, msgspec.structs.replace(request, max_tokens=raised)

    def _below(self, ceiling: int, budget: int) -> int:
        if budget < ceiling:
            return budget
        lowered = ceiling - 1
        message = (
            f"the budget must stay below the {ceiling:,} tokens that {self.facts.id} puts out: {lowered:,}"
        )
        self._note("reasoning.adjusted", message, requested=budget)
        return lowered

    def _without(self, fields: tuple[str, ...], request: Request) -> Request:
        given = [name for name in fields if getattr(request, name) not in (None, ())]
        if not given:
            return request
        self._note(
            "sampling.dropped", f"{self.facts.id} refuses {', '.join(given)} here; not sent", fields=given
        )
        self.controls.update(dict.fromkeys(given, "suppressed"))
        return msgspec.structs.replace(request, **{name: () if name == "stop" else None for name in given})

    def _without_chat_sampling(self, request: Request) -> Request:
        said = request.extras.get(_CHAT, {})
        given = [name for name in _CHAT_SAMPLING if said.get(name)]
        if not given:
            return request
        message = f"{self.facts.id} refuses {', '.join(given)} here; not sent"
        self._note("sampling.dropped", message, fields=given)
        rest = {name: value for name, value in said.items() if name not in _CHAT_SAMPLING}
        return msgspec.structs.replace(request, extras=request.extras | {_CHAT: rest})

    def _in_range(self, request: Request, limits: tuple[float, float]) -> Request:
        asked = request.temperature
        assert asked is not None
        legal = min(max(asked, limits[0]), limits[1])
        if legal == asked:
            return request
        message = (
            f"{self.facts.id} takes temperatures from {limits[0]} to {limits[1]}; {asked} became {legal}"
        )
        self._note("field.changed", message)
        self.controls["temperature"] = "adjusted"
        return msgspec.structs.replace(request, temperature=legal)

    def _unforced(self, request: Request, choice: ToolChoice) -> Request:
        if choice.mode != "any":
            return request
        message = f"{self.facts.id} refuses to be forced to call a tool here; the choice is left to it"
        self._note("tool_choice.degraded", message)
        self.controls["tool_choice"] = "adjusted"
        return msgspec.structs.replace(request, tool_choice=ToolChoice("auto", choice.only))

    def _without_system_turns(self, request: Request) -> Request:
        moved = [turn for turn in request.turns if turn.role == "system"]
        if not moved:
            return request
        self._note(
            "system.moved", f"{self.facts.id} takes system text only at the top; {len(moved)} turns moved"
        )
        texts = tuple(block for turn in moved for block in turn.blocks if isinstance(block, Text))
        turns = tuple(turn for turn in request.turns if turn.role != "system")
        return msgspec.structs.replace(request, system=(*request.system, *texts), turns=turns)

    def _closed(self, request: Request) -> Request:
        message = f"{self.facts.id} refuses to go on with words put in its mouth; it is asked to continue"
        self._note("prefill.closed", message)
        self.controls["prefill"] = "adjusted"
        return msgspec.structs.replace(request, turns=(*request.turns, Turn("user", (Text("Continue."),))))

    def _streamed(self, request: Request) -> Request:
        self._note("field.changed", f"{self.facts.id} answers only as a stream while it thinks")
        self.controls["stream"] = "adjusted"
        return msgspec.structs.replace(request, stream=True)
