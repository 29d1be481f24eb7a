"""Agents, and the card that says how they think."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.web_e2e.app import App

pytestmark = [pytest.mark.e2e, pytest.mark.needs("chromium")]


def test_the_thinking_card_fits_the_model(app: App) -> None:
    app.open("agents/new")
    page = app.page
    box = page.get_by_role("checkbox", name="Enable thinking")
    plan = page.get_by_role("group", name="Thinking").get_by_role("status")

    app.choose_model("gpt-4o")
    expect(page.get_by_text("This model does not think.")).to_be_visible()
    expect(box).to_have_count(0)

    app.choose_model("claude-sonnet-4-5")
    box.check()
    budget = page.get_by_role("spinbutton", name="Thinking budget (tokens)")
    expect(budget).to_have_value("10000")
    expect(plan).to_contain_text("10,000 tokens")
    budget.fill("50")
    expect(page.get_by_text("This model takes 1,024 to")).to_be_visible()
    expect(page.get_by_role("button", name="Save agent")).to_be_disabled()

    app.choose_model("claude-opus-5")
    level = page.get_by_role("combobox", name="Level")
    expect(level.get_by_role("option").first).to_have_text(re.compile(r"Provider default \(\w+\)"))
    level.select_option("high")
    expect(plan).to_contain_text("will send adaptive, effort high")


def test_an_agent_is_made_changed_deleted_and_brought_back(app: App) -> None:
    app.open("agents/new")
    page = app.page
    page.get_by_role("textbox", name="Name").fill("Prover <i>1</i>")
    page.get_by_role("textbox", name="Instructions").fill("Prove it.")
    app.choose_model("claude-sonnet-4-5")
    page.get_by_role("checkbox", name="Enable thinking").check()
    page.get_by_role("button", name="Save agent").click()
    entry = page.get_by_role("listitem").filter(has_text="Prover <i>1</i>")
    expect(entry).to_contain_text("10,000 tokens")
    entry.get_by_role("link").click()
    expect(page.get_by_role("textbox", name="Instructions")).to_have_value("Prove it.")
    page.get_by_role("textbox", name="Name").fill("Prover")
    page.get_by_role("button", name="Save agent").click()
    page.get_by_role("button", name="Delete Prover").click()
    expect(page.get_by_role("button", name="Delete Prover")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("listitem").filter(has_text="Prover").get_by_role("button", name="Chat").click()
    app.say("[[think:By parity.]] [[say:Proved.]]")
    expect(app.answer).to_contain_text("Proved.")
    expect(app.thoughts).to_contain_text("By parity.")
    app.done()
    expect(page.get_by_role("button", name="Thinking: 10,000 tokens")).to_be_visible()


def test_models_are_found_by_keyboard(app: App) -> None:
    app.open()
    page = app.page
    picker = app.model
    picker.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Search models")).to_be_focused()
    page.keyboard.type("anthropic opus-4-5")
    page.keyboard.press("Enter")
    expect(picker).to_have_accessible_name(re.compile("Model: anthropic/claude-opus-4-5"))
    expect(picker).to_be_focused()
    page.keyboard.press("Enter")
    # At once: what is found for half of the words must not be taken for what is found for all of them.
    page.keyboard.insert_text("google gemini-2.5")
    options = page.get_by_role("listbox", name="Models").get_by_role("option")
    expect(options.nth(1)).to_contain_text("gemini-2.5")
    expect(options.filter(has_not_text="gemini-2.5")).to_have_count(0)
    second = options.nth(1).locator("span").first.inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(picker).to_have_accessible_name(f"Model: google/{second}")
    expect(picker).to_be_focused()
