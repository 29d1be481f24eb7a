"""Markdown as lines of a width. One widget shows many blocks of it; that is what keeps long answers quick."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode as Node
from textual.content import Content, Span
from textual.highlight import highlight
from textual.style import Style

Lines = list[Content]

_NARROWEST = 4
_CODE = "on $panel"
_STYLES = {"em": "italic", "strong": "bold", "s": "strike"}
_BULLETS = "•◦▪"
_SAFE_LINKS = ("https://", "http://", "mailto:")


def laid_out(source: str, width: int) -> Content:
    """The text at a width; no line is longer."""
    return Content("\n").join(_blocks(_parsed(source).children, max(width, _NARROWEST)))


def _parsed(source: str) -> Node:
    return Node(_parser().parse(source))


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def _blocks(nodes: Iterable[Node], width: int, depth: int = 0, *, tight: bool = False) -> Lines:
    """Blocks under each other, a blank line between them unless they are items of a tight list."""
    lines: Lines = []
    for node in nodes:
        block = _block(node, width, depth)
        if lines and block and not tight:
            lines.append(Content(""))
        lines += block
    return lines


def _block(node: Node, width: int, depth: int) -> Lines:
    match node.type:
        case "paragraph":
            return _wrapped(_inline(node), width)
        case "heading":
            return _wrapped(_inline(node).stylize("bold $primary"), width)
        case "bullet_list" | "ordered_list":
            return _list(node, width, depth)
        case "blockquote":
            inside = _blocks(node.children, width - 2, depth)
            return _prefixed(inside, Content.styled("▎ ", "$primary 60%"))
        case "fence" | "code_block":
            return _code(node.content, node.info.split()[0] if node.info.split() else "text", width)
        case "hr":
            return [Content.styled("─" * width, "dim")]
        case "table":
            return _table(node, width)
    return _wrapped(Content(node.content.rstrip()), width) if node.content else []


def _wrapped(content: Content, width: int) -> Lines:
    return content.wrap(width) if content.plain else []


def _prefixed(lines: Lines, first: Content, others: Content | None = None) -> Lines:
    rest = first if others is None else others
    return [(rest if number else first) + line for number, line in enumerate(lines)]


def _list(node: Node, width: int, depth: int) -> Lines:
    number = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    widest = len(f"{(number or 0) + len(node.children) - 1}. ") if number is not None else 2
    lines: Lines = []
    for at, item in enumerate(node.children):
        mark = _BULLETS[min(depth, 2)] + " " if number is None else f"{number + at}. ".rjust(widest)
        tight = all(child.hidden for child in item.children if child.type == "paragraph")
        inside = _blocks(item.children, max(width - widest, _NARROWEST), depth + 1, tight=tight)
        if lines and not tight:
            lines.append(Content(""))
        lines += _prefixed(inside or [Content("")], Content.styled(mark, "$primary"), Content(" " * widest))
    return lines


def _code(code: str, language: str, width: int) -> Lines:
    lines: Lines = []
    for line in _highlighted(code.rstrip("\n").expandtabs(4), language):
        for part in line.fold(max(width - 2, _NARROWEST)) if line.plain else [line]:
            padded = Content(" ") + part
            lines.append(padded.extend_right(max(0, width - padded.cell_length)).stylize(_CODE))
    return lines


@lru_cache(maxsize=256)
def _highlighted(code: str, language: str) -> tuple[Content, ...]:
    return tuple(highlight(code, language=language).split("\n", allow_blank=True))


def _table(node: Node, width: int) -> Lines:
    rows = [[_inline(cell) for cell in row.children] for part in node.children for row in part.children]
    columns = max(map(len, rows), default=0)
    rows = [row + [Content("")] * (columns - len(row)) for row in rows]
    widths = _fitted([max(row[at].cell_length for row in rows) for at in range(columns)], width)
    lines: Lines = []
    for number, row in enumerate(rows):
        cells = [_wrapped(cell, space) or [Content("")] for cell, space in zip(row, widths, strict=True)]
        for at in range(max(map(len, cells))):
            parts = [_cell(cell, at, space) for cell, space in zip(cells, widths, strict=True)]
            line = Content(" │ ").join(parts)
            lines.append(line.stylize("bold") if number == 0 else line)
        if number == 0:
            lines.append(Content.styled("─┼─".join("─" * space for space in widths), "dim"))
    return lines


def _cell(lines: Lines, at: int, width: int) -> Content:
    line = lines[at] if at < len(lines) else Content("")
    return line.extend_right(max(0, width - line.cell_length))


def _fitted(wanted: list[int], width: int) -> list[int]:
    """Column widths: the widest give way until the table fits, as far as it can."""
    widths = [max(1, space) for space in wanted]
    room = width - 3 * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _NARROWEST:
        at = widths.index(max(widths))
        widths[at] = max(_NARROWEST, widths[at] - max(1, (sum(widths) - room) // len(widths)))
    return widths


def _inline(node: Node) -> Content:
    """Words with their styles."""
    parts: list[str] = []
    spans: list[Span] = []
    length = 0
    for text, styles in _runs(node, ()):
        spans += [Span(length, length + len(text), style) for style in styles]
        parts.append(text)
        length += len(text)
    return Content("".join(parts), spans=spans)


def _runs(node: Node, styles: tuple[str | Style, ...]) -> Iterator[tuple[str, tuple[str | Style, ...]]]:
    for child in node.children:
        kind = child.type
        if kind in _LEAVES:
            yield _LEAVES[kind](child), styles
        elif kind == "code_inline":
            yield child.content, (*styles, "$accent on $panel")
        elif kind == "link":
            yield from _link(child, styles)
        else:
            yield from _runs(child, (*styles, _STYLES[kind]) if kind in _STYLES else styles)


_LEAVES: dict[str, Callable[[Node], str]] = {
    "text": lambda node: node.content,
    "softbreak": lambda node: " ",
    "hardbreak": lambda node: "\n",
    "html_inline": lambda node: node.content,
    "image": lambda node: f"[picture: {node.content or node.attrs.get('src', '')}]",
}


def _link(node: Node, styles: tuple[str | Style, ...]) -> Iterator[tuple[str, tuple[str | Style, ...]]]:
    """The words, and the address where they do not tell it; only harmless addresses can be followed."""
    address = str(node.attrs.get("href", ""))
    safe = address.startswith(_SAFE_LINKS)
    look = Style(underline=True, link=address if safe else None)
    said = ""
    for text, inner in _runs(node, (*styles, look)):
        said += text
        yield text, inner
    if address and address.removeprefix("mailto:") != said:
        yield f" ({address})", (*styles, "dim")
