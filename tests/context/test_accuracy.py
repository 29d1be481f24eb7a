"""How far the estimates are from what providers reported, on recordings that no number was fitted to.

The choices behind the numbers were made with all recordings in view; docs/context.md says what that is worth.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator
from statistics import median, quantiles
from typing import Any, NamedTuple

import pytest

from tests.recordings.loader import Recording, everything
from tests.support import ROOT
from thinkwire import dialects
from thinkwire.context import count
from thinkwire.events import collect
from thinkwire.messages import Document, Image
from thinkwire.request import Request, Tool

LEAST = 50
"""Below this, an answer of one token more or less would be a large error."""


class Measured(NamedTuple):
    dialect: str
    provider: str
    model: str
    reported: int
    estimated: int
    judged: bool

    @property
    def error(self) -> float:
        return abs(self.estimated - self.reported) / self.reported


@pytest.mark.needs("recordings")
def test_the_median_error_is_at_most_a_tenth_where_nothing_was_fitted() -> None:
    measured = list(measure())
    judged = [row for row in measured if row.judged]
    (ROOT / "build").mkdir(exist_ok=True)
    (ROOT / "build" / "token-error.md").write_text(report(measured))
    assert len(judged) >= 60
    assert {row.dialect for row in judged} == set(dialects.NAMES)
    assert median(row.error for row in judged) <= 0.10


def measure() -> Iterator[Measured]:
    """Every exchange once whose input is all there, with the half that it belongs to."""
    seen = set()
    for recording in everything():
        if not recording.in_scope or recording.request is None or recording.kind == "error":
            continue
        request = dialects.get(recording.dialect).decode_request(recording.request)
        reported = input_total(recording)
        if reported is None or reported < LEAST or not is_whole(request, recording.request):
            continue
        body = recording.request
        asked = json.dumps(body.get("messages") or body.get("input") or body.get("contents"))
        model = request.model or answering_model(recording)
        provider = recording.id.split("/")[0]
        if (model, provider, asked, reported) in seen:
            continue
        seen.add((model, provider, asked, reported))
        counted = count(
            request.turns, model=model, system=request.system, tools=request.tools, output=request.output
        )
        yield Measured(recording.dialect, provider, model, reported, counted.total, is_judged(request))


def input_total(recording: Recording) -> int | None:
    if recording.wire == "ollama-native":
        return None
    dialect = dialects.get(recording.dialect)
    if recording.kind == "json":
        usage = dialect.decode_response(recording.body).usage
    else:
        decoder = dialect.stream_decoder()
        usage = collect([*decoder.feed(recording.data), *decoder.close()]).usage
    return usage.input_total if usage else None


def is_whole(request: Request, body: dict[str, Any]) -> bool:
    """Not where the vendor adds what the request does not hold, nor where the recording lacks a seal."""
    if any(key in body for key in ("previous_response_id", "cachedContent", "conversation", "prompt")):
        return False
    parts = [
        part
        for turn in request.turns
        for block in turn.blocks
        for part in (block, *getattr(block, "content", ()))
    ]
    if any(isinstance(part, Image | Document) and not part.data for part in parts):
        return False
    return all(isinstance(tool, Tool) for tool in request.tools) and "REDACTED" not in json.dumps(body)


def answering_model(recording: Recording) -> str:
    frames = [recording.body] if recording.kind == "json" else recording.frames
    for frame in frames:
        if isinstance(frame, dict):
            message = frame.get("message")
            nested = message.get("model") if isinstance(message, dict) else None
            if named := frame.get("modelVersion") or nested or frame.get("model"):
                return str(named)
    return ""


def is_judged(request: Request) -> bool:
    """By how a conversation begins, so that its later requests, and other models' answers, go together."""
    first = "".join(getattr(block, "text", None) or "" for turn in request.turns[:1] for block in turn.blocks)
    system = "".join(text.text for text in request.system)
    return hashlib.sha256((first + system).encode()).digest()[0] % 2 == 1


def report(measured: list[Measured]) -> str:
    groups: dict[tuple[str, str], list[Measured]] = defaultdict(list)
    for row in measured:
        groups[row.dialect, row.provider].append(row)
        groups[row.dialect, "all"].append(row)
        groups["all", "all"].append(row)
    lines = [
        "# Token estimates against reported input",
        "",
        "Relative error; `judged` are exchanges that no number was fitted to.",
        "",
        "| dialect | provider | fitted | median | judged | median | p90 |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for (dialect, provider), rows in sorted(groups.items()):
        fitted = [row.error for row in rows if not row.judged]
        judged = [row.error for row in rows if row.judged]
        cells = [str(len(fitted)), percent(fitted), str(len(judged)), percent(judged), percent(judged, 90)]
        lines.append(f"| {dialect} | {provider} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def percent(errors: list[float], share: int = 50) -> str:
    if not errors or (share != 50 and len(errors) < 5):
        return ""
    value = median(errors) if share == 50 else quantiles(errors, n=100)[share - 1]
    return f"{value:.1%}"
