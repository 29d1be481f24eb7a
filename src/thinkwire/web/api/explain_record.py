"""What is kept of a request for the explain view: the plan and the body, without seals and in bounds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from thinkwire.client.prepare import PreparedRequest
from thinkwire.messages import Block, Opaque, ToolResult
from thinkwire.reasoning.feedback import feedback
from thinkwire.session import NextRequest

LAST_TURNS = 6
"""Of a long conversation, so many turns are shown; the rest is counted."""
LONGEST = 2_000
"""Characters of one text."""
DEEPEST = 24

_TALK = ("messages", "input", "contents")
_SEALED = re.compile(r"signature|encrypted|thought_?signature|opaque|redacted", re.IGNORECASE)
"""Fields whose text is a proof for the provider alone, whatever block they stand in."""
_SECRET = re.compile(r"auth|key|token|secret|cookie", re.IGNORECASE)
"""Headers that a user's own table of services may hold a secret in."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_=-]{512,}")


def asked_record(asked: NextRequest) -> dict[str, Any]:
    """The request as it went out, in a form that can be kept and shown."""
    prepared = asked.prepared
    plan = prepared.plan
    return {
        "provider": prepared.provider.name,
        "model": prepared.model,
        "dialect": prepared.dialect.name,
        "endpoint": prepared.url.partition("?")[0],
        "headers": {name: "…" if _SECRET.search(name) else value for name, value in prepared.headers.items()},
        "requested": msgspec.to_builtins(plan.requested),
        "effective": msgspec.to_builtins(plan.effective),
        "outcome": plan.outcome,
        "controls": dict(plan.controls),
        "lines": feedback(plan)[1:],
        "body": shown_body(prepared),
        "context": {"total": asked.effective.total, "limit": asked.effective.limit},
    }


def shown_body(prepared: PreparedRequest) -> dict[str, Any]:
    """The wire body for people: no seal in it, long texts cut, old turns counted."""
    sealed = frozenset(_seals(prepared))
    body: dict[str, Any] = {}
    for name, value in prepared.body.items():
        if name in _TALK and isinstance(value, list) and len(value) > LAST_TURNS:
            left_out = len(value) - LAST_TURNS
            value = [f"… {left_out} earlier turns …", *value[-LAST_TURNS:]]
        body[name] = _clean(value, sealed, name, 0)
    return body


def _seals(prepared: PreparedRequest) -> Iterator[str]:
    for turn in prepared.request.turns:
        for block in turn.blocks:
            for part in (block, *block.content) if isinstance(block, ToolResult) else (block,):
                seal = getattr(part, "seal", None)
                if seal is not None and len(seal.data) >= 8:
                    yield seal.data


def _clean(value: Any, sealed: frozenset[str], name: str, depth: int) -> Any:
    match value:
        case str():
            return _text(value, sealed, name)
        case dict() if depth < DEEPEST:
            secret = value.get("type") in ("redacted_thinking", "reasoning.encrypted")
            return {
                key: _clean(item, sealed, "encrypted" if secret and key == "data" else str(key), depth + 1)
                for key, item in value.items()
            }
        case list() | tuple() if depth < DEEPEST:
            return [_clean(item, sealed, name, depth + 1) for item in value]
        case dict() | list() | tuple():
            return "…"
    return value


def _text(text: str, sealed: frozenset[str], name: str) -> str:
    if (_SEALED.search(name) and len(text) > 24) or text in sealed or any(seal in text for seal in sealed):
        return f"<sealed, {len(text):,} characters>"
    if _BASE64.fullmatch(text):
        return f"<data, {len(text):,} characters>"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"


def without_seals(block: Block) -> Block | None:
    """A block as it may leave the server; None for what only its provider can read."""
    match block:
        case Opaque():
            return None
        case ToolResult():
            content = tuple(part for inner in block.content if (part := without_seals(inner)) is not None)
            return msgspec.structs.replace(block, content=content, extras={})
    bare: dict[str, Any] = {"extras": {}} | ({"seal": None} if hasattr(block, "seal") else {})
    return msgspec.structs.replace(block, **bare)
