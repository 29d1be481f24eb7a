"""What a change costs before it is sent: a prompt cache that is lost, a prefix that thinking was bound to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from thinkwire.catalog import Facts
from thinkwire.context.estimate import count
from thinkwire.messages import Block, Opaque, Text, Thinking, Turn
from thinkwire.notes import Note
from thinkwire.request import Tool

Part = Literal["model", "tools", "system", "thinking", "turns"]

LEAST_CACHED = {"anthropic": 512, "openai-chat": 1_024, "openai-responses": 1_024, "gemini": 4_096}
"""Vendors keep no shorter prefix than this; the least of each vendor's models (reference of 2026-11)."""

_READ_ANEW: dict[str, dict[Part, tuple[Part, ...]]] = {
    "anthropic": {
        "model": ("tools", "system", "turns"),
        "tools": ("tools", "system", "turns"),
        "system": ("system", "turns"),
        "thinking": ("turns",),
    },
    "openai-responses": {
        "model": ("tools", "system", "turns"),
        "tools": ("tools", "system", "turns"),
        "system": ("tools", "system", "turns"),
        "thinking": ("tools", "system", "turns"),
    },
    "openai-chat": {
        "model": ("tools", "system", "turns"),
        "tools": ("tools", "system", "turns"),
        "system": ("tools", "system", "turns"),
    },
    "gemini": {
        "model": ("tools", "system", "turns"),
        "tools": ("tools", "system", "turns"),
        "system": ("tools", "system", "turns"),
    },
}
"""What each vendor reads anew when a part changed; thinking parameters only where that is documented."""

_SHOWING = ("display", "summary", "includeThoughts", "include")
"""What only says how thinking is shown, and is no part of what the model reads."""

_PARTS: dict[Part, str] = {
    "model": "the model",
    "tools": "the tools",
    "system": "the system text",
    "thinking": "the thinking parameters",
}

_encode = msgspec.json.Encoder(enc_hook=repr).encode


class TurnPrint(msgspec.Struct, frozen=True):
    """A turn as hashes: whole, and without its thinking."""

    whole: str
    bare: str
    thinks: bool
    tokens: int


class Fingerprint(msgspec.Struct, frozen=True):
    """A request as hashes and sizes; nothing of its content can be read from it."""

    model: str
    provider: str
    dialect: str
    system: str
    tools: str
    thinking: str
    turns: tuple[TurnPrint, ...]
    system_tokens: int = 0
    tools_tokens: int = 0

    @staticmethod
    def of(
        *,
        model: str,
        provider: str,
        dialect: str,
        system: tuple[Text, ...] = (),
        tools: tuple[Tool | Opaque, ...] = (),
        plan_patch: dict[str, Any] | None = None,
        turns: tuple[Turn, ...] = (),
    ) -> Fingerprint:
        """`turns` are those that are sent, after replay; `plan_patch` are the plan's native fields."""
        around = count((), model=model, system=system, tools=tools)
        return Fingerprint(
            model=model,
            provider=provider,
            dialect=dialect,
            system=_digest([text.text for text in system]),
            tools=_digest(tools),
            thinking=_digest(_without_showing(plan_patch or {})),
            turns=tuple(_turn_print(turn, model) for turn in turns),
            system_tokens=around.system,
            tools_tokens=around.tools,
        )


def predict(before: Fingerprint | None, after: Fingerprint, facts: Facts | None) -> tuple[Note, ...]:
    """What the provider cannot take up again of the request before; another provider never had it."""
    if before is None or before.provider != after.provider:
        return ()
    changed = tuple(_changed(before, after))
    edited = _first_edit(before, after)
    return (*_cache_lost(before, changed, edited), *_prefix_broken(before, after, changed, facts))


def _changed(before: Fingerprint, after: Fingerprint) -> Iterator[Part]:
    for part in _PARTS:
        if getattr(before, part) != getattr(after, part):
            yield part


