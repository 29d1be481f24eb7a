"""Long answers on the screen: the end is seen at once, all can be read and copied, nothing grows with it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.geometry import Offset
from textual.selection import Selection

from tests.terminal.stage import Stage, stage
from thinkwire.events import BlockEnded, BlockGrew, BlockStarted, Finished, Started
from thinkwire.messages import Text, Thinking
from thinkwire.session import SessionEvent
from thinkwire.terminal.chat.run_renderer import RunRenderer
from thinkwire.terminal.markdown.widget import CACHED, MarkdownView
from thinkwire.terminal.notice import Notice
from thinkwire.terminal.widgets import conversation as talking
from thinkwire.terminal.widgets.thinking import ThinkingView

pytestmark = pytest.mark.anyio


def numbered(word: str, count: int) -> str:
    return "".join(f"{word} {number} is worth a line of its own.\n\n" for number in range(count))


async def told(on: Stage, *happenings: SessionEvent) -> None:
    """Puts what happens on the screen, as a run does."""
    teller = RunRenderer(on.app.talk, on.app.activity, set())
    for happening in happenings:
        teller.tell(happening)
    await teller.close()
    on.app.activity.end()
    await on.pilot.pause()


async def answered(on: Stage, text: str, *, thought: str = "") -> None:
    deltas = [BlockGrew(1, text[at : at + 40]) for at in range(0, len(text), 40)]
    await told(
        on,
        Started(),
        BlockStarted(0, Thinking()),
        BlockGrew(0, thought),
        BlockEnded(0),
        BlockStarted(1, Text()),
        *deltas,
        BlockEnded(1),
        Finished("stop"),
    )


async def settled(on: Stage) -> None:
    """Every height is counted."""
    await on.until(
        lambda: all(next(prose._sheets.guesses(), None) is None for prose in on.app.talk.query(MarkdownView))
    )
    await on.pilot.pause()


async def test_two_hundred_thousand_characters_are_one_widget_and_the_end_is_seen(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await answered(on, numbered("Line", 4_500), thought=numbered("Thought", 2_000))
        await on.sees("Line 4499 is worth")
        assert len(on.app.talk.query(MarkdownView)) == 2
        assert on.app.talk.is_vertical_scroll_end
        thought, answer = on.app.talk.query(MarkdownView)
        await settled(on)
        assert thought.size.height == 2_000 * 2 - 1
        assert answer.size.height == 4_500 * 2 - 1
        on.app.talk.scroll_to(y=thought.virtual_region.y, animate=False)
        await on.sees("Thought 0 is worth")
        on.app.talk.scroll_to(y=thought.size.height + 10 + 4_500, animate=False)
        await on.sees("Line 2260 is worth")


async def test_long_thinking_goes_and_comes_back_as_a_whole(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await answered(on, "The answer.", thought=numbered("Thought", 2_000))
        await on.sees("Thought 1999")
        on.app.talk.show_thinking(False)
        await on.until(lambda: "Thought 1999" not in on.seen())
        assert "The answer." in on.seen()
        on.app.talk.show_thinking(True)
        await on.sees("Thought 1999")
        (thought,) = on.app.talk.query(ThinkingView)
        await settled(on)
        assert thought.size.height == 2_000 * 2


async def test_scrolling_through_keeps_few_lines(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await answered(on, numbered("Line", 1_000))
        (prose,) = on.app.talk.query(MarkdownView)
        await settled(on)
        for y in range(0, 2_000, 30):
            on.app.talk.scroll_to(y=y, animate=False)
            await on.pilot.pause()
        assert 0 < len(prose._styles_cache._cache) <= CACHED
        prose.refresh()
        assert len(prose._styles_cache._dirty_lines) == 0
        assert len(prose._sheets._laid) < len(prose._sheets)


async def test_what_is_selected_in_a_long_text_is_copied(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await answered(on, numbered("Line", 1_000))
        (prose,) = on.app.talk.query(MarkdownView)
        await settled(on)
        some = Selection(Offset(0, 1_000), Offset(8, 1_002))
        assert prose.get_selection(some) == ("Line 500 is worth a line of its own.\n\nLine 501", "\n")
        on.app.screen.selections = {prose: some}
        await on.pilot.pause()
        assert on.app.screen.get_selected_text() == "Line 500 is worth a line of its own.\n\nLine 501"
        on.app.talk.scroll_to(y=990, animate=False)
        await on.sees("Line 500")
        await on.press("ctrl+c")
        assert on.app.clipboard.endswith("Line 501")
        whole = prose.get_selection(Selection(None, None))
        assert whole is not None
        assert whole[0].split() == numbered("Line", 1_000).split()


async def test_the_mouse_selects_lines_of_a_long_text(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await answered(on, numbered("Line", 300))
        await settled(on)
        rows = on.seen().split("\n")
        y = next(number for number, row in enumerate(rows) if "Line 295" in row)
        await on.pilot.mouse_down(offset=(2, y))
        await on.pilot.hover(offset=(9, y + 2))
        await on.pilot.mouse_up(offset=(9, y + 2))
        assert on.app.screen.get_selected_text() == "Line 295 is worth a line of its own.\n\nLine 296"


async def test_another_width_keeps_the_end_in_sight_and_every_word(tmp_path: Path) -> None:
    async with stage(tmp_path, size=(100, 30)) as on:
        await answered(on, "A long sentence that has to be broken somewhere, number one. " * 400 + "The end.")
        await on.sees("The end.")
        await on.pilot.resize_terminal(60, 30)
        await on.sees("The end.")
        await settled(on)
        (prose,) = on.app.talk.query(MarkdownView)
        everything = prose.get_selection(Selection(None, None))
        assert everything is not None
        assert everything[0].split().count("sentence") == 400
        assert max(len(line) for line in everything[0].split("\n")) <= 56


@pytest.mark.parametrize("part", ["answer", "thought"])
async def test_what_one_reads_stays_while_the_rest_is_counted(part: str, tmp_path: Path) -> None:
    text = "".join(f"Line {n}\nof **{n}** and\nso on.\n\n" for n in range(1_000))
    async with stage(tmp_path) as on:
        if part == "answer":
            await on.app.talk.put(MarkdownView(text, classes="answer"))
        else:
            thought = ThinkingView()
            await on.app.talk.put(thought)
            await thought.add(text)
        await on.pilot.pause()
        await on.sees("Line 999 of")
        on.app.talk.scroll_to(y=1_500, animate=False, immediate=True)
        await on.until(lambda: "Line 999" not in on.seen() and " of " in on.seen())
        read = ""
        while read != on.seen():  # What is drawn while the scrolling still goes on, nobody reads.
            read = on.seen()
            await on.pilot.pause(0.05)
        line = next(row.split()[1] for row in read.split("\n")[1:] if "Line" in row)
        await settled(on)
        await on.sees(f"Line {line} of")


async def test_very_many_parts_leave_the_screen_and_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talking, "MOST", 20)
    async with stage(tmp_path) as on:
        for number in range(100):
            await on.app.talk.put(MarkdownView(f"Answer {number}.", classes="answer"))
        await on.pilot.pause()
        shown = on.app.talk.children
        assert 20 <= len(shown) <= 20 + talking._AT_ONCE + 1
        first = shown[0]
        assert isinstance(first, Notice)
        assert first.lines == ("… earlier messages (Ctrl+O shows them)",)
        assert len(on.app.talk.query(Notice)) == 1
        await on.sees("Answer 99.")


async def test_drawing_never_waits_for_a_screen_that_is_not_shown(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.press("ctrl+o")
        await on.sees("Nothing was said yet.")
        async with asyncio.timeout(20):
            await on.app.talk.painted(within=0.05)
            await answered(on, numbered("Line", 50))
        await on.press("escape")
        await on.sees("Line 49")
