"""The shape of a rule: who refuses what, why, and in which words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from thinkwire.catalog import Facts
from thinkwire.sim.seals import SimSealer


class RuleInput(NamedTuple):
    """A request as it came over the wire, and what is known about the model it names."""

    provider: str
    dialect: str
    model: str
    facts: Facts | None
    body: dict[str, Any]
    headers: Mapping[str, str]
    """Lower-case names."""
    sealer: SimSealer
    account: str
    """Who asks: a digest of the key."""


class Refusal(NamedTuple):
    """A rule's answer: the words and, where the vendor gives them, the code and the parameter."""

    message: str
    code: str | None = None
    param: str | None = None


class Rule(NamedTuple):
    """One refusal of one vendor."""

    id: str
    """`vendor.what`, e.g. `anthropic.budget_below_minimum`."""
    providers: tuple[str, ...]
    dialects: tuple[str, ...]
    reason: str
    source: str
    check: Callable[[RuleInput], Refusal | str | None]
    """The refusal, or None when the request may pass. A string is a refusal of these words."""
    status: int = 400
    kind: str = "invalid_request_error"
    """The vendor's error type."""
