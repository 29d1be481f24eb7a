"""Whose wire a dialect is."""

from __future__ import annotations

from thinkwire.replay import Destination

HOME = {
    "anthropic": "anthropic",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "gemini": "google",
}
"""Dialect → the service that made it. Everybody else speaks it with an accent."""


def is_home(dialect: str, to: Destination) -> bool:
    """Whether a request in this dialect goes to the vendor whose dialect it is."""
    return to.provider == HOME[dialect] and to.dialect == dialect
