"""All rules in one table, and the question that the simulators ask of it."""

from __future__ import annotations

from functools import cache

from thinkwire.sim.rules import (
    anthropic,
    anthropic_messages,
    deepseek_kimi,
    gemini,
    openai_chat,
    openai_responses,
    others,
)
from thinkwire.sim.rules.rule import Refusal, Rule, RuleInput

_BOOKS = (
    anthropic.book,
    anthropic_messages.book,
    openai_responses.book,
    openai_chat.book,
    gemini.book,
    deepseek_kimi.deepseek,
    deepseek_kimi.deepseek_responses,
    deepseek_kimi.kimi,
    deepseek_kimi.kimi_messages,
    others.mistral,
    others.qwen,
    others.xai,
    others.minimax,
    others.openrouter,
    others.openrouter_chat,
    others.zai,
    others.groq,
    others.ollama,
)


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule of every vendor."""
    return tuple(rule for book in _BOOKS for rule in book.rules)


@cache
def rules_for(provider: str, dialect: str) -> tuple[Rule, ...]:
    """The rules of one API, in the order in which they are asked."""
    return tuple(rule for rule in all_rules() if provider in rule.providers and dialect in rule.dialects)


def first_refusal(asked: RuleInput) -> tuple[Rule, Refusal] | None:
    """The first rule that refuses the request, and its words; None when the request may pass."""
    for rule in rules_for(asked.provider, asked.dialect):
        said = rule.check(asked)
        if said is not None:
            return rule, Refusal(said) if isinstance(said, str) else said
    return None
