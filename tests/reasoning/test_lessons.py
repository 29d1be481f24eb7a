"""Lessons are kept, believed for a while, and never in the way."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from thinkwire.catalog import Facts
from thinkwire.folders import LOOK_EVERY
from thinkwire.lessons import LessonBook
from thinkwire.prices import Price, context_of, price_of
from thinkwire.reasoning.recovery import LESSON_DAYS, Lesson
from thinkwire.reasoning.target import find_target

NOW = 1_790_000_000.0
DAY = datetime.date(2026, 11, 16)


def facts_of(name: str) -> Facts:
    found = find_target(name).found
    assert found is not None
    return found.facts


@pytest.fixture
def book(tmp_path: Path) -> LessonBook:
    return LessonBook(tmp_path / "state" / "lessons.jsonl")


LESSON = Lesson("xai", "grok-4.6", {"efforts": ["low", "medium"]}, "does not support value high", NOW)


def test_a_lesson_corrects_the_facts_of_its_model_only(book: LessonBook) -> None:
    book.add(LESSON)
    assert book.corrected(facts_of("grok-4.6"), NOW + 1).efforts == ("low", "medium")
    other = facts_of("grok-4.5")
    assert book.corrected(other, NOW + 1) == other


def test_a_lesson_is_forgotten_when_it_is_old(book: LessonBook) -> None:
    book.add(LESSON)
    later = NOW + LESSON_DAYS * 86_400
    assert book.lessons(later - 1) == [LESSON]
    assert book.lessons(later) == []


def test_later_lessons_win(book: LessonBook) -> None:
    book.add(LESSON)
    book.add(Lesson("xai", "grok-4.6", {"efforts": ["low"]}, "…", NOW + 5))
    assert book.corrected(facts_of("grok-4.6"), NOW + 6).efforts == ("low",)


def test_no_book_is_an_empty_book(book: LessonBook) -> None:
    assert book.lessons(NOW) == []


def test_damaged_lines_and_outdated_lessons_do_no_harm(book: LessonBook) -> None:
    book.add(Lesson("xai", "grok-4.6", {"efforts": 7}, "…", NOW))
    with book.path.open("ab") as file:
        file.write(b'{"half a line\n\xff\n\n')
    book.add(LESSON)
    assert len(book.lessons(NOW)) == 2
    assert book.corrected(facts_of("grok-4.6"), NOW).efforts == ("low", "medium")


def test_what_is_learnt_here_counts_at_once(tmp_path: Path) -> None:
    book = LessonBook(tmp_path / "lessons.jsonl", clock=lambda: 0.0)
    assert book.lessons(NOW) == []
    book.add(LESSON)
    assert book.lessons(NOW) == [LESSON]
    book.add(LESSON)
    assert book.lessons(NOW) == [LESSON, LESSON]


def test_what_others_learn_counts_within_a_tenth_of_a_second(tmp_path: Path) -> None:
    now = 0.0
    book = LessonBook(tmp_path / "lessons.jsonl", clock=lambda: now)
    other = LessonBook(tmp_path / "lessons.jsonl")
    assert book.lessons(NOW) == []
    other.add(LESSON)
    now = LOOK_EVERY - 0.001
    assert book.lessons(NOW) == []
    now = LOOK_EVERY
    assert book.lessons(NOW) == [LESSON]
    other.path.unlink()
    now = 2 * LOOK_EVERY
    assert book.lessons(NOW) == []


def test_the_book_is_private(book: LessonBook) -> None:
    book.add(LESSON)
    assert book.path.stat().st_mode & 0o077 == 0


def test_prices_come_from_the_maintained_data() -> None:
    price = price_of(facts_of("claude-sonnet-4-5"), DAY)
    assert (price.input, price.output, price.source) == (3.0, 15.0, "genai-prices")
    assert context_of(facts_of("claude-sonnet-4-5")) == 200_000


def test_an_unknown_price_is_unknown_and_not_zero() -> None:
    assert price_of(facts_of("ollama/some-local-model"), DAY) == Price()
    assert Price().input is None
