"""Token counts. `candidatesTokenCount` excludes the thoughts, `promptTokenCount` includes what was cached."""

from __future__ import annotations

from typing import Any, TypeGuard

import msgspec

from thinkwire.dialects.gemini.constants import NAME, fields
from thinkwire.dialects.shared import own
from thinkwire.jsonvalue import JsonObject, unknown_fields
from thinkwire.notes import Note
from thinkwire.usage import Usage, measure

_READ = frozenset(
    [
        "promptTokenCount",
        "candidatesTokenCount",
        "thoughtsTokenCount",
        "cachedContentTokenCount",
        "totalTokenCount",
    ]
)
_KNOWN = _READ | frozenset(
    [
        "toolUsePromptTokenCount",
        "promptTokensDetails",
        "candidatesTokensDetails",
        "cacheTokensDetails",
        "toolUsePromptTokensDetails",
        "trafficType",
        "serviceTier",
    ]
)


def read_usage(metadata: JsonObject) -> tuple[Usage | None, tuple[Note, ...]]:
    """Usage, with Notes where the vendor's numbers contradict each other."""
    counts = fields(metadata, _KNOWN)
    if not counts:
        return None, ()
    prompt, visible, output = counts.get("promptTokenCount"), counts.get("candidatesTokenCount"), None
    tools, thoughts = counts.get("toolUsePromptTokenCount"), counts.get("thoughtsTokenCount")
    if visible is None or thoughts:
        visible, output = _output(counts)
    extras = unknown_fields(counts, _READ)
    usage, notes = measure(
        {NAME: extras} if extras else None,
        input_total=prompt + tools if tools and _count(prompt) and _count(tools) else prompt,
        cache_read=counts.get("cachedContentTokenCount"),
        output_total=output,
        output_visible=visible,
        output_reasoning=thoughts,
    )
    total = counts.get("totalTokenCount")
    known = usage.total
    if total is None or total == known:
        return usage, notes
    if known is not None:
        odd = f"the total is {str(total)[:40]}, its parts add up to {known}"
        notes = (*notes, Note("usage.impossible", odd, detail={"reported": metadata}))
    return msgspec.structs.replace(usage, extras={NAME: extras | {"totalTokenCount": total}}), notes


def _output(counts: JsonObject) -> tuple[Any, Any]:
    """The visible output, or else all of it: the total tells which, and how much when the count is absent."""
    visible, thoughts = counts.get("candidatesTokenCount"), counts.get("thoughtsTokenCount")
    prompt, total = counts.get("promptTokenCount"), counts.get("totalTokenCount")
    if not _count(prompt) or not _count(total):
        return visible, None
    tools = counts.get("toolUsePromptTokenCount")
    output = total - prompt - (tools if _count(tools) else 0)
    if visible is None and output >= (thoughts if _count(thoughts) else 0):
        return output - (thoughts if _count(thoughts) else 0), None
    if thoughts and visible == output and _count(thoughts) and thoughts <= output:
        return None, visible
    return visible, None


def _count(value: Any) -> TypeGuard[int]:
    return type(value) is int and value >= 0


def write_usage(usage: Usage, notes: list[Note]) -> JsonObject:
    held = own(usage.extras, NAME)
    visible = usage.output_visible
    if visible is None and usage.output_total is not None:
        visible = max(0, usage.output_total - (usage.output_reasoning or 0))
    prompt = usage.input_total
    tools = held.get("toolUsePromptTokenCount")
    if prompt is not None and _count(tools):
        prompt = max(0, prompt - tools)
    if usage.cache_write:
        notes.append(Note("field.dropped", "cache_write: this wire counts it as input like any other"))
    counts = {
        "promptTokenCount": prompt,
        "candidatesTokenCount": visible,
        "cachedContentTokenCount": usage.cache_read,
        "thoughtsTokenCount": usage.output_reasoning,
        "totalTokenCount": usage.total,
    }
    return {name: count for name, count in counts.items() if count is not None} | held
