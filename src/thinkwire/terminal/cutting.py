"""Where a long Markdown text may be cut, so that both parts look as they did together."""

from __future__ import annotations

import re

import msgspec

PIECE = 1_500
"""Characters after which a piece ends with its paragraph."""
LONG = 4_500
"""Characters after which a list ends with its item, and code with its line."""

_PARAGRAPH = re.compile(r"\n[ \t]*\n(?=[^\s>|+*-])(?!\d+[.)])")
_ITEM = re.compile(r"\n(?=[-*+] |\d+[.)] )")
_FENCE = re.compile(r"^ {0,3}(?P<mark>```+|~~~+)(?P<info>[^\n`]*)$", re.MULTILINE)


class Cut(msgspec.Struct, frozen=True):
    """Cut here. Code that goes on is closed in the one part and opened again in the other."""

    at: int
    gap: bool = True
    """A blank line stands between the parts."""
    close: str = ""
    open: str = ""


def cut_of(text: str, known: int = 0) -> Cut | None:
    """The first good place after a piece's length, among what is new; None for nowhere yet."""
    if len(text) <= PIECE:
        return None
    fences = list(_FENCE.finditer(text))
    for found in _PARAGRAPH.finditer(text, max(PIECE, known - 2)):
        if _open_fence(fences, found.end()) is None:
            return Cut(found.end())
    return _long_cut(text, fences, max(LONG, known - 1)) if len(text) > LONG else None


def _long_cut(text: str, fences: list[re.Match[str]], start: int) -> Cut | None:
    item = _ITEM.search(text, start)
    if item is not None and _open_fence(fences, item.end()) is None:
        return Cut(item.end(), gap=False)
    line = text.find("\n", start)
    fence = _open_fence(fences, line + 1) if line >= 0 else None
    if fence is None:
        return None
    return Cut(line + 1, gap=False, close=f"{fence['mark']}\n", open=f"{fence['mark']}{fence['info']}\n")


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
