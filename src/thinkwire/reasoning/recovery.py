"""Recover from refusals about reasoning: what a 400 says, and the one other way to ask.

A refusal corrects the facts about a model only where it is about a control that the plan wrote; text that
the client brought never counts. The second try is the same resolver over the corrected facts. It never asks
for more than the first: a refused word takes the stronger ones with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from thinkwire.catalog import Facts
from thinkwire.errors import Failure
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Thinking
from thinkwire.notes import Note
from thinkwire.reasoning.corrections import Change, changed_facts, find_change
from thinkwire.reasoning.refusal import Refusal, SentRequest, is_seal_rejection
from thinkwire.request import Request


class Recovery(msgspec.Struct, frozen=True):
    """How to ask again after a refusal. `note` says so."""

    note: Note
    change: Change = {}
    """Corrections of the facts for the second try."""
    is_lasting: bool = False
    """Whether the correction may be remembered: it is about a control that the plan wrote."""
    strip_thinking: bool = False
    thinking_off: bool = False
    fill_reasoning: bool = False
    """Whether assistant messages without reasoning get the empty field that the server asks for."""
    streamed: bool | None = None
    dropped: tuple[str, ...] = ()
    """Raw fields that are left out, as dotted paths."""

    def apply(self, facts: Facts) -> Facts:
        return changed_facts(facts, self.change)


def find_recovery(failure: Failure, sent: SentRequest) -> Recovery | None:
    """The one other way to ask that a refusal suggests; None when it is not about reasoning."""
    if failure.kind not in ("bad_request", "not_found"):
        return None
    refusal = Refusal(failure, sent)
    change = find_change(refusal)
    if change:
        note = Note("reasoning.learned", f"refused: {failure.message[:200]}; asked again otherwise")
        return Recovery(note, change, is_lasting=True)
    for find in _OF_REQUEST:
        recovery = find(refusal)
        if recovery is not None:
            return recovery
    return None


def _without_seals(refusal: Refusal) -> Recovery | None:
    """Thinking of the history that the provider does not take back: all of it is left out."""
    if not is_seal_rejection(refusal.failure, refusal.text) or not _carries_thinking(refusal.request):
        return None
    note = refusal.note("thinking.stripped", "asked again without it")
    return Recovery(note, strip_thinking=True)


def _carries_thinking(request: Request) -> bool:
    blocks = (block for turn in request.turns for block in turn.blocks)
    return any(type(block) is Thinking or getattr(block, "seal", None) is not None for block in blocks)


_HISTORY = re.compile(
    r"reasoning_content.{0,60}(is missing|must be (passed|provided|included))|"
    r"missing \W?reasoning_content|must include \W?reasoning_content|must start with a thinking block|"
    r"expected \W?thinking\W? or \W?redacted_thinking\W?, but found",
    re.IGNORECASE,
)


def _with_incomplete_history(refusal: Refusal) -> Recovery | None:
    """Thinking that the history lacks: the field is sent empty where it can be, else thinking is off."""
    facts = refusal.plan.facts
    if _HISTORY.search(refusal.text) is None or facts is None:
        return None
    if facts.dialect == "openai-chat" and _lacks_reasoning(refusal.body):
        done = "asked again with an empty reasoning_content in the turns that have none"
        return Recovery(refusal.note("field.changed", done), fill_reasoning=True)
    if facts.off in (None, "between_tools") or refusal.plan.effective.on is False:
        return None
    note = refusal.note("replay.thinking_off", "asked again without thinking")
    return Recovery(note, thinking_off=True)


def _lacks_reasoning(body: JsonObject) -> bool:
    messages = body.get("messages")
    return isinstance(messages, list) and any(
        isinstance(message, dict)
        and message.get("role") == "assistant"
        and "reasoning_content" not in message
        for message in messages
    )


_FORCED = re.compile(
    r"thinking may not be enabled when tool_choice forces|thinking mode does not support this tool_choice|"
    r"tool_choice\b.{0,80}(in thinking mode|incompatible with thinking|thinking (mode )?is enabled)|"
    r"tool_choice: type \"tool\" and \"any\" are not supported",
    re.IGNORECASE,
)


def _with_free_tools(refusal: Refusal) -> Recovery | None:
    """A forced tool call that the model refuses while it thinks: the choice is left to it."""
    facts, choice = refusal.plan.facts, refusal.request.tool_choice
    if facts is None or choice is None or choice.mode != "any" or _FORCED.search(refusal.text) is None:
        return None
    note = refusal.note("tool_choice.degraded", "asked again with the choice left to the model")
    return Recovery(note, {"refuses": [*facts.refuses, "forced_tools"]})


_TOGETHER = r".{0,40}(at the same time|simultaneously|together|both)"
_BOTH: list[tuple[re.Pattern[str], str, str]] = [
    (re.compile(pattern, re.IGNORECASE), dropped, kept)
    for pattern, dropped, kept in (
        (rf"max_tokens\W+and\W+max_completion_tokens{_TOGETHER}", "max_tokens", "max_completion_tokens"),
        (rf"reasoning_effort\W+and\W+thinking_budget{_TOGETHER}", "thinking_budget", "reasoning_effort"),
        (
            r"only one of thinking budget and thinking level",
            "generationConfig.thinkingConfig.thinkingBudget",
            "generationConfig.thinkingConfig.thinkingLevel",
        ),
    )
]


def _with_one_of_both(refusal: Refusal) -> Recovery | None:
    """Two raw fields that say the same thing: one of them is left out, if both were sent."""
    for pattern, dropped, kept in _BOTH:
        sent = _value_at(refusal.body, dropped) is not None and _value_at(refusal.body, kept) is not None
        if sent and pattern.search(refusal.failure.message):
            note = refusal.note("field.dropped", f"asked again with {kept} alone")
            return Recovery(note, dropped=(dropped,))
    return None


def _value_at(body: Any, path: str) -> Any:
    for step in path.split("."):
        body = body.get(step) if isinstance(body, dict) else None
    return body


_ONLY_STREAMS = re.compile(
    r"only supports? stream|enable_thinking must be set to false for non-streaming|"
    r"thinking can ?not be support\w* when \W?stream=false|requires? stream(ing)?\b|"
    r"stream must be (set to )?true",
    re.IGNORECASE,
)
_NEVER_STREAMS = re.compile(
    r"must be verified to stream|'stream' does not support true|does not support stream(ing)?\b|"
    r"streaming is not supported",
    re.IGNORECASE,
)


def _by_other_delivery(refusal: Refusal) -> Recovery | None:
    """A model that answers only as a stream, or only in one piece."""
    streams = bool(refusal.request.stream)
    pattern = _NEVER_STREAMS if streams else _ONLY_STREAMS
    if pattern.search(refusal.text) is None:
        return None
    done = "asked again for the answer in one piece" if streams else "asked again for a stream"
    return Recovery(refusal.note("field.changed", done), streamed=not streams)


_OF_REQUEST: tuple[Callable[[Refusal], Recovery | None], ...] = (
    _without_seals,
    _with_incomplete_history,
    _with_free_tools,
    _with_one_of_both,
    _by_other_delivery,
)
