"""Chat Completions: OpenAI's first wire, and with it that of nearly every other server.

Reading forgives what servers do (see the quirk tests); `Quirks` says what one server wants. Ollama's native
answers are read too.

Thinking keeps the `field` it came in: `reasoning_content`, `reasoning`, `reasoning_text`, `thinking`,
`content` (a part of the content), `reasoning_details`, or `tag:think` and its kin; it goes back in the same
one. `reasoning_details` become a seal, `openrouter.details`, which holds all entries, readable or not.

A request that is read and written again differs from the original only in this:

* known fields that are null, empty `tools`, `tool_calls` and `stop`, an empty first system message are gone;
* content of one plain text part is a string; `content` of a user that is `[]` or null is `""`;
* an assistant's absent content is null beside tool calls or a refusal, and `""` otherwise;
* empty tool arguments are `{}`; a missing `type` of a tool or call is `function`.

What this wire cannot say, so that it comes back otherwise: two texts in an answer (they are joined), several
thinking blocks in one field, another order than thinking, text, tool calls (a stream keeps the order), empty
text, empty tool arguments, thinking without a field, whether a tool failed, pictures in a tool's result, and
consecutive user turns of which the first holds results only.
"""

from __future__ import annotations

from thinkwire.dialects.base import Dialect
from thinkwire.dialects.error_bodies import decode_error
from thinkwire.dialects.openai_chat.errors import encode_error
from thinkwire.dialects.openai_chat.request import decode_request, encode_request
from thinkwire.dialects.openai_chat.response import decode_response, encode_response
from thinkwire.dialects.openai_chat.stream_decoder import StreamDecoder
from thinkwire.dialects.openai_chat.stream_encoder import StreamEncoder

OPENAI_CHAT = Dialect(
    name="openai-chat",
    encode_request=encode_request,
    decode_response=decode_response,
    stream_decoder=StreamDecoder,
    decode_error=decode_error,
    decode_request=decode_request,
    encode_response=encode_response,
    stream_encoder=StreamEncoder,
    encode_error=encode_error,
)
