"""Pictures and documents: `inlineData` holds the bytes, `fileData` says where they are."""

from __future__ import annotations

import base64
import binascii

from thinkwire.dialects.gemini.constants import BLOB, NAME, fields
from thinkwire.dialects.shared import as_extras, own, split_data_url
from thinkwire.jsonvalue import JsonObject, Path, opt_str, require_object, require_str, unknown_fields
from thinkwire.messages import Document, Extras, Image

MARKS = frozenset(("inlineData", "fileData", "in_result"))
"""Keys of a media block's extras that are not fields of its part."""

_TYPE_BY_SUFFIX = {
    "gif": "image/gif",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "pdf": "application/pdf",
    "png": "image/png",
    "webp": "image/webp",
}
_READ_HERE = frozenset(("mimeType", "data", "fileUri"))


def read_media(part: JsonObject, path: Path, beside: JsonObject) -> Image | Document | None:
    """A part's picture or document; None for sound, film and whatever else has no neutral form.

    `beside` is what the part holds besides its data.
    """
    kind = "inlineData" if "inlineData" in part else "fileData"
    blob = fields(require_object(part, kind, path), BLOB)
    at = (*path, kind)
    place = (
        require_str(blob, "fileUri", at) if kind == "fileData" else _standard(require_str(blob, "data", at))
    )
    media_type = opt_str(blob, "mimeType", at) or ""
    if media_type.startswith("image/"):
        extras = _extras(kind, unknown_fields(blob, _READ_HERE), beside)
        if kind == "inlineData":
            return Image(media_type=media_type, data=place, extras=extras)
        return Image(media_type=media_type, url=place, extras=extras)
    if media_type != "application/pdf" and not media_type.startswith("text/"):
        return None
    name = opt_str(blob, "displayName", at)
    extras = _extras(kind, unknown_fields(blob, _READ_HERE | {"displayName"}), beside)
    if kind == "fileData":
        return Document(media_type=media_type, url=place, name=name, extras=extras)
    text = _plain(place) if media_type.startswith("text/") else None
    data = place if text is None else None
    return Document(media_type=media_type, data=data, text=text, name=name, extras=extras)


def write_media(block: Image | Document) -> JsonObject | None:
    """The part, without its signature; None when the block only holds another service's file id."""
    held = own(block.extras, NAME)
    kind, blob = _blob(block)
    if not blob:
        return None
    if isinstance(block, Document) and block.name is not None:
        blob["displayName"] = block.name
    return {kind: {**blob, **held.get(kind, {})}, **unknown_fields(held, MARKS)}


def is_linked(block: Image | Document) -> bool:
    """Whether the bytes are elsewhere."""
    return block.url is not None and split_data_url(block.url)[1] is None


def _blob(block: Image | Document) -> tuple[str, JsonObject]:
    media_type, data = block.media_type, block.data
    if isinstance(block, Document) and block.text is not None:
        media_type = media_type or "text/plain"
        data = base64.b64encode(block.text.encode("utf-8", "replace")).decode()
    elif block.url is not None:
        inner_type, data = split_data_url(block.url)
        media_type = media_type or inner_type or _TYPE_BY_SUFFIX.get(_suffix(block.url))
        if data is None:
            return "fileData", _typed(media_type, {"fileUri": block.url})
    return "inlineData", {} if data is None else _typed(media_type, {"data": data})


def _typed(media_type: str | None, blob: JsonObject) -> JsonObject:
    return blob if media_type is None else {"mimeType": media_type, **blob}


def _suffix(url: str) -> str:
    return url.partition("?")[0].rpartition(".")[2].lower()


def _extras(kind: str, inside: JsonObject, beside: JsonObject) -> Extras:
    return as_extras(NAME, {**beside, **({kind: inside} if inside else {})})


def _standard(data: str) -> str:
    """Base64 in the alphabet and with the padding that everyone reads; Google's own SDK writes another."""
    if "-" in data or "_" in data:
        data = data.replace("-", "+").replace("_", "/")
    return data + "=" * (-len(data) % 4)


def _plain(data: str) -> str | None:
    """The text behind the base64, if writing it again gives the very same base64."""
    try:
        raw = base64.b64decode(data, validate=True)
        text = raw.decode()
    except (binascii.Error, ValueError):
        return None
    return text if base64.b64encode(raw).decode() == data else None
