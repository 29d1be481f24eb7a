"""Files: taken before the message that they belong to, and given back to their owner alone."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncGenerator

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.responses import Response

from thinkwire.errors import MalformedInput
from thinkwire.messages import Document, Image
from thinkwire.session.attachments import LARGEST, attached
from thinkwire.session.tools.output import picture_type
from thinkwire.store import RowNotFound
from thinkwire.web import schemas as shapes
from thinkwire.web.api import ownership as owned
from thinkwire.web.errors import Problem, not_there
from thinkwire.web.request import ApiRequest

_ROOM = 64 * 1024
"""Bytes of a form beside the file in it."""


async def upload(call: ApiRequest) -> shapes.File:
    """Keeps a file for a day. Its type is what it is, not what it is said to be."""
    name, data = await _taken(call)
    try:
        block = attached(data, name)
    except MalformedInput as error:
        raise Problem(415, "unsupported_file", f"{error}; pictures, PDFs and text can be attached") from None
    row = await call.web.store.add_upload(
        data, name=name, media_type=block.media_type or "text/plain", owner=call.owner
    )
    return shapes.File(row.id, row.media_type, row.name, row.size)


async def download(call: ApiRequest) -> Response:
    try:
        row, data = await call.web.store.upload(call.named("id"), call.owner)
    except RowNotFound:
        raise not_there("file") from None
    return served(data, row.media_type, row.name)


async def message_file(call: ApiRequest) -> Response:
    """A picture or file of a message."""
    kept = await owned.message(call)
    number = call.named("number")
    blocks = kept.turn.blocks
    at = int(number) if number.isascii() and number.isdigit() and len(number) < 6 else len(blocks)
    block = blocks[at] if at < len(blocks) else None
    if not isinstance(block, Image | Document):
        raise not_there("file")
    name = getattr(block, "name", None) or "file"
    if isinstance(block, Document) and block.text is not None:
        return served(block.text.encode("utf-8", "replace"), "text/plain", name)
    try:
        data = base64.b64decode(block.data or "", validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data:
        raise not_there("file")
    return served(data, block.media_type or "application/octet-stream", name)


def served(data: bytes, media: str, name: str) -> Response:
    """Shown only if it is a picture by its own bytes; everything else is saved, and nothing in it runs."""
    picture = picture_type(data)
    plain = name.encode("ascii", "replace").decode().replace('"', "'").replace("\\", "_")
    clean = "".join(character if " " <= character <= "~" else "_" for character in plain)[:150]
    headers = {
        "content-disposition": f'{"inline" if picture else "attachment"}; filename="{clean or "file"}"',
        "content-security-policy": "default-src 'none'; sandbox",
        "cache-control": "private, max-age=3600",
    }
    safe = picture or ("application/pdf" if media == "application/pdf" else "text/plain; charset=utf-8")
    if not picture and media not in ("application/pdf", "text/plain"):
        safe = "application/octet-stream"
    return Response(data, headers=headers, media_type=safe)


async def _taken(call: ApiRequest) -> tuple[str, bytes]:
    """The file of a form, as long as it is not too large."""
    request = call.request
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise Problem(415, "unsupported_file", "a file comes as multipart/form-data, in the field `file`")
    size = 0

    async def pieces() -> AsyncGenerator[bytes, None]:
        nonlocal size
        async for piece in request.stream():
            size += len(piece)
            if size > LARGEST + _ROOM:
                raise _too_large()
            yield piece

    try:
        form = await MultiPartParser(request.headers, pieces(), max_files=1, max_fields=4).parse()
    except (MultiPartException, KeyError) as error:
        raise MalformedInput(f"the form cannot be read: {getattr(error, 'message', error)}") from None
    try:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise MalformedInput("a file is missing", path="file")
        data = await file.read()
        if len(data) > LARGEST:
            raise _too_large()
        if not data:
            raise MalformedInput("the file is empty", path="file")
        return (file.filename or "file").replace("\\", "/").rpartition("/")[2][:200] or "file", data
    finally:
        await form.close()


def _too_large() -> Problem:
    return Problem(413, "too_large", f"a file may have {LARGEST // 1024 // 1024} MiB at most")
