"""How much the scripted model thinks: what was asked for, in the vendor's own words, on this very model."""

from __future__ import annotations

from typing import NamedTuple

from thinkwire.catalog import CatalogMatch, Facts
from thinkwire.reasoning.levels import LADDER, parse_level
from thinkwire.reasoning.parse_controls import read_intent
from thinkwire.reasoning.plan import Setting
from thinkwire.reasoning.resolve import resolve
from thinkwire.request import Request

_BY_LEVEL = dict(zip(LADDER, (1, 2, 4, 6, 8, 10), strict=True))
_USUAL = _BY_LEVEL["med"]


class ThinkingDepth(NamedTuple):
    """Paragraphs of thinking, and whether the caller wants to read them; None if it did not say."""

    paragraphs: int
    show: bool | None = None
    between_tools: bool = False
    """Only after tool results."""


def depth_of(request: Request, found: CatalogMatch) -> ThinkingDepth:
    intent, bare = read_intent(request)
    plan, _ = resolve(intent, found, bare)
    facts, setting = found.facts, plan.effective
    on = setting.on if setting.on is not None else facts.default not in (None, "off")
    if not facts.can_think or not on:
        return ThinkingDepth(0, intent.show)
    return ThinkingDepth(_paragraphs(setting, facts), intent.show, setting.between_tools)


def _paragraphs(setting: Setting, facts: Facts) -> int:
    limit = facts.budget_limit
    if setting.budget is not None and setting.budget > 0 and limit:
        return 1 + 9 * min(setting.budget, limit) // limit
    level = parse_level(setting.effort or facts.default or "")
    return _BY_LEVEL.get(level, _USUAL) if level is not None else _USUAL
