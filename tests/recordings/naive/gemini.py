"""Gemini generateContent."""

from __future__ import annotations

from typing import Any

from tests.recordings.naive.facts import Facts, Json, added, arguments, count


def read(bodies: list[Any], streamed: bool) -> Facts:
    facts = Facts(error=any(body.get("error") for body in bodies))
    usage: Json = {}
    reason = None
    for body in bodies:
        facts.id, facts.model = facts.id or body.get("responseId"), facts.model or body.get("modelVersion")
        candidate = (body.get("candidates") or [{}])[0]
        reason = candidate.get("finishReason") or reason
        if (body.get("promptFeedback") or {}).get("blockReason"):
            reason = "SAFETY"
        usage.update(body.get("usageMetadata") or {})
        for part in (candidate.get("content") or {}).get("parts") or []:
            _part(facts, part)
    _usage(facts, usage)
    facts.error = facts.error or reason is None
    facts.finish = _finish(reason, called=bool(facts.tool_calls))
    return facts


def _part(facts: Facts, part: Json) -> None:
    if part.get("thoughtSignature"):
        facts.seals.append(part["thoughtSignature"])
    if part == {"text": ""}:
        return
    if part.get("thought"):
        facts.came("thinking")
        facts.thinking += part.get("text", "")
    elif "text" in part:
        facts.came("text")
        facts.text += part["text"]
    elif "functionCall" in part:
        facts.came("tool_call")
        call = part["functionCall"]
        facts.tool_calls.append((call["name"], arguments(call.get("args")), call.get("id")))
    elif "inlineData" in part or "fileData" in part:
        facts.came("media")
    else:
        facts.came("native")
        facts.natives.append(part)


def _usage(facts: Facts, usage: Json) -> None:
    prompt, tools = count(usage.get("promptTokenCount")), count(usage.get("toolUsePromptTokenCount"))
    shown = count(usage.get("candidatesTokenCount"))
    facts.reasoning = count(usage.get("thoughtsTokenCount"))
    facts.cache_read = count(usage.get("cachedContentTokenCount"))
    facts.input_total = added(prompt, tools)
    total = count(usage.get("totalTokenCount"))
    facts.output_total = added(shown, facts.reasoning)
    if facts.output_total is None and total is not None:  # counts of 0 are left out
        facts.output_total = total - (facts.input_total or 0)
    if facts.reasoning and total == added(prompt, tools, shown):  # thoughts are in it
        facts.output_total = shown


def _finish(reason: str | None, *, called: bool) -> str | None:
    if reason is None:
        return None
    if reason == "STOP":
        return "tool_calls" if called else "stop"
    refusals = "SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII"
    if reason in refusals.split() or reason.startswith("IMAGE_"):
        return "refusal"
    return {"MAX_TOKENS": "length", "CONTINUATION": "continue"}.get(reason, "error")
