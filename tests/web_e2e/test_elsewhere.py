"""What happens elsewhere: in another browser of the same person, and in MCP servers."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web_e2e.app import App, watched
from tests.web_e2e.conftest import Server

pytestmark = [pytest.mark.e2e, pytest.mark.needs("chromium")]

MCP_SERVER = Path(__file__).parents[1] / "session" / "tools" / "mcp_server.py"


def test_a_second_browser_sees_new_answers_as_they_are_made(
    app: App, server: Server, browser: Browser
) -> None:
    """Another browser shares nothing with this one but the server; nobody clicks in it."""
    context = browser.new_context()
    page, complaints = watched(context)
    other = App(page, server.url).open()
    entries = page.get_by_role("navigation", name="Conversations").get_by_role("link")
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()
    app.ask("[[say:A zeppelin passes.]]")
    expect(app.answer).to_contain_text("A zeppelin passes.")
    app.done()
    mine = entries.filter(has_text="zeppelin")
    expect(mine).to_be_visible()
    other.open(f"c/{app.conversation}")
    expect(other.answer).to_contain_text("A zeppelin passes.")
    app.say("[[think:I begin and HOLD here.]] [[say:Another one.]]")
    expect(other.thoughts.last).to_contain_text("I begin and")
    server.release()
    expect(other.answer).to_contain_text("Another one.")
    expect(other.answers).to_have_count(2)
    assert complaints == []
    context.close()


def test_an_agent_uses_a_tool_of_an_mcp_server_after_a_word(own_server: Server, page: Page) -> None:
    own_server.stop()
    table = {"mcpServers": {"testing": {"command": sys.executable, "args": [str(MCP_SERVER)]}}}
    config = own_server.home / "config"
    config.mkdir(exist_ok=True)
    (config / "mcp.json").write_text(json.dumps(table))
    own_server.start()
    app = App(page, own_server.url).open("agents/new")
    page.get_by_role("textbox", name="Name").fill("Adder")
    app.choose_model("claude-sonnet-4-5")
    page.get_by_role("checkbox", name=re.compile("^mcp__testing__add.*MCP server testing")).check()
    page.get_by_role("button", name="Save agent").click()
    page.get_by_role("listitem").filter(has_text="Adder").get_by_role("button", name="Chat").click()
    app.say('[[call:mcp__testing__add {"a": 2, "b": 3}]] [[say:Added.]]')
    question = page.get_by_role("group", name="May mcp__testing__add run?")
    expect(question).to_contain_text('"a": 2')
    question.get_by_role("button", name="Allow", exact=True).click()
    expect(app.answer).to_contain_text("Added.")
    app.done()
    app.answer.get_by_role("button", name=re.compile("mcp__testing__add")).click()
    expect(app.answer).to_contain_text("5")