def _first_edit(before: Fingerprint, after: Fingerprint) -> int | None:
    """The first turn that is not what it was; a conversation that only grew or was cut short has none."""
    pairs = zip(before.turns, after.turns, strict=False)
    return next((index for index, (old, new) in enumerate(pairs) if old.whole != new.whole), None)


def _cache_lost(before: Fingerprint, changed: tuple[Part, ...], edited: int | None) -> Iterator[Note]:
    rules = _READ_ANEW.get(before.dialect, {})
    causes = [part for part in changed if part in rules]
    anew = {part for cause in causes for part in rules[cause]}
    sizes = {"system": before.system_tokens, "tools": before.tools_tokens, "turns": _size(before, 0)}
    tokens = sum(sizes[part] for part in anew)
    if edited is not None and "turns" not in anew:
        tokens += _size(before, edited)
    reasons = [_PARTS[cause] for cause in causes] + ([f"turn {edited}"] if edited is not None else [])
    if not reasons or sum(sizes.values()) < LEAST_CACHED.get(before.dialect, 1_024):
        return
    yield Note(
        "cache.lost",
        f"{_listed(reasons)} changed; the provider reads about {tokens:,} tokens anew",
        detail={"changed": [*causes, *(["turns"] if edited is not None else [])], "tokens": tokens},
    )


def _prefix_broken(
    before: Fingerprint, after: Fingerprint, changed: tuple[Part, ...], facts: Facts | None
) -> Iterator[Note]:
    """Only what stands before thinking that goes back again is bound to it."""
    if facts is None or facts.replay != "bound_prefix":
        return
    shared = min(len(before.turns), len(after.turns))
    going_back = [index for index in range(shared) if after.turns[index].thinks]
    if not going_back:
        return
    reasons = [_PARTS[part] for part in changed if part in ("system", "tools")]
    old, new = before.turns[: going_back[-1]], after.turns
    edited = next((index for index, turn in enumerate(old) if turn.bare != new[index].bare), None)
    if edited is not None:
        reasons.append(f"turn {edited}")
    if _is_patchy(before, going_back):
        reasons.append("which earlier thinking goes along")
    if reasons:
        message = f"{_listed(reasons)} changed; {after.model} will not take back the thinking after it"
        yield Note("prefix.broken", message, detail={"thoughts": len(going_back)})


def _is_patchy(before: Fingerprint, going_back: list[int]) -> bool:
    """Thoughts may be left out from either end; one may not be missing in between, nor come back."""
    had = [index for index, turn in enumerate(before.turns) if turn.thinks]
    inside = [index for index in had if going_back[0] <= index <= going_back[-1]]
    return inside != going_back


def _size(fingerprint: Fingerprint, start: int) -> int:
    return sum(turn.tokens for turn in fingerprint.turns[start:])


def _listed(reasons: list[str]) -> str:
    return reasons[0] if len(reasons) == 1 else f"{', '.join(reasons[:-1])} and {reasons[-1]}"


def _turn_print(turn: Turn, model: str) -> TurnPrint:
    bare = [block for block in turn.blocks if not isinstance(block, Thinking)]
    return TurnPrint(
        whole=_digest([turn.role, *map(_content, turn.blocks)]),
        bare=_digest([turn.role, *map(_content, bare)]),
        thinks=len(bare) != len(turn.blocks),
        tokens=count((turn,), model=model).total - count((), model=model).total,
    )


def _content(block: Block) -> Any:
    """The block without what a wire says around it, such as cache marks."""
    fields = msgspec.to_builtins(block, enc_hook=repr)
    parts = fields.get("content", ()) if fields["type"] == "tool_result" else ()
    for item in (fields, *parts):
        item.pop("extras", None)
    return fields


def _without_showing(patch: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_showing(value) if isinstance(value, dict) else value
        for key, value in patch.items()
        if key not in _SHOWING
    }


def _digest(value: Any) -> str:
    return hashlib.blake2b(_encode(value), digest_size=16).hexdigest()
