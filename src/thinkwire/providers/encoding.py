"""A request in a service's own accent."""

from __future__ import annotations

import msgspec

from thinkwire import dialects
from thinkwire.catalog import Facts
from thinkwire.dialects.base import Encoded
from thinkwire.dialects.openai_chat.request import encode_request as encode_chat
from thinkwire.providers.provider import Provider
from thinkwire.request import Request


def encode_for(
    provider: Provider | None,
    dialect: str,
    request: Request,
    facts: Facts | None = None,
    *,
    clean: bool = True,
) -> Encoded:
    """The body for this service; on the chat wire its quirks are honoured.

    A model that takes no thinking back gets no empty field for it either, whatever its service does. `clean`
    is the chat wire's.
    """
    if dialect != "openai-chat" or provider is None:
        return dialects.get(dialect).encode_request(request)
    quirks = provider.quirks
    if quirks.fill_reasoning and facts is not None and facts.replay == "never":
        quirks = msgspec.structs.replace(quirks, fill_reasoning=False)
    return encode_chat(request, quirks=quirks, clean=clean)
