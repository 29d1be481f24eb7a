"""Conversations: found, named, deleted, branched, edited, exported; with files, errors and explanations."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.web_e2e.app import App
from tests.web_e2e.conftest import Server

pytestmark = [pytest.mark.e2e, pytest.mark.needs("chromium")]


def test_a_conversation_is_renamed_searched_deleted_and_brought_back(app: App) -> None:
    app.ask("[[say:The zebra has stripes.]]")
    expect(app.answer).to_contain_text("The zebra has stripes.")
    app.done()
    page = app.page
    page.get_by_role("button", name="Conversation", exact=True).click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("textbox", name="Title").fill("About zebras")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="About zebras")).to_be_visible()
    entries = page.get_by_role("navigation", name="Conversations").get_by_role("link")
    expect(entries.filter(has_text="About zebras")).to_be_visible()
    page.get_by_role("searchbox", name="Search conversations").fill("stripe")
    expect(entries).to_have_count(1)
    expect(entries).to_contain_text("The zebra has stripes.")
    page.get_by_role("button", name="More for About zebras").click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(entries).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(entries).to_have_count(1)
    expect(app.answer).to_contain_text("The zebra has stripes.")


def test_edits_and_new_answers_stand_beside_the_old_ones(app: App) -> None:
    app.ask("[[say:First version.]]")
    expect(app.answer).to_contain_text("First version.")
    app.done()
    page = app.page
    page.get_by_role("button", name="Edit and resend").click()
    page.get_by_role("textbox", name="Edit your message").fill("[[say:Second version.]]")
    page.get_by_role("button", name="Send").first.click()
    expect(app.answer).to_contain_text("Second version.")
    app.done()
    expect(app.answers).to_have_count(1)
    expect(page.get_by_text("2/2")).to_be_visible()
    page.get_by_role("button", name="Earlier version").click()
    expect(app.answer).to_contain_text("First version.")
    page.get_by_role("button", name="Answer again").click()
    expect(app.answer.get_by_text("2/2")).to_be_visible()
    app.done()
    app.say("[[say:And then.]]")
    expect(app.answer).to_contain_text("And then.")
    app.done()
    app.answers.first.get_by_role("button", name="Branch from here").click()
    expect(app.answers).to_have_count(1)
    app.say("[[say:Elsewhere.]]")
    expect(app.answer).to_contain_text("Elsewhere.")
    app.done()
    page.get_by_role("article", name="You").last.get_by_role("button", name="Earlier version").click()
    expect(app.answer).to_contain_text("And then.")


def test_files_go_along_and_stay_with_an_edited_message(app: App) -> None:
    app.open()
    page = app.page
    app.choose_model("claude-sonnet-4-5")
    chooser = page.get_by_label("Choose files")
    chooser.set_input_files({"name": "notes <b>.txt", "mimeType": "text/plain", "buffer": b"odd squares"})
    expect(page.get_by_role("list", name="Attached files")).to_contain_text("notes <b>.txt")
    app.say("[[say:I read it.]]")
    expect(app.answer).to_contain_text("I read it.")
    app.done()
    asked = page.get_by_role("article", name="You")
    expect(asked.get_by_role("link", name="notes <b>.txt")).to_be_visible()
    page.get_by_role("button", name="Edit and resend").click()
    page.get_by_role("textbox", name="Edit your message").fill("[[say:Again.]]")
    page.get_by_role("button", name="Send").first.click()
    expect(app.answer).to_contain_text("Again.")
    app.done()
    with page.expect_download() as download:
        asked.get_by_role("link", name="notes <b>.txt").click()
    assert download.value.path().read_bytes() == b"odd squares"


def test_a_file_of_the_wrong_kind_is_refused_in_words(app: App) -> None:
    app.open()
    odd = FilePayload(name="odd.bin", mimeType="application/octet-stream", buffer=b"\x00\x01\xff" * 50)
    app.page.get_by_label("Choose files").set_input_files(odd)
    expect(app.page.get_by_role("status").filter(has_text="odd.bin")).to_contain_text("can be attached")


def test_copy_and_export_leave_thinking_out_unless_asked(app: App) -> None:
    page = app.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.ask("[[think:The inner words.]] [[say:The outer words.]]")
    expect(app.answer).to_contain_text("The outer words.")
    app.done()
    app.answer.get_by_role("button", name="Copy").click()
    assert page.evaluate("navigator.clipboard.readText()") == "The outer words."
    app.answer.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Copy with thinking").click()
    assert page.evaluate("navigator.clipboard.readText()") == "> The inner words.\n\nThe outer words."
    for item, inner in (("Export as Markdown", 1), ("Export with thinking", 2)):
        page.get_by_role("button", name="Conversation", exact=True).click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=item).click()
        # Once in what was said; a second time where the thinking is.
        assert download.value.path().read_text().count("The inner words.") == inner


def test_a_rate_limit_counts_down_and_can_be_tried_again(app: App) -> None:
    app.ask("[[fail:429]]")
    again = app.answer.get_by_role("button", name=re.compile("^Try again"))
    expect(again).to_be_visible()
    expect(app.answer.get_by_role("alert")).to_be_visible()


def test_a_missing_key_is_named_and_nothing_is_sent_without_thinking(keyless: Server, page: Page) -> None:
    app = App(page, keyless.url)
    app.ask("Hello")
    expect(app.answer.get_by_role("alert")).to_contain_text("ANTHROPIC_API_KEY")
    expect(app.answer.get_by_role("alert")).to_contain_text("Nothing was sent, and no other way was tried")
    app.reload()
    expect(app.answer.get_by_role("alert")).to_contain_text("ANTHROPIC_API_KEY")


def test_a_note_leads_to_the_explanation(app: App) -> None:
    app.ask("[[think:With Claude.]] [[say:One.]]")
    expect(app.answer).to_contain_text("One.")
    app.done()
    app.choose_model("gemini-2.5-pro")
    expect(app.page.get_by_role("button", name="Model: google/gemini-2.5-pro")).to_be_visible()
    app.say("[[say:Two.]]")
    expect(app.answer).to_contain_text("Two.")
    app.done()
    app.answer.get_by_role("button", name="why? thinking.dormant").click()
    dialog = app.page.get_by_role("dialog", name="Why this answer is as it is")
    expect(dialog).to_contain_text("thinking.dormant")
    expect(dialog).to_contain_text("Output, thinking")
    expect(dialog).to_contain_text('"model": "gemini-2.5-pro"')
    app.page.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()


def test_usage_is_drawn_and_written(app: App) -> None:
    app.ask("[[think:Some thought.]] [[say:Some words.]]")
    expect(app.answer).to_contain_text("Some words.")
    app.done()
    app.open("usage")
    page = app.page
    expect(page.get_by_role("img", name="Thinking and answer tokens by day")).to_be_visible()
    expect(page.get_by_role("list", name="By model")).to_contain_text("claude-sonnet-4-5")
    page.get_by_role("button", name="Table").click()
    row = page.get_by_role("region", name="Usage as a table").get_by_role("row")
    expect(row.filter(has_text="claude-sonnet-4-5").first).to_be_visible()
