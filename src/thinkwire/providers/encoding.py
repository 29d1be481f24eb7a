"""A request in a service's own accent."""

from __future__ import annotations

from thinkwire import dialects
from thinkwire.dialects.base import Encoded
from thinkwire.dialects.openai_chat.request import encode_request as encode_chat
from thinkwire.providers.provider import Provider
from thinkwire.request import Request


def encode_for(provider: Provider | None, dialect: str, request: Request) -> Encoded:
    """The body for this service; on the chat wire its quirks are honoured."""
    if dialect == "openai-chat" and provider is not None:
        return encode_chat(request, quirks=provider.quirks)
    return dialects.get(dialect).encode_request(request)
