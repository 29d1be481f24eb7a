"""A model that was found just before is not looked up again, unless something was learnt meanwhile."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import msgspec
import pytest

from thinkwire.asking import Asking, locate, prepare
from thinkwire.lessons import LessonBook
from thinkwire.messages import Text, Turn
from thinkwire.reasoning import Intent
from thinkwire.reasoning.recovery import LESSON_DAYS, Lesson
from thinkwire.replay import ReplaySettings
from thinkwire.request import Request
from thinkwire.settings.overrides import ModelOverrides

NOW = 1_790_000_000.0
HELLO = Request(turns=(Turn("user", (Text("Hello"),)),))
MODELS = (
    "anthropic/claude-opus-5",
    "claude-haiku-5-5/high",
    "deepseek/deepseek-v4-pro",
    "google/gemini-3.5-flash",
    "ollama/whatever",
)
INTENTS = (None, Intent(), Intent(level="none"), Intent(budget=4_000), Intent(on=False), Intent(level="high"))
GROK = "xai/grok-4.6"
LESSON = Lesson("xai", "grok-4.6", {"efforts": ["low", "medium"]}, "does not support value high", NOW)


@pytest.fixture
def book(tmp_path: Path) -> LessonBook:
    return LessonBook(tmp_path / "lessons.jsonl")


def asked(model: str, **how: object) -> Asking:
    how = {"thinking": None, "replay": ReplaySettings()} | how
    return Asking(HELLO, model, **how)  # type: ignore[arg-type]


def found_before(asking: Asking) -> Asking:
    return msgspec.structs.replace(asking, located=locate(asking, NOW))


@pytest.mark.parametrize(("model", "intent"), list(product(MODELS, INTENTS)))
def test_it_makes_no_difference(model: str, intent: Intent | None, book: LessonBook) -> None:
    before = found_before(asked(model, lessons=book))
    known = msgspec.structs.replace(before, thinking=intent)
    anew = asked(model, thinking=intent, lessons=book)
    assert locate(known, NOW) == locate(anew, NOW)
    assert prepare(known, NOW) == prepare(anew, NOW)


def test_what_was_found_is_what_is_taken() -> None:
    known = found_before(asked(GROK))
    assert known.located is not None
    moved = msgspec.structs.replace(known.located, model="grok-elsewhere")
    assert prepare(msgspec.structs.replace(known, located=moved), NOW).model == "grok-elsewhere"


def test_a_lesson_counts_at_once_and_as_long_as_it_is_believed(book: LessonBook) -> None:
    known = found_before(asked(GROK, thinking=Intent(level="high"), lessons=book))
    assert prepare(known, NOW).plan.effective.effort == "high"
    book.add(LESSON)
    assert prepare(known, NOW + 1).plan.effective.effort == "medium"
    learnt = found_before(known)
    assert prepare(learnt, NOW + 1).plan.effective.effort == "medium"
    assert prepare(learnt, NOW + LESSON_DAYS * 86_400 + 1).plan.effective.effort == "high"


def test_so_do_the_lesson_of_this_try_and_settings() -> None:
    known = found_before(asked(GROK, thinking=Intent(level="high")))
    told = msgspec.structs.replace(known, lesson=LESSON)
    assert prepare(told, NOW).plan.effective.effort == "medium"
    field = msgspec.structs.replace(known, overrides=ModelOverrides(field="thinking"))
    assert prepare(field, NOW).provider.quirks.reasoning_field == "thinking"
