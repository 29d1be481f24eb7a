"""The start token in a real browser: the printed address works, and the token stays nowhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.web_e2e.app import TOKEN, App
from tests.web_e2e.conftest import Server

pytestmark = [pytest.mark.e2e, pytest.mark.needs("chromium")]

READY = "What shall we think about?"


def picture(page: Page, name: str) -> None:
    """For people to look at, where they ask for it."""
    if folder := os.environ.get("THINKWIRE_PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def test_the_printed_address_opens_the_app_and_leaves_no_token_behind(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?token={TOKEN}#/agents")
    expect(page.get_by_role("heading", name="Agents")).to_be_visible()
    assert page.url == f"{server.url}/#/agents"
    page.reload()
    expect(page.get_by_role("heading", name="Agents")).to_be_visible()
    assert TOKEN not in page.evaluate(
        "JSON.stringify([document.cookie, document.referrer, {...localStorage}])"
    )
    page.go_back()
    assert "token" not in page.url


def test_without_the_token_there_is_a_screen_that_takes_it(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/")
    expect(page.get_by_role("heading", name="Enter the start token")).to_be_visible()
    expect(page.get_by_role("textbox", name="Message")).to_have_count(0)
    field = page.get_by_label("Start token")
    expect(field).to_be_focused()
    picture(page, "token")
    field.fill("another-token-of-the-tests")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("this is not the start token")
    picture(page, "token-wrong")
    field.fill(f"{server.url}/?token={TOKEN}")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name=READY)).to_be_visible()


def test_a_page_of_a_server_that_was_started_anew_asks_for_the_token(
    page: Page, context: BrowserContext, server: Server
) -> None:
    App(page, server.url).open()
    expect(page.get_by_role("heading", name=READY)).to_be_visible()
    context.clear_cookies()
    page.evaluate("location.hash = '#/agents'")
    expect(page.get_by_role("heading", name="Enter the start token")).to_be_visible()


def test_the_first_account_needs_the_token(page: Page, with_accounts: Server) -> None:
    page.goto(f"{with_accounts.url}/")
    page.get_by_label("Start token").fill(TOKEN)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
    picture(page, "setup")
