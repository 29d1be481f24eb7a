"""What a person does on the pages, in their own words."""

from __future__ import annotations

import re

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, expect

TOKEN = "the-start-token-of-the-tests"

EXPECTED = re.compile(r"Failed to load resource|net::ERR_")
"""What a browser prints for every refused request; what is shown about it is looked at by itself."""

DRAWN = "() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))"


def watched(context: BrowserContext) -> tuple[Page, list[str]]:
    """A tab, and the list of what goes wrong in it."""
    page = context.new_page()
    complaints: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not EXPECTED.search(message.text):
            complaints.append(message.text)

    page.on("console", heard)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.add_init_script(
        "addEventListener('securitypolicyviolation', event =>"
        " console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`))"
    )
    return page, complaints


def sign_in(context: BrowserContext, url: str) -> None:
    """Gets the cookie of somebody who has opened the address that the server printed."""
    context.request.get(f"{url}/?token={TOKEN}", max_redirects=0)


class App:
    """The web app in a tab of somebody who has opened the address that the server printed."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        sign_in(page.context, url)

    def open(self, place: str = "") -> App:
        """What is looked for next is looked for there, and not on the page that is just being left."""
        self.page.goto(f"{self.url}/#/{place}")
        self.page.evaluate(DRAWN)
        return self

    def reload(self) -> None:
        self.page.reload()

    @property
    def model(self) -> Locator:
        return self.page.get_by_role("button", name=re.compile("^Model:"))

    def choose_model(self, words: str) -> None:
        self.model.click()
        self.page.get_by_role("combobox", name="Search models").fill(words)
        self.page.get_by_role("option", name=re.compile(rf"^{re.escape(words)}\b")).first.click()
        expect(self.model).to_have_accessible_name(re.compile(re.escape(words)))

    def say(self, text: str) -> None:
        self.page.get_by_role("textbox", name="Message").fill(text)
        self.page.keyboard.press("Enter")

    def ask(self, text: str, model: str = "claude-sonnet-4-5") -> None:
        """A new conversation, and its first message."""
        self.open()
        self.choose_model(model)
        self.say(text)
        self.page.wait_for_url(re.compile("#/c/"))

    @property
    def answers(self) -> Locator:
        return self.page.get_by_role("article", name="Answer")

    @property
    def answer(self) -> Locator:
        return self.answers.last

    @property
    def thoughts(self) -> Locator:
        return self.answer.get_by_role("region", name="Thinking").get_by_role("button")

    @property
    def inside(self) -> Locator:
        return self.answer.get_by_role("region", name="What was thought")

    def done(self) -> None:
        """Waits until nothing is being answered."""
        self.page.get_by_role("button", name="Send", exact=True).wait_for()

    def until_kept(self, words: str) -> None:
        """Waits until the server has these words in its store, where a running answer goes once a second."""
        for _ in range(100):
            kept = self.page.request.get(f"{self.url}/api/conversations/{self.conversation}/export")
            if kept.text().count(words) > 1:  # once in what was said
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"{words!r} was not kept")

    @property
    def conversation(self) -> str:
        return self.page.url.rpartition("/")[2]
