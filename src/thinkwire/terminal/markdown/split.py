"""Where a long Markdown text may be cut, so that its parts look as they did together."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

PIECE = 500
"""Characters after which a piece ends with its paragraph."""
LONG = 2_000
"""Characters after which a list ends with its item, a table with its row, a paragraph with its sentence."""
MOST = 6_000
"""Characters after which anything is cut."""

Seam = Literal["", "line", "columns"]
"""What the next piece takes over: nothing, the last line of a paragraph, the columns of a table."""

_PARAGRAPH = re.compile(r"\n[ \t]*\n(?=[^\s>|+*-])(?!\d+[.)])")
_ITEM = re.compile(r"\n(?=[-*+] |\d+[.)] |>)")
_FENCE = re.compile(r"^ {0,3}(?P<mark>```+|~~~+)(?P<info>[^\n`]*)$", re.MULTILINE)
_CODE_PARAGRAPH = re.compile(r"\n[ \t]*\n(?=\S)")
_BLANK = re.compile(r"\n[ \t]*\n")
_TABLE = re.compile(r"(?P<head>[^\n]*\|[^\n]*\n[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t:|-]*)?\n)")
_PLAIN = re.compile(r"(?=[^\s>|+*#<`~-])(?!\d+[.)])")
_SENTENCE = re.compile(r"(?<=[.!?…:;,])\s+(?=[^\W\d_])|(?<=[。、])(?=\w)")
_SPACE = re.compile(r"\s+(?=[^\W\d_])")
_PAIRS = ("`", "*", "~~")


class SplitPoint(msgspec.Struct, frozen=True):
    """Cut here. Code that goes on is closed in the one part and opened again in the other."""

    at: int
    gap: bool = True
    """A blank line stands between the parts."""
    close: str = ""
    open: str = ""
    seam: Seam = ""


def cut_of(text: str) -> SplitPoint | None:
    """The first good place after a piece's length; None for nowhere yet."""
    if len(text) <= PIECE:
        return None
    text = text[: MOST + PIECE]
    fences = list(_FENCE.finditer(text))
    for found in _PARAGRAPH.finditer(text, PIECE):
        if _open_fence(fences, found.end()) is None:
            return SplitPoint(found.end())
    if len(text) <= LONG:
        return None
    return _long_cut(text, fences) or _any_cut(text, fences)


def _long_cut(text: str, fences: list[re.Match[str]]) -> SplitPoint | None:
    """A place inside of a list, code, a table or a paragraph."""
    line = text.find("\n", LONG) + 1
    fence = _open_fence(fences, line or len(text))
    if fence is not None:
        return _code_cut(text, fence)
    item = _ITEM.search(text, LONG)
    if item is not None and _open_fence(fences, item.end()) is None:
        return SplitPoint(item.end(), gap=text[item.start() - 1] == "\n")
    block = _last_block(text)
    if (table := _TABLE.match(text, block)) is not None:
        return SplitPoint(line, gap=False, open=table["head"], seam="columns") if line else None
    if text.startswith("    ", block):
        return SplitPoint(line, gap=False) if line else None
    return _paragraph_cut(text, block) if _PLAIN.match(text, block) else None


def _code_cut(text: str, fence: re.Match[str]) -> SplitPoint | None:
    """Between two paragraphs of the code, where its colours need nothing from before; later, at any line."""
    found = _CODE_PARAGRAPH.search(text, LONG)
    line = found.end() if found else text.find("\n", 2 * LONG) + 1
    if line <= fence.end():
        return None
    return SplitPoint(line, gap=False, close=f"{fence['mark']}\n", open=f"{fence['mark']}{fence['info']}\n")


def _paragraph_cut(text: str, block: int) -> SplitPoint | None:
    """After a sentence, later after any word, where nothing is open that the rest would have to close."""
    for places, start in ((_SENTENCE, LONG), (_SPACE, 2 * LONG)):
        for found in places.finditer(text, start):
            if _BLANK.search(text, start, found.end()):
                return None
            if _nothing_open(text[block : found.start()]):
                return SplitPoint(found.end(), gap=False, seam="line")
    return None


def _nothing_open(text: str) -> bool:
    return text.count("[") == text.count("]") and all(text.count(mark) % 2 == 0 for mark in _PAIRS)


def _any_cut(text: str, fences: list[re.Match[str]]) -> SplitPoint | None:
    """What offers no good place is cut at a bad one."""
    if len(text) <= MOST:
        return None
    fence = _open_fence(fences, MOST)
    at = text.rfind("\n", LONG, MOST) + 1 or text.rfind(" ", LONG, MOST) + 1 or MOST
    if fence is not None and at > fence.end():
        mark = fence["mark"]
        return SplitPoint(at, gap=False, close=f"\n{mark}\n", open=f"{mark}{fence['info']}\n")
    return SplitPoint(at, gap=False, seam="" if text[at - 1] == "\n" else "line")


def _last_block(text: str) -> int:
    """Where the block begins that is not over after a long piece's length."""
    begin = 0
    for blank in _BLANK.finditer(text, 0, LONG):
        begin = blank.end()
    while text.startswith("\n", begin):
        begin += 1
    return begin


def _open_fence(fences: list[re.Match[str]], at: int) -> re.Match[str] | None:
    """The fence that is open at a place."""
    opened: re.Match[str] | None = None
    for fence in fences:
        if fence.end() >= at:
            break
        if opened is None:
            opened = fence
        elif fence["mark"].startswith(opened["mark"]) and not fence["info"].strip():
            opened = None
    return opened
