"""The book of lessons: what providers' refusals taught, kept in a file until it is too old to believe."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from thinkwire.catalog import Facts
from thinkwire.folders import SharedFile, make_folder, state_folder
from thinkwire.reasoning.recovery import Lesson

_decode = msgspec.json.Decoder(Lesson).decode
_encode = msgspec.json.Encoder().encode


def default_book() -> LessonBook:
    """The book in the state folder."""
    return LessonBook(state_folder() / "lessons.jsonl")


class LessonBook:
    """One JSON object per line. Lines that cannot be read are passed over and left where they are.

    What this process learns counts at once, what others learn within a tenth of a second.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._file = SharedFile(path, clock=clock)
        self._read: list[Lesson] = []

    def add(self, lesson: Lesson) -> None:
        """Appends in one write, so that several processes can learn at once."""
        make_folder(self.path.parent)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, _encode(lesson) + b"\n")
        finally:
            os.close(descriptor)
        self._file.look_again()

    def lessons(self, now: float) -> list[Lesson]:
        """Those that are still believed, oldest first."""
        return [lesson for lesson in self._all() if lesson.expires > now]

    def corrected(self, facts: Facts, now: float) -> Facts:
        """The facts with everything that was learnt about this model at this provider."""
        for lesson in self._all():
            if lesson.model == facts.id and lesson.provider == facts.provider and lesson.expires > now:
                facts = _applied(lesson, facts)
        return facts

    def _all(self) -> list[Lesson]:
        """The file is read again only when it has changed."""
        if self._file.changed():
            self._read = _lessons_in(self.path)
        return self._read


def _lessons_in(path: Path) -> list[Lesson]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return []
    return [lesson for lesson in map(_lesson, lines) if lesson is not None]


def _lesson(line: bytes) -> Lesson | None:
    try:
        return _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _applied(lesson: Lesson, facts: Facts) -> Facts:
    """A lesson that an older version learnt may no longer fit; then the facts stand."""
    try:
        return lesson.applied(facts)
    except msgspec.ValidationError:
        return facts
