"""Heads that are known: what is remembered of one is what a look at it would find."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkwire.gateway.config.gateway_config import GatewayConfig, Server
from thinkwire.gateway.http.request_head import HEARD, RequestHead, RequestHeadCache, read_head

PAGE = "https://chat.example.com"
KEY = b"tw_planted"
CONFIG = GatewayConfig(
    server=Server(allowed_hosts=("gate.example.com",), allowed_origins=(PAGE,), max_body_mb=0.001)
)
HOST = (b"host", b"gate.example.com")

values = {
    b"host": [b"127.0.0.1:4141", b"gate.example.com", b"evil.example.com"],
    b"origin": [PAGE.encode(), b"http://127.0.0.1:4141", b"https://evil.example.com"],
    b"access-control-request-headers": [b"x-api-key", b"content-type"],
    b"upgrade": [b"websocket", b"h2c"],
    b"content-length": [b"0", b"2", b"1048", b"1049", b"", b"+2", b"2 ", b"\xb2", b"0" * 16, b"0" * 15],
    b"transfer-encoding": [b"chunked"],
    b"content-encoding": [b"identity", b"gzip"],
    b"x-thinkwire-explain": [b"true", b"no"],
    b"traceparent": [b"00-1", b"00-2"],
    b"x-api-key": [b"", b"tw_one", b"sk-two"],
    b"authorization": [b"Bearer tw_three", b"Basic x"],
    b"x-goog-api-key": [b"four"],
    b"anthropic-version": [b"2023-06-01"],
    b"anthropic-beta": [b"a", b"b\x01"],
    b"openai-beta": [b"responses=v1"],
    b"x-openai-internal-codex-responses-lite": [b"1"],
    b"user-agent": [b"one", b"two"],
}
pairs = st.sampled_from([(name, value) for name, found in values.items() for value in found])
heads = st.fixed_dictionaries(
    {
        "method": st.sampled_from(["POST", "POST", "GET", "HEAD", "OPTIONS", "DELETE"]),
        "path": st.sampled_from(
            [
                "/v1/messages",
                "/v1/responses",
                "/v1/models",
                "/",
                "/v1/nothing",
                "/v1beta/models/m:countTokens",
            ]
        ),
        "query_string": st.sampled_from([b"", b"beta=true", b"key=x"]),
        "server": st.sampled_from([("127.0.0.1", 4141), ("evil.example.com", 1), None]),
        "headers": st.lists(pairs, max_size=4).map(lambda drawn: [(b"host", b"127.0.0.1"), *drawn])
        | st.lists(pairs, max_size=4),
    }
)


def scope(*headers: tuple[bytes, bytes], **more: Any) -> dict[str, Any]:
    return {
        "type": "http",
        "method": "POST",
        "path": "/v1/messages",
        "query_string": b"",
        "server": ("127.0.0.1", 4141),
        "headers": list(headers),
        **more,
    }


def told(entrance: RequestHead) -> dict[str, Any]:
    refusal = entrance.refusal
    said = None if refusal is None else (refusal.failure, refusal.closes)
    return msgspec.structs.asdict(entrance) | {"refusal": said}


@given(st.lists(heads, min_size=1, max_size=3), st.lists(st.sampled_from(values[b"content-length"])))
def test_a_known_head_has_the_entrance_that_a_look_finds(drawn: list[Any], lengths: list[bytes]) -> None:
    entrances = RequestHeadCache()
    for _ in range(2):
        for head in drawn:
            assert told(entrances.find(dict(head), CONFIG)) == told(read_head(dict(head), CONFIG))
            for length in lengths:
                longer = head | {"headers": [*head["headers"], (b"content-length", length)]}
                assert told(entrances.find(dict(longer), CONFIG)) == told(read_head(dict(longer), CONFIG))


class Watched(dict[Any, Any]):
    """Knows what somebody has looked for in it."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.sought: set[Any] = set()

    def __contains__(self, name: object) -> bool:
        self.sought.add(name)
        return super().__contains__(name)

    def __getitem__(self, name: Any) -> Any:
        self.sought.add(name)
        return super().__getitem__(name)

    def get(self, name: Any, default: Any = None) -> Any:
        self.sought.add(name)
        return super().get(name, default)


@given(heads)
def test_an_entrance_depends_on_nothing_else(head: Any) -> None:
    by_name: dict[bytes, list[str]] = {b"x": ["not empty"]}
    for name, value in head["headers"]:
        by_name.setdefault(name, []).append(value.decode("latin-1"))
    headers = Watched(by_name)
    sent = Watched(head | {"thinkwire.headers": headers})
    read_head(sent, CONFIG)
    assert headers.sought - HEARD == set()
    assert b"host" in headers.sought
    assert sent.sought <= {"method", "path", "query_string", "server", "thinkwire.headers"}


