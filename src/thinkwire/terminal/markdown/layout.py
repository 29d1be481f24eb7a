"""Markdown as lines of a width."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode as Node
from textual.content import Content, Span
from textual.highlight import highlight
from textual.style import Style

from thinkwire.terminal.markdown.split import Seam

Lines = list[Content]

_NARROWEST = 4
_CODE = "on $panel"
_STYLES = {"em": "italic", "strong": "bold", "s": "strike"}
_BULLETS = "•◦▪"
_SAFE_LINKS = ("https://", "http://", "mailto:")


Over = Content | tuple[int, ...] | None
"""What a piece takes over from the one before: the line that goes on, or the columns of its table."""


def laid_out(source: str, width: int) -> Content:
    """The text at a width; no line is longer."""
    return Content("\n").join(lay(source, width)[0])


def lay(source: str, width: int, *, over: Over = None, seam: Seam = "") -> tuple[Lines, Over]:
    """The lines of a piece, and what it hands over to the next one at its seam."""
    tree = _parsed(source)
    lines, handed = _laid(tree.children, max(width, _NARROWEST), over, seam)
    _take_apart(tree)
    if isinstance(handed, Content) and source[-1:].isspace():
        handed += " "
    return lines, handed


def _laid(nodes: Sequence[Node], width: int, over: Over, seam: Seam) -> tuple[Lines, Over]:
    lines: Lines = []
    if over is not None and nodes:
        lines, nodes = _went_on(nodes[0], width, over), nodes[1:]
    elif isinstance(over, Content):
        lines = [over]
    rest = _blocks(nodes, width)
    lines += [Content(""), *rest] if lines and rest else rest
    if seam == "line" and lines:
        last = lines.pop()
        return lines, last
    if seam == "columns":
        return lines, _columns(_rows(nodes[-1]), width) if nodes and nodes[-1].type == "table" else over
    return lines, None


def _take_apart(node: Node) -> None:
    """Parents and children hold each other; apart, they go at once and not when garbage is collected."""
    for child in node.children:
        _take_apart(child)
    node.children = []


def _went_on(node: Node, width: int, over: Content | tuple[int, ...]) -> Lines:
    """The block that goes on from the piece before."""
    if isinstance(over, tuple):
        return _table(node, width, over) if node.type == "table" else _block(node, width, 0)
    if node.type == "paragraph":
        return _wrapped(over + _inline(node), width)
    return [over, *_block(node, width, 0)]


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


@lru_cache(maxsize=16)
def _highlighted(code: str, language: str) -> tuple[Content, ...]:
    return tuple(highlight(code, language=language).split("\n", allow_blank=True))


def _rows(node: Node) -> list[list[Content]]:
    """The cells of a table; every row has as many."""
    rows = [[_inline(cell) for cell in row.children] for part in node.children for row in part.children]
    columns = max(map(len, rows), default=0)
    return [row + [Content("")] * (columns - len(row)) for row in rows]


def _columns(rows: list[list[Content]], width: int) -> tuple[int, ...]:
    """How wide each is."""
    return _fitted([max(cell.cell_length for cell in column) for column in zip(*rows, strict=True)], width)


def _table(node: Node, width: int, columns: tuple[int, ...] | None = None) -> Lines:
    """With columns it goes on from a table that had them: the head was shown there."""
    rows = _rows(node)
    if columns is None:
        columns = _columns(rows, width)
        rule = Content.styled("─┼─".join("─" * space for space in columns), "dim")
        head = [line.stylize("bold") for line in _row(rows[0], columns)]
        return [*head, rule, *(line for row in rows[1:] for line in _row(row, columns))]
    return [line for row in rows[1:] for line in _row(row, columns)]


def _row(row: list[Content], columns: tuple[int, ...]) -> Lines:
    cells = [_wrapped(cell, space) or [Content("")] for cell, space in zip(row, columns, strict=False)]
    return [
        Content(" │ ").join(_cell(cell, at, space) for cell, space in zip(cells, columns, strict=False))
        for at in range(max(map(len, cells)))
    ]


def _cell(lines: Lines, at: int, width: int) -> Content:
    line = lines[at] if at < len(lines) else Content("")
    return line.extend_right(max(0, width - line.cell_length))


def _fitted(wanted: list[int], width: int) -> tuple[int, ...]:
    """Column widths: the widest give way until the table fits, as far as it can."""
    widths = [max(1, space) for space in wanted]
    room = width - 3 * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _NARROWEST:
        at = widths.index(max(widths))
        widths[at] = max(_NARROWEST, widths[at] - max(1, (sum(widths) - room) // len(widths)))
    return tuple(widths)


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
