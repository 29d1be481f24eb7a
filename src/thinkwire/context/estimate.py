"""A request in tokens, by kind, as the vendor will bill it. Own estimator: no tokenizer, no network."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from thinkwire.context.families import Family, family_of, image_rule, seal_rule
from thinkwire.context.media import document_tokens, image_tokens
from thinkwire.context.text import estimate_text, weigh
from thinkwire.messages import (
    Block,
    Document,
    Image,
    Opaque,
    Seal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)
from thinkwire.replay.policy import current_turn
from thinkwire.request import OutputFormat, Tool

__all__ = ["KINDS", "Count", "count", "estimate_text"]

Kind = Literal[
    "system", "text", "thinking", "sealed", "tool_calls", "tool_results", "tools", "media", "overhead"
]

KINDS: tuple[Kind, ...] = (
    "system",
    "text",
    "thinking",
    "sealed",
    "tool_calls",
    "tool_results",
    "tools",
    "media",
    "overhead",
)

_NESTED = ("properties", "$defs", "definitions")

_encode = msgspec.json.Encoder(enc_hook=repr).encode


class Count(msgspec.Struct, frozen=True):
    """Tokens by kind; the kinds do not overlap, and `total` is their sum."""

    system: int = 0
    text: int = 0
    thinking: int = 0
    """Thinking that can be read."""
    sealed: int = 0
    """Thinking that only its vendor can read, as far as it is billed."""
    tool_calls: int = 0
    tool_results: int = 0
    tools: int = 0
    """Definitions of tools, and the schema of a structured answer."""
    media: int = 0
    overhead: int = 0
    """What stands around messages, calls and the request itself."""
    by: str = "estimator"

    @property
    def total(self) -> int:
        return sum(self.kinds.values())

    @property
    def kinds(self) -> dict[str, int]:
        return {kind: getattr(self, kind) for kind in KINDS}


def count(
    turns: Iterable[Turn],
    *,
    model: str = "",
    system: Iterable[Text] = (),
    tools: Iterable[Tool | Opaque] = (),
    output: OutputFormat | None = None,
    thinking: bool = True,
    everything: bool = False,
) -> Count:
    """What these turns cost as input of that model, when they are sent just so.

    `thinking` says whether the model will think about this request; some vendors read no earlier thinking
    when it will not. `everything` counts also what the vendor would leave out unbilled.
    """
    turns = tuple(turns)
    tally = _Tally(family_of(model))
    tally.add("overhead", tally.family.start)
    for text in system:
        tally.words("system", text.text)
    tally.definitions(tuple(tools), output)
    start = current_turn(turns)
    for index, turn in enumerate(turns):
        tally.add("overhead", tally.family.message)
        current = everything or index >= start
        forgotten = tally.forgotten(current=current, thinking=everything or thinking)
        for block in turn.blocks:
            tally.block(block, turn, forgotten)
    return tally.counted()


class _Tally:
    """Sums in fractions, so that nothing is rounded before the end."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.sums: dict[Kind, float] = dict.fromkeys(KINDS, 0.0)

    def add(self, kind: Kind, tokens: float) -> None:
        self.sums[kind] += tokens

    def words(self, kind: Kind, text: str) -> None:
        self.sums[kind] += weigh(text) * self.family.factor

    def counted(self) -> Count:
        whole: dict[str, int] = {kind: math.ceil(tokens) for kind, tokens in self.sums.items()}
        return msgspec.convert(whole, Count)

    def forgotten(self, *, current: bool, thinking: bool) -> frozenset[str]:
        """What of a turn's thinking is not billed."""
        if self.family.forgets_when_off and not thinking:
            return frozenset(("text", "seal"))
        return frozenset() if current else frozenset(self.family.forgets)

    def definitions(self, tools: tuple[Tool | Opaque, ...], output: OutputFormat | None) -> None:
        if output is not None and output.schema is not None:
            weight = _schema_weight(output.schema, terse=False)
            self.add("tools", weight * self.family.factor)
        if not tools:
            return
        self.add("tools", self.family.tools_start)
        for tool in tools:
            terse = self.family.terse
            weight = _tool_weight(tool, terse=terse) if isinstance(tool, Tool) else _weight_of(tool.data)
            self.add("tools", self.family.tool + weight * self.family.schema * self.family.factor)

    def block(self, block: Block, turn: Turn, forgotten: frozenset[str]) -> None:
        kind: Kind = "system" if turn.role == "system" else "text"
        match block:
            case Thinking():
                self.thought(block, forgotten)
                return
            case Text():
                self.words(kind, block.text)
            case ToolCall():
                self.add("overhead", self.family.call)
                self.add("tool_calls", (weigh(block.name) + weigh(block.arguments)) * self.family.factor)
            case ToolResult():
                self.add("overhead", self.family.call)
                for part in block.content:
                    self.part(part, "tool_results")
            case _:
                self.part(block, kind)
        seal = getattr(block, "seal", None)
        if seal is not None and "seal" not in forgotten:
            self.add("sealed", _sealed(seal, self.family))

    def part(self, part: Text | Image | Document | Opaque, kind: Kind) -> None:
        match part:
            case Text():
                self.words(kind, part.text)
            case Image():
                self.add("media", image_tokens(part, image_rule(self.family.image)))
            case Document():
                tokens = document_tokens(part, image_rule(self.family.image))
                self.add("media", tokens * (self.family.factor if part.text is not None else 1.0))
            case Opaque():
                self.add(kind, _weight_of(part.data) * self.family.factor)

    def thought(self, block: Thinking, forgotten: frozenset[str]) -> None:
        """Readable and sealed thinking, neither counted twice where one holds the other."""
        rule = seal_rule(block.seal.scheme) if block.seal is not None else None
        readable = rule.readable if rule is not None else "billed"
        unread = readable == "unbilled" or "text" in forgotten
        text = 0.0 if unread else weigh(block.text) * self.family.factor
        self.add("thinking", text)
        if block.seal is None or "seal" in forgotten:
            return
        sealed = _sealed(block.seal, self.family)
        self.add("sealed", max(0.0, sealed - text) if readable == "inside" else sealed)


def _sealed(seal: Seal, family: Family) -> float:
    """A seal is as long as the thought in it, give or take what it holds besides."""
    rule = seal_rule(seal.scheme)
    if rule is None or rule.per_token is None:
        return 0.0
    spare = rule.spare if family.seal_spare is None else family.seal_spare
    return max(0, len(seal.data) - spare) / rule.per_token


def _tool_weight(tool: Tool, *, terse: bool) -> float:
    return weigh(tool.name) + weigh(tool.description or "") + _schema_weight(tool.schema or {}, terse=terse)


def _schema_weight(schema: dict[str, Any], *, terse: bool) -> float:
    return weigh("\n".join(_declared(schema))) if terse else _weight_of(schema)


def _declared(schema: Any) -> Iterator[str]:
    """A schema as a declaration of types: names, types, choices and descriptions, without its punctuation."""
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            for key, value in node.items():
                if key in _NESTED and isinstance(value, dict):
                    yield from (f"{name}: any," for name in value)
                    waiting += value.values()
                elif key in ("description", "const") and isinstance(value, str):
                    yield f"// {value}"
                elif key == "enum" and isinstance(value, list):
                    yield " | ".join(f'"{choice}"' for choice in value)
                elif isinstance(value, dict | list) and key != "required":
                    waiting.append(value)


def _weight_of(value: Any) -> float:
    return weigh(value if isinstance(value, str) else _encode(value).decode("utf-8", "replace"))