def test_the_same_head_is_looked_at_once_whatever_its_length_and_its_unheard_headers() -> None:
    entrances = RequestHeadCache()
    first = entrances.find(scope(HOST, (b"content-length", b"7"), (b"x-request-id", b"1")), CONFIG)
    again = entrances.find(scope((b"content-length", b"9"), HOST, (b"x-request-id", b"2")), CONFIG)
    assert again is first
    assert first.operation == "generate"
    assert entrances.find(scope(HOST), CONFIG) is first


@pytest.mark.parametrize(
    "headers",
    [
        [(b"content-length", b"5000")],
        [(b"content-length", b"1"), (b"content-length", b"1")],
        [(b"content-length", b"0"), (b"content-length", b"5")],
        [(b"content-length", b"")],
        [(b"content-length", b"0" * 16)],
        [(b"content-length", b"1"), (b"transfer-encoding", b"chunked")],
        [(b"content-encoding", b"gzip")],
        [(b"origin", b"https://evil.example.com")],
    ],
)
def test_a_known_head_does_not_let_others_in(headers: list[tuple[bytes, bytes]]) -> None:
    entrances = RequestHeadCache()
    assert entrances.find(scope(HOST, (b"content-length", b"1")), CONFIG).refusal is None
    assert entrances.find(scope(HOST, (b"transfer-encoding", b"chunked")), CONFIG).refusal is None
    for _ in range(2):
        assert entrances.find(scope(HOST, *headers), CONFIG).refusal is not None
    assert repr(entrances) == "Entrances(1)"


def test_another_configuration_counts_at_once() -> None:
    entrances = RequestHeadCache()
    sent = scope(HOST, (b"content-length", b"900"))
    assert entrances.find(dict(sent), CONFIG).refusal is None
    for server, status in (
        (Server(), 403),
        (msgspec.structs.replace(CONFIG.server, max_body_mb=0.0001), 413),
    ):
        refusal = entrances.find(dict(sent), GatewayConfig(server=server)).refusal
        assert refusal is not None
        assert refusal.status == status
        assert entrances.find(dict(sent), CONFIG).refusal is None


def test_the_address_that_was_called_counts() -> None:
    entrances = RequestHeadCache()
    called = (b"host", b"10.0.0.1")
    for _ in range(2):
        assert entrances.find(scope(called, server=("10.0.0.1", 1)), CONFIG).refusal is None
        assert entrances.find(scope(called, server=("10.0.0.2", 1)), CONFIG).refusal is not None
        assert entrances.find(scope(called, server=None), CONFIG).refusal is not None


def test_each_key_has_an_entrance_of_its_own() -> None:
    entrances = RequestHeadCache()
    for _ in range(2):
        for key in (b"tw_one", b"tw_two"):
            assert entrances.find(scope(HOST, (b"x-api-key", key)), CONFIG).key == key.decode()
        assert entrances.find(scope(HOST), CONFIG).key is None


def test_traces_are_of_one_request() -> None:
    entrances = RequestHeadCache()
    for trace in (b"00-1", b"00-2", b"00-1"):
        assert entrances.find(scope(HOST, (b"traceparent", trace)), CONFIG).trace == trace.decode()
    assert entrances.find(scope(HOST), CONFIG).trace is None
    assert repr(entrances) == "Entrances(1)"


def test_few_heads_are_remembered_and_no_large_ones() -> None:
    entrances = RequestHeadCache()
    for number in range(1000):
        entrances.find(scope(HOST, (b"x-api-key", b"%d" % number)), CONFIG)
    assert 0 < len(entrances._known) <= 256
    entrances = RequestHeadCache()
    for large in (
        scope(HOST, (b"x-api-key", b"k" * 5000)),
        scope(HOST, path=f"/v1/models/{'m' * 5000}", method="GET"),
        scope(HOST, query_string=b"q=" + b"x" * 5000),
        scope(*[HOST, *[(b"anthropic-beta", b"b")] * 500]),
    ):
        assert entrances.find(large, CONFIG).refusal is None
    assert len(entrances._known) == 0


def test_no_key_shows() -> None:
    entrances = RequestHeadCache()
    found = entrances.find(scope(HOST, (b"x-api-key", KEY)), CONFIG)
    assert found.key == KEY.decode()
    shown = repr(entrances) + repr(found) + str(found) + f"{entrances}"
    assert KEY.decode() not in shown
