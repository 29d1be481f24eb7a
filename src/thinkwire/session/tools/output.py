"""What tools return, as blocks of a bounded size."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

import msgspec

from thinkwire.jsonvalue import repaired
from thinkwire.messages import Document, Image, Opaque, ResultContent, Text
from thinkwire.notes import Note
from thinkwire.session.tools.tool import Output, ToolFailed

MEDIA_LIMIT = 5_000_000
"""Base64 characters of pictures and files in a result; the strictest provider refuses larger pictures."""
NOTHING = "(no output)"

_PICTURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_encode = msgspec.json.Encoder(enc_hook=str).encode


def picture_type(data: bytes) -> str | None:
    """The media type of a picture that models can see, by its first bytes."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media for start, media in _PICTURES if data.startswith(start)), None)


def picture(data: bytes, media_type: str) -> Image:
    return Image(media_type=media_type, data=base64.b64encode(data).decode())


def output_of(value: Any) -> Output:
    """Any return value as an output: text as it is, pictures as pictures, everything else as JSON."""
    match value:
        case Output():
            return value
        case None:
            return Output((Text(NOTHING),))
        case list() | tuple() if value and all(_is_block(item) for item in value):
            return Output(tuple(value))
    return Output((_block(value),))


def _is_block(value: Any) -> bool:
    return isinstance(value, Text | Image | Document | Opaque)


def _block(value: Any) -> ResultContent:
    match value:
        case Text() | Image() | Document() | Opaque():
            return value
        case str():
            return Text(value)
        case bytes():
            return _of_bytes(value)
    try:
        return Text(_encode(value).decode())
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return Text(str(value))


def _of_bytes(data: bytes) -> ResultContent:
    media = picture_type(data)
    if media:
        return picture(data, media)
    try:
        return Text(data.decode())
    except UnicodeDecodeError:
        raise ToolFailed(
            f"The tool gave {len(data):,} bytes that are neither text nor a picture (PNG, JPEG, GIF, WebP)."
        ) from None


def bounded(output: Output, tool: str, text_limit: int) -> tuple[Output, tuple[Note, ...]]:
    """The output cut to its limits, in text that JSON can carry, with a Note for every change."""
    notes: list[Note] = []
    content = [_clean(block, tool, notes) for block in _with_media_in_bounds(output.content, tool, notes)]
    total = sum(len(_text(block).encode()) for block in content)
    room = text_limit
    for index, block in enumerate(content):
        kept = middle_cut(_text(block), room)
        room -= len(kept.encode())
        if kept != _text(block):
            content[index] = _with_text(block, kept)
    if total > text_limit:
        message = f"{tool} gave {total:,} bytes of text; {text_limit:,} are kept"
        detail = {"tool": tool, "bytes": total, "limit": text_limit}
        notes.append(Note("tool.truncated", message, detail=detail))
    content = [block for block in content if not isinstance(block, Text) or block.text]
    kept_blocks = tuple(content) or (Text(NOTHING),)
    return msgspec.structs.replace(output, content=kept_blocks), tuple(notes)


def middle_cut(text: str, limit: int) -> str:
    """The beginning and the end of a text that is too long, and between them how much is missing."""
    data = text.encode()
    if len(data) <= limit:
        return text
    marker = f"\n[… {len(data) - limit:,} bytes left out …]\n"
    room = max(0, limit - len(marker.encode()))
    head, tail = data[: room - room // 2], data[len(data) - room // 2 :]
    return f"{_partial(head)}{marker}{_partial(tail)}" if room else marker if limit > 0 else ""


def _partial(data: bytes) -> str:
    return data.decode("utf-8", "ignore")


def _clean(block: ResultContent, tool: str, notes: list[Note]) -> ResultContent:
    text = _text(block)
    clean = repaired(text)
    if clean == text:
        return block
    notes.append(Note("text.repaired", f"{tool}: characters that no JSON can carry were replaced"))
    return _with_text(block, clean)


def _text(block: ResultContent) -> str:
    match block:
        case Text(text=text):
            return text
        case Document(text=str(text)):
            return text
    return ""


def _with_text(block: ResultContent, text: str) -> ResultContent:
    assert isinstance(block, Text | Document)
    return msgspec.structs.replace(block, text=text)


def _with_media_in_bounds(
    content: Iterable[ResultContent], tool: str, notes: list[Note]
) -> Iterable[ResultContent]:
    room = MEDIA_LIMIT
    for block in content:
        size = len(block.data or "") if isinstance(block, Image | Document) else 0
        if size <= room:
            room -= size
            yield block
            continue
        kind = "picture" if isinstance(block, Image) else "file"
        message = f"a {kind} of {size * 3 // 4:,} bytes is left out: too large"
        notes.append(Note("tool.truncated", f"{tool}: {message}", detail={"tool": tool, "bytes": size}))
        yield Text(f"[{message}]")
