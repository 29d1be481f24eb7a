"""What a request may cost, for its reservation, and what it is charged where its usage was not reported."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from thinkwire.catalog import Facts
from thinkwire.client.prepare import ResolvedModel
from thinkwire.context import estimate_text
from thinkwire.gateway.auth.counters import Reservation
from thinkwire.gateway.auth.limits import Limits
from thinkwire.gateway.pipeline.context import RequestContext
from thinkwire.gateway.telemetry.cost import bound_of, cost_of, has_price
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Turn
from thinkwire.pricing import context_of
from thinkwire.usage import Usage

BYTES_PER_TOKEN = 3
"""Fewer than prose has, so that code and JSON are not estimated too low."""
MEDIA_TOKENS = 3_000
"""For an image or a document in base64."""
MEDIA_LETTERS = 4096
"""A text of at least this length whose beginning has no space is taken for base64."""
STORED_TOKENS = 50_000
"""For the conversation before a request that continues a stored response."""
TOKENS_PER_SECOND = 100
"""Output tokens assumed per second while a model thinks invisibly and has not reported usage."""
MOST_INPUT = 2_000_000
_MOST_CHOICES = 128

_MOST_OUTPUT = {
    "anthropic": ("max_tokens",),
    "openai-chat": ("max_completion_tokens", "max_tokens"),
    "openai-responses": ("max_output_tokens",),
    "gemini": ("maxOutputTokens", "max_output_tokens"),
}
"""Dialect → the fields that bound an answer; Gemini's are in `generationConfig`."""
_CHOICES = ("n", "candidateCount", "candidate_count")


class Estimate(msgspec.Struct, frozen=True):
    """The most that a request is expected to use."""

    input_tokens: int
    output_tokens: int


class Held(msgspec.Struct, frozen=True):
    """A reservation, and the estimate that it was made from."""

    reservation: Reservation
    estimate: Estimate


def estimate(body: JsonObject, dialect: str, facts: Facts | None, default_output: int) -> Estimate:
    """Estimate a request from its body: its input, and the longest answer that it allows.

    Where the request names no maximum, `default_output` counts, or the model's own if that is less.
    """
    window = context_of(facts) if facts is not None else None
    longest = facts.max_output if facts is not None else None
    options = body.get("generationConfig", body.get("generation_config")) if dialect == "gemini" else body
    asked = options if isinstance(options, dict) else {}
    said = next((count for name in _MOST_OUTPUT[dialect] if (count := _count(asked.get(name)))), None)
    output = min(said or default_output, longest or MOST_INPUT)
    choices = max(_count(asked.get(name)) or 1 for name in _CHOICES)
    given = input_tokens(body, window or MOST_INPUT)
    if "previous_response_id" in body:
        given = min(given + STORED_TOKENS, window or MOST_INPUT)
    return Estimate(given, output * min(choices, _MOST_CHOICES))


def _count(value: Any) -> int | None:
    """A positive number of tokens, also where JSON has it with a point."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value < math.inf:
        return None
    return int(value)


def input_tokens(body: JsonObject, most: int) -> int:
    """Estimate the tokens of everything that a body says, up to `most`. One step for each value in it."""
    waiting: list[Any] = [body]
    tokens = 0
    while waiting and tokens < most:
        value = waiting.pop()
        if isinstance(value, str):
            tokens += 1 + (MEDIA_TOKENS if _is_media(value) else _text_tokens(value))
        elif isinstance(value, dict):
            tokens += len(value)
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        else:
            tokens += 1
    return min(tokens, most)


def _is_media(text: str) -> bool:
    return len(text) >= MEDIA_LETTERS and text.isascii() and " " not in text[:MEDIA_LETTERS]


def _text_tokens(text: str) -> int:
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return -(-size // BYTES_PER_TOKEN)


async def hold(limits: Limits, call: RequestContext, to: ResolvedModel, body: JsonObject) -> Held | None:
    """Reserve the estimated cost of a request of a tenant with a daily spend, or refuse it."""
    provider, model = to.provider.name, to.model
    limits.check_price(call.tenant, has_price(provider, model))
    facts = to.found.facts if to.found is not None else None
    expected = estimate(body, call.dialect, facts, call.config.limits.reserve_output_tokens)
    cost = _priced(expected.input_tokens, expected.output_tokens, provider, model)
    reservation = await limits.reserve(call.tenant, cost)
    return None if reservation is None else Held(reservation, expected)


def charge(call: RequestContext, expected: Estimate) -> float:
    """What a request is charged when it is over, in US dollars.

    Its cost where that is known; nothing where no model was asked, or one failed before it answered; else an
    estimate, which is noted in the call.
    """
    usage, provider, model = call.usage, call.provider, call.model
    cost = cost_of(usage, provider, model)
    if cost is not None:
        return cost
    if provider is None or model is None:
        return 0.0
    turn, reported = call.so_far() if call.so_far is not None else (None, None)
    if call.failure is not None and usage is None and (turn is None or not turn.blocks):
        return 0.0
    cost = bound_of(usage, provider, model)
    if cost is None:
        used = _used_at_least(call, usage or reported, turn, expected)
        cost = bound_of(used, provider, model)
    call.estimated_cost = cost
    return cost or 0.0


def _used_at_least(call: RequestContext, told: Usage | None, turn: Turn | None, expected: Estimate) -> Usage:
    """Estimate the usage of an answer that was not received to its end.

    The input as it was reported, or as it was estimated; of the output what was received, or what a model
    writes in the time that the request took, whichever is more, because thinking may be hidden.
    """
    told = told or Usage()
    hidden = min(int(call.seconds * TOKENS_PER_SECOND), expected.output_tokens)
    output = max(_written(turn) if turn is not None else 0, hidden, told.output_total or 0, 1)
    given = expected.input_tokens if told.input_total is None else told.input_total
    return msgspec.structs.replace(told, input_total=given, output_total=output)


def _written(turn: Turn) -> int:
    """The tokens of what was received of an answer."""
    texts = (getattr(block, name, "") for block in turn.blocks for name in ("text", "arguments"))
    return sum(map(estimate_text, texts))


def _priced(given: int, output: int, provider: str, model: str) -> float:
    return bound_of(Usage(input_total=given, output_total=output), provider, model) or 0.0
