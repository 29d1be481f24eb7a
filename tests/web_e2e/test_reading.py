"""Reading and handling what is there: code, menus, small windows, waiting, and the way back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.web_e2e.app import DRAWN, App, watched
from tests.web_e2e.conftest import Server

pytestmark = [pytest.mark.e2e, pytest.mark.needs("chromium")]

SOURCE = 'def odd(n: int) -> bool:\n    # a remainder\n    return n % 2 == 1  # "yes"\n\nprint(odd(3))'


def test_code_has_colours_and_is_copied_as_it_was_written(app: App) -> None:
    page = app.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.ask(f"[[say:Here:\n\n```python\n{SOURCE}\n```\n\nDone.]]")
    expect(app.answer).to_contain_text("Done.")
    app.done()
    code = app.answer.get_by_role("group", name="Code, python")
    assert code.inner_text() == SOURCE
    assert code.locator(".code-word").all_inner_texts() == ["def", "return"]
    assert code.locator(".code-comment").all_inner_texts() == ["# a remainder", '# "yes"']
    colours = {colour(code.locator(f".code-{kind}").first) for kind in ("word", "comment", "name", "number")}
    assert len(colours) == 4
    app.answer.get_by_role("button", name="Copy code").click()
    assert page.evaluate("navigator.clipboard.readText()") == SOURCE
    expect(app.answer.get_by_role("button", name="Copied")).to_be_visible()


def colour(of: Locator) -> str:
    return str(of.evaluate("element => getComputedStyle(element).color"))


def test_code_is_coloured_while_it_is_written(app: App, server: Server) -> None:
    app.ask("[[say:```python\nimport math\nx = 'HOLD'\nreturn x\n```\n\nDone.]]")
    words = app.answer.locator(".code-word")
    expect(words).to_have_text(["import"])
    server.release()
    expect(app.answer).to_contain_text("Done.")
    expect(words).to_have_text(["import", "return"])


def test_what_cannot_be_copied_the_new_way_is_copied_the_old_way(app: App) -> None:
    """Without TLS, from another machine, a browser has no clipboard for a page."""
    page = app.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.ask("[[say:Copy me.]]")
    expect(app.answer).to_contain_text("Copy me.")
    app.done()
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    app.answer.get_by_role("button", name="Copy").click()
    expect(app.answer.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "Copy me."
    page.evaluate("() => { document.execCommand = () => false; }")
    app.answer.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Copy with thinking").click()
    expect(page.get_by_role("status").filter(has_text="does not let this page copy")).to_be_visible()


def test_the_menu_of_an_earlier_answer_is_seen_whole(app: App) -> None:
    app.ask("[[say:One.]]")
    expect(app.answer).to_contain_text("One.")
    app.done()
    app.say("[[say:Two.]]")
    expect(app.answer).to_contain_text("Two.")
    app.done()
    page = app.page
    for number in (0, 1):
        app.answers.nth(number).get_by_role("button", name="More").click()
        whole(page, page.get_by_role("menu", name="More"))
        page.get_by_role("menuitem", name="Explain this answer").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)


def whole(page: Page, part: Locator) -> None:
    """Nothing of it is outside the window, and nothing lies over its corners."""
    expect(part).to_be_visible()
    box = part.bounding_box()
    size = page.viewport_size
    assert box is not None
    assert size is not None
    assert box["x"] >= 0
    assert box["y"] >= 0
    assert box["x"] + box["width"] <= size["width"]
    assert box["y"] + box["height"] <= size["height"]
    hits = part.evaluate(UNCOVERED)
    assert hits, "something lies over it"


UNCOVERED = """element => {
  const {left, top, right, bottom} = element.getBoundingClientRect();
  const corners = [[left + 12, top + 12], [right - 12, bottom - 12]];
  return corners.every(([x, y]) => element.contains(document.elementFromPoint(x, y)));
}"""


SMALL = {"phone": (390, 844), "low": (1000, 420)}


@pytest.mark.parametrize("size", SMALL.values(), ids=SMALL)
def test_models_are_chosen_in_a_small_window(browser: Browser, server: Server, size: tuple[int, int]) -> None:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, has_touch=True)
    context.set_default_timeout(30_000)
    page, complaints = watched(context)
    app = App(page, server.url)
    app.open()
    app.model.click()
    page.get_by_role("combobox", name="Search models").fill("claude")
    models = page.get_by_role("listbox", name="Models").get_by_role("option")
    expect(models.first).to_contain_text("claude")
    whole(page, page.get_by_role("dialog", name="Choose a model"))
    models.nth(1).click()
    expect(page.get_by_role("button", name=re.compile("^Model: anthropic.claude"))).to_be_visible()
    assert page.evaluate("document.querySelector('main').scrollWidth <= innerWidth")
    assert complaints == []
    context.close()


def test_a_rate_limit_counts_down_also_after_a_reload(app: App) -> None:
    app.ask("[[fail:429]]")
    again = app.answer.get_by_role("button", name=re.compile("^Try again"))
    expect(again).to_have_text(re.compile(r"Try again in [1-3] s"))
    expect(again).to_be_disabled()
    expect(again).to_have_text("Try again")
    expect(again).to_be_enabled()
    app.reload()
    expect(again).to_have_text("Try again")
    expect(again).to_be_enabled()
    expect(app.answer.get_by_role("alert")).to_contain_text("Rate limit")
    assert app.answer.get_by_role("alert").get_by_role("button").count() == 0


def test_while_a_tool_waits_for_a_word_nothing_claims_to_think(app: App) -> None:
    app.open("agents/new")
    page = app.page
    page.get_by_role("textbox", name="Name").fill("Waiter")
    app.choose_model("claude-sonnet-4-5")
    page.get_by_role("checkbox", name=re.compile("^write_file")).check()
    page.get_by_role("button", name="Save agent").click()
    page.get_by_role("listitem").filter(has_text="Waiter").get_by_role("button", name="Chat").click()
    app.say('[[call:write_file {"path": "waited.txt", "content": "x"}]] [[say:Over.]]')
    question = page.get_by_role("group", name="May write_file run?")
    expect(question).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Waiting for your answer")).to_be_visible()
    expect(app.answer.get_by_role("button", name=re.compile("write_file waits for you"))).to_be_visible()
    expect(app.answer).not_to_contain_text("Thinking…")
    question.get_by_role("button", name="Refuse").click()
    expect(app.answer).to_contain_text("Over.")
    expect(page.get_by_role("status").filter(has_text="Waiting for your answer")).to_have_count(0)


def test_what_was_deleted_with_keys_is_brought_back_with_one(app: App) -> None:
    app.ask("[[say:Precious.]]")
    expect(app.answer).to_contain_text("Precious.")
    app.done()
    page = app.page
    page.get_by_role("button", name="Conversation", exact=True).click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("textbox", name="Title").fill("Kept for the keys")
    page.keyboard.press("Enter")
    entry = page.get_by_role("link", name="Kept for the keys")
    expect(entry).to_be_visible()
    app.open("agents")
    page.get_by_role("button", name="More for Kept for the keys").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(entry).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(entry).to_be_visible()
    expect(app.answer).to_contain_text("Precious.")


def test_every_page_has_its_name(app: App) -> None:
    for place, name in (("agents", "Agents"), ("agents/new", "New agent"), ("usage", "Usage")):
        app.open(place)
        expect(app.page).to_have_title(f"{name} · thinkwire")
    app.open()
    expect(app.page).to_have_title("thinkwire")


def test_a_model_that_cannot_but_think_has_no_switch(app: App) -> None:
    app.open("agents/new")
    page = app.page
    box = page.get_by_role("checkbox", name="Enable thinking")
    plan = page.get_by_role("group", name="Thinking").get_by_role("status")
    app.choose_model("claude-sonnet-4-5")
    expect(box).to_be_visible()
    app.choose_model("deepseek-r1")
    expect(page.get_by_text("This model always thinks")).to_be_visible()
    expect(box).to_have_count(0)
    app.choose_model("gemini-2.5-pro")
    expect(page.get_by_text("It cannot be turned off")).to_be_visible()
    expect(box).to_have_count(0)
    expect(page.get_by_role("spinbutton", name="Thinking budget (tokens)")).to_have_value("10000")
    expect(plan).to_contain_text("10,000")


def test_what_was_pressed_is_taken_though_the_list_changes_before_the_release(app: App) -> None:
    app.open()
    page = app.page
    app.model.click()
    found: list[Route] = []
    asked = re.compile(r"/api/models\?q=gpt")
    page.route(asked, lambda route: found.append(route))
    page.get_by_role("combobox", name="Search models").fill("gpt")
    while not found:
        page.wait_for_timeout(10)
    page.get_by_role("option", name=re.compile("^claude-opus-5 ")).hover()
    page.mouse.down()
    with page.expect_response(asked):
        found[0].continue_()
    page.evaluate(DRAWN)
    page.mouse.up()
    expect(app.model).to_have_accessible_name("Model: anthropic/claude-opus-5")
    expect(page.get_by_role("combobox", name="Search models")).to_have_count(0)


def test_a_refused_key_is_named_and_no_other_way_is_tried(app: App) -> None:
    app.ask("[[fail:401]]")
    told = app.answer.get_by_role("alert")
    expect(told).to_contain_text("The key in ANTHROPIC_API_KEY was refused")
    expect(told).to_contain_text("No other way was tried")
    app.reload()
    expect(told).to_contain_text("ANTHROPIC_API_KEY")
