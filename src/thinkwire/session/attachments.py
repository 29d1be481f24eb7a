"""Files as blocks: pictures and PDFs as they are, everything readable as text."""

from __future__ import annotations

import base64
from pathlib import Path

from thinkwire.errors import MalformedInput
from thinkwire.messages import Document, Image
from thinkwire.session.tools.output import picture_type

LARGEST = 20 * 1024 * 1024
"""Bytes; no provider takes more in one request."""


def attachment(path: Path) -> Image | Document:
    """A file for the model to see; MalformedInput says why it cannot be one."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise MalformedInput(f"{path} has {size:,} bytes; {LARGEST:,} is the most that providers take")
        data = path.read_bytes()
    except OSError as error:
        raise MalformedInput(f"cannot read {path}: {error.strerror}") from None
    return attached(data, path.name)


def attached(data: bytes, name: str | None = None) -> Image | Document:
    """Bytes for the model to see."""
    media = picture_type(data)
    if media is not None:
        return Image(media_type=media, data=base64.b64encode(data).decode())
    if data.startswith(b"%PDF"):
        return Document("application/pdf", data=base64.b64encode(data).decode(), name=name)
    try:
        return Document("text/plain", text=data.decode("utf-8"), name=name)
    except UnicodeDecodeError:
        raise MalformedInput(f"{name or 'this'} is neither text nor a picture nor a PDF") from None
