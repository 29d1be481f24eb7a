"""Seen, heard and typed: accessibility, pictures, speed, and nothing that a model could smuggle in."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.support import ROOT
from tests.web_e2e.app import App, watched
from tests.web_e2e.conftest import Server
from tests.web_e2e.plays import MORE, QUESTION

pytestmark = [pytest.mark.e2e, pytest.mark.needs("chromium")]

AXE = ROOT / "web/node_modules/axe-core/axe.min.js"
PICTURES = Path(os.environ["THINKWIRE_PICTURES"]) if os.environ.get("THINKWIRE_PICTURES") else None
"""Where pictures are put; without it they are only taken."""

SHOWN = (
    "chat-light",
    "chat-phone",
    "thinking-dark",
    "code-dark",
    "agent-light",
    "explain-light",
    "usage-light",
)

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 860}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 860}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light", "has_touch": True},
}


@pytest.fixture(scope="module", params=LOOKS)
def look(request: pytest.FixtureRequest, browser: Browser, server: Server) -> Iterator[tuple[str, App]]:
    context = browser.new_context(**LOOKS[request.param])
    context.set_default_timeout(30_000)
    page, complaints = watched(context)
    yield request.param, App(page, server.url)
    assert complaints == []
    context.close()


def picture(page: Page, name: str) -> None:
    data = page.screenshot(animations="disabled")
    if PICTURES and name in SHOWN:
        (PICTURES / f"web-{name}.png").write_bytes(data)


def test_every_page_is_seen_and_has_no_serious_finding(look: tuple[str, App]) -> None:
    name, app = look
    page = app.page
    app.open()
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()
    check(page, f"{name} new")
    app.ask(QUESTION)
    expect(app.answer).to_contain_text("So eight divides")
    app.done()
    expect(app.thoughts).to_contain_text("Thought for")
    page.get_by_role("button", name="Conversation", exact=True).click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("textbox", name="Title").fill("Odd squares")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Odd squares")).to_be_visible()
    picture(page, f"chat-{name}")
    app.thoughts.click()
    expect(app.inside).to_be_visible()
    picture(page, f"thinking-{name}")
    app.say(MORE)
    expect(app.answer).to_contain_text("It passes in silence")
    app.done()
    check(page, f"{name} chat")
    picture(page, f"code-{name}")
    app.answer.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Explain this answer").click()
    expect(page.get_by_role("dialog")).to_contain_text("Output, thinking")
    check(page, f"{name} explain")
    picture(page, f"explain-{name}")
    app.open("agents/new")
    app.choose_model("claude-sonnet-4-5")
    page.get_by_role("checkbox", name="Enable thinking").check()
    expect(page.get_by_role("group", name="Thinking").get_by_role("status")).to_contain_text("10,000")
    check(page, f"{name} agent")
    page.get_by_role("heading", name="Thinking").scroll_into_view_if_needed()
    picture(page, f"agent-{name}")
    app.open("agents")
    expect(page.get_by_role("heading", name="Agents")).to_be_visible()
    check(page, f"{name} agents")
    app.open("usage")
    expect(page.get_by_role("img", name="Cost by day")).to_be_visible()
    check(page, f"{name} usage")
    picture(page, f"usage-{name}")


def check(page: Page, where: str) -> None:
    """What axe calls serious or critical fails; and nothing may be wider than the window."""
    page.evaluate(SETTLED)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    serious = [
        f"{where}: {one['id']} {[node['target'] for node in one['nodes']][:3]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{where} is too wide"


SETTLED = """() => Promise.all(document.getAnimations()
  .filter(one => one.effect.getComputedTiming().iterations !== Infinity)
  .map(one => one.finished.catch(() => {})))"""
"""What fades in has not its own colours yet."""


def test_everything_can_be_done_with_the_keyboard(app: App) -> None:
    app.open()
    page = app.page
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    page.keyboard.type("[[think:With keys alone.]] [[say:Typed.]]")
    page.keyboard.press("Enter")
    expect(app.answer).to_contain_text("Typed.")
    app.done()
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    for _ in range(40):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-controls')"):
            break
    page.keyboard.press("Enter")
    expect(app.inside).to_contain_text("With keys alone.")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-label')") == "More":
            break
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Why this answer is as it is")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_nothing_that_is_said_thought_named_or_returned_becomes_code(app: App, server: Server) -> None:
    corpus = attacks()
    together = "\n\n".join(corpus)
    (server.workspace / "evil.md").write_text(together)
    page = app.page
    page.add_init_script("window.hacked = undefined")
    made = page.request
    app.open()
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()
    headers = {"x-csrf-token": csrf(page), "origin": server.url}
    agent = made.post(
        f"{server.url}/api/agents",
        headers=headers,
        data={"name": corpus[1], "model": "anthropic/claude-sonnet-4-5", "tools": ["read_file"]},
    ).json()
    talks = f"{server.url}/api/conversations"
    talk = made.post(talks, headers=headers, data={"agent_id": agent["id"]}).json()
    made.patch(f"{talks}/{talk['id']}", headers=headers, data={"title": corpus[0]})
    safe = together.replace("[[", "[ [").replace("]]", "] ]")
    text = f"{safe} [[think:{safe}]] [[call:read_file {json.dumps({'path': 'evil.md'})}]] [[say:{safe}]]"
    app.open(f"c/{talk['id']}")
    expect(page.get_by_role("heading", name=corpus[0], exact=True)).to_be_visible()
    picked = FilePayload(name=f"{corpus[1]}.txt", mimeType="text/plain", buffer=b"x")
    page.get_by_label("Choose files").set_input_files(picked)
    expect(page.get_by_role("list", name="Attached files")).to_be_visible()
    app.say(text)
    expect(app.answer).to_contain_text("over everything")
    app.done()
    for button in app.answer.locator("button[aria-controls]").all():
        button.click()
    app.answer.locator("a").first.wait_for()
    assert page.evaluate("window.hacked") is None
    assert page.locator(ACTIVE).count() == 0
    for link in page.locator("main article a").all():
        href = str(link.get_attribute("href"))
        assert href.startswith(("http://", "https://", "mailto:", "/api/")), href


ACTIVE = "main iframe, main object, main form[action], main script, main img[src^=http]"


def attacks() -> list[str]:
    """The corpus of the unit tests."""
    source = (ROOT / "web/tests/corpus.json").read_text("utf-8")
    return list(json.loads(source))


def csrf(page: Page) -> str:
    cookies = page.context.cookies()
    return next(str(cookie.get("value")) for cookie in cookies if cookie.get("name") == "thinkwire_csrf")
