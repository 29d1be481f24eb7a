"""Small logs in the forms that Claude Code and Codex write."""

from __future__ import annotations

import json
from typing import Any

SESSION = {"sessionId": "s1", "isSidechain": False, "version": "2.1.325", "cwd": "/w"}


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def said(uuid: str, parent: str | None, content: Any, **fields: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "message": message, **SESSION, **fields}


def answered(uuid: str, parent: str, message_id: str, block: dict[str, Any], **fields: Any) -> dict[str, Any]:
    message = {"id": message_id, "role": "assistant", "model": "claude-opus-5-5", "content": [block]}
    time = {"timestamp": "2026-11-15T10:00:00.000Z"}
    return {
        **{"type": "assistant", "uuid": uuid, "parentUuid": parent, "message": message},
        **(SESSION | time | fields),
    }


def use(call_id: str, city: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "get_weather", "input": {"city": city}}


def result(call_id: str, text: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call_id, "content": text}]


THOUGHT = {"type": "thinking", "thinking": "Two at once.", "signature": "c2lnbmVk"}

CLAUDE_CODE = (
    {"type": "summary", "summary": "Weather of two cities", "leafUuid": "u9"},
    {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
    said("u1", None, "Weather in Oslo and Bergen?"),
    answered("a1", "u1", "msg_1", THOUGHT),
    answered("a2", "a1", "msg_1", use("toolu_1", "Oslo")),
    answered("a3", "a2", "msg_1", use("toolu_2", "Bergen")),
    said("r1", "a2", result("toolu_1", "7")),
    said("r2", "a3", result("toolu_2", "9")),
    said("side", "a3", "Look at it.", isSidechain=True),
    {"type": "system", "subtype": "informational", "uuid": "y1", "parentUuid": "r2", "content": "ran"},
    answered("a4", "y1", "msg_2", {"type": "text", "text": "7 and 9."}),
    said("u2", "a4", "A question that was taken back"),
    said("u3", "a4", "Thanks."),
)

COMPACTED = (
    *CLAUDE_CODE,
    {
        **{"type": "system", "subtype": "compact_boundary", "uuid": "c1", "parentUuid": None},
        "logicalParentUuid": "u3",
    },
    said("u4", "c1", "This session continues an earlier one: weather.", isCompactSummary=True),
    answered("a5", "u4", "msg_3", {"type": "text", "text": "Yes."}),
)


def rollout(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-15T10:00:00.000Z", "type": kind, "payload": payload}


def item(**fields: Any) -> dict[str, Any]:
    return rollout("response_item", **fields)


CODEX = (
    rollout("session_meta", id="s", cli_version="0.166.0", model_provider="openai", instructions="Be brief."),
    item(type="message", role="user", content=[{"type": "input_text", "text": "Weather in Oslo?"}]),
    rollout("event_msg", type="user_message", message="Weather in Oslo?"),
    rollout("turn_context", model="gpt-5.6-terra", effort="high"),
    item(type="reasoning", summary=[{"type": "summary_text", "text": "Hm."}], encrypted_content="gAAAAABo"),
    item(type="function_call", name="shell", arguments='{"command":["date"]}', call_id="call_1"),
    item(type="function_call_output", call_id="call_1", output="7"),
    item(type="ghost_snapshot", ghost_commit={}),
    item(type="message", role="assistant", content=[{"type": "output_text", "text": "7."}]),
)
