"""OpenAI's Responses API and its lookalikes: xAI, Azure, DeepSeek, LM Studio, Bedrock, OpenRouter, Codex.

What a request round trip normalises: one plain text ↔ string content (in messages of users and systems, and
in tool results); known fields that are null, an empty `tools`, and a reasoning item's empty `content` and
`encrypted_content` are absent; a missing `input` or `summary` is `[]`; call ids that the wire would refuse
are renamed, with a Note. Everything else comes back as it was. Where a native form is not the one that we
write by ourselves, extras say so: `{"type": "message"}` on a user's turn, `{"no_type": True}`,
`{"string": True}`, `{"part": n}` and `{"item": {…}}` (unknown fields of the item, not of the part) on a
model's text, `{"parts": […]}` (lengths of the joined parts), `{"summary": […]}` and `{"content": […]}` on
thinking, `{"id": None}` on thinking that came with neither id nor seal, `{"input": "string"}` on a turn.

Items of the model's side that follow each other are one turn. An item that only a request can hold (an
`*_output` other than `program_output`, `item_reference`, `configuration_update`, …) is on the user's side.

What the wire cannot say, or says only in this form:

* System text is one block; several are joined by a blank line. Tool results have no failure flag and no
  name, and an empty result has no content. `stop`, `top_k`, `seed` and penalties do not exist.
* Thinking with text from this wire carries its item id in extras beside its seal (`openai.encrypted`, or
  `openai.item` for a stored item); hidden thinking is sealed by the item id alone. Thinking without a seal
  goes back only if it came from here. In answers, thinking of other makers is shown as a summary.
* In a stream an item's id comes first: an `openai.item` seal that is told after the text is not said, unless
  the block started with that id in its extras.
* `continue` is `incomplete`, `error` is a failure, and a failure keeps its kind and message only. Two turns
  of the model in a row are one. Interrupted blocks are incomplete items.
* Counts that nobody knows are 0 on the wire, which allows nothing else, and are listed in `unknown_tokens`.
* Items to which nobody gave an id get one that we know again. It is dropped when it comes back, in answers
  and in requests: it is no stored item's id, and no seal.
"""

from __future__ import annotations

from thinkwire.dialects.base import Dialect
from thinkwire.dialects.error_bodies import decode_error
from thinkwire.dialects.openai_responses.errors import encode_error
from thinkwire.dialects.openai_responses.request import decode_request, encode_request
from thinkwire.dialects.openai_responses.response import decode_response, encode_response
from thinkwire.dialects.openai_responses.stream_decoder import StreamDecoder
from thinkwire.dialects.openai_responses.stream_encoder import StreamEncoder

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
