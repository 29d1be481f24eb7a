"""A setting in each vendor's spelling. One function per shape; no model is named here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thinkwire.catalog import Facts
from thinkwire.reasoning.intent import Intent
from thinkwire.reasoning.plan import Setting

Patch = dict[str, Any]

FIELDS: dict[str, tuple[str, ...]] = {
    "anthropic": ("thinking", "output_config.effort"),
    "reasoning_effort": ("reasoning_effort",),
    "responses": ("reasoning.effort", "reasoning.summary"),
    "gemini": ("generationConfig.thinkingConfig",),
    "openrouter": ("reasoning", "reasoning_effort", "include_reasoning"),
    "thinking_type": ("thinking", "reasoning_effort"),
    "enable_thinking": ("enable_thinking", "thinking_budget", "reasoning_effort"),
    "template_kwargs": ("chat_template_kwargs.enable_thinking", "reasoning_effort"),
    "reasoning_enabled": ("reasoning", "reasoning_effort"),
    "think": ("think",),
}
"""The native fields of each shape, as dotted paths into the body."""

_OTHER_WIRES = ("anthropic", "responses", "gemini")
CHAT_FIELDS = tuple(
    dict.fromkeys(path for shape, paths in FIELDS.items() if shape not in _OTHER_WIRES for path in paths)
)
"""Everything that some server on the chat wire takes for a reasoning control."""

WORDS: dict[str, tuple[str, ...]] = {
    "thinking": ("type", "budget_tokens", "token_budget", "display"),
    "reasoning": ("effort", "max_tokens", "enabled", "exclude", "summary"),
    "chat_template_kwargs": ("enable_thinking", "thinking", "thinking_mode"),
}
"""The objects among them → the words in them that say how to think; whatever else they hold does not."""

OPTIONS = (
    *("thinking.clear_thinking", "thinking.keep", "clear_thinking", "preserve_thinking", "reasoning_history"),
    *("reasoning_split", "reasoning_format", "separate_reasoning", "stream_reasoning", "prompt_mode"),
    *("reasoning_budget_message", "reasoning_control", "chat_template_kwargs", "chat_template_args"),
)
"""What only some servers on the chat wire know besides: how thinking is shown or kept, not how much. Each
model's facts say which of them it takes."""


def write(setting: Setting, facts: Facts, intent: Intent) -> Patch:
    """The body fields that say this setting."""
    if facts.mechanism == "always" or setting.on is None:
        return _unasked(facts, intent)
    patch = _WRITERS[facts.shape](setting, facts, intent)
    return patch | facts.always_send if setting.on else patch


def _unasked(facts: Facts, intent: Intent) -> Patch:
    """For a model that thinks without being told to: what keeps its thinking in our hands, and shows it."""
    if not facts.can_think or facts.default == "off":
        return {}
    patch = dict(facts.always_send)
    if facts.default in (None, "none"):
        return patch
    shown = intent.show is True and facts.visible != "none"
    match facts.shape:
        case "responses":
            summary: Patch = {"reasoning": {"summary": intent.summary or "auto"}} if shown else {}
            return patch | summary | {"include": ["reasoning.encrypted_content"]}
        case "gemini" if shown:
            return patch | {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}}
        case "anthropic" if shown and facts.visible == "omitted":
            return patch | {"thinking": {"type": "adaptive", "display": "summarized"}}
    return patch


def _anthropic(setting: Setting, facts: Facts, intent: Intent) -> Patch:
    if setting.between_tools or not setting.on:
        return {"thinking": {"type": "between_tools" if setting.between_tools else facts.off}}
    if setting.budget is not None:
        thinking: Patch = {"type": "enabled", "budget_tokens": setting.budget}
    else:
        thinking = {"type": "adaptive"}
    if intent.show is False:
        thinking["display"] = "omitted"
    elif facts.visible == "omitted":
        thinking["display"] = "summarized"
    if setting.effort is None:
        return {"thinking": thinking}
    return {"thinking": thinking, "output_config": {"effort": setting.effort}}


def _reasoning_effort(setting: Setting, facts: Facts, intent: Intent) -> Patch:
    word = setting.effort if setting.on else facts.off
    return {} if word is None else {"reasoning_effort": word}


def _responses(setting: Setting, facts: Facts, intent: Intent) -> Patch:
    if not setting.on:
        return {"reasoning": {"effort": facts.off}}
    reasoning: Patch = {} if setting.effort is None else {"effort": setting.effort}
    if intent.show is not False and facts.visible != "none":
        reasoning["summary"] = intent.summary or "auto"
    return {"reasoning": reasoning, "include": ["reasoning.encrypted_content"]}


def _gemini(setting: Setting, facts: Facts, intent: Intent) -> Patch:
    if not setting.on:
        config: Patch = {"thinkingBudget": 0, "includeThoughts": False}
    else:
        config = {"includeThoughts": intent.show is not False}
        if setting.budget is not None:
            config["thinkingBudget"] = setting.budget
        elif setting.effort is not None:
            config["thinkingLevel"] = setting.effort
    return {"generationConfig": {"thinkingConfig": config}}


def _openrouter(setting: Setting, facts: Facts, intent: Intent) -> Patch:
    if not setting.on:
        return {"reasoning": {"enabled": False}}
    reasoning: Patch = {"enabled": True}
    if setting.budget is not None:
        reasoning = {"max_tokens": setting.budget}
    elif setting.effort is not None:
        reasoning["effort"] = setting.effort
    if intent.show is False:
        reasoning["exclude"] = True
    return {"reasoning": reasoning}


def _thinking_type(setting: Setting, facts: Facts, intent: Intent) -> Patch:
    if not setting.on:
        return {"reasoning_effort": "none"} if facts.off == "none" else {"thinking": {"type": "disabled"}}
    patch: Patch = {"thinking": {"type": facts.on}}
    return patch if setting.effort is None else patch | {"reasoning_effort": setting.effort}


def _enable_thinking(setting: Setting, facts: Facts, intent: Intent) -> Patch:
    if not setting.on:
        return {"enable_thinking": False}
    if setting.effort is not None:
        return {"reasoning_effort": setting.effort}
    if setting.budget is not None:
        return {"enable_thinking": True, "thinking_budget": setting.budget}
    return {"enable_thinking": True}


def _template_kwargs(setting: Setting, facts: Facts, intent: Intent) -> Patch:
    patch: Patch = {"chat_template_kwargs": {"enable_thinking": bool(setting.on)}}
    return patch if setting.effort is None else patch | {"reasoning_effort": setting.effort}


def _reasoning_enabled(setting: Setting, facts: Facts, intent: Intent) -> Patch:
    if setting.on and setting.effort is not None:
        return {"reasoning_effort": setting.effort}
    return {"reasoning": {"enabled": bool(setting.on)}}


def _think(setting: Setting, facts: Facts, intent: Intent) -> Patch:
    return {"think": (setting.effort or True) if setting.on else False}


_WRITERS: dict[str, Callable[[Setting, Facts, Intent], Patch]] = {
    "anthropic": _anthropic,
    "reasoning_effort": _reasoning_effort,
    "responses": _responses,
    "gemini": _gemini,
    "openrouter": _openrouter,
    "thinking_type": _thinking_type,
    "enable_thinking": _enable_thinking,
    "template_kwargs": _template_kwargs,
    "reasoning_enabled": _reasoning_enabled,
    "think": _think,
}
