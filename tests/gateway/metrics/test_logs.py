"""Log lines: one JSON object per request, everything known in it, unknown as null."""

from __future__ import annotations

import asyncio
import datetime
import io
import json
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gateway.metrics.records import record
from thinkwire.gateway.config.gateway_config import Logging
from thinkwire.gateway.telemetry.log_writer import DELAY, MOST, WHOLE, LineWriter, together
from thinkwire.gateway.telemetry.logs import _time, gathering, log_content, log_request, redacted, set_up
from thinkwire.gateway.telemetry.record import RequestLabels, RequestRecord

NAMES = ("thinkwire", "uvicorn", "uvicorn.error", "uvicorn.access", "thinkwire.gateway.content")


Stderr = Callable[[], str]


@pytest.fixture
def stderr(capsys: pytest.CaptureFixture[str]) -> Iterator[Stderr]:
    """What went to standard error; the loggers are as before afterwards."""
    loggers = [logging.getLogger(name) for name in NAMES]
    before = [(logger.handlers, logger.level, logger.propagate, logger.disabled) for logger in loggers]
    yield lambda: capsys.readouterr().err
    for logger, state in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate, logger.disabled = state[0], state[2], state[3]
        logger.setLevel(state[1])


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_request_is_one_line_with_everything_known(stderr: Stderr) -> None:
    set_up(Logging())
    log_request(record())
    (line,) = lines(stderr())
    assert line.pop("time").startswith("20")
    assert line == {
        "level": "info",
        "logger": "thinkwire.gateway.request",
        "message": "200 claude-opus-5/high by anthropic/claude-opus-5 in 1500 ms",
        "id": "req_1",
        "tenant": "t1",
        "dialect": "openai-chat",
        "operation": "generate",
        "asked": "claude-opus-5/high",
        "provider": "anthropic",
        "model": "claude-opus-5",
        "status": 200,
        "failure": None,
        "client_left": False,
        "streamed": True,
        "passed_through": False,
        "requested": "high",
        "effective": "high",
        "finish": "stop",
        "restored": 0,
        "ms": 1500.0,
        "first_ms": 250.0,
        "tokens": {
            "input_uncached": 70,
            "cache_read": 20,
            "cache_write": 10,
            "input_total": 100,
            "output_visible": 30,
            "output_reasoning": 20,
            "output_total": 50,
        },
        "cost": 0.0125,
        "cost_estimated": False,
        "notes": ["thinking.dormant", "sampling.dropped"],
    }


def test_every_field_is_told_under_its_name_and_in_its_place(stderr: Stderr) -> None:
    told = record(
        **{"operation": "count_tokens", "failure": "auth", "client_left": True, "streamed": False},
        **{"requested": "max", "effective": "high", "finish": "length", "restored": 7, "status": 401},
        passed_through=True,
    )
    set_up(Logging())
    log_request(told)
    logging.getLogger("thinkwire").addHandler(logging.NullHandler())
    log_request(told)
    direct, through_logging = stderr().splitlines()
    assert re.sub(r'"time":"[^"]*"', "", direct) == re.sub(r'"time":"[^"]*"', "", through_logging)
    line = json.loads(direct)
    told_of = {name: getattr(told.kind, name) for name in RequestLabels.__struct_fields__} | {"restored": 7}
    assert {name: line[name] for name in told_of} == told_of | {"notes": list(told.kind.notes)}
    beside = {*RequestRecord.__struct_fields__, *RequestLabels.__struct_fields__} - set(line)
    assert beside == {"kind", "usage", "response_id", "trace"}
    assert list(line) == [
        *("id", "tenant", "dialect", "operation", "provider", "model", "status", "failure", "client_left"),
        *("streamed", "passed_through", "requested", "effective", "finish", "restored", "ms", "first_ms"),
        *("tokens", "cost", "cost_estimated", "notes", "asked", "time", "level", "logger", "message"),
    ]
    when = datetime.datetime.fromisoformat(line["time"])
    assert abs(datetime.datetime.now(datetime.UTC) - when) < datetime.timedelta(minutes=1)


