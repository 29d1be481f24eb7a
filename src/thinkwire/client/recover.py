"""Ask again after a refusal, and remember what a second try has proved."""

from __future__ import annotations

import time

import msgspec

from thinkwire.client.learned_facts import EVERYONE, LearnedFact, LearnedFactsFile
from thinkwire.client.prepare import CallSpec, PreparedRequest
from thinkwire.errors import Failure
from thinkwire.reasoning import Intent
from thinkwire.reasoning.recovery import Recovery, find_recovery
from thinkwire.reasoning.refusal import LONGEST_EVIDENCE, SentRequest
from thinkwire.request import Request


def plan_recovery(asking: CallSpec, prepared: PreparedRequest, failure: Failure) -> CallSpec | None:
    """The one other way to ask that a refusal suggests; None when there is none, or it was taken."""
    if asking.recovery is not None or failure.status is None or failure.status >= 500:
        return None
    sent = SentRequest(prepared.plan, prepared.request, prepared.body)
    recovery = find_recovery(failure, sent)
    return None if recovery is None else _recovered(asking, recovery)


def _recovered(asking: CallSpec, recovery: Recovery) -> CallSpec:
    """The request as the recovery asks for it. Corrected facts count when it is prepared."""
    changes: dict[str, object] = {"recovery": recovery}
    if recovery.strip_thinking:
        changes["replay"] = msgspec.structs.replace(asking.replay, strip="all", seals=False)
    if recovery.thinking_off:
        changes["thinking"] = Intent(level="none", said="the history lacks thinking")
    if recovery.streamed is not None:
        changes["streamed"] = recovery.streamed
    if recovery.dropped:
        changes["request"] = _without(asking.request, recovery.dropped)
    return msgspec.structs.replace(asking, **changes)


def _without(request: Request, paths: tuple[str, ...]) -> Request:
    """The request without raw fields."""
    extras = request.extras
    for path in paths:
        extras = {dialect: _dropped(fields, path.split(".")) for dialect, fields in extras.items()}
    return msgspec.structs.replace(request, extras=extras)


def _dropped(fields: dict[str, object], steps: list[str]) -> dict[str, object]:
    inner = fields.get(steps[0])
    rest = {key: value for key, value in fields.items() if key != steps[0]}
    if len(steps) == 1 or not isinstance(inner, dict):
        return rest if len(steps) == 1 else fields
    return rest | {steps[0]: _dropped(inner, steps[1:])}


def is_whole_for_stream(asking: CallSpec) -> bool:
    """Whether an answer in one piece goes to a client that asked for a stream."""
    return asking.recovery is not None and asking.recovery.streamed is False


def learned_by(asking: CallSpec, prepared: PreparedRequest, failure: Failure) -> LearnedFact | None:
    """What counts from now on, once the recovered request is accepted."""
    recovery, facts = asking.recovery, prepared.plan.facts
    if recovery is None or not recovery.is_lasting or facts is None or asking.scope == EVERYONE:
        return None
    evidence = failure.message[:LONGEST_EVIDENCE]
    return LearnedFact(asking.scope, facts.provider, facts.id, recovery.change, evidence, time.time())


def remember(file: LearnedFactsFile | None, fact: LearnedFact) -> None:
    """Keeps a fact. What cannot be kept is learned again; it never fails an answer."""
    if file is not None:
        try:
            file.add(fact)
        except OSError:
            return
