"""Each fault does what it says, at the level of bytes."""

from __future__ import annotations

import gzip
import time
import zlib

import httpx2
import pytest

from tests.sim.support import KEYS, Api, Got, api, apis, call, read
from thinkwire.errors import ConfigError
from thinkwire.sim.app import Simulator
from thinkwire.sim.chaos import Chaos
from thinkwire.sim.fixture import Running

APP = Simulator(rules=())
ALL = [api("anthropic", "anthropic"), api("openai", "openai-responses"), api("google", "gemini")]
ALL += [api("deepseek", "openai-chat"), api("openrouter", "openai-chat")]
TEXT = (
    "[[think:Ünïcödé 思考 🤔]] [[say:Ünïcödé answer 👩‍💻 of some length, so that there is something to cut]]"
)

each_wire = pytest.mark.parametrize("at", ALL, ids=lambda at: at.id)
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def trouble(at: Api, spec: str, *, stream: bool) -> Got:
    return call(APP, at.path(stream), at.body(TEXT, stream=stream), headers={"x-sim-chaos": spec})


def test_a_spec_is_read_and_nonsense_is_named() -> None:
    chaos = Chaos.parse("cut=120, latency=0.2,split=1,retry-after=3,error-in-stream,p=0.5")
    assert chaos == Chaos(cut=120, latency=0.2, split=1, retry_after=3.0, error_in_stream=True, p=0.5)
    for spec in ("nonsense", "cut=soon", "split"):
        with pytest.raises(ConfigError, match="latency"):
            Chaos.parse(spec)
    got = call(APP, ALL[0].path(), ALL[0].body("x"), headers={"x-sim-chaos": "nonsense"})
    assert got.status == 400
    assert b"nonsense" in got.body


@each_wire
@both_ways
def test_a_cut_leaves_exactly_so_many_bytes(at: Api, stream: bool) -> None:
    whole = trouble(at, "", stream=stream)
    for size in (0, 1, 120):
        got = trouble(at, f"cut={size}", stream=stream)
        assert (got.body, got.complete) == (whole.body[:size], False)


@each_wire
@both_ways
def test_a_split_goes_through_characters_and_changes_nothing(at: Api, stream: bool) -> None:
    got = trouble(at, "split=1", stream=stream)
    assert {len(chunk) for chunk in got.chunks} == {1}
    assert got.complete
    assert got.body == trouble(at, "", stream=stream).body


@each_wire
@both_ways
def test_gzip_is_the_same_answer(at: Api, stream: bool) -> None:
    got = trouble(at, "gzip", stream=stream)
    assert got.headers["content-encoding"] == "gzip"
    assert gzip.decompress(got.body) == trouble(at, "", stream=stream).body
    if stream:
        first = zlib.decompressobj(wbits=31).decompress(got.chunks[0])
        assert first  # every piece can be read when it comes


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
@pytest.mark.parametrize("at", apis(), ids=lambda at: at.id)
def test_a_status_comes_with_the_vendors_body(at: Api, status: int) -> None:
    got = trouble(at, f"status={status},retry-after=3", stream=True)
    failure = at.dialect.decode_error(got.status, got.headers, got.body)
    assert got.status == status
    assert failure.kind == ("rate_limit" if status == 429 else "overloaded")
    assert failure.retry_after == 3
    assert "retry-after" not in trouble(at, f"status={status}", stream=True).headers


@each_wire
@both_ways
def test_a_proxys_page_is_no_json(at: Api, stream: bool) -> None:
    got = trouble(at, "html", stream=stream)
    assert (got.status, got.headers["content-type"]) == (502, "text/html")
    assert got.body.startswith(b"<html>")


@each_wire
@both_ways
def test_an_error_inside_an_answer_that_began_well(at: Api, stream: bool) -> None:
    got = trouble(at, "error-in-stream", stream=stream)
    answer = read(at, got.body, stream=stream)
    assert got.status == 200
    assert answer.failure is not None
    assert answer.failure.kind == "overloaded"


