"""The vendors' lists of models, in their own shapes, out of the catalog."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from thinkwire.catalog import Catalog, Facts

Entry = dict[str, Any]
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_UNDATED = datetime.date(2026, 1, 1)


def feed(catalog: Catalog, vendor: str, dialect: str) -> Entry:
    """The list that `GET …/models` gives."""
    rows = [facts for facts in catalog if facts.provider == vendor and "*" not in facts.id]
    entries = [entry_of(facts, dialect) for facts in rows]
    match dialect:
        case "anthropic":
            ids = [entry["id"] for entry in entries] or [None]
            return {"data": entries, "has_more": False, "first_id": ids[0], "last_id": ids[-1]}
        case "gemini":
            return {"models": entries}
    if vendor == "openrouter":
        return {"data": entries}
    return {"object": "list", "data": entries}


def entry_of(facts: Facts, dialect: str) -> Entry:
    """One model of the list."""
    return _ENTRIES.get(facts.provider, _BY_DIALECT.get(dialect, _openai))(facts)


def _label(facts: Facts) -> str:
    return f"{facts.id} (simulated)"


def _released(facts: Facts) -> datetime.date:
    return facts.released or _UNDATED


def _epoch(facts: Facts) -> int:
    midnight = datetime.datetime.combine(_released(facts), datetime.time(), datetime.UTC)
    return int(midnight.timestamp())


def _openai(facts: Facts) -> Entry:
    return {"id": facts.id, "object": "model", "created": _epoch(facts), "owned_by": facts.maker}


def _anthropic(facts: Facts) -> Entry:
    words = facts.efforts
    ways = {
        "adaptive": facts.mechanism == "adaptive",
        "between_tools": facts.off == "between_tools",
        "disabled": facts.off == "disabled",
        "enabled": facts.mechanism == "budget" or facts.budget is not None,
    }
    return {
        "type": "model",
        "id": facts.id,
        "display_name": _label(facts),
        "created_at": f"{_released(facts).isoformat()}T00:00:00Z",
        "max_input_tokens": facts.context,
        "max_tokens": facts.max_output,
        "capabilities": {
            "thinking": {
                "supported": facts.can_think,
                "types": {way: {"supported": able} for way, able in ways.items()},
            },
            "effort": {
                "supported": bool(words),
                **{word: {"supported": word in words} for word in _EFFORTS},
            },
        },
    }


def _gemini(facts: Facts) -> Entry:
    return {
        "name": f"models/{facts.id}",
        "version": "001",
        "displayName": _label(facts),
        "description": "Simulated; nothing is sent to Google.",
        "inputTokenLimit": facts.context or 1_048_576,
        "outputTokenLimit": facts.max_output or 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
        "thinking": facts.can_think,
    }


def _openrouter(facts: Facts) -> Entry:
    entry: Entry = {
        "id": facts.id,
        "canonical_slug": facts.id,
        "name": _label(facts),
        "created": _epoch(facts),
        "context_length": facts.context,
        "supported_parameters": ["max_tokens", "tools", "tool_choice"],
        "top_provider": {"context_length": facts.context, "max_completion_tokens": facts.max_output},
    }
    if facts.can_think:
        entry["supported_parameters"] += ["include_reasoning", "reasoning"]
        entry["reasoning"] = {
            "supported_efforts": list(facts.efforts) or None,
            "default_effort": facts.default if facts.default in facts.efforts else None,
            "default_enabled": facts.default not in ("off", None),
            "mandatory": not facts.can_be_off,
            "supports_max_tokens": facts.budget is not None,
        }
    return entry


_BY_DIALECT: dict[str, Callable[[Facts], Entry]] = {"anthropic": _anthropic, "gemini": _gemini}
_ENTRIES: dict[str, Callable[[Facts], Entry]] = {"openrouter": _openrouter}
