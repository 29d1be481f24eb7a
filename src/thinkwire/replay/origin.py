"""Whose thinking it is: seals go back to the origin that made them, and to nobody else."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

from thinkwire.messages import Origin, Seal

UNKNOWN_ORIGIN = Origin(provider="unknown")
"""The origin of thinking whose seal was forged: no provider gets it."""

_PORTS = {"https": 443, "http": 80}

READERS = {
    "anthropic": ("anthropic.signature", "anthropic.redacted"),
    "openai-responses": ("openai.encrypted", "openai.item"),
    "gemini": ("gemini.thought",),
    "openai-chat": ("openrouter.details", "copilot.opaque", "gemini.thought"),
}
"""Which seals a dialect has a place for."""

BOUND_TO_MODEL = ("openrouter.details", "copilot.opaque")
BOUND_TO_FAMILY = ("openai.encrypted", "openai.item")


@lru_cache(maxsize=1024)
def endpoint_key(endpoint: str | None) -> tuple[str, int | None, str] | None:
    """An address without what does not matter: case of the host, a default port, a trailing slash."""
    if not endpoint:
        return None
    parts = urlsplit(endpoint)
    return (parts.hostname or "", parts.port or _PORTS.get(parts.scheme), parts.path.rstrip("/"))


def family(model: str | None) -> str:
    """The part of a model's name that its sealed thinking is shared within: `gpt-5.6` of `gpt-5.6-terra`."""
    return "-".join((model or "").split("-")[:2])


def same_service(origin: Origin, provider: str, endpoint: str | None) -> bool:
    if origin.provider is not None and origin.provider != provider:
        return False
    known, asked = endpoint_key(origin.endpoint), endpoint_key(endpoint)
    return known is None or asked is None or known == asked


def readable(seal: Seal, origin: Origin | None, dialect: str, model: str) -> bool:
    """Whether this model, reached by this dialect at the seal's own service, can read the seal."""
    if seal.scheme not in READERS.get(dialect, ()):
        return False
    if origin is None or origin.model is None:
        return True
    if seal.scheme in BOUND_TO_MODEL:
        return origin.model == model
    return seal.scheme not in BOUND_TO_FAMILY or family(origin.model) == family(model)
