"""Chat Completions of any vendor."""

from __future__ import annotations

import re
from typing import Any

from tests.recordings.loader import DONE
from tests.recordings.naive.facts import Facts, Json, added, arguments, count


def read(bodies: list[Any], streamed: bool) -> Facts:
    facts = Facts()
    calls: dict[Any, Json] = {}
    refusal = ""
    reason = usage = None
    for body in (body for body in bodies if body != DONE):
        facts.error = facts.error or bool(body.get("error"))
        facts.id = facts.id or body.get("id") or None
        facts.model = facts.model or body.get("model") or None
        choice = (body.get("choices") or [{}])[0]
        said = choice.get("delta" if streamed else "message") or {}
        reason = choice.get("finish_reason") or reason
        usage = choice.get("usage") or (body.get("x_groq") or {}).get("usage") or usage
        usage = body.get("usage") or usage
        _gather(facts, said)
        _merge(facts.details, said.get("reasoning_details") or [], whole=not streamed)
        refusal += said.get("refusal") or ""
        for position, call in enumerate(said.get("tool_calls") or []):
            facts.came("tool_call")
            _call(calls, call, position)
    if not facts.thinking:
        _untag(facts)
    facts.text += refusal
    for call in calls.values():
        facts.tool_calls.append((call["name"], arguments(call["arguments"]), call["id"] or None))
    _usage(facts, usage or {})
    ended = reason is not None or DONE in bodies or not streamed
    facts.error = facts.error or not ended
    if facts.error:
        facts.details = []  # thinking that broke off goes unsealed
    else:
        facts.finish = _finish(reason, called=bool(calls), refused=bool(refusal))
    return facts


def _gather(facts: Facts, said: Json) -> None:
    """What one body adds to thinking and text, the thinking first."""
    thinking, text, seals = _thinking(said), _text(said.get("content")), _seals(said)
    if thinking or (seals and not facts.thinking):
        facts.came("thinking")
    if text or said.get("refusal"):
        facts.came("text")
    facts.thinking += thinking
    facts.seals += seals + _google_seals(said)
    facts.text += text


def _text(content: Any) -> str:
    """Content is a string or, at Mistral, a list of parts; nested lists are thinking."""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content or [] if part["type"] == "text")


def _thinking(said: Json) -> str:
    """Several fields may say the same; one of them counts. Mistral's sits inside the content."""
    details = [
        detail.get("text") or detail.get("summary") or "" for detail in said.get("reasoning_details") or []
    ]
    fields = [said.get(name) for name in ("reasoning_content", "reasoning", "reasoning_text")]
    plain = next((value for value in fields if value), "")
    parts = said["content"] if isinstance(said.get("content"), list) else []
    nested = [piece["text"] for part in parts if part["type"] == "thinking" for piece in part["thinking"]]
    return "".join(details) or plain or "".join(nested)


def _seals(said: Json) -> list[str]:
    """The seals of thinking."""
    details = said.get("reasoning_details") or []
    sealed = [detail.get("signature") or detail.get("data") for detail in details]
    return [seal for seal in [*sealed, said.get("reasoning_opaque")] if seal]


def _merge(known: list[Json], entries: list[Json], whole: bool) -> None:
    """Entries grow by type and index. A whole answer has them as they are."""
    for entry in entries:
        same = [
            one for one in known if (one["type"], one.get("index")) == (entry["type"], entry.get("index"))
        ]
        if whole or not same:
            known.append(dict(entry))
            continue
        for key, value in entry.items():
            if key in ("text", "summary", "data", "signature") and same[0].get(key):
                same[0][key] += value or ""
            elif value is not None:
                same[0][key] = value


def _google_seals(said: Json) -> list[str]:
    """The seals that Google's endpoint puts on what is not thinking."""
    places = [said, *(said.get("tool_calls") or [])]
    extras = [(place.get("extra_content") or {}).get("google") or {} for place in places]
    return [extra["thought_signature"] for extra in extras if extra.get("thought_signature")]


def _call(calls: dict[Any, Json], call: Json, position: int) -> None:
    """A fragment belongs to the call of the same index, unless it names another id."""
    key = call.get("index", position)
    known = calls.get(key)
    if known and call.get("id") and known["id"] and call["id"] != known["id"]:
        key = call["id"]
    known = calls.setdefault(key, {"name": "", "arguments": "", "id": ""})
    function = call["function"]
    known["id"] = known["id"] or call.get("id") or ""
    known["name"] = known["name"] or function.get("name") or ""
    if isinstance(function.get("arguments"), dict):
        known["arguments"] = function["arguments"]
    else:
        known["arguments"] += function.get("arguments") or ""


def _untag(facts: Facts) -> None:
    """Thinking may stand in tags, at the very beginning of the text; newlines next to a tag belong to it."""
    opened = re.match(r"\s*<think>[\r\n]*", facts.text)
    if opened is None:
        return
    inside, closing, after = facts.text[opened.end() :].partition("</think>")
    facts.thinking = inside.rstrip("\r\n") if closing else inside
    facts.text = after.lstrip("\r\n")
    kinds = {"thinking": facts.thinking, "text": facts.text, "tool_call": "tool_call" in facts.order}
    facts.order = [kind for kind, there in kinds.items() if there]


def _usage(facts: Facts, usage: Json) -> None:
    prompt = usage.get("prompt_tokens_details") or {}
    completion = usage.get("completion_tokens_details") or {}
    cached = [
        prompt.get("cached_tokens"),
        usage.get("prompt_cache_hit_tokens"),
        usage.get("cached_tokens"),
        usage.get("cache_read_input_tokens"),
    ]
    facts.input_total = count(usage.get("prompt_tokens"))
    facts.output_total = count(usage.get("completion_tokens"))
    facts.cache_read = _first(cached)
    facts.cache_write = _first([prompt.get("cache_write_tokens"), usage.get("cache_creation_input_tokens")])
    facts.reasoning = _first([completion.get("reasoning_tokens"), usage.get("reasoning_tokens")])
    outside = added(facts.input_total, facts.output_total, facts.reasoning)
    if facts.reasoning and usage.get("total_tokens") == outside:  # xAI counts the reasoning beside the rest
        facts.output_total = added(facts.output_total, facts.reasoning)


def _first(values: list[Any]) -> int | None:
    return next((count(value) for value in values if value is not None), None)


def _finish(reason: str | None, *, called: bool, refused: bool) -> str:
    known = {
        "stop": "stop",
        "end": "stop",
        "tool_calls": "tool_calls",
        "function_call": "tool_calls",
        "length": "length",
        "model_length": "length",
        "model_context_window_exceeded": "length",
        "content_filter": "refusal",
        "sensitive": "refusal",
        "guardrail_intervened": "refusal",
        "error": "error",
        "network_error": "error",
        "insufficient_system_resource": "error",
    }
    told = known[reason or "stop"]
    if told == "stop" and refused:
        return "refusal"
    return "tool_calls" if told == "stop" and called else told
