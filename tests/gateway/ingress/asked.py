"""Requests as clients write them, and the models that they may be sent to."""

from __future__ import annotations

from functools import cache
from typing import Any

from thinkwire import dialects
from thinkwire.client.prepare import CallSpec, resolve_model
from thinkwire.gateway.ingress import Normalised, normalise
from thinkwire.replay import Destination, ReplaySettings
from thinkwire.request import Request

CLAUDE, GEMINI, DEEPSEEK, GROK = "claude-opus-5-5", "gemini-3.8-flash", "deepseek-v4-pro", "grok-4.6"
GPT, KIMI, OLD_CLAUDE = "gpt-5.6-terra", "kimi-k3", "claude-sonnet-4-5"
HOMES = {"anthropic": CLAUDE, "openai-responses": GPT, "gemini": GEMINI, "openai-chat": "gpt-4.1"}


@cache
def destination(model: str) -> Destination:
    return resolve_model(CallSpec(Request(), model, None, ReplaySettings()), 0).destination


def normal(dialect: str, body: dict[str, Any], model: str) -> Normalised:
    """A body as a model can be asked it."""
    return normalise(dialects.get(dialect).decode_request(body), dialect, destination(model))


def codes(normalised: Normalised) -> list[str]:
    return [note.code for note in normalised.notes]
