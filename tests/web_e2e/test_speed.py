"""How fast the pages are, in numbers that a busy machine hardly changes; kept in `build/web-speed.json`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from tests.support import ROOT
from tests.web_e2e.app import App
from tests.web_e2e.conftest import Server
from tests.web_e2e.plays import SLOWLY
from tests.web_e2e.test_bundle import LIMIT

pytestmark = [pytest.mark.e2e, pytest.mark.needs("chromium")]

NUMBERS = ROOT / "build/web-speed.json"
FRAME = 1000 / 60

Record = Callable[..., None]


@pytest.fixture
def record(record_property: Any) -> Record:
    """Keeps numbers by their names, beside those of earlier runs of other tests."""

    def keep(**numbers: float) -> None:
        NUMBERS.parent.mkdir(exist_ok=True)
        known = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {}
        rounded = {name: round(number, 2) for name, number in numbers.items()}
        NUMBERS.write_text(json.dumps(known | rounded, indent=2, sort_keys=True) + "\n")
        for name, number in rounded.items():
            record_property(name, number)
            print(f"{name} {number}")

    return keep


class Work:
    """What the page's main thread did since it was begun, in milliseconds of the processor."""

    def __init__(self, page: Page) -> None:
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._begun = self._milliseconds()

    def done(self) -> float:
        return self._milliseconds() - self._begun

    def _milliseconds(self) -> float:
        told = self._session.send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in told if one["name"] == "TaskDuration")) * 1000


def test_when_the_first_page_comes_and_can_be_used(browser: Browser, server: Server, record: Record) -> None:
    """Three first visits with empty caches; the quickest says least about the machine."""
    visits = [first_visit(browser, server.url) for _ in range(3)]
    best = {name: min(visit[name] for visit in visits) for name in visits[0]}
    record(**best)
    assert 0 < best["first_contentful_paint_ms"] <= best["interactive_ms"]
    assert 0 < best["first_visit_work_ms"] < 1000, "the page keeps the processor busy before one can type"
    assert 0 < best["first_visit_bytes"] < LIMIT


def first_visit(browser: Browser, url: str) -> dict[str, float]:
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    page = context.new_page()
    page.add_init_script(INTERACTIVE)
    work = Work(page)
    App(page, url).open()
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    painted = page.evaluate(PAINTED)
    usable = max(painted, page.evaluate("interactive()"))
    numbers = {
        "first_contentful_paint_ms": painted,
        "interactive_ms": usable,
        "first_visit_work_ms": work.done(),
        "first_visit_bytes": page.evaluate(FETCHED),
    }
    context.close()
    return numbers


PAINTED = """() => new Promise(told => new PerformanceObserver(list => {
  const [first] = list.getEntriesByName('first-contentful-paint');
  if (first) told(first.startTime);
}).observe({type: 'paint', buffered: true}))"""

FETCHED = """() => performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
  .filter(one => one.responseEnd <= focused && !new URL(one.name).pathname.startsWith('/api/'))
  .reduce((sum, one) => sum + one.encodedBodySize, 0)"""
"""What went over the line before one could type; the code for conversations comes after that."""

INTERACTIVE = """
window.focused = 0;
let busy = 0;
addEventListener('focusin', () => { focused ||= performance.now(); });
new PerformanceObserver(list => {
  for (const task of list.getEntries()) {
    if (!focused || task.startTime < focused) busy = task.startTime + task.duration;
  }
}).observe({type: 'longtask', buffered: true});
window.interactive = () => Math.max(focused, busy);
"""
"""Where one can type: the field has the focus, and no long task that began before is still going on."""


