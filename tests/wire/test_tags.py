from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.wire.cuts import cut, pieces, run
from thinkwire.wire.think_tags import TAGS, Piece, TagSplitter, merged, split

ALL_TAGS = [*TAGS, *TAGS.values()]
TAG = "|".join(map(re.escape, ALL_TAGS))
DROPPED = rf"\s*(?:{TAG})?[\r\n]*(?:{TAG})?[\r\n]*"

fragments = st.sampled_from(
    [
        *ALL_TAGS,
        "<",
        "[",
        "<th",
        "</think",
        "[/",
        "\n",
        "\r\n",
        " ",
        "\n\n",
        "a",
        "b c",
        "<thinker>",
        "💭",
        "\u2028",
    ]
)
messages = st.lists(fragments, max_size=10).map("".join)


def thought(text: str) -> Piece:
    return Piece(True, text)


def answer(text: str) -> Piece:
    return Piece(False, text)


class TestLaws:
    @given(messages, st.booleans(), st.data())
    @example("<think>\n\n</think>", False, None)
    def test_cuts_do_not_matter(self, message: str, inside: bool, draw: st.DataObject | None) -> None:
        parts = cut(draw, message) if draw else pieces(message)
        for deltas in (parts, pieces(message)):
            splitter = TagSplitter(starts_inside=inside)
            assert merged(run(splitter.feed, splitter.close, deltas)) == split(message, starts_inside=inside)

    @given(messages, st.booleans())
    def test_nothing_is_lost_but_tags_and_blanks_around_them(self, message: str, inside: bool) -> None:
        kept = [re.escape(piece.text) for piece in split(message, starts_inside=inside)]
        assert re.fullmatch(DROPPED + DROPPED.join([*kept, ""]), message)

    @given(messages)
    def test_a_message_that_begins_with_no_tag_is_all_answer(self, message: str) -> None:
        assert split("x" + message) == [answer("x" + message)]

    @given(messages, st.booleans())
    def test_thinking_comes_first_and_no_piece_is_empty(self, message: str, inside: bool) -> None:
        kinds = [piece.thinking for piece in split(message, starts_inside=inside) if piece.text]
        assert kinds in ([], [True], [False], [True, False])

    @given(messages, st.booleans())
    def test_only_what_may_belong_to_a_tag_is_held_back(self, message: str, inside: bool) -> None:
        splitter = TagSplitter(starts_inside=inside)
        splitter.feed(message)
        held = "".join(piece.text for piece in splitter.close()).lstrip()
        assert any(tag.startswith(held) for tag in ALL_TAGS)


SPLITS = {
    "think": ("<think>a</think>b", [thought("a"), answer("b")]),
    "thinking": ("<thinking>a</thinking>b", [thought("a"), answer("b")]),
    "MiniMax": ("<mm:think>a</mm:think>b", [thought("a"), answer("b")]),
    "Magistral": ("[THINK]a[/THINK]b", [thought("a"), answer("b")]),
    "no tag": ("plain", [answer("plain")]),
    "nothing": ("", []),
    "white space before the tag": (" \n\t<think>a</think>b", [thought("a"), answer("b")]),
    "white space before no tag": (" \n\tplain", [answer(" \n\tplain")]),
    "white space alone": ("\n ", [answer("\n ")]),
    "newlines after the closing tag": ("<think>a</think>\r\n\nb\n", [thought("a"), answer("b\n")]),
    "a space after the closing tag": ("<think>a</think>\n b", [thought("a"), answer(" b")]),
    "newlines inside the tags": ("<think>\n\na\n\nb\n</think>", [thought("a\n\nb")]),
    "spaces inside the tags": ("<think> a </think>", [thought(" a ")]),
    "Qwen without thinking": ("<think>\n\n</think>\n\nb", [answer("b")]),
    "an empty thought and no answer": ("<think>\n\n</think>\n", []),
    "never closed": ("<think>a\n", [thought("a\n")]),
    "never closed, cut in the closing tag": ("<think>a\n</thi", [thought("a\n</thi")]),
    "opened and cut": ("<think>\n", []),
    "cut in the opening tag": (" <thin", [answer(" <thin")]),
    "a tag in the answer": ("see <think>a</think>", [answer("see <think>a</think>")]),
    "a second thought": ("<think>a</think>b<think>c</think>", [thought("a"), answer("b<think>c</think>")]),
    "a second thought at once": (
        "<think>a</think><think>b</think>",
        [thought("a"), answer("<think>b</think>")],
    ),
    "a tag in the thought": ("<think>a <think> b</think>c", [thought("a <think> b"), answer("c")]),
    "another tag's end in the thought": (
        "<think>a</thinking></think>c",
        [thought("a</thinking>"), answer("c")],
    ),
    "almost a tag": ("<thinker>a</thinker>", [answer("<thinker>a</thinker>")]),
    "almost a closing tag": ("<think>a</thin></think>b", [thought("a</thin>"), answer("b")]),
    "a closing tag after its own beginning": ("<think>a</th</think>b", [thought("a</th"), answer("b")]),
    "an orphan closing tag": ("\n</think>\n\nb", [answer("b")]),
    "a closing tag in the answer": ("b</think>c", [answer("b</think>c")]),
}

