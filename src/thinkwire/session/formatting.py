"""Numbers and failures in words, the same for every face. What nobody told is `?`, never 0."""

from __future__ import annotations

from thinkwire.errors import Failure
from thinkwire.usage import Usage

_TODO = {
    "fix_key": "Check the key: is it the right one, and may it do this?",
    "retry": "Try again in a while.",
    "fix_request": "The request must be changed.",
    "report": "The provider broke its own rules; `thinkwire ask --json` shows what it said.",
}
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that reorder what stands around them."""


def count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def money(dollars: float | None) -> str:
    """`$0.0123`, `$1.23`, `$?`."""
    if dollars is None:
        return "$?"
    return f"${dollars:.2f}" if dollars >= 1 else f"${dollars:.4f}"


def tokens(usage: Usage | None) -> str:
    """`235 in + 40 out + 314 thinking = 589`."""
    if usage is None:
        return "?"
    visible = usage.output_visible if usage.output_visible is not None else usage.output_total
    parts = ((usage.input_total, "in"), (visible, "out"), (usage.output_reasoning, "thinking"))
    return f"{' + '.join(f'{count(number)} {name}' for number, name in parts)} = {count(usage.total)}"


def duration(seconds: float) -> str:
    """`7 s`, `2 min 5 s`."""
    whole = max(0, round(seconds))
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


def thought_for(seconds: float | None) -> str:
    """`Thought for 12 s`; without a clock, `Thought`."""
    if seconds is None:
        return "Thought"
    return "Thought for less than a second" if seconds < 1 else f"Thought for {duration(seconds)}"


def what_failed(failure: Failure) -> str:
    """What the provider said, in one line."""
    return f"{failure.provider}: {failure.message}" if failure.provider else failure.message


def what_to_do(failure: Failure) -> str:
    """The fix, in one line."""
    if failure.kind == "quota":
        return "There is no credit or quota left: see the provider's billing page, or take another model."
    if failure.kind == "context_too_long":
        return "The conversation is too long for this model: /compact, or take one with a larger window."
    if failure.kind == "not_found":
        return "The provider does not know this model or address: /model takes another."
    return _TODO[failure.advice]


def printable(text: str) -> str:
    """Text that only prints: escape sequences and other controls are shown, not obeyed."""
    if text.isprintable():
        return text
    return "".join(
        character if character in "\n\t" or not _controls(character) else f"\\x{ord(character):02x}"
        for character in text.replace("\r\n", "\n")
    )


def unmistakable(text: str) -> str:
    """Printable text in which nothing changes the order of what is seen: for what must be approved."""
    return "".join(f"\\u{ord(c):04x}" if c in _DIRECTIONS else c for c in printable(text))


def _controls(character: str) -> bool:
    return ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0


def one_line(text: str, length: int = 100) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(printable(text[: length * 4]).split())
    return line if len(line) <= length else line[: length - 1] + "…"