def test_five_hundred_messages_scroll_within_a_frame(app: App, record: Record) -> None:
    page = app.page
    app.open()
    page.route("**/api/conversations/long", lambda route: route.fulfill(json=long_talk()))
    page.route("**/api/conversations/long/messages", lambda route: route.fulfill(json=long_messages(500)))
    app.open("c/long")
    expect(app.answer).to_contain_text("Answer 499")
    page.evaluate(SCROLL)
    work = Work(page)
    frames = page.evaluate(SCROLL)
    each = work.done() / len(frames)
    record(
        scroll_500_messages_work_per_frame_ms=each,
        scroll_500_messages_frame_ms=sorted(frames)[len(frames) // 2],
    )
    assert page.evaluate("document.querySelectorAll('.message .code-word').length") > 200
    assert each < FRAME, "a frame takes more work than there is time for it at 60 per second"


SCROLL = """async () => {
  const box = document.querySelector('[aria-label="Conversation"][role=region]');
  const frames = [];
  let before = performance.now();
  for (let at = 0; at < 120; at++) {
    box.scrollTop += at % 40 < 20 ? -400 : 300;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    frames.push(now - before);
    before = now;
  }
  return frames;
}"""


def long_talk() -> dict[str, Any]:
    told = {"id": "long", "title": "Long", "model": "anthropic/claude-sonnet-4-5", "agent_id": None}
    return told | {
        "preview": "",
        "updated": 0,
        "count": 500,
        "running": False,
        "settings": {},
        "context": None,
    }


CODE = '```python\ndef odd(n):\n    # one\n    return n % 2 == 1\n\nprint(odd(3), "yes")\n```'


def long_messages(count: int) -> dict[str, Any]:
    thought = {"type": "reasoning", "text": "I think about it. " * 30, "state": "done"}
    messages = [
        {
            "id": f"m{number}",
            "role": "assistant" if number % 2 else "user",
            "parts": [thought] * (number % 2)
            + [{"type": "text", "text": f"Answer {number}\n\n- one\n- two\n\n{CODE}", "state": "done"}],
            "metadata": {"status": "complete"},
        }
        for number in range(count)
    ]
    return {"messages": messages, "branches": {}, "running": None}


LINES = 300
LONG_CODE = "\n".join(f'    total += square({n})  # the {n}th "odd" one' for n in range(LINES))


def test_a_long_code_is_coloured_while_it_comes_and_the_page_stays_quick(app: App, record: Record) -> None:
    app.open()
    app.choose_model("claude-sonnet-4-5")
    work = Work(app.page)
    app.say(f"[[say:```python\ndef f():\n{LONG_CODE}\n```\n\nThat was all.]]")
    expect(app.answer).to_contain_text("That was all.")
    app.done()
    spent = work.done()
    record(streaming_300_lines_of_code_work_ms=spent)
    expect(app.answer.locator(".code-comment")).to_have_count(LINES)
    assert app.answer.locator("pre").inner_text() == f"def f():\n{LONG_CODE}"
    assert spent < LINES * FRAME, "a line takes a whole frame"


def test_nothing_jumps_while_an_answer_comes(app: App, server: Server, record: Record) -> None:
    page = app.page
    page.add_init_script(SHIFTS)
    app.ask("[[say:First.]]")
    expect(app.answer).to_contain_text("First.")
    app.done()
    expect(page.get_by_role("heading", level=1)).not_to_have_text("New conversation")
    page.evaluate("shifts.length = 0")
    app.say(SLOWLY)
    expect(app.thoughts).to_contain_text("I begin with one thought.")
    server.release()
    expect(app.answer).to_contain_text("The end.")
    app.done()
    expect(app.thoughts).to_contain_text("Thought for")
    shifts = page.evaluate("shifts")
    record(layout_shift_while_streaming=sum(shift["value"] for shift in shifts))
    assert shifts == []


SHIFTS = """
window.shifts = [];
const named = node => (node?.outerHTML ?? node?.textContent)?.slice(0, 120);
const moved = ({node, previousRect: from, currentRect: to}) => `${named(node)} from ${from.y} to ${to.y}`;
new PerformanceObserver(list => {
  for (const shift of list.getEntries()) {
    const jumped = shift.sources.filter(({previousRect: a, currentRect: b}) => Math.abs(a.y - b.y) > 0.5);
    if (jumped.length && !shift.hadRecentInput) shifts.push({value: shift.value, moved: jumped.map(moved)});
  }
}).observe({type: 'layout-shift', buffered: true});
"""


def test_numbers_are_kept_where_the_build_is(
    tmp_path: Path, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "NUMBERS", tmp_path / "build/web-speed.json")
    record(one=1.234)
    record(two=2.0)
    assert json.loads((tmp_path / "build/web-speed.json").read_text()) == {"one": 1.23, "two": 2.0}
