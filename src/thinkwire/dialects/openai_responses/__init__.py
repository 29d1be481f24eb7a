"""OpenAI's Responses API and its lookalikes (xAI, Azure, DeepSeek, LM Studio, Bedrock, OpenRouter, Codex)."""

from __future__ import annotations

from thinkwire.dialects.base import Dialect
from thinkwire.dialects.failures import decode_error
from thinkwire.dialects.openai_responses.decoder import StreamDecoder
from thinkwire.dialects.openai_responses.encoder import StreamEncoder
from thinkwire.dialects.openai_responses.errors import encode_error
from thinkwire.dialects.openai_responses.request import decode_request, encode_request
from thinkwire.dialects.openai_responses.response import decode_response, encode_response

__all__ = ["OPENAI_RESPONSES"]

OPENAI_RESPONSES = Dialect(
    name="openai-responses",
    encode_request=encode_request,
    decode_response=decode_response,
    stream_decoder=StreamDecoder,
    decode_error=decode_error,
    decode_request=decode_request,
    encode_response=encode_response,
    stream_encoder=StreamEncoder,
    encode_error=encode_error,
)
