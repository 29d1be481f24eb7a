"""Ctrl+C in a chat without a screen: the first one is for the answer that is being made, if there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_takers: list[Callable[[], None]] = []


@contextmanager
def taking_interrupts(take: Callable[[], None]) -> Iterator[None]:
    """While this goes on, an interrupt does this and does not end the program."""
    _takers.append(take)
    try:
        yield
    finally:
        _takers.remove(take)


def interrupt_is_taken() -> bool:
    """Gives an interrupt to whoever takes it; False when nobody does."""
    if not _takers:
        return False
    _takers[-1]()
    return True
