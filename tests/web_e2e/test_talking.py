"""Talking to a model that thinks."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web_e2e.app import App, watched
from tests.web_e2e.conftest import Server
from tests.web_e2e.wire import Wire

pytestmark = [pytest.mark.e2e, pytest.mark.needs("chromium")]

THOUGHT = "First I write n as 2k+1. " + "Then I square it and look at the remainder. " * 6
HELD = f"[[think:{THOUGHT} So HOLD it is odd.]] [[say:Every odd square is odd.]]"
WHOLE = "First I write n as 2k+1."


def test_a_first_visit_on_simulators_leads_to_an_answer_with_its_thinking(app: App) -> None:
    app.ask(f"[[think:{THOUGHT}]] [[say:Every odd square is odd.]]")
    expect(app.answer).to_contain_text("Every odd square is odd.")
    app.done()
    expect(app.thoughts).to_have_attribute("aria-expanded", "false")
    expect(app.thoughts).to_contain_text(re.compile(r"Thought for .* · \d+ tokens"))
    expect(app.thoughts).to_contain_text(WHOLE)
    app.thoughts.click()
    expect(app.inside).to_contain_text("look at the remainder")


def test_thinking_is_watched_live_in_one_closed_line(app: App, server: Server) -> None:
    app.ask(HELD)
    expect(app.thoughts).to_contain_text("Thinking…")
    expect(app.thoughts).to_contain_text("look at the remainder. So")
    expect(app.thoughts).to_have_attribute("aria-expanded", "false")
    expect(app.page.get_by_role("status").filter(has_text="Thinking…")).to_be_visible()
    line = app.thoughts.bounding_box()
    app.thoughts.click()
    expect(app.inside).to_contain_text(WHOLE)
    server.release()
    expect(app.answer).to_contain_text("Every odd square is odd.")
    app.done()
    expect(app.inside).to_contain_text("HOLD it is odd")
    app.thoughts.click()
    expect(app.thoughts).to_contain_text(WHOLE)
    after = app.thoughts.bounding_box()
    assert line is not None
    assert after is not None
    assert line["height"] == after["height"]


def test_a_reload_in_the_middle_of_a_thought_doubles_and_loses_nothing(app: App, server: Server) -> None:
    app.ask(HELD)
    expect(app.thoughts).to_contain_text("look at the remainder. So")
    app.reload()
    expect(app.thoughts).to_contain_text("Thinking…")
    app.thoughts.click()
    server.release()
    expect(app.answer).to_contain_text("Every odd square is odd.")
    app.done()
    assert app.answers.count() == 1
    assert app.inside.inner_text().count(WHOLE) == 1
    assert app.inside.inner_text().strip().endswith("So HOLD it is odd.")


def test_a_second_tab_follows_what_the_first_began(app: App, server: Server) -> None:
    app.ask("[[say:One.]]")
    expect(app.answer).to_contain_text("One.")
    app.done()
    page, complaints = watched(app.page.context)
    other = App(page, server.url)
    other.open(f"c/{app.conversation}")
    expect(other.answer).to_contain_text("One.")
    app.say("[[think:I begin and HOLD here.]] [[say:Two.]]")
    expect(other.thoughts).to_contain_text("I begin and")
    server.release()
    expect(other.answer).to_contain_text("Two.")
    expect(app.answer).to_contain_text("Two.")
    expect(other.answers).to_have_count(2)
    assert complaints == []
    page.close()


def test_stopping_keeps_what_arrived_and_it_can_be_gone_on_from(app: App, server: Server) -> None:
    app.ask("[[think:I begin and think and HOLD here.]] [[say:Never.]]")
    expect(app.thoughts).to_contain_text("I begin and think")
    app.page.get_by_role("button", name="Stop").click()
    expect(app.answer).to_contain_text("Stopped here")
    expect(app.thoughts).to_contain_text("I begin and think")
    app.done()
    server.release()
    app.reload()
    expect(app.answer).to_contain_text("Stopped here")
    expect(app.page.get_by_role("button", name="Go on from here")).to_be_visible()


def test_a_lost_connection_is_taken_up_again(page: Page, server: Server, wire: Wire) -> None:
    app = App(page, wire.url)
    app.ask(HELD)
    expect(app.thoughts).to_contain_text("look at the remainder. So")
    wire.cut()
    expect(page.get_by_text("The connection was lost")).to_be_visible()
    wire.mend()
    expect(page.get_by_text("The connection was lost")).not_to_be_visible()
    expect(app.thoughts).to_contain_text("Thinking…")
    server.release()
    expect(app.answer).to_contain_text("Every odd square is odd.")
    app.done()
    assert app.answers.count() == 1


def test_a_server_that_dies_leaves_the_answer_interrupted(own_server: Server, page: Page) -> None:
    app = App(page, own_server.url)
    app.ask(f"[[think:{THOUGHT}]] [[say:One two three HOLD four.]]")
    expect(app.answer).to_contain_text("One two three")
    app.until_kept("One two three")
    port = own_server.port
    own_server.stop(hard=True)
    expect(page.get_by_text("The connection was lost")).to_be_visible()
    own_server.start(port)
    expect(app.answer).to_contain_text("Stopped here")
    expect(app.thoughts).to_contain_text(WHOLE)
    own_server.release()
    page.get_by_role("button", name="Go on from here").click()
    app.done()
    expect(app.answers).to_have_count(1)


def test_thoughts_and_tools_keep_their_order(app: App, server: Server) -> None:
    (server.workspace / "notes.md").write_text("odd squares are odd")
    app.open("agents/new")
    page = app.page
    page.get_by_role("textbox", name="Name").fill("Reader")
    app.choose_model("claude-opus-4-5")
    page.get_by_role("checkbox", name="Enable thinking").check()
    page.get_by_role("checkbox", name=re.compile("^read_file")).check()
    page.get_by_role("button", name="Save agent").click()
    page.get_by_role("listitem").filter(has_text="Reader").get_by_role("button", name="Chat").click()
    app.say(
        '[[think:Look first.]] [[say:One moment.]] [[call:read_file {"path": "notes.md"}]] '
        "[[think:Now I know.]] [[say:They are odd.]]"
    )
    expect(app.answer).to_contain_text("They are odd.")
    app.done()
    expect(app.answers).to_have_count(1)
    parts = ("Look first.", "One moment.", "read_file", "Now I know.", "They are odd.")
    assert in_order(app.answer.inner_text(), *parts)
    app.answer.get_by_role("button", name=re.compile("read_file")).click()
    expect(app.answer).to_contain_text("odd squares are odd")
    app.reload()
    expect(app.answer).to_contain_text("They are odd.")
    assert in_order(app.answer.inner_text(), *parts)


def in_order(text: str, *parts: str) -> bool:
    places = [text.index(part) for part in parts]
    return places == sorted(places)


def test_a_tool_that_changes_something_waits_for_a_word(app: App, server: Server) -> None:
    app.open("agents/new")
    page = app.page
    page.get_by_role("textbox", name="Name").fill("Writer")
    app.choose_model("claude-sonnet-4-5")
    page.get_by_role("checkbox", name=re.compile("^write_file")).check()
    page.get_by_role("button", name="Save agent").click()
    page.get_by_role("listitem").filter(has_text="Writer").get_by_role("button", name="Chat").click()
    app.say('[[call:write_file {"path": "made.txt", "content": "hello"}]] [[say:Written.]]')
    question = page.get_by_role("group", name="May write_file run?")
    expect(question).to_contain_text("made.txt")
    assert not (server.workspace / "made.txt").exists()
    question.get_by_role("button", name="Allow", exact=True).click()
    expect(app.answer).to_contain_text("Written.")
    assert (server.workspace / "made.txt").read_text() == "hello"


def test_redacted_thinking_is_a_stub_that_says_why(app: App) -> None:
    app.ask("[[redact:secret]] [[say:Here.]]")
    expect(app.answer).to_contain_text("Redacted thinking.")
    expect(app.answer).to_contain_text("The provider encrypted this part")
    expect(app.answer).to_contain_text("Here.")
    expect(app.answer).not_to_contain_text("secret")


def test_the_model_is_switched_in_the_middle(app: App) -> None:
    app.ask("[[think:With Claude.]] [[say:One.]]")
    expect(app.answer).to_contain_text("One.")
    app.done()
    app.choose_model("gemini-2.5-pro")
    expect(app.page.get_by_role("button", name="Model: google/gemini-2.5-pro")).to_be_visible()
    app.say("[[think:With Gemini.]] [[say:Two.]]")
    expect(app.answer).to_contain_text("Two.")
    expect(app.answer).to_contain_text("gemini-2.5-pro")
    app.done()
    expect(app.answers.first).to_contain_text("claude-sonnet-4-5")
