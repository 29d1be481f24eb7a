"""Anthropic's Messages API, and what other vendors serve under it.

Same-dialect round trips of a request give the same JSON, up to this:

* one plain text block and the string are the same, in a message, in `system` and in a tool result;
* known fields that are null, empty lists (tools, stop sequences, citations) and an empty `system` are absent;
* a `thinking` block that spells its text `text` is spelt right;
* thinking without a signature, empty text, and messages in which nothing else is left are not sent, and a
  tool choice is not sent without tools; Notes say so.

Canonical form, beyond which the wire has no words:

* thinking has no `field`; it is `redacted` with an `anthropic.redacted` seal and no text, or `hidden` with no
  text, or else `full`; no other block has a seal, and no text is marked as a refusal;
* tool arguments are the compact JSON text of an object; tool results carry no name;
* images and documents are in users' turns and in tool results (a native one in a model's turn is `Opaque`);
  inline images have a media type, documents of plain text `text/plain`;
* turns are not empty, but for a system turn with extras; no text is empty, but for a tool result's only one;
* tools have a schema with a type; a tool choice comes with tools and narrows to one tool at most; parallel
  calls are spoken of together with a choice other than `none`;
* an output format has a schema, and neither name nor strictness;
* an answer has a finish other than `error` and `cancelled`, `tool_calls` if it calls tools instead of `stop`,
  and usage with the uncached input and the whole output known (an unknown count is written as 0, and noted).

`encode_request` invents nothing: without `max_tokens` in the request there is none in the body, though the
vendor wants it. Vendors that serve this wire without signatures want thinking back all the same:
`encode_request(request, unsigned_thinking=True)`.
"""

from __future__ import annotations

from thinkwire.dialects.anthropic.constants import NAME
from thinkwire.dialects.anthropic.errors import encode_error
from thinkwire.dialects.anthropic.request import decode_request, encode_request
from thinkwire.dialects.anthropic.response import decode_response, encode_response
from thinkwire.dialects.anthropic.stream_decoder import StreamDecoder
from thinkwire.dialects.anthropic.stream_encoder import StreamEncoder
from thinkwire.dialects.base import Dialect
from thinkwire.dialects.error_bodies import decode_error

__all__ = ["ANTHROPIC"]

ANTHROPIC = Dialect(
    name=NAME,
    encode_request=encode_request,
    decode_response=decode_response,
    stream_decoder=StreamDecoder,
    decode_error=decode_error,
    decode_request=decode_request,
    encode_response=encode_response,
    stream_encoder=StreamEncoder,
    encode_error=encode_error,
)
