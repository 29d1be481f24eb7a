"""What vendors bind their seals to: the same functions when a seal is made and when it is checked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from thinkwire.sim.seals import digest, short

_encode = msgspec.json.Encoder(order="sorted").encode

_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
_REASONING_FIELDS = frozenset({"cache_control", "reasoning", "reasoning_content", "reasoning_details"})


def account_of(key: str) -> str:
    """Who asks, as a digest of the key; the key itself is kept nowhere."""
    return digest("account", key)


def family_of(model: str) -> str:
    """The model's family where the vendor binds to it: the first two parts of its id."""
    return "-".join(model.rpartition("/")[2].split("-")[:2])


def prefix_of(body: dict[str, Any], before: int) -> str:
    """Digest of everything before message number `before`: system, tools, earlier messages.

    Cache marks do not count, nor does thinking, which may be taken away from the front; one text block and
    the string are the same; messages in which nothing is left do not count either.
    """
    messages: Sequence[Any] = body.get("messages") or ()
    earlier = [message for message in map(_message, messages[:before]) if message]
    return digest(_content(body.get("system")), _bare(body.get("tools") or []), earlier)


def prefixes_of(body: dict[str, Any], befores: Iterable[int]) -> Iterator[str]:
    """`prefix_of` for several messages, in ascending order. Each message is read once."""
    messages: Sequence[Any] = body.get("messages") or ()
    hashed = hashlib.sha256(b"[")
    hashed.update(
        _encode(_content(body.get("system"))) + b"," + _encode(_bare(body.get("tools") or [])) + b",["
    )
    at, comma = 0, b""
    for before in befores:
        for message in messages[at:before]:
            if told := _message(message):
                hashed.update(comma + _encode(told))
                comma = b","
        at = max(at, before)
        whole = hashed.copy()
        whole.update(b"]]")
        yield short(whole.hexdigest())


def call_print(name: str, arguments: Any) -> str:
    """Digest of a call, which a signature on it is bound to."""
    return digest("call", name, arguments or {})


def _message(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    content = _content(message.get("content"))
    rest = {key: value for key, value in _bare(message).items() if key != "content"}
    return rest | {"content": content} if content or len(rest) > 1 else None


def _content(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    blocks = content if isinstance(content, list) else []
    return [_block(block) for block in blocks if not _is_thought(block)]


def _block(block: Any) -> Any:
    bare = _bare(block)
    if isinstance(bare, dict) and isinstance(bare.get("content"), str | list):
        return bare | {"content": _content(bare["content"])}
    return bare


def _is_thought(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in _THOUGHTS


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _bare(inner) for key, inner in value.items() if key not in _REASONING_FIELDS}
    return [_bare(inner) for inner in value] if isinstance(value, list) else value
