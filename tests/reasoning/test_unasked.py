"""A model that thinks without being told to: its thinking stays in our hands, and can be shown."""

from __future__ import annotations

from typing import Any

import pytest

from thinkwire.reasoning import Intent
from thinkwire.reasoning.resolve import resolve
from thinkwire.reasoning.target import find_target
from thinkwire.request import Request

KEEP = {"include": ["reasoning.encrypted_content"]}


def patch(model: str, intent: Intent) -> dict[str, Any]:
    target = find_target(model)
    return resolve(intent, target.found, Request(model=target.model))[0].patch


@pytest.mark.parametrize(
    ("model", "quiet", "shown"),
    [
        ("gpt-5.5", KEEP, KEEP | {"reasoning": {"summary": "auto"}}),
        ("gemini-3.8-flash", {}, {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}}),
        ("claude-sonnet-5-5", {}, {"thinking": {"type": "adaptive", "display": "summarized"}}),
        ("deepseek-v4-pro", {}, {}),
        # Off unless asked: nothing is sent, so that nothing is turned on.
        ("claude-sonnet-4-5", {}, {}),
        ("gpt-5.4", {}, {}),
        ("gpt-4o", {}, {}),
    ],
)
def test_what_is_sent_when_nothing_was_asked(
    model: str, quiet: dict[str, Any], shown: dict[str, Any]
) -> None:
    assert patch(model, Intent()) == quiet
    assert patch(model, Intent(show=True)) == shown
    assert patch(model, Intent(show=False)) == quiet
