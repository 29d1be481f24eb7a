"""Google's generateContent and streamGenerateContent, on the Gemini API and on Vertex.

What one part says, one block says, in both directions; nothing is merged or moved in a request's history, and
a `thoughtSignature` stays the seal of the very part it came on (seal `gemini.thought`).

Normalisations of a request that is read and written again:

* names in camelCase, at every level that is read here; what is kept whole stays as it was spelled
* known fields that are null, empty lists, an empty `generationConfig`, `toolConfig` or instruction: absent
* `systemInstruction` as an object with parts, also when it came as a string or a list; a content with the
  role `system` is moved there
* modes of `functionCallingConfig` in upper case; `stopSequences` as a list
* tool results come first in their content; one without a name gets the name of its call
* an empty id is no id; the bytes of pictures and documents in standard base64

A content of tool results and the user's content after it are one turn. Content that mixed the two by itself
goes out as one content again. A result without an id is matched to a call by name and order.

Answers read: neighbouring text parts without signature or other fields are one block, in a whole body as in a
stream; a signed part is a block of its own, be its text empty or not; an unsigned empty text is nothing;
missing arguments are `{}`.

What the wire cannot say, so that it does not come back: mid-conversation system turns; a user turn that holds
only results right before another user turn; thinking forms other than summary and (sealed, without text)
hidden; `field`, `refusal`, `interrupted` and the end `cancelled`; two texts in one tool result; neighbouring
plain texts in an answer; arguments that are not compact JSON; cache_write, and an output total whose visible
part is not known. In a stream a seal that comes after the text went out follows it on an empty part.
"""

from __future__ import annotations

from thinkwire.dialects.base import Dialect
from thinkwire.dialects.error_bodies import decode_error
from thinkwire.dialects.gemini.errors import encode_error
from thinkwire.dialects.gemini.request import decode_request, encode_request
from thinkwire.dialects.gemini.response import decode_response, encode_response
from thinkwire.dialects.gemini.stream_decoder import StreamDecoder
from thinkwire.dialects.gemini.stream_encoder import StreamEncoder

__all__ = ["GEMINI"]

GEMINI = Dialect(
    name="gemini",
    encode_request=encode_request,
    decode_response=decode_response,
    stream_decoder=StreamDecoder,
    decode_error=decode_error,
    decode_request=decode_request,
    encode_response=encode_response,
    stream_encoder=StreamEncoder,
    encode_error=encode_error,
)
