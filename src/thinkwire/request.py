"""The neutral request: what is asked of a model, in no vendor's words.

Reasoning controls are not here. A native request's `thinking`, `reasoning_effort`, `thinkingConfig` and their
kin stay in `extras` under the dialect that said them; turning them into another vendor's controls is the
resolver's work, and until it has spoken no encoder sends a foreign one.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from thinkwire.messages import Extras, Opaque, Text, Turn


class Tool(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="tool"):
    """A function that the model may call. `schema` is JSON Schema; None means that none was given."""

    name: str
    description: str | None = None
    schema: dict[str, Any] | None = None
    strict: bool | None = None
    extras: Extras = {}


class ToolChoice(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which tools the model may or must call. `only` narrows the choice to these names."""

    mode: Literal["auto", "none", "any"]
    only: tuple[str, ...] = ()


class OutputFormat(msgspec.Struct, frozen=True, omit_defaults=True):
    """Structured output: any JSON, or JSON of a schema."""

    schema: dict[str, Any] | None = None
    name: str | None = None
    strict: bool | None = None
    extras: Extras = {}


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request. Everything but the model and the turns is optional."""

    model: str = ""
    """Empty where the wire names the model elsewhere (Gemini puts it in the path)."""
    turns: tuple[Turn, ...] = ()
    system: tuple[Text, ...] = ()
    tools: tuple[Tool | Opaque, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    output: OutputFormat | None = None
    stream: bool | None = None
    extras: Extras = {}
