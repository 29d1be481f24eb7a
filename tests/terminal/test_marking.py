"""Markdown on the screen: nothing is lost, nothing is wider than its place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkwire.messages import ToolCall
from thinkwire.session.formatting import count, duration, money, printable, thought_for, tokens, unmistakable
from thinkwire.terminal.activity import subject_of_thought
from thinkwire.terminal.changes import change_of, subject_of
from thinkwire.terminal.markdown.layout import laid_out
from thinkwire.terminal.status import StatusData, lines_of
from thinkwire.usage import Usage

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
        "- long list item\n" * 120,
        "```\n" + "x = 1\n" * 900 + "```\n\n",
    ]
)


@settings(max_examples=25)
@given(st.lists(PARTS, max_size=4), st.integers(24, 120))
def test_no_line_is_wider_than_its_place(parts: list[str], width: int) -> None:
    for line in laid_out("".join(parts), width).split("\n"):
        assert line.cell_length <= width


@given(st.text(max_size=200), st.integers(1, 60))
def test_any_text_can_be_laid_out(text: str, width: int) -> None:
    assert laid_out(printable(text), width) is not None


@given(st.lists(st.from_regex(r"[a-z]{1,12}", fullmatch=True), min_size=1, max_size=60))
def test_no_word_of_plain_prose_is_lost(words: list[str]) -> None:
    assert laid_out(" ".join(words), 40).plain.split() == words


def test_a_link_shows_its_address_and_only_harmless_ones_can_be_followed() -> None:
    shown = laid_out("[docs](https://example.org/a) [x](javascript:alert) https://example.org", 80)
    assert "docs (https://example.org/a)" in shown.plain
    links = {getattr(span.style, "link", None) for span in shown.spans}
    assert links >= {"https://example.org/a"}
    assert not any(link and link.startswith("javascript") for link in links)


@given(st.text(max_size=80))
def test_nothing_that_a_model_says_controls_the_terminal(text: str) -> None:
    for shown in (printable(text), unmistakable(text)):
        assert all(c in "\n\t" or (ord(c) >= 0x20 and not 0x7F <= ord(c) < 0xA0) for c in shown)
    assert not set("\u202e\u2066\u200f") & set(unmistakable(text))


def test_unknown_numbers_are_question_marks() -> None:
    assert tokens(None) == "?"
    assert tokens(Usage(input_total=5)) == "5 in + ? out + ? thinking = ?"
    assert tokens(Usage(input_total=235, output_visible=40, output_reasoning=314, output_total=354)) == (
        "235 in + 40 out + 314 thinking = 589"
    )
    assert (money(None), money(0.0123), money(12.5)) == ("$?", "$0.0123", "$12.50")
    assert (count(None), count(0), count(1234)) == ("?", "0", "1,234")


def test_times_in_words() -> None:
    assert (duration(7.4), duration(125)) == ("7 s", "2 min 5 s")
    assert thought_for(12.2) == "Thought for 12 s"
    assert thought_for(0.3) == "Thought for less than a second"
    assert thought_for(None) == "Thought"


SUBJECTS = {
    "": "",
    "**Checking parity**\n\nSo n is odd.": "Checking parity",
    "First.\nThen the second thing": "Then the second thing",
    "- a point": "a point",
}


@pytest.mark.parametrize("text", SUBJECTS)
def test_the_subject_of_a_thought(text: str) -> None:
    assert subject_of_thought(text) == SUBJECTS[text]


def test_a_call_is_shown_by_what_it_is_about() -> None:
    edit = ToolCall("1", "edit_file", '{"path":"a.py","old":"x = 1\\ny = 2\\n","new":"x = 1\\ny = 3\\n"}')
    change = change_of(edit)
    assert change is not None
    assert change.lines == (" x = 1", "-y = 2", "+y = 3")
    assert subject_of(ToolCall("1", "run_command", '{"command":"ls\\u202e -la"}')) == "ls\\u202e -la"
    assert subject_of(ToolCall("1", "other", "{broken")) == ""


STANDING = StatusData(
    provider="Anthropic",
    model="claude-opus-5-5",
    level="none → low",
    context="123,000/212,000",
    simulated=True,
    turn=Usage(input_total=123_456, output_visible=1_234, output_reasoning=12_345, output_total=13_579),
    turn_cost=None,
    asked=True,
    total=None,
    total_cost=0.5,
)


@pytest.mark.parametrize("width", [20, 40, 80, 120, 200])
def test_the_status_fits_its_width(width: int) -> None:
    first, second = lines_of(STANDING, width)
    assert len(first) <= width
    assert len(second) <= width
    assert first.startswith("SIMULATED")


def test_the_status_tells_everything_where_there_is_room() -> None:
    assert lines_of(STANDING, 200) == (
        "SIMULATED Anthropic claude-opus-5-5/none → low · context 123,000/212,000",
        "turn 123,456 in + 1,234 out + 12,345 thinking = 137,035, $? · conversation ?, $0.5000",
    )
    assert lines_of(StatusData(), 80) == ("no model · context ?", "")
