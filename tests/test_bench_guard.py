"""The guard against slowness: it counts the same every time, knows every route, and notices more calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.guard import KINDS, TALK, budgets_text, lowered, over_budget, read_budgets
from bench.inside import WAYS, counted_calls, inside
from bench.load import Load, spread
from bench.upstream import Style
from bench.wire import ANSWERS, answer_for, request

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("route", WAYS)
async def test_a_route_stays_within_its_budget(route: str, tmp_path: Path) -> None:
    budgets = read_budgets()
    async with inside(tmp_path) as gateway:
        whole = await counted_calls(gateway, route)
        short = await counted_calls(gateway, route, events=8)
        long = await counted_calls(gateway, route, events=208)
        begun = await counted_calls(gateway, route, events=1)
    seen = {
        f"request {route}": whole,
        f"stream {route}": begun,
        f"event {route}": (long - short) / 200,
    }
    assert over_budget(seen, budgets) == []


def test_every_route_has_its_budgets_and_none_has_one_that_nobody_takes() -> None:
    talks = {"talk", "turn"}
    routes = {kind: [TALK] if kind in talks else WAYS for kind in KINDS}
    assert set(read_budgets()) == {f"{kind} {route}" for kind in KINDS for route in routes[kind]}


@pytest.mark.parametrize("route", WAYS)
@pytest.mark.parametrize("events", [0, 20])
async def test_what_is_counted_is_a_whole_answer(route: str, events: int, tmp_path: Path) -> None:
    async with inside(tmp_path) as gateway:
        told = (await gateway.ask(route, events=events)).decode()
    assert told.count("square") >= 1
    assert ("event" in told or "data:" in told) == bool(events)


@pytest.mark.parametrize(
    ("calls_seen", "flaws"),
    [({"request a": 100.0}, 0), ({"request a": 109.0}, 0), ({"request a": 120.0}, 1), ({"b": 1.0}, 1)],
)
def test_more_calls_than_the_budget_are_named(calls_seen: dict[str, float], flaws: int) -> None:
    assert len(over_budget(calls_seen, {"request a": 100.0})) == flaws


def test_writing_lowers_budgets_and_raises_none(tmp_path: Path) -> None:
    after = lowered({"request a": 90.0, "event a": 12.0}, {"request a": 100.0, "event a": 10.0})
    assert after == {"request a": 90.0, "event a": 10.0}
    (tmp_path / "budgets.toml").write_text(budgets_text(after))
    assert read_budgets(tmp_path / "budgets.toml") == after


@pytest.mark.parametrize("dialect", ["chat", "messages", "responses"])
def test_the_question_is_streamed_only_when_asked(dialect: str) -> None:
    assert (b'"stream":true' in request(dialect, "m", stream=True)[1]) is True
    assert (b'"stream":true' in request(dialect, "m", stream=False)[1]) is False


@pytest.mark.parametrize("events", [1, 7, 500])
def test_the_mock_provider_writes_as_many_events_as_it_was_told(events: int) -> None:
    style = Style()
    style.shape |= {"events": events, "group": 8}
    written = b"".join(style.pieces(ANSWERS["chat"]))
    assert written.count(b'"content"') == events + 1
    assert written.endswith(b"0\r\n\r\n")


def test_paths_belong_to_dialects_whatever_stands_before_them() -> None:
    assert answer_for("/any/where/v1/messages") is ANSWERS["messages"]
    assert answer_for("/v1beta/models/m:streamGenerateContent") is ANSWERS["gemini"]
    assert answer_for("/v1/other") is None


def test_percentiles_are_of_what_was_seen() -> None:
    times = [0.001 * n for n in range(1, 101)]
    assert spread(times) == pytest.approx({"p50": 50.5, "p99": 100.0})
    assert spread([]) is None


def test_the_load_asks_no_more_than_it_was_told() -> None:
    load = Load({"body": "", "path": "/", "total": 2})
    assert [load.take(), load.take(), load.take()] == [True, True, False]
