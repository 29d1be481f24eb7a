"""One finished request as a value: what logs, metrics, traces and limits are told. No content, no secrets."""

from __future__ import annotations

import msgspec

from thinkwire.errors import FailureKind
from thinkwire.usage import Usage


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known about one request when it is over. What is not known is None."""

    id: str
    """Ours, also told to the client."""
    time: float
    """When it came, in seconds of the epoch."""
    tenant: str
    dialect: str
    """The one that the client speaks."""
    operation: str = "generate"
    """`generate`, `count_tokens`, `models`, …"""
    asked: str = ""
    """The model as the client named it."""
    provider: str | None = None
    model: str | None = None
    """Who answered, under the provider's own name for it."""
    status: int
    """The HTTP status that the client got."""
    failure: FailureKind | None = None
    """Why there was no whole answer, also where the status was 200 already."""
    client_left: bool = False
    streamed: bool = False
    passed_through: bool = False
    """Same dialect in and out, bytes untouched."""
    ms: float
    first_ms: float | None = None
    """Until the first piece of the answer, thinking included."""
    usage: Usage | None = None
    cost: float | None = None
    """US dollars."""
    requested: str | None = None
    """The level or budget that was asked for."""
    effective: str | None = None
    """What was sent instead or because of it: the very word or number."""
    finish: str | None = None
    response_id: str | None = None
    notes: tuple[str, ...] = ()
    """Codes; the messages go to the client only."""
    restored: int = 0
    """Blocks that the client had dropped and the ledger put back."""
    trace: str | None = None
    """The client's `traceparent`."""
