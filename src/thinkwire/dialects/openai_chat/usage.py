"""Token counts: many spellings in, OpenAI's own out."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.openai_chat.form import fields, keep
from thinkwire.jsonvalue import JsonObject, leftover
from thinkwire.notes import Note
from thinkwire.usage import Usage, measure

_DETAILS = ("prompt_tokens_details", "completion_tokens_details")
_MAPPED = frozenset(("prompt_tokens", "completion_tokens", "total_tokens", *_DETAILS))
_MAPPED_INPUT = frozenset({"cached_tokens", "cache_write_tokens"})
_MAPPED_OUTPUT = frozenset({"reasoning_tokens"})


def read(raw: Any) -> tuple[Usage | None, tuple[Note, ...]]:
    """Usage as any server reports it. Spellings that are not OpenAI's stay in extras as well."""
    if raw is None or raw == {}:
        return None, ()
    if type(raw) is not dict:
        return None, (Note("usage.impossible", "usage is not an object", detail={"reported": raw}),)
    given, spent = _details(raw, "prompt_tokens_details"), _details(raw, "completion_tokens_details")
    prompt, completion = raw.get("prompt_tokens"), raw.get("completion_tokens")
    if prompt is None:
        prompt = raw.get("input_tokens")
    if completion is None:
        completion = raw.get("output_tokens")
    reasoning = spent.get("reasoning_tokens")
    if reasoning is None:
        reasoning = raw.get("reasoning_tokens")
    cached = given.get("cached_tokens")
    if cached is None:
        cached = _first(raw, "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")
    written = given.get("cache_write_tokens")
    if written is None:
        written = raw.get("cache_creation_input_tokens")
    output = completion
    if _excludes_reasoning(prompt, completion, reasoning, raw.get("total_tokens")):
        output = _sum(completion, reasoning)
    return measure(
        keep(_unmapped(raw, given, spent, total=_sum(prompt, output))),
        input_total=prompt,
        cache_read=cached,
        cache_write=written,
        output_total=output,
        output_reasoning=reasoning,
    )


def write(usage: Usage) -> JsonObject:
    """Usage in OpenAI's words; what is unknown is left out."""
    body = _known(
        prompt_tokens=usage.input_total, completion_tokens=usage.output_total, total_tokens=usage.total
    )
    given = _known(cached_tokens=usage.cache_read, cache_write_tokens=usage.cache_write)
    spent = _known(reasoning_tokens=usage.output_reasoning)
    extras = fields(usage.extras)
    if given := given | extras.pop("prompt_tokens_details", {}):
        body["prompt_tokens_details"] = given
    if spent := spent | extras.pop("completion_tokens_details", {}):
        body["completion_tokens_details"] = spent
    return body | extras


def _known(**counts: int | None) -> JsonObject:
    return {name: count for name, count in counts.items() if count is not None}


def _details(raw: JsonObject, key: str) -> JsonObject:
    value = raw.get(key)
    return value if type(value) is dict else {}


def _first(raw: JsonObject, *keys: str) -> Any:
    for key in keys:
        value = raw.get(key)
        if value is not None:
            return value
    return None


def _sum(prompt: Any, output: Any) -> int | None:
    return prompt + output if type(prompt) is int and type(output) is int else None


def _excludes_reasoning(prompt: Any, completion: Any, reasoning: Any, total: Any) -> bool:
    """xAI's chat endpoint counts reasoning beside the completion, and only the total tells."""
    if type(reasoning) is not int or reasoning <= 0 or type(total) is not int:
        return False
    return total == _sum(_sum(prompt, completion), reasoning)


def _unmapped(raw: JsonObject, given: JsonObject, spent: JsonObject, *, total: int | None) -> JsonObject:
    kept = leftover(raw, _MAPPED)
    if given and (rest := leftover(given, _MAPPED_INPUT)):
        kept["prompt_tokens_details"] = rest
    if spent and (rest := leftover(spent, _MAPPED_OUTPUT)):
        kept["completion_tokens_details"] = rest
    if raw.get("total_tokens") not in (None, total):
        kept["total_tokens"] = raw["total_tokens"]
    return kept