@given(st.floats(0, 4e9))
def test_times_are_told_to_the_millisecond(seconds: float) -> None:
    told = datetime.datetime.fromisoformat(_time(seconds))
    assert -1e-6 <= seconds - told.timestamp() < 0.001001
    assert len(_time(seconds)) == len("2026-11-16T12:00:00.000+00:00")


@pytest.mark.parametrize("form", ["json", "text"])
def test_both_ways_to_a_line_write_the_same(stderr: Stderr, form: Any) -> None:
    """Straight to our handler, or through `logging` where somebody else listens too."""
    odd = [
        record(),
        record(usage=None, cost=None, first_ms=None, provider=None, model=None, asked="", notes=()),
        record(asked='x"\n{"level":"error"}\u2028\ud800\x7f\x85é😀', model="m\x1b[2J", provider="p" * 3000),
        *(record(**{name: "Bearer planted"}) for name in ("asked", "model", "requested", "finish", "tenant")),
        record(asked="password:"),
        record(model="x-api-key="),
        record(asked="bearer", provider=None, model=None),
        record(provider="a" * 100, model="b" * 100),
        record(model="m " * 3000),
        record(asked="n " * 3000),
        record(notes=("sk-planted-planted",)),
    ]
    set_up(Logging(format=form))
    for one in odd:
        log_request(one)
    logger = logging.getLogger("thinkwire")
    logger.handlers = [*logger.handlers, logging.NullHandler()]
    for one in odd:
        log_request(one)
    written = [re.sub(r"20\d\d-[\d:.T-]+\+00:00", "", line) for line in stderr().splitlines()]
    assert len(written) == 2 * len(odd)
    assert written[: len(odd)] == written[len(odd) :]
    assert "planted" not in "".join(written)


