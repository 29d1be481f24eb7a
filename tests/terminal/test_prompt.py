"""Typing: several lines, history, completion, large pastes, mentions of files."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.app import App, ComposeResult

from thinkwire.session.commands import Candidate, Completion
from thinkwire.terminal.mentions import complete_mention, mentioned
from thinkwire.terminal.prompt import Prompt
from thinkwire.terminal.prompt_history import MOST, PromptHistory
from thinkwire.terminal.suggestions import Suggestions

pytestmark = pytest.mark.anyio


class Typing(App[None]):
    """A prompt alone."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.suggestions = Suggestions()
        self.prompt = Prompt(PromptHistory(path / "history.jsonl"), self.suggestions)
        self.prompt.complete = self.offered
        self.sent: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.suggestions
        yield self.prompt

    def on_mount(self) -> None:
        self.prompt.focus()

    def offered(self, text: str) -> Completion | None:
        words = [Candidate("/model"), Candidate("/mode/")]
        return Completion(0, tuple(words)) if text.startswith("/m") and " " not in text else None

    def on_prompt_sent(self, event: Prompt.Sent) -> None:
        self.sent.append(event.text)
        self.prompt.taken()


async def test_lines_history_completion_and_pastes(tmp_path: Path) -> None:
    app = Typing(tmp_path)
    async with app.run_test() as pilot:
        prompt = app.prompt
        await pilot.press("a", "shift+enter", "b", "ctrl+j", "c", "backslash", "enter", "d")
        assert prompt.text == "a\nb\nc\nd"
        await pilot.press("enter")
        assert app.sent.pop() == "a\nb\nc\nd"
        assert prompt.text == ""

        await pilot.press("x", "enter")
        await pilot.press("d", "r", "a", "f", "t", "up")
        assert prompt.text == "x"
        await pilot.press("up")
        assert prompt.text == "a\nb\nc\nd"
        await pilot.press("up", "up", "up", "up")
        assert prompt.text == "a\nb\nc\nd"
        await pilot.press("down", "down", "down", "down", "down")
        assert prompt.text == "draft"
        prompt.replace_all("")

        await pilot.press("slash", "m")
        assert app.suggestions.display
        await pilot.press("tab")
        assert prompt.text == "/model "
        assert not app.suggestions.display
        prompt.replace_all("")
        await pilot.press("slash", "m", "down", "enter")
        assert prompt.text == "/mode/"
        prompt.replace_all("")
        await pilot.press("slash", "m", "enter")
        assert app.sent.pop() == "/m"
        await pilot.press("slash", "m", "escape")
        assert not app.suggestions.display
        assert prompt.text == "/m"
        prompt.replace_all("")

        large = "\n".join(f"line {number}" for number in range(50))
        prompt.post_message(events.Paste(large))
        prompt.post_message(events.Paste(" small"))
        await pilot.pause()
        assert prompt.text == "[pasted #1: 50 lines] small"
        await pilot.press("enter")
        assert app.sent.pop() == f"{large} small"
        await pilot.press("enter")
        assert app.sent == ["x"]


def test_history_survives_and_stays_small(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "history.jsonl"
    history = PromptHistory(path)
    for number in range(MOST * 2 + 5):
        history.add(f"line {number}\nsecond")
    history.add(history.entries[-1])
    again = PromptHistory(path)
    assert again.entries == history.entries[-MOST:]
    assert next(again.newest()) == history.entries[-1]
    assert len(path.read_text().splitlines()) == MOST
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"\xff\xfe", b"not json\n", b'{"a":1}\n', b""])
def test_a_damaged_history_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(content)
    assert PromptHistory(path).entries == []


def test_a_history_that_cannot_be_written_troubles_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = PromptHistory(tmp_path / "file" / "history.jsonl")
    history.add("kept while it lasts")
    assert history.before("") == "kept while it lasts"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("notes.md", "my notes.txt", "src/app.py", "src/api.py", ".hidden"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    return tmp_path


MENTIONS = {
    "see @notes.md please": ["notes.md"],
    "see @notes.md, and @src/app.py.": ["notes.md", "src/app.py"],
    'see @"my notes.txt"': ["my notes.txt"],
    "@notes.md @notes.md": ["notes.md"],
    "mail me@notes.md or @nobody": [],
    "@src is a folder": [],
}


@pytest.mark.parametrize("text", MENTIONS)
def test_mentions_are_files_that_exist(folder: Path, text: str) -> None:
    assert mentioned(text, folder) == [folder / name for name in MENTIONS[text]]


OFFERS = {
    "see @no": ["@notes.md", '@"my notes.txt"'],
    "@src/a": ["@src/api.py", "@src/app.py"],
    "@": ['@"my notes.txt"', "@notes.md", "@src/"],
    "@.h": ["@.hidden"],
    "@nowhere/x": [],
}


@pytest.mark.parametrize("text", OFFERS)
def test_mentions_are_completed(folder: Path, text: str) -> None:
    completion = complete_mention(text, folder)
    assert completion is not None
    assert [candidate.text for candidate in completion.candidates] == OFFERS[text]
    assert text[completion.start] == "@"


def test_words_are_no_mentions(folder: Path) -> None:
    assert complete_mention("me@example", folder) is None
    assert complete_mention("no mention here", folder) is None
