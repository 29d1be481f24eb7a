"""The plan: what will be sent, what it amounts to, and why."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from thinkwire.catalog import Facts
from thinkwire.notes import Note
from thinkwire.reasoning.intent import Intent

Outcome = Literal["sent", "adjusted", "implied", "suppressed", "unsupported"]
"""What became of a control: sent as asked; sent otherwise; true without being sent; left out because
something else was said; left out because the model has no such control."""


class Setting(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model will be told: off, or on with at most one of an effort word and a budget."""

    on: bool | None = None
    """None when nothing is said and the model does what it does."""
    effort: str | None = None
    budget: int | None = None
    between_tools: bool = False


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One request's reasoning, decided. The client sends it, and every face prints it."""

    provider: str
    model: str
    dialect: str
    facts: Facts | None
    requested: Intent
    effective: Setting
    outcome: Outcome
    patch: dict[str, Any] = {}
    """Native fields, merged into the encoded body."""
    headers: dict[str, str] = {}
    controls: dict[str, Outcome] = {}
    """The outcome of each control that was asked for: level, budget, show, sampling, tool_choice, …"""
    notes: tuple[Note, ...] = ()
