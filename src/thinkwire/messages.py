"""The neutral format: blocks, seals, turns, conversations.

A turn is a tuple of blocks in the order in which they came; order is meaning. Blocks are values: equal by
content, never changed. What a wire says beyond this format is kept in `extras`, keyed by dialect, so that a
round trip through the same dialect loses nothing and another dialect never sees it.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from thinkwire.errors import MalformedInput

Extras: TypeAlias = dict[str, dict[str, Any]]
"""Native fields that the neutral format has no word for: dialect name → field → value."""

Form = Literal["full", "summary", "redacted", "hidden"]
Role = Literal["system", "user", "assistant"]

FORMAT_VERSION = 1


class Seal(msgspec.Struct, frozen=True):
    """Opaque proof of a model's own thought. Goes back byte for byte to the origin that made it, to no other.

    `scheme` says who can read it: `anthropic.signature`, `anthropic.redacted`, `openai.encrypted`,
    `openai.item` (a stored item's id), `gemini.thought`, `openrouter.details`, `copilot.opaque`.
    """

    scheme: str
    data: str

    def __repr__(self) -> str:
        """Seals are secrets: what is printed or logged tells their size only."""
        return f"Seal({self.scheme!r}, <{len(self.data):,} characters>)"


class Origin(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who wrote a turn."""

    provider: str | None = None
    endpoint: str | None = None
    model: str | None = None
    response_id: str | None = None
    time: float | None = None
    """Seconds since the epoch, set by whoever has a clock."""


class Text(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="text"):
    """Visible text. `refusal` marks the words with which a model declined."""

    text: str = ""
    refusal: bool = False
    seal: Seal | None = None
    interrupted: bool = False
    extras: Extras = {}


class Thinking(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="thinking"):
    """Reasoning as the provider showed it. Redacted and hidden thinking have a seal and no text."""

    text: str = ""
    form: Form = "full"
    field: str | None = None
    """The native field it came in (`reasoning_content`, `reasoning`, …); it goes back in the same one."""
    seal: Seal | None = None
    interrupted: bool = False
    extras: Extras = {}


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="tool_call"):
    """A call the model asks for. `arguments` is the raw JSON text; it may be broken if the stream was."""

    id: str
    name: str
    arguments: str = ""
    seal: Seal | None = None
    interrupted: bool = False
    extras: Extras = {}


class Image(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="image"):
    """A picture: exactly one of `data` (base64), `url`, `file_id`."""

    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    seal: Seal | None = None
    extras: Extras = {}


class Document(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="document"):
    """A file to read: exactly one of `data` (base64), `text` (plain), `url`, `file_id`."""

    media_type: str | None = None
    data: str | None = None
    text: str | None = None
    url: str | None = None
    file_id: str | None = None
    name: str | None = None
    extras: Extras = {}


class Opaque(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="opaque"):
    """A native block that we do not know: kept verbatim, given back only to the dialect it came from."""

    dialect: str
    data: Any


ResultContent: TypeAlias = Text | Image | Document | Opaque


class ToolResult(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="tool_result"):
    """What a tool gave back. `name` is the tool's, where the wire tells it."""

    call_id: str
    content: tuple[ResultContent, ...] = ()
    name: str | None = None
    failed: bool = False
    extras: Extras = {}


Block: TypeAlias = Text | Thinking | ToolCall | ToolResult | Image | Document | Opaque


class Turn(msgspec.Struct, frozen=True, omit_defaults=True):
    """One side's say. Tool results belong to the user's side and come before anything else in it."""

    role: Role
    blocks: tuple[Block, ...] = ()
    origin: Origin | None = None
    extras: Extras = {}

    @property
    def text(self) -> str:
        """The visible text."""
        return "".join([block.text for block in self.blocks if type(block) is Text])

    @property
    def thinking(self) -> str:
        """The readable thinking."""
        return "\n\n".join(block.text for block in self.blocks if type(block) is Thinking and block.text)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple([block for block in self.blocks if type(block) is ToolCall])


class Conversation(msgspec.Struct, frozen=True, omit_defaults=True):
    """System text and turns; it only ever grows at its end."""

    system: tuple[Text, ...] = ()
    turns: tuple[Turn, ...] = ()

    def plus(self, *turns: Turn) -> Conversation:
        return msgspec.structs.replace(self, turns=self.turns + turns)

    def to_json(self) -> bytes:
        """The versioned file form, described in docs/format.md."""
        return _encode({"version": FORMAT_VERSION, "conversation": self})

    @staticmethod
    def from_json(data: bytes | str) -> Conversation:
        try:
            file = _decode_file(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise MalformedInput(f"not a thinkwire conversation: {error}") from None
        if file.version != FORMAT_VERSION:
            raise MalformedInput(
                f"conversation format {file.version} is not known here (this version reads {FORMAT_VERSION})",
                path="version",
            )
        return file.conversation


class _File(msgspec.Struct):
    version: int
    conversation: Conversation


_encode = msgspec.json.Encoder().encode
_decode_file = msgspec.json.Decoder(_File).decode