class Heard(logging.Handler):
    """A handler of somebody else."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@pytest.mark.parametrize("name", ["thinkwire", "thinkwire.gateway", "thinkwire.gateway.request"])
def test_whoever_else_listens_hears_of_requests_too(stderr: Stderr, name: str) -> None:
    set_up(Logging())
    heard = Heard()
    logger = logging.getLogger(name)
    logger.addHandler(heard)
    try:
        log_request(record())
    finally:
        logger.removeHandler(heard)
    assert heard.messages == ["200 claude-opus-5/high by anthropic/claude-opus-5 in 1500 ms"]
    assert len(lines(stderr())) == 1


def test_filters_and_levels_of_the_handler_count(stderr: Stderr) -> None:
    handler = set_up(Logging())
    handler.addFilter(lambda record: False)
    log_request(record())
    handler.filters.clear()
    handler.setLevel(logging.WARNING)
    log_request(record())
    assert stderr() == ""


@pytest.mark.anyio
async def test_lines_are_gathered_while_a_gateway_runs_and_keep_their_order(stderr: Stderr) -> None:
    set_up(Logging())
    with gathering():
        log_request(record(id="req_1"))
        log_request(record(id="req_2"))
        assert stderr() == ""
        logging.getLogger("thinkwire.gateway").warning("between")
        log_request(record(id="req_3"))
        assert [line.get("id") for line in lines(stderr())] == ["req_1", "req_2", None]
        await asyncio.sleep(2 * DELAY)
        assert [line["id"] for line in lines(stderr())] == ["req_3"]
        log_request(record(id="req_4"))
    assert [line["id"] for line in lines(stderr())] == ["req_4"]
    log_request(record(id="req_5"))
    assert [line["id"] for line in lines(stderr())] == ["req_5"]


@pytest.mark.anyio
async def test_many_lines_do_not_wait_for_each_other(stderr: Stderr) -> None:
    set_up(Logging())
    with gathering():
        for _ in range(MOST):
            log_request(record())
        assert len(lines(stderr())) == MOST


def test_a_loop_that_ends_leaves_no_line_behind(stderr: Stderr) -> None:
    handler = set_up(Logging())

    async def one() -> None:
        with gathering():
            log_request(record())

    for _ in range(2):
        asyncio.run(one())
        assert len(lines(stderr())) == 1
    with gathering():
        log_request(record())
        assert len(lines(stderr())) == 1, "without a loop nobody would write it later"
    with gathering():
        asyncio.run(_log_in_a_loop())
        assert stderr() == ""
        handler.flush()
        assert len(lines(stderr())) == 1, "`logging` does this when the process ends"
        asyncio.run(_log_in_a_loop())
        asyncio.run(_log_in_a_loop())
    assert len(lines(stderr())) == 2


async def _log_in_a_loop() -> None:
    log_request(record())


def test_a_stream_that_is_gone_breaks_nothing(stderr: Stderr) -> None:
    handler = set_up(Logging())
    assert isinstance(handler, LineWriter)
    handler.setStream(io.StringIO())
    handler.stream.close()
    log_request(record())
    assert stderr() == ""


def test_a_line_that_cannot_be_made_takes_no_other_with_it(stderr: Stderr) -> None:
    def broken(it: RequestRecord, now: float) -> str:
        raise ZeroDivisionError

    async def several(writer: LineWriter) -> None:
        log_request(record(id="req_1"))
        writer.put(broken, record(), 0.0)
        log_request(record(id="req_2"))

    handler = set_up(Logging())
    assert isinstance(handler, LineWriter)
    with gathering():
        asyncio.run(several(handler))
    told = lines(stderr())
    assert [line["id"] for line in told if "id" in line] == ["req_1", "req_2"]
    assert [line["message"] for line in told if line["level"] == "error"] == ["a line could not be made"]


@given(st.lists(st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=3 * WHOLE // 2)))
def test_lines_that_are_written_together_stay_whole_on_a_pipe(lines: list[str]) -> None:
    texts = list(together(lines))
    assert "".join(texts) == "".join(f"{line}\n" for line in lines)
    assert all(len(text.encode()) <= WHOLE or text.count("\n") == 1 for text in texts)


def test_what_is_unknown_is_null(stderr: Stderr) -> None:
    set_up(Logging())
    log_request(record(usage=None, cost=None, first_ms=None, provider=None, model=None, asked=""))
    (line,) = lines(stderr())
    assert set(line["tokens"].values()) == {None}
    assert (line["cost"], line["first_ms"], line["model"]) == (None, None, None)
    assert line["message"] == "200 - by nobody in 1500 ms"


def test_a_hostile_name_stays_on_its_line(stderr: Stderr) -> None:
    set_up(Logging())
    log_request(record(asked='x"\n{"level":"error"}\u2028\ud800' + "y " * 5000))
    (line,) = lines(stderr())
    assert line["level"] == "info"
    assert len(line["asked"]) == 200


def test_people_can_have_plain_lines(stderr: Stderr) -> None:
    set_up(Logging(format="text"))
    log_request(record(asked="a\nb\x1b[2J\r"))
    line = stderr()
    assert line.count("\n") == 1
    assert line.endswith(" info 200 a | b [2J  by anthropic/claude-opus-5 in 1500 ms\n")


def test_the_level_is_kept(stderr: Stderr) -> None:
    set_up(Logging(level="warning"))
    log_request(record())
    logging.getLogger("thinkwire.gateway").warning("careful")
    assert [line["message"] for line in lines(stderr())] == ["careful"]


def test_the_servers_own_line_of_each_request_is_not_written(stderr: Stderr) -> None:
    set_up(Logging())
    logging.getLogger("uvicorn.access").info("GET /?key=planted")
    logging.getLogger("uvicorn.error").info("started")
    assert [line["message"] for line in lines(stderr())] == ["started"]


def test_content_is_written_only_on_request_and_then_without_seals(stderr: Stderr) -> None:
    body = b'{"messages":[{"text":"hello","signature":"planted","x":[{"encrypted_content":"planted"}]}]}'
    set_up(Logging())
    log_content("req_1", "request", body)
    assert stderr() == ""
    set_up(Logging(content=True))
    log_content("req_1", "request", body)
    log_content("req_1", "answer", b"not json, Bearer planted")
    written = stderr()
    first, second = lines(written)
    assert (first["id"], first["message"]) == ("req_1", "request")
    assert "hello" in first["content"]
    assert "not json" in second["content"]
    assert "planted" not in written


def test_ordinary_words_are_not_hidden() -> None:
    for text in ("claude-opus-5/high", "the key is not known here", "task-force sketch", "a" * 100):
        assert redacted(text) == text
