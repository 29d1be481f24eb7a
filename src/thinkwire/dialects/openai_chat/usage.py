"""Token counts: many spellings in, OpenAI's own out."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.openai_chat.constants import NAME, fields
from thinkwire.jsonvalue import JsonObject, unknown_fields
from thinkwire.notes import Note
from thinkwire.usage import MOST, Usage, measure

_MAPPED = frozenset(
    (
        *("prompt_tokens", "completion_tokens", "total_tokens"),
        *("prompt_tokens_details", "completion_tokens_details"),
    )
)
_MAPPED_INPUT = frozenset({"cached_tokens", "cache_write_tokens"})
_MAPPED_OUTPUT = frozenset({"reasoning_tokens"})
_CACHED = ("prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")


def read(raw: Any) -> tuple[Usage | None, tuple[Note, ...]]:
    """Usage as any server reports it. Spellings that are not OpenAI's stay in extras as well."""
    if type(raw) is not dict or not raw:
        return None, () if raw is None or raw == {} else (_no_object(raw),)
    if len(raw) == 3 and (usual := _usual(raw)) is not None:
        return usual, ()
    prompt, completion = raw.get("prompt_tokens"), raw.get("completion_tokens")
    total, kept = raw.get("total_tokens"), {} if _MAPPED.issuperset(raw) else unknown_fields(raw, _MAPPED)
    given, spent = raw.get("prompt_tokens_details"), raw.get("completion_tokens_details")
    cached = written = reasoning = None
    if type(given) is dict:
        cached, written = given.get("cached_tokens"), given.get("cache_write_tokens")
        if rest := unknown_fields(given, _MAPPED_INPUT):
            kept["prompt_tokens_details"] = rest
    if type(spent) is dict:
        reasoning = spent.get("reasoning_tokens")
        if rest := unknown_fields(spent, _MAPPED_OUTPUT):
            kept["completion_tokens_details"] = rest
    if kept:
        prompt = _either(prompt, kept, "input_tokens")
        completion = _either(completion, kept, "output_tokens")
        reasoning = _either(reasoning, kept, "reasoning_tokens")
        cached = _either(cached, kept, *_CACHED)
        written = _either(written, kept, "cache_creation_input_tokens")
    if reasoning and _excludes_reasoning(prompt, completion, reasoning, total):
        completion += reasoning
    if total is not None and total != _sum(prompt, completion):
        kept["total_tokens"] = total
    return measure(
        {NAME: kept} if kept else None,
        input_total=prompt,
        cache_read=cached,
        cache_write=written,
        output_total=completion,
        output_reasoning=reasoning,
    )


def _no_object(raw: Any) -> Note:
    return Note("usage.impossible", "usage is not an object", detail={"reported": raw})


def _usual(raw: JsonObject) -> Usage | None:
    """The counts of a server that tells three, the last of which is the sum of the others; None for more."""
    prompt, completion = raw.get("prompt_tokens"), raw.get("completion_tokens")
    if type(prompt) is not int or type(completion) is not int:
        return None
    if not (0 <= prompt <= MOST and 0 <= completion <= MOST):
        return None
    if raw.get("total_tokens") != prompt + completion:
        return None
    return Usage(None, None, None, prompt, None, None, completion)


def write(usage: Usage) -> JsonObject:
    """Usage in OpenAI's words; what is unknown is left out."""
    extras = fields(usage.extras) if usage.extras else {}
    body: JsonObject = {}
    if usage.input_total is not None:
        body["prompt_tokens"] = usage.input_total
    if usage.output_total is not None:
        body["completion_tokens"] = usage.output_total
        if usage.input_total is not None:
            body["total_tokens"] = usage.input_total + usage.output_total
    given: JsonObject = {}
    if usage.cache_read is not None:
        given["cached_tokens"] = usage.cache_read
    if usage.cache_write is not None:
        given["cache_write_tokens"] = usage.cache_write
    spent = {} if usage.output_reasoning is None else {"reasoning_tokens": usage.output_reasoning}
    if extras:
        given |= extras.pop("prompt_tokens_details", {})
        spent |= extras.pop("completion_tokens_details", {})
    if given:
        body["prompt_tokens_details"] = given
    if spent:
        body["completion_tokens_details"] = spent
    return body | extras


def _either(value: Any, kept: JsonObject, *keys: str) -> Any:
    """The value, or what stands under another server's name for it."""
    if value is None:
        for key in keys:
            value = kept.get(key)
            if value is not None:
                break
    return value


def _sum(prompt: Any, output: Any) -> int | None:
    return prompt + output if type(prompt) is int and type(output) is int else None


def _excludes_reasoning(prompt: Any, completion: Any, reasoning: Any, total: Any) -> bool:
    """xAI's chat endpoint counts reasoning beside the completion, and only the total tells."""
    if type(reasoning) is not int or reasoning <= 0 or type(total) is not int:
        return False
    return total == _sum(_sum(prompt, completion), reasoning)
