"""The few ways in which two request bodies may differ and still ask the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

VERBATIM = {
    "args",
    "arguments",
    "input_schema",
    "parameters",
    "parametersJsonSchema",
    "response",
    "responseJsonSchema",
    "responseSchema",
    "schema",
}
"""Fields that hold the caller's own JSON; nothing in them may change."""


def normal(dialect: str, body: dict[str, Any]) -> Any:
    """The body with what does not matter made alike."""
    for rule in RULES[dialect]:
        body = _everywhere(rule, body)
    return body


def _everywhere(rule: Callable[[dict[str, Any]], dict[str, Any]], value: Any) -> Any:
    """The rule applied to every object outside of the caller's own JSON."""
    if isinstance(value, list):
        return [_everywhere(rule, item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: item if _verbatim(key, item) else _everywhere(rule, item) for key, item in rule(value).items()
    }


def _verbatim(key: str, item: Any) -> bool:
    return key in VERBATIM or (key == "input" and isinstance(item, dict))  # Anthropic's tool arguments


def losses(recorded: dict[str, Any], again: dict[str, Any]) -> list[str]:
    """What an answer said and our own writing of it does not. Our own may say more: defaults, spelled out."""
    for rule in (_true_counts, _without_repetition, _without_empties, _without_empties):
        recorded, again = _everywhere(rule, recorded), _everywhere(rule, again)
    return [line for line in differences(recorded, again) if " is new: " not in line]


def _without_nulls(value: dict[str, Any]) -> dict[str, Any]:
    """Null means the same as absent to every vendor."""
    return {key: item for key, item in value.items() if item is not None}


def _without_empties(value: dict[str, Any]) -> dict[str, Any]:
    """Empty text, no annotations, a call of nothing: what is empty says nothing, be it there or not."""
    return {key: item for key, item in value.items() if item not in (None, "", [], {})}


def _true_counts(value: dict[str, Any]) -> dict[str, Any]:
    """We write true counts. OpenAI once counted -9 tokens; xAI counts reasoning beside the completion."""
    if (value.get("output_tokens") or 0) < 0:
        value = {**value, "output_tokens": None}
    match value:
        case {
            "prompt_tokens": int(prompt),
            "completion_tokens": int(shown),
            "completion_tokens_details": {"reasoning_tokens": int(reasoning)},
            "total_tokens": int(total),
        } if prompt + shown + reasoning == total:
            return {**value, "completion_tokens": shown + reasoning}
    return value


def _without_repetition(value: dict[str, Any]) -> dict[str, Any]:
    """Some give the place of a call in its list once more, or an empty `delta` beside the message."""
    repeated = {"index"} if "function" in value else {"delta"} if "message" in value else set()
    return {key: item for key, item in value.items() if key not in repeated}


def _without_empty_config(value: dict[str, Any]) -> dict[str, Any]:
    """A configuration that says nothing is none."""
    return {key: item for key, item in value.items() if key != "generationConfig" or item}


def _plain_text(value: dict[str, Any]) -> dict[str, Any]:
    """One block of text and nothing else is what a string is short for."""
    changed = {}
    for key in ("content", "system"):
        match value.get(key):
            case [{"type": "text" | "input_text", "text": str(text), **rest}] if not rest:
                changed[key] = text
    return {**value, **changed}


def _camel_case(value: dict[str, Any]) -> dict[str, Any]:
    """Google takes both spellings of a field."""
    return {re.sub(r"_([a-z])", lambda match: match[1].upper(), key): item for key, item in value.items()}


RULES: dict[str, list[Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "anthropic": [_without_nulls, _plain_text],
    "openai-chat": [_without_nulls, _plain_text],
    "openai-responses": [_without_nulls, _plain_text],
    "gemini": [_camel_case, _without_nulls, _without_empty_config],
}


def differences(expected: Any, found: Any, path: str = "$") -> Iterator[str]:
    """Where two JSON values differ, each place in one line."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in [*expected, *(key for key in found if key not in expected)]:
            if key not in found:
                yield f"{path}.{key} is gone: {expected[key]!r:.200}"
            elif key not in expected:
                yield f"{path}.{key} is new: {found[key]!r:.200}"
            else:
                yield from differences(expected[key], found[key], f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(one, other, f"{path}[{index}]")
    elif expected != found or isinstance(expected, bool) != isinstance(found, bool):
        yield f"{path} was {expected!r:.200}, is {found!r:.200}"