SPLITS_INSIDE = {
    "closed": ("a</think>\nb", [thought("a"), answer("b")]),
    "closed by any tag": ("a[/THINK]b", [thought("a"), answer("b")]),
    "opened all the same": ("\n<think>\na</think>b", [thought("a"), answer("b")]),
    "opened all the same by its own tag": ("<think>a[/THINK]</think>b", [thought("a[/THINK]"), answer("b")]),
    "closed at once": ("\n</think>\n\nb", [answer("b")]),
    "newlines at its beginning": ("\n\n a\n\n</think>b", [thought(" a"), answer("b")]),
    "never closed": ("a", [thought("a")]),
    "a later opening tag": ("a<think>b</think>c", [thought("a<think>b"), answer("c")]),
    "cut in a tag": ("\n<thi", [thought("<thi")]),
    "nothing but newlines": ("\n\n", []),
}


@pytest.mark.parametrize(("message", "expected"), SPLITS.values(), ids=SPLITS.keys())
def test_splits(message: str, expected: list[Piece]) -> None:
    assert split(message) == expected


@pytest.mark.parametrize(("message", "expected"), SPLITS_INSIDE.values(), ids=SPLITS_INSIDE.keys())
def test_splits_when_the_template_has_opened_the_tag(message: str, expected: list[Piece]) -> None:
    assert split(message, starts_inside=True) == expected


class TestStreaming:
    def deltas(self, *texts: str) -> list[list[Piece]]:
        splitter = TagSplitter()
        return [*(splitter.feed(text) for text in texts), splitter.close()]

    def test_a_tag_may_be_cut_anywhere(self) -> None:
        assert self.deltas("<", "thi", "nk>", "a<", "/think", ">", "b") == [
            [], [], [], [thought("a")], [], [], [answer("b")], []
        ]  # fmt: skip

    def test_what_cannot_be_a_tag_comes_out_at_once(self) -> None:
        assert self.deltas("<think>a", " b <", " c", " </b", "> d") == [
            [thought("a")], [thought(" b ")], [thought("< c")], [thought(" </b")], [thought("> d")], []
        ]  # fmt: skip

    def test_newlines_in_a_thought_wait_for_what_follows(self) -> None:
        assert self.deltas("<think>a", "\n", "\n", "b\n", "</think>") == [
            [thought("a")], [], [], [thought("\n\nb")], [], []
        ]  # fmt: skip

    def test_newlines_after_a_thought_are_dropped_delta_by_delta(self) -> None:
        assert self.deltas("<think>a</think>", "\n", "\n", "b", "\n", "\n") == [
            [thought("a")], [], [], [answer("b")], [answer("\n")], [answer("\n")], []
        ]  # fmt: skip

    def test_white_space_deltas_of_an_answer_survive(self) -> None:
        assert self.deltas(" ", "\n", "a", " ", "") == [[], [], [answer(" \na")], [answer(" ")], [], []]

    def test_a_closed_splitter_has_nothing_left(self) -> None:
        splitter = TagSplitter()
        splitter.feed("<think>a\n<")
        assert splitter.close() == [thought("\n<")]
        assert splitter.close() == []

    def test_a_hundred_thousand_held_newlines_are_cheap(self) -> None:
        newlines = "\n" * 100_000
        assert self.deltas("<think>a", *newlines, "b")[-2] == [thought(f"{newlines}b")]


class TestReasoningInItsOwnField:
    def splitter(self, *, starts_inside: bool = False) -> TagSplitter:
        splitter = TagSplitter(starts_inside=starts_inside)
        splitter.no_more_opening()
        return splitter

    def test_an_opening_tag_is_text(self) -> None:
        assert self.splitter().feed("<think>a</think>") == [answer("<think>a</think>")]

    def test_an_orphan_closing_tag_is_dropped(self) -> None:
        splitter = self.splitter()
        assert merged(run(splitter.feed, splitter.close, pieces("\n</think>\n\nb"))) == [answer("b")]

    def test_the_content_does_not_start_inside(self) -> None:
        assert self.splitter(starts_inside=True).feed("b") == [answer("b")]

    def test_half_an_opening_tag_becomes_text(self) -> None:
        splitter = TagSplitter()
        assert splitter.feed(" <thi") == []
        splitter.no_more_opening()
        assert splitter.feed("nk>") == [answer(" <think>")]

    @pytest.mark.parametrize("starts_inside", [False, True])
    def test_thinking_that_has_begun_goes_on_to_its_end(self, starts_inside: bool) -> None:
        splitter = TagSplitter(starts_inside=starts_inside)
        splitter.feed("a" if starts_inside else "<think>a")
        splitter.no_more_opening()
        assert splitter.feed("b</think>c") == [thought("b"), answer("c")]
