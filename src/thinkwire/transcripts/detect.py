"""Any transcript: its format is told by what stands in it."""

from __future__ import annotations

from typing import Any

from thinkwire import dialects
from thinkwire.errors import MalformedInput
from thinkwire.jsonvalue import JsonObject, kind, parse
from thinkwire.messages import Conversation
from thinkwire.transcripts import claude_code, codex
from thinkwire.transcripts.archive import conversation_of, read_archives
from thinkwire.transcripts.jsonl import BOM
from thinkwire.transcripts.result import Format, Imported

_KNOWN = (
    "a thinkwire conversation (JSON or JSONL), a request body, a Claude Code transcript or a Codex rollout"
)
_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "document"})
_CHAT_ROLES = frozenset({"tool", "developer", "function"})
_CHAT_FIELDS = frozenset({"tool_calls", "tool_call_id", "reasoning_content", "reasoning_details"})


def read_transcript(data: bytes, name: str = "") -> Imported:
    """The conversation in these bytes; `name`, a file's, is only for the error message."""
    whole = data.removeprefix(BOM).strip()
    if not whole:
        raise MalformedInput(f"{name or 'the input'} is empty; expected {_KNOWN}")
    first = whole.partition(b"\n")[0]
    head = _object(first)
    if head is not None and (lines := _of_lines(head, data)) is not None:
        return lines
    body = head if first == whole else _object(whole)
    if body is None:
        raise _complaint(whole, first, name)
    if "conversation" in body and "version" in body:
        conversation = Conversation.from_json(whole)
        return Imported("thinkwire", conversation, model=_last_model(conversation))
    dialect = sniff_dialect(body)
    if dialect is None:
        raise MalformedInput(f"{name or 'the input'} is JSON, but not {_KNOWN}")
    return _of_request(dialect, body)


def _object(data: bytes) -> JsonObject | None:
    try:
        value = parse(data)
    except MalformedInput:
        return None
    return value if type(value) is dict else None


def _complaint(whole: bytes, first: bytes, name: str) -> MalformedInput:
    """Says where the JSON breaks, or that there is none."""
    if not first.startswith((b"{", b"[")):
        return MalformedInput(f"{name or 'the input'} is not JSON; expected {_KNOWN}", path="line 1")
    try:
        value = parse(whole)
    except MalformedInput as error:
        return error
    return MalformedInput(f"expected an object, got {kind(value)}; {name or 'the input'} is not {_KNOWN}")


def _of_lines(head: JsonObject, data: bytes) -> Imported | None:
    """The transcript, when its first line is one of a format of lines."""
    type_ = head.get("type")
    type_ = type_ if isinstance(type_, str) else None
    if type_ in ("conversation", "message") and ("version" in head or "turn" in head):
        return _of_archives(data)
    if (type_ in codex.TYPES and "payload" in head) or _is_old_codex(head):
        return codex.read_codex(data)
    if (type_ in claude_code.TYPES or "sessionId" in head or "leafUuid" in head) and "messages" not in head:
        return claude_code.read_claude_code(data)
    return None


def _is_old_codex(head: JsonObject) -> bool:
    return "type" not in head and {"id", "timestamp"} <= head.keys() and "messages" not in head


def _of_archives(data: bytes) -> Imported:
    archives = read_archives(data)
    talks = [conversation_of(archive) for archive in archives]
    header = archives[-1].header
    return Imported(
        "jsonl",
        talks[-1],
        title=header.title,
        model=header.model or _last_model(talks[-1]),
        archives=archives,
    )


def _last_model(conversation: Conversation) -> str | None:
    for turn in reversed(conversation.turns):
        if turn.origin is not None and turn.origin.model:
            if turn.origin.provider:
                return f"{turn.origin.provider}/{turn.origin.model}"
            return turn.origin.model
    return None


def _of_request(dialect: Format, body: JsonObject) -> Imported:
    request = dialects.get(dialect).decode_request(body)
    conversation = Conversation(request.system, request.turns)
    return Imported(dialect, conversation, model=request.model or None, request=request)


def sniff_dialect(body: JsonObject) -> Format | None:
    """The dialect that a request body is written in; None for what is no request."""
    if isinstance(body.get("contents"), list):
        return "gemini"
    if isinstance(body.get("input"), list | str):
        return "openai-responses"
    messages = body.get("messages")
    if not isinstance(messages, list):
        return None
    if "system" in body or "anthropic_version" in body or any(map(_is_anthropic, messages)):
        return "anthropic"
    if any(map(_is_chat, messages)) or "max_completion_tokens" in body:
        return "openai-chat"
    return "anthropic" if "claude" in str(body.get("model")) and "max_tokens" in body else "openai-chat"


def _is_anthropic(message: Any) -> bool:
    content = message.get("content") if type(message) is dict else None
    blocks = content if isinstance(content, list) else []
    return any(type(block) is dict and block.get("type") in _ANTHROPIC_BLOCKS for block in blocks)


def _is_chat(message: Any) -> bool:
    if type(message) is not dict:
        return False
    return message.get("role") in _CHAT_ROLES or bool(_CHAT_FIELDS & message.keys())
