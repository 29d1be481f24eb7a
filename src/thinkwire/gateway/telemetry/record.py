"""One finished request as a value: what logs, metrics, traces and limits are told. No content, no secrets."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from thinkwire.errors import FailureKind
from thinkwire.usage import Usage

MOST_KINDS = 2048


class RequestLabels(msgspec.Struct, frozen=True, cache_hash=True, gc=False):
    """What a request was and how it went, as far as many requests have it in common.

    Whoever tells of requests may remember under it what is the same for all of its kind, for `MOST_KINDS` at
    most: names are bounded in length before they come here, but not in number.
    """

    tenant: str | None
    """None where no key was accepted."""
    dialect: str
    """The one that the client speaks."""
    operation: str
    """`generate`, `count_tokens`, `models`, …"""
    asked: str
    """The model as the client named it."""
    provider: str | None
    model: str | None
    """Who answered, under the provider's own name for it."""
    status: int
    """The HTTP status that the client got."""
    failure: FailureKind | None
    """Why there was no whole answer, also where the status was 200 already."""
    client_left: bool
    streamed: bool
    passed_through: bool
    """Same dialect in and out, bytes untouched."""
    requested: str | None
    """The level or budget that was asked for."""
    effective: str | None
    """What was sent instead or because of it: the very word or number."""
    finish: str | None
    notes: tuple[str, ...]
    """Codes; the messages go to the client only."""
    cost_estimated: bool = False
    """Whether the cost is an estimate: a price or the token counts are not known in full."""


labels_of = lru_cache(maxsize=MOST_KINDS)(RequestLabels)
"""The kind of these values, in the order of its fields; the same object again where it is remembered."""


class RequestRecord(msgspec.Struct, frozen=True):
    """Everything known about one request when it is over. What is not known is None."""

    id: str
    """Ours, also told to the client."""
    time: float
    """When it came, in seconds of the epoch."""
    kind: RequestLabels
    ms: float
    first_ms: float | None = None
    """Until the first piece of the answer, thinking included."""
    usage: Usage | None = None
    cost: float | None = None
    """US dollars."""
    restored: int = 0
    """Blocks that the client had dropped and the ledger put back."""
    response_id: str | None = None
    trace: str | None = None
    """The client's `traceparent`."""