def test_doubled_reasoning_fields_say_the_same() -> None:
    at = api("deepseek", "openai-chat")
    message = trouble(at, "dup", stream=False).json["choices"][0]["message"]
    assert message["reasoning"] == message["reasoning_content"] != ""
    plain, doubled = (read(at, trouble(at, spec, stream=True).body, stream=True) for spec in ("", "dup"))
    assert doubled.turn.thinking == plain.turn.thinking


@each_wire
def test_a_wrong_length_promises_more_than_comes(at: Api) -> None:
    got = trouble(at, "wrong-length", stream=False)
    assert int(got.headers["content-length"]) > len(got.body)
    assert not got.complete


@each_wire
@both_ways
def test_latency_and_stalls_take_their_time(at: Api, stream: bool) -> None:
    for spec in ("latency=0.05", "stall=0.05"):
        begun = time.monotonic()
        got = trouble(at, spec, stream=stream)
        assert time.monotonic() - begun >= 0.05
        assert got.complete


def test_reset_without_a_socket_is_an_exception() -> None:
    with pytest.raises(ConnectionResetError):
        trouble(ALL[0], "reset", stream=False)


def test_chance_is_repeatable() -> None:
    def outcome() -> list[int]:
        app = Simulator(seed=3, rules=(), chaos=Chaos.parse("status=503,p=0.4"))
        return [call(app, ALL[0].path(), ALL[0].body("x")).status for _ in range(40)]

    first = outcome()
    assert first == outcome()
    assert 5 < first.count(503) < 30


@both_ways
@pytest.mark.parametrize("text", ["[[fail:503]]", "[[stall:0.01]] [[fail:503]] [[say:never]]"])
def test_a_scripted_failure_before_any_word_is_a_status(text: str, stream: bool) -> None:
    for at in ALL:
        assert call(APP, at.path(stream), at.body(text, stream=stream)).status == 503


def test_a_scripted_failure_after_words_is_inside_the_stream() -> None:
    for at in ALL:
        got = call(APP, at.path(True), at.body("[[say:some words]] [[fail:503]]", stream=True))
        answer = read(at, got.body, stream=True)
        assert (got.status, answer.turn.text) == (200, "some words")
        assert answer.failure is not None


def test_a_scripted_failure_may_pass_after_some_times() -> None:
    app = Simulator(rules=())
    at = ALL[0]
    body = at.body("[[fail:429 x2]] [[say:now]]")
    assert [call(app, at.path(), body).status for _ in range(4)] == [429, 429, 200, 200]


@both_ways
def test_a_scripted_cut_ends_the_bytes(stream: bool) -> None:
    for at in ALL:
        got = call(APP, at.path(stream), at.body("[[say:some words]] [[cut]] [[say:x]]", stream=stream))
        assert not got.complete
        assert (b"some" in got.body) or not stream


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ("reset", httpx2.ReadError),
        ("cut=100", httpx2.RemoteProtocolError),
        ("wrong-length", httpx2.RemoteProtocolError),
        ("cut=0", httpx2.RemoteProtocolError),
    ],
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_on_a_socket_broken_connections_are_broken(
    simulator: Running, spec: str, error: type[Exception], stream: bool
) -> None:
    at = ALL[0]
    with httpx2.Client() as client, pytest.raises(error):
        client.post(
            simulator.url + at.path(stream),
            json=at.body(TEXT, stream=stream),
            headers=KEYS | {"x-sim-chaos": spec},
        )


def test_a_client_that_leaves_a_stall_frees_the_server(simulator: Running) -> None:
    at = ALL[0]
    begun = time.monotonic()
    with pytest.raises(httpx2.ReadTimeout):
        httpx2.post(simulator.url + at.path(), json=at.body("[[stall:30]]"), headers=KEYS, timeout=0.2)
    assert time.monotonic() - begun < 5
