"""How servers of this dialect differ, as data."""

from __future__ import annotations

from typing import Literal

import msgspec


class Quirks(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What one server wants, or does, that others do not. The defaults suit a server nobody knows."""

    reasoning_field: str | None = None
    """Where thinking goes back: None as it came; `reasoning_content`, `reasoning`, `reasoning_text`,
    `thinking`, `content` (Mistral's parts), `tag:think` and its kin force one place; `omit` sends none."""

    answer_field: str | None = None
    """The one field in which answers carry their thinking; None: any that is known."""

    fill_reasoning: bool = False
    """Every assistant message gets the reasoning field, empty where none was thought (DeepSeek, Kimi)."""

    think_tags: Literal["auto", "inside", "off"] = "auto"
    """Tags in answers: looked for at the start, already open when the answer begins, or plain text."""

    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    """None: as it came, else `max_completion_tokens`."""

    system_role: Literal["system", "developer"] | None = None
    """None: as it came, else `system`."""

    several_systems: bool = True
    """False: system messages later in the conversation join the first one."""

    empty_content: Literal["null", "empty", "omit"] | None = None
    """An assistant's `content` when it said nothing: null, `""` or no field. None: as it came, else null
    beside tool calls and `""` otherwise."""

    text_lists: bool = True
    """False: content of several texts and nothing else is joined to one string."""

    tool_result_images: bool = False
    """True: tool messages may hold pictures and files. False: those follow in a user message."""

    answer_after_tools: str | None = None
    """Words of an assistant message to put between tool results and the user's next words (Mistral)."""

    tool_id_length: int | None = None
    """Tool-call ids are exactly so many letters and digits (Mistral: 9); others are replaced throughout."""

    tool_id_longest: int | None = None
    """Tool-call ids have at most so many characters (OpenAI: 64); longer ones are replaced throughout."""

    strict_tools: bool = True
    """False: `strict` is not sent with tools."""

    output_schemas: bool = True
    """False: output can be any JSON, but not JSON of a schema (DeepSeek)."""

    signed_formats: tuple[str, ...] = ()
    """Formats of `reasoning_details` whose readable entries are refused without a signature; such entries are
    not sent back (OpenRouter passes them to vendors that check)."""

    refused_fields: tuple[str, ...] = ()
    """Request fields that the server answers with an error; they are not sent."""

    known_fields: tuple[str, ...] | None = None
    """Every request field of a server that refuses all others. None: it takes or ignores whatever comes."""

    message_fields: dict[str, tuple[str, ...]] = {}
    """Role → every field that messages of that role may have besides it; other fields are not sent. A role
    that is not named may have any."""

    tool_types: tuple[str, ...] | None = None
    """The types of tools that the server knows; others are not sent. None: any."""

    seed_field: Literal["seed", "random_seed"] = "seed"

    def takes(self, field: str) -> bool:
        """Whether a request may have this field."""
        return self.known_fields is None or field in self.known_fields


USUAL = Quirks()
"""A server nobody knows."""
