"""Log lines: one JSON object per request, everything known in it, unknown as null."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.gateway.metrics.records import record
from thinkwire.gateway.config import Logging
from thinkwire.gateway.logs import log_content, log_request, redacted, set_up

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
        "notes": ["thinking.dormant", "sampling.dropped"],
    }


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
