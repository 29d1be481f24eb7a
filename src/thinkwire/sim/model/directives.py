"""Directives in a user's text, which script the model exactly: `[[think:…]] [[call:TOOL {…}]] & …`."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from thinkwire.sim.model.actions import Call, Cut, Fail, Move, Say, Stall, Think

_OPENING = re.compile(r"\[\[\s*(think|redact|say|call|shell|fail|cut|stall|refuse)\b\s*:?\s?", re.IGNORECASE)
_CALL = re.compile(r"\s*([^\s{\]]+)\s*")
_FAIL = re.compile(r"\s*([45]\d\d)(?:\s*x\s*(\d{1,9}))?\s*")
_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*s?\s*")
_REFUSAL = "(simulated) I can't help with that."


class Shell(NamedTuple):
    """A command for whichever offered tool takes one."""

    command: str


class Written(NamedTuple):
    """A directive and where it stands."""

    move: Move | Shell
    start: int
    end: int


def parse(text: str) -> list[list[Move | Shell]]:
    """The steps that the text scripts; none if there is no directive in it.

    A call ends its step, unless `&` stands between it and the next one.
    """
    steps: list[list[Move | Shell]] = []
    step: list[Move | Shell] = []
    written = _scan(text)
    for number, (move, _, end) in enumerate(written):
        step.append(move)
        following = written[number + 1] if number + 1 < len(written) else None
        together = (
            following is not None
            and isinstance(following.move, Call | Shell)
            and text[end : following.start].strip() == "&"
        )
        if isinstance(move, Call | Shell) and not together:
            steps.append(step)
            step = []
    return [*steps, step] if step else steps


def _scan(text: str) -> list[Written]:
    found: list[Written] = []
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        word = opening[1].lower()
        if word == "call":
            move, at = _call(text, opening.end())
        else:
            closing = text.find("]]", opening.end())
            body = text[opening.end() : closing if closing >= 0 else len(text)]
            move, at = _simple(word, body), closing + 2 if closing >= 0 else len(text)
        if move is not None:
            found.append(Written(move, opening.start(), at))
    return found


def _call(text: str, start: int) -> tuple[Move | Shell | None, int]:
    """A call's arguments may hold `]]` themselves; what is no JSON goes as it is, up to `]]`."""
    name = _CALL.match(text, start)
    if name is None:
        return None, start
    try:
        _, end = json.JSONDecoder().raw_decode(text, name.end())
    except (ValueError, RecursionError):
        end = text.find("]]", name.end())
        end = len(text) if end < 0 else end
    arguments = text[name.end() : end].strip() or "{}"
    closing = text.find("]]", end)
    return Call(name[1], arguments), len(text) if closing < 0 else closing + 2


def _simple(word: str, body: str) -> Move | Shell | None:
    match word:
        case "think" | "redact":
            return Think(body, redacted=word == "redact")
        case "say":
            return Say(body)
        case "shell":
            return Shell(body.strip())
        case "cut":
            return Cut()
        case "refuse":
            return Say(body or _REFUSAL, refusal=True)
        case "stall":
            seconds = _NUMBER.fullmatch(body)
            return Stall(float(seconds[1]) if seconds else 1.0)
    status = _FAIL.fullmatch(body)
    if status is None:
        return Fail(500)
    return Fail(int(status[1]), int(status[2]) if status[2] else None)
