"""A long text on sheets: it looks like the whole, costs what is seen of it, and is cut where it is long."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from thinkwire.terminal.markdown.chunks import JOINED, KEPT, Chunks
from thinkwire.terminal.markdown.layout import laid_out
from thinkwire.terminal.markdown.split import LONG, MOST, PIECE

SENTENCE = "Every even square is the square of an even number, and **that** is `all` we need. "
ROW = "| 123,456 | 15,241,383,936 | even, and *so* is its square |\n"
TABLE = "| number | square | remark |\n|---|---|---|\n"
PARTS = st.sampled_from(
    [
        "A sentence with **bold** and `code` and some more words.\n\n",
        "# Heading\n\n",
        "- item one\n- item two\n  - nested\n\n",
        "1. first\n2. second\n\n",
        "```python\nfor n in range(3):\n\n    print(n)\n```\n\n",
        "~~~\nplain\n~~~\n\n",
        "> quoted\n\n",
        "| a | b |\n|---|---|\n| 1 | 日本語 |\n\n",
        "日本語の文章はここにある。한국어도.\n\n",
        "[a link](https://example.org) and <b>html</b>\n\n",
        "word " * 200 + "\n\n",
        "- long list item\n" * 120 + "\n",
        "```\n" + "x = 1\n" * 900 + "```\n\n",
        SENTENCE * 80 + "\n\n",
        TABLE + ROW * 90 + "\n",
    ]
)
LONG_ONES = {
    "one paragraph": SENTENCE * 100,
    "lines of one paragraph": (SENTENCE.strip() + "\n") * 100,
    "one table": TABLE + ROW * 150,
    "one code block": "```python\n" + "for n in range(10):\n    print(n * n)\n" * 250 + "```\n",
    "one list": "- one thing\n- another\n" * 400,
    "indented code": "    x = 1\n" * 900,
    "a list in a quotation": "> - It was so.\n" * 500,
}


def sheets_of(text: str, width: int, step: int = 997) -> Chunks:
    """The text as it comes, in parts."""
    sheets = Chunks()
    sheets.fit(width)
    for at in range(0, len(text), step):
        sheets.add(text[at : at + step])
    return sheets


def shown(sheets: Chunks) -> list[str]:
    return [line.plain for at in range(len(sheets)) for line in sheets.lines(at)]


def words(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]


@settings(max_examples=15)
@given(st.lists(PARTS, max_size=10), st.integers(50, 4_000), st.integers(40, 130))
@example(["- long list item\n" * 120] * 9, 700, 80)
def test_sheets_show_the_same_lines_as_the_whole(parts: list[str], step: int, width: int) -> None:
    text = "".join(parts)
    assert words(shown(sheets_of(text, width, step))) == words(laid_out(text, width).plain.split("\n"))


@pytest.mark.parametrize("name", LONG_ONES)
@pytest.mark.parametrize("width", [40, 96])
def test_what_is_cut_looks_as_if_it_were_not(name: str, width: int) -> None:
    whole = laid_out(LONG_ONES[name], width).plain.split("\n")
    sheets = sheets_of(LONG_ONES[name], width)
    assert len(sheets) > 2
    assert [line.rstrip() for line in shown(sheets)] == [line.rstrip() for line in whole]


@pytest.mark.parametrize("name", LONG_ONES)
def test_another_width_lays_everything_out_anew_from_any_place(name: str) -> None:
    sheets = sheets_of(LONG_ONES[name], 96)
    sheets.fit(60)
    last = len(sheets) - 1
    end = [line.plain for line in sheets.lines(last)]
    fresh = sheets_of(LONG_ONES[name], 60)
    assert end == [line.plain for line in fresh.lines(last)]
    assert shown(sheets) == shown(fresh)


UNCUTTABLE = {
    "no spaces": "A" * 50_000,
    "no end of code": "```python\n" + "x" * 50_000,
    "one quotation": "> " + SENTENCE * 600,
    "one item": "- " + SENTENCE * 600,
    "what opens and never closes": "**" + "word " * 10_000,
    "markup": "<div>\n" + "<p>x</p>\n" * 6_000,
    "Chinese": "奇数的平方总是奇数" * 6_000,
}


@pytest.mark.parametrize("name", [*LONG_ONES, *UNCUTTABLE])
def test_no_text_makes_a_long_sheet_and_no_word_is_lost(name: str) -> None:
    text = {**LONG_ONES, **UNCUTTABLE}[name]
    sheets = sheets_of(text, 80)
    sources = [sheet.source for sheet in sheets._sheets]
    assert max(map(len, sources)) <= MOST + PIECE
    if name in UNCUTTABLE:
        bare = str.maketrans("", "", " \n`>*-")
        assert len("".join(shown(sheets)).translate(bare)) >= len(
            text.removeprefix("```python").translate(bare)
        )


def test_good_places_are_found_soon() -> None:
    for name, text in LONG_ONES.items():
        longest = max(len(sheet.source) for sheet in sheets_of(text, 80)._sheets)
        assert longest <= (2 * LONG + 100 if name == "one code block" else LONG + PIECE), name


def test_code_goes_on_as_code_of_its_language() -> None:
    sheets = sheets_of(LONG_ONES["one code block"], 80)
    sources = [sheet.source for sheet in sheets._sheets if sheet.source.strip()]
    assert all(source.startswith("```python\n") and source.count("```") == 2 for source in sources)


def test_a_paragraph_takes_a_new_line_once_in_a_great_while() -> None:
    sheets = sheets_of(SENTENCE * 2_000, 80)
    whole = laid_out(SENTENCE * 2_000, 80).plain.split("\n")
    assert len(sheets) > 2 * JOINED
    assert 0 < len(shown(sheets)) - len(whole) <= len(sheets) // JOINED + 1
    chain = longest = 0
    for sheet in sheets._sheets:
        chain = chain + 1 if sheet.seam else 0
        longest = max(longest, chain)
    assert longest < JOINED


def test_heights_are_guessed_until_they_are_counted_and_then_true() -> None:
    text = "\n\n".join(LONG_ONES.values()) * 3
    sheets = Chunks()
    sheets.add(text)
    sheets.fit(72)
    guessed = sheets.height
    before = len(list(sheets.guesses()))
    for at in list(sheets.guesses()):
        sheets.count(at)
    assert before == len(sheets)
    assert list(sheets.guesses()) == []
    assert sheets.height == len(shown(sheets))
    assert guessed == pytest.approx(sheets.height, rel=0.35)


def test_only_the_end_is_laid_out_when_much_comes_at_once() -> None:
    sheets = Chunks()
    sheets.fit(80)
    sheets.add(SENTENCE.strip() + "\n\n")
    sheets.add((SENTENCE.strip() + "\n\n") * 2_000)
    sheets.settle_end(60)
    assert len(list(sheets.guesses())) > len(sheets) - 20


def test_a_sheet_of_very_many_lines_is_laid_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sheets = sheets_of("```\n" + "x\n" * 4_000, 80)
    shown(sheets)

    def again(*_: object, **__: object) -> None:
        raise AssertionError("laid out again")

    monkeypatch.setattr("thinkwire.terminal.markdown.chunks.lay", again)
    for y in range(sheets.height - 40, sheets.height):
        lines, at = sheets.line(y)
        assert lines[at].plain.strip() == "x"


def test_every_line_is_found_and_few_are_kept() -> None:
    text = "\n\n".join(LONG_ONES.values()) * 2
    sheets = sheets_of(text, 80)
    everything = shown(sheets)
    found = []
    for y in range(sheets.height):
        lines, at = sheets.line(y)
        found.append(lines[at].plain)
    assert found == everything
    assert sum(map(len, sheets._laid.values())) <= KEPT < len(everything)
