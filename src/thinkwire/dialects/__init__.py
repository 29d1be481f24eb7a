"""Four languages, both directions. A dialect renders and parses one wire completely, without IO or clock."""

from __future__ import annotations

from functools import cache

from thinkwire.dialects.base import Dialect, Encoded, StreamDecoder, StreamEncoder

__all__ = ["NAMES", "Dialect", "Encoded", "StreamDecoder", "StreamEncoder", "get"]

NAMES = ("anthropic", "openai-chat", "openai-responses", "gemini")


@cache
def get(name: str) -> Dialect:
    """The dialect of that name; `_` and `-` are the same."""
    match name.replace("_", "-"):
        case "anthropic":
            from thinkwire.dialects.anthropic import ANTHROPIC

            return ANTHROPIC
        case "openai-chat":
            from thinkwire.dialects.openai_chat import OPENAI_CHAT

            return OPENAI_CHAT
        case "openai-responses":
            from thinkwire.dialects.openai_responses import OPENAI_RESPONSES

            return OPENAI_RESPONSES
        case "gemini":
            from thinkwire.dialects.gemini import GEMINI

            return GEMINI
    raise KeyError(f"no dialect {name!r}; there are {', '.join(NAMES)}")
