"""Accounts: the first one, invitations, and whose things are whose."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web_e2e.app import App, watched
from tests.web_e2e.conftest import Server

pytestmark = [pytest.mark.e2e, pytest.mark.needs("chromium")]

PASSWORD = "correct horse battery"


def enter(page: Page, name: str, button: str, password: str = PASSWORD) -> None:
    page.get_by_role("textbox", name="Name").fill(name)
    page.get_by_role("textbox", name="Password").fill(password)
    page.get_by_role("button", name=button).click()


def test_the_first_account_invites_another_who_sees_nothing_of_it(
    with_accounts: Server, page: Page, browser: Browser
) -> None:
    app = App(page, with_accounts.url)
    app.open()
    expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
    enter(page, "Ada", "Make the first account")
    app.ask("[[say:A secret of Ada.]]")
    expect(app.answer).to_contain_text("A secret of Ada.")
    app.done()
    talk = app.conversation
    app.open("users")
    page.get_by_role("button", name="Invite somebody").click()
    link = page.locator("code").inner_text()

    context = browser.new_context()
    other, complaints = watched(context)
    other.goto(link)
    enter(other, "Bob", "Join")
    expect(other.get_by_role("heading", name="What shall we think about?")).to_be_visible()
    expect(other.get_by_role("link", name="People")).to_have_count(0)
    App(other, with_accounts.url).open(f"c/{talk}")
    expect(other.get_by_role("alert")).to_contain_text("there is no such conversation")
    assert complaints == []
    assert other.evaluate("localStorage.length + sessionStorage.length") == 0
    context.close()

    page.reload()
    page.get_by_role("button", name="Remove Bob").click()
    page.get_by_role("button", name="Remove Bob").click()
    expect(page.get_by_role("listitem").filter(has_text="Bob")).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    enter(page, "Ada", "Sign in", "wrong")
    expect(page.get_by_role("alert")).to_contain_text("the name or the password is wrong")
    enter(page, "Ada", "Sign in")
    expect(page.get_by_role("navigation", name="Conversations").get_by_role("link")).to_have_count(1)
