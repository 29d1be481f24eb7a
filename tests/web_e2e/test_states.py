"""What opens, waits or fails on the pages, in both colours: nothing of it has a serious finding."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.web_e2e.app import App, watched
from tests.web_e2e.conftest import Server
from tests.web_e2e.plays import MORE
from tests.web_e2e.test_looks import check

pytestmark = [pytest.mark.e2e, pytest.mark.needs("chromium")]

COLOURS = ("light", "dark")


@pytest.fixture(params=COLOURS)
def app(request: pytest.FixtureRequest, browser: Browser, server: Server) -> Iterator[App]:
    context = browser.new_context(viewport={"width": 1280, "height": 860}, color_scheme=request.param)
    context.set_default_timeout(30_000)
    page, complaints = watched(context)
    yield App(page, server.url)
    assert complaints == []
    context.close()


def test_what_opens_over_a_conversation(app: App) -> None:
    page = app.page
    app.ask(MORE)
    expect(app.answer).to_contain_text("It passes in silence")
    app.done()
    app.thoughts.click()
    check(page, "code and an open thought")
    app.model.click()
    expect(page.get_by_role("listbox", name="Models").get_by_role("option").first).to_be_visible()
    check(page, "models")
    page.keyboard.press("Escape")
    page.get_by_role("button", name=re.compile("^Thinking:")).click()
    dialog = page.get_by_role("dialog", name="Thinking in this conversation")
    expect(dialog.get_by_role("status")).to_contain_text("will send")
    check(page, "thinking")
    dialog.get_by_role("button", name="Use").click()
    expect(page.get_by_role("status").filter(has_text="That counts from the next answer on")).to_be_visible()
    check(page, "a message at the edge")
    app.answer.get_by_role("button", name="More").click()
    check(page, "menu")
    page.keyboard.press("Escape")
    expect(app.answer.get_by_role("button", name="More")).to_be_focused()
    page.get_by_role("button", name="Edit and resend").click()
    check(page, "edit")


def test_what_fails_hides_or_asks(app: App) -> None:
    page = app.page
    app.ask("[[redact:secret]] [[say:Here.]]")
    expect(app.answer).to_contain_text("Redacted thinking.")
    app.done()
    app.say("[[fail:429]]")
    expect(app.answer.get_by_role("alert")).to_be_visible()
    check(page, "a stub and a failure")
    app.open("agents/new")
    page.get_by_role("textbox", name="Name").fill("Asker")
    app.choose_model("claude-sonnet-4-5")
    page.get_by_role("checkbox", name="Enable thinking").check()
    page.get_by_role("spinbutton").fill("5")
    expect(page.get_by_text("This model takes 1,024 to")).to_be_visible()
    check(page, "a budget that does not fit")
    page.get_by_role("spinbutton").fill("2000")
    page.get_by_role("checkbox", name=re.compile("^write_file It can change files")).check()
    page.get_by_role("button", name="Save agent").click()
    entry = page.get_by_role("listitem").filter(has_text="Asker").first
    expect(entry).to_contain_text("2,000 tokens")
    check(page, "agents")
    entry.get_by_role("button", name="Chat").click()
    app.say('[[call:write_file {"path": "asked.txt", "content": "x"}]] [[say:Over.]]')
    question = page.get_by_role("group", name="May write_file run?")
    expect(question).to_be_visible()
    check(page, "a question")
    question.get_by_role("button", name="Refuse").click()
    expect(app.answer).to_contain_text("Over.")
    app.done()
    app.answer.get_by_role("button", name=re.compile("^write_file")).click()
    check(page, "a tool that was not allowed")
    app.open("usage")
    page.get_by_role("button", name="Table").click()
    expect(page.get_by_role("region", name="Usage as a table")).to_be_visible()
    check(page, "usage as a table")


def test_the_sidebar_of_a_phone(browser: Browser, server: Server) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True)
    context.set_default_timeout(30_000)
    page, complaints = watched(context)
    app = App(page, server.url)
    app.ask("[[say:From a phone.]]")
    expect(app.answer).to_contain_text("From a phone.")
    app.done()
    opener = page.get_by_role("button", name="Conversations", exact=True)
    opener.click()
    shut = page.get_by_role("button", name="Close the sidebar")
    expect(shut).to_be_focused()
    badge = page.get_by_text("simulated", exact=True).bounding_box()
    cross = shut.bounding_box()
    assert badge is not None
    assert cross is not None
    assert badge["x"] + badge["width"] <= cross["x"], "the cross lies over the badge"
    check(page, "sidebar")
    page.keyboard.press("Escape")
    expect(shut).to_have_count(0)
    page.get_by_role("button", name="Conversation", exact=True).click()
    check(page, "menu on a phone")
    assert complaints == []
    context.close()
