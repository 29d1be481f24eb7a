"""The chat as a person uses it: every key, tools with approval, errors, earlier conversations."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal.stage import stage
from thinkwire.config import user_file
from thinkwire.errors import Failure
from thinkwire.messages import Document
from thinkwire.session.commands import COMMANDS, THEMES
from thinkwire.terminal.app import Chat
from thinkwire.terminal.chat.conversations import ConversationManager, Options
from thinkwire.terminal.notice import FailureNotice
from thinkwire.terminal.picker import Picker
from thinkwire.terminal.themes import ALL, usual_theme
from thinkwire.terminal.transcript import Transcript
from thinkwire.terminal.widgets.approval import ApprovalPrompt
from thinkwire.terminal.widgets.thinking import ThinkingView

pytestmark = pytest.mark.anyio

EDIT = '[[think:First.]] [[call:edit_file {"path":"poem.txt","old":"red","new":"white"}]] [[say:Done.]]'


@pytest.fixture
def poem(tmp_path: Path) -> Path:
    (tmp_path / "poem.txt").write_text("roses are red\n")
    return tmp_path


async def test_thinking_stands_above_the_answer_with_its_time_and_tokens(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.say("[[think:Look at both sides.]] [[say:Yes.]]")
        seen = on.seen()
        assert "Thought for less than a second · 5 tokens" in seen
        assert seen.index("Look at both sides.\n") < seen.index("Yes.\n")
        assert "Anthropic claude-opus-5-5/high" in seen
        assert "in + " in seen
        assert " thinking = " in seen


async def test_thinking_is_hidden_and_shown_at_once_for_everything_above(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.say("[[think:A thought.]] [[say:One.]]")
        await on.press("alt+t")
        await on.until(lambda: "A thought." not in on.seen().split("One.")[0].rpartition("[[say")[2])
        assert "Thought for" not in on.seen()
        assert "thinking hidden" in on.seen()
        await on.say("/thinking show")
        await on.sees("Thought for")


async def test_redacted_thinking_is_one_line_and_none_is_none(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.say("[[redact]] [[say:Hello.]]")
        (thought,) = on.app.talk.query(ThinkingView)
        assert thought.size.height == 1
        assert "redacted by the provider" in on.seen()
        await on.say("/model claude-sonnet-4-5")
        await on.say("[[say:An answer without thinking.]]")
        assert len(on.app.talk.query(ThinkingView)) == 1


async def test_an_edit_shows_its_diff_and_runs_when_approved_always_without_asking(poem: Path) -> None:
    async with stage(poem) as on:
        await on.say(EDIT, wait=False)
        await on.until(lambda: on.app.query(ApprovalPrompt))
        await on.sees("May edit_file run?")
        assert "-red" in on.seen()
        assert "+white" in on.seen()
        assert (poem / "poem.txt").read_text() == "roses are red\n"
        await on.press("a")
        await on.rest()
        assert (poem / "poem.txt").read_text() == "roses are white\n"
        assert "✓ edit_file poem.txt" in on.seen()
        await on.say(EDIT.replace("white", "pink").replace("red", "white"))
        assert (poem / "poem.txt").read_text() == "roses are pink\n"


async def test_a_refused_call_changes_nothing_and_the_model_is_told(poem: Path) -> None:
    async with stage(poem) as on:
        await on.say(EDIT, wait=False)
        await on.until(lambda: on.app.query(ApprovalPrompt))
        await on.press("n")
        await on.rest()
        assert (poem / "poem.txt").read_text() == "roses are red\n"
        assert "The user refused this call" in on.seen()
        assert "Done." in on.seen()


async def test_a_question_leaves_the_draft_alone_and_ignores_keys_meant_for_it(poem: Path) -> None:
    async with stage(poem) as on:
        await on.say(EDIT, wait=False)
        await on.type("my draft")
        ApprovalPrompt.GRACE = 60.0
        await on.until(lambda: on.app.query(ApprovalPrompt))
        await on.press("y")
        assert (poem / "poem.txt").read_text() == "roses are red\n"
        await on.press("escape")
        await on.rest()
        assert on.app.prompt.text.startswith("my draft")
        assert not on.app.query(ApprovalPrompt)


async def test_all_of_a_long_change_can_be_seen_before_it_is_approved(tmp_path: Path) -> None:
    lines = "\\n".join(f"line {number}" for number in range(80))
    async with stage(tmp_path, size=(80, 24)) as on:
        await on.say(
            f'[[call:write_file {{"path":"long.txt","content":"{lines}"}}]] [[say:Done.]]', wait=False
        )
        await on.sees("y yes    a always write_file    n no    ↑↓ more")
        assert "+line 79" not in on.seen()
        await on.press(*["pagedown"] * 12)
        await on.sees("+line 79")
        await on.press("n")
        await on.rest()


async def test_leaving_while_a_question_is_open_refuses_it(poem: Path) -> None:
    async with stage(poem) as on:
        await on.say(EDIT, wait=False)
        await on.until(lambda: on.app.query(ApprovalPrompt))
        await on.press("ctrl+c", "ctrl+c")
        await on.until(lambda: on.app._exit)
    assert (poem / "poem.txt").read_text() == "roses are red\n"


async def test_escape_interrupts_and_keeps_what_arrived(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.say("[[say:The first half]] [[stall:30]] [[say: never]]", wait=False)
        await on.sees("The first half\n")
        await on.sees("Answering… ")
        await on.press("escape")
        await on.rest()
        turns = (await on.chatting.session.conversation()).turns
        assert turns[-1].text.startswith("The first half")
        assert "Interrupted" in on.seen()


async def test_a_message_typed_while_the_model_answers_stays_in_the_prompt(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.say("[[stall:30]]", wait=False)
        await on.until(lambda: on.chatting.busy)
        await on.type("and another thing")
        await on.press("enter")
        await on.sees("your text stays here")
        await on.sees("Thinking… ")
        assert on.app.prompt.text == "and another thing"
        await on.press("escape")
        await on.rest()


async def test_commands_work_while_the_model_answers(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.say("[[stall:30]]", wait=False)
        await on.until(lambda: on.chatting.busy)
        await on.say("/effort low", wait=False)
        await on.sees("adaptive, low effort")
        await on.say("/model gpt-nothing", wait=False)
        await on.sees("nobody is known to have 'gpt-nothing'")
        await on.say("/model gpt-5.6-terra", wait=False)
        await on.sees("this counts from the next turn on")
        assert on.settings.get("model") == "claude-opus-5-5/high"
        await on.say("/new", wait=False)
        await on.sees("/new has to wait")
        await on.type("a draft")
        await on.press("escape")
        await on.rest()
        await on.sees("✓ Switched to OpenAI gpt-5.6-terra")
        await on.sees("SIMULATED OpenAI gpt-5.6-terra")
        assert on.app.prompt.text == "a draft"


async def test_ctrl_t_goes_through_the_levels_of_the_model(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        seen = []
        for _ in range(6):
            await on.press("ctrl+t")
            seen.append(on.settings.get("reasoning.effort"))
        assert seen == ["xhigh", "max", "auto", "low", "med", "high"]
        await on.sees("claude-opus-5-5/high")


async def test_a_failure_says_the_fix_and_one_key_asks_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.say("[[fail:529 x3]] [[say:At last.]]")
        assert len(on.app.talk.query(FailureNotice)) == 1
        assert "Overloaded" in on.seen()
        assert "F5 asks again" in on.seen()
        await on.press("f5")
        await on.rest()
        await on.sees("At last.\n")
    slow = FailureNotice(Failure("rate_limit", "Slow down.", retry_after=90, provider="anthropic"), kept=True)
    assert slow.lines()[-1] == "  The provider asks to wait: 1 min 30 s left, then F5."


async def test_ctrl_o_shows_everything_even_hidden_thinking(tmp_path: Path) -> None:
    async with stage(tmp_path, hide_thinking=True) as on:
        await on.say("[[think:Deep down.]] [[say:Shallow.]]")
        await on.press("ctrl+o")
        await on.until(lambda: isinstance(on.app.screen, Transcript))
        await on.sees("│ Deep down.")
        await on.press("escape")
        await on.until(lambda: not isinstance(on.app.screen, Transcript))


async def test_ctrl_r_finds_what_was_typed_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKWIRE_STATE", str(tmp_path))
    async with stage(tmp_path) as on:
        await on.say("/context")
        await on.say("/cost")
        await on.press("ctrl+r")
        await on.until(lambda: isinstance(on.app.screen, Picker))
        await on.press("c", "o", "n", "t", "enter")
        await on.until(lambda: on.app.prompt.text == "/context")


async def test_ctrl_c_quits_only_the_second_time(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.type("a draft")
        await on.press("ctrl+c")
        await on.sees("Ctrl+C again quits")
        assert on.app.prompt.text == "a draft"
        assert on.app.is_running
        await on.press("ctrl+c")
        await on.until(lambda: on.app._exit)


async def test_without_keys_the_simulators_are_offered_and_labelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    async with stage(tmp_path, sim=False, model=None, size=(80, 24)) as on:
        await on.sees("No key was found")
        assert "ANTHROPIC_API_KEY" in on.seen()
        assert "OPENAI_API_KEY" in on.seen()
        await on.sees("s use the simulators    q quit")
        await on.press("s")
        await on.sees("SIMULATED Anthropic")
        await on.say("[[say:Made up.]]")
        await on.sees("Made up.\n")


async def test_a_kept_conversation_is_found_and_gone_on_with(tmp_path: Path) -> None:
    async with stage(tmp_path, save=True) as on:
        await on.say("[[think:About whales.]] [[say:Whales are mammals.]]")
        await on.say("/new")
        await on.until(lambda: "Whales are mammals.\n" not in on.seen())
        await on.say("[[say:Something else.]]")
        await on.say("/resume whales")
        await on.sees("Whales are mammals.\n")
        assert "About whales.\n" in on.seen()
    async with stage(tmp_path, save=True, going_on="", model=None) as on:
        await on.sees("Something else.\n")
        await on.say("/resume", wait=False)
        await on.until(lambda: isinstance(on.app.screen, Picker))
        await on.press("enter")
        await on.sees("Whales are mammals.\n")
        assert on.chatting.session.model == "claude-opus-5-5/high"


async def test_a_store_that_cannot_be_opened_is_said_and_the_chat_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THINKWIRE_DATABASE_URL", f"sqlite:///{tmp_path / 'missing' / 'no' / 'store.db'}")
    (tmp_path / "missing").write_text("a file, no folder")
    async with stage(tmp_path, save=True, size=(140, 40)) as on:
        await on.say("[[say:Hello.]]")
        await on.sees("This conversation is not kept")
        assert "Hello.\n" in on.seen()


async def test_wrong_settings_end_the_chat_with_their_message(tmp_path: Path) -> None:
    app = Chat(lambda: ConversationManager(Options(folder=tmp_path, profile="nobody")))
    async with app.run_test() as pilot:
        while not app.return_code:
            await pilot.pause(0.01)
    assert app.chatting is None


async def test_files_that_are_mentioned_go_along_if_they_can(poem: Path) -> None:
    async with stage(poem) as on:
        await on.say("Look at @poem.txt [[say:Seen.]]")
        assert "+ poem.txt" in on.seen()
        turns = (await on.chatting.session.conversation()).turns
        assert turns[0].blocks[0] == Document("text/plain", text="roses are red\n", name="poem.txt")
        (poem / "blob.bin").write_bytes(b"\xff\xfe\x00\x01")
        await on.type("Look at @blob.bin")
        await on.press("escape", "enter")
        await on.sees("neither text nor a picture")
        assert on.app.prompt.text == "Look at @blob.bin"


async def test_copy_theme_palette_and_quit(tmp_path: Path) -> None:
    async with stage(tmp_path, save=True) as on:
        assert await on.chatting.desk.find() == []
        await on.say("[[say:Take this.]]")
        await on.say("/copy")
        assert on.app.clipboard == "Take this."
        await on.say("/theme light")
        assert on.app.theme == "light"
        offered = {command.title for command in on.app.get_system_commands(on.app.screen)}
        assert offered == {f"/{name}" for name in COMMANDS}
        await on.say("/quit", wait=False)
        await on.until(lambda: on.app._exit)


async def test_a_theme_is_remembered_and_may_be_another_this_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path / "config"))
    async with stage(tmp_path, theme=None) as on:
        assert on.app.theme == "dark"
        await on.say("/theme light")
        assert on.app.theme == "light"
        await on.sees("Theme: light, from now on")
        assert user_file().read_text() == 'terminal.theme = "light"\n'
    async with stage(tmp_path, theme=None) as on:
        assert on.app.theme == "light"
        await on.say("/set terminal.theme high-contrast")
        assert on.app.theme == "high-contrast"
    assert usual_theme() == "light"
    async with stage(tmp_path, theme="dark") as on:
        assert on.app.theme == "dark"


@pytest.mark.parametrize("text", ["terminal = 1", "terminal.theme = 'pink'", "theme =", "terminal.theme = 3"])
def test_a_wrong_theme_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path))
    (tmp_path / "config.toml").write_text(text)
    assert usual_theme() in ("dark", "light")


def test_every_theme_that_can_be_set_is_there() -> None:
    assert tuple(ALL) == THEMES


async def test_export_writes_a_new_file_and_never_over_an_old_one(poem: Path) -> None:
    async with stage(poem) as on:
        await on.say("[[think:Secret.]] [[say:Public.]]")
        await on.say("/export talk.md")
        assert "Public." in (poem / "talk.md").read_text()
        await on.say("/export talk.md --thinking")
        await on.until(lambda: "is there already" in " ".join(on.seen().split()))
        await on.say("/export with.md --thinking")
        assert "Secret." in (poem / "with.md").read_text()


async def test_choosing_a_model_from_the_list_switches_to_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.say("/model", wait=False)
        await on.until(lambda: isinstance(on.app.screen, Picker))
        for key in "gpt-5.6-terra":
            await on.press({"-": "minus", ".": "full_stop"}.get(key, key))
        await on.press("enter")
        await on.sees("✓ Switched to OpenAI gpt-5.6-terra")


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_it_fits_any_terminal_and_wide_characters_do_not_break_it(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with stage(tmp_path, size=size) as on:
        await on.say(
            "[[think:日本語で考える。한국어도.]] [[say:שלום עולם, 你好, 👩‍💻 and a very-long-"
            + "w" * 300
            + "]]"
        )
        lines = on.app.screen._compositor.render_strips()
        assert [strip.cell_length for strip in lines] == [size[0]] * size[1]
        await on.pilot.resize_terminal(90, 30)
        await on.until(lambda: len(on.app.screen._compositor.render_strips()) == 30)
