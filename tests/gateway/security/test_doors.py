"""Crafted requests at the gateway's door: none of them reaches a provider, or anything but its own place."""

from __future__ import annotations

import hmac
from itertools import product
from pathlib import Path

import pytest

from tests.client.upstream import Upstream, streamed
from tests.gateway.gateways import Served, config_of, gateway
from tests.gateway.security.keyed import new_key
from tests.gateway.security.wire import ASK, Trap, hear, post
from thinkwire.events import Answer
from thinkwire.messages import Text, Turn

pytestmark = pytest.mark.anyio
ANSWER = Answer(Turn("assistant", (Text("Hello."),)), "stop")


async def test_a_good_request_is_answered(guarded: Served, provider: Upstream) -> None:
    """What the other tests change one thing of."""
    provider.replies = [streamed("openai-chat", ANSWER)]
    heard = await hear(guarded.url, post(ASK | {"stream": True}))
    assert heard.status == 200
    assert b"Hello." in heard.raw


HOSTS = [
    *("evil.example", "evil.example:4141", "localhost.evil.example", "127.0.0.1.evil.example"),
    *("localhost@evil.example", "evil.example#localhost", "evil.example/localhost", "[::1].evil.example"),
    *("", "localhost:port", "0x7f000001.evil.example", "localhost, evil.example"),
]


async def test_a_name_that_was_pointed_here_is_not_served(guarded: Served, provider: Upstream) -> None:
    heard = {host: (await hear(guarded.url, post(ASK, f"Host: {host}"))).status for host in HOSTS}
    assert {host: status for host, status in heard.items() if status not in (400, 403)} == {}
    assert provider.received == []


async def test_a_request_without_or_with_two_hosts_is_not_served(guarded: Served, provider: Upstream) -> None:
    for heard in (
        await hear(guarded.url, post(ASK, "Host: localhost", "Host: evil.example")),
        await hear(guarded.url, b"POST /v1/messages HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}"),
    ):
        assert heard.status == 400
    assert provider.received == []


ORIGINS = [
    *("null", "https://evil.example", "http://localhost.evil.example", "file://", "http://evil.example:80"),
    *("http://localhost@evil.example", "chrome-extension://abc", "http://127.0.0.1.evil.example"),
]


@pytest.mark.parametrize("method", ["POST", "OPTIONS"])
async def test_a_page_of_another_site_is_neither_served_nor_given_leave(
    guarded: Served, provider: Upstream, method: str
) -> None:
    asks = "Access-Control-Request-Method: POST"
    for origin in ORIGINS:
        heard = await hear(guarded.url, post(ASK, f"Origin: {origin}", asks, method=method))
        assert heard.status == 403, origin
        assert b"access-control-allow" not in heard.raw.lower()
    assert provider.received == []


async def test_an_absolute_target_is_not_fetched(
    guarded: Served, provider: Upstream, elsewhere: Trap
) -> None:
    for target in (f"{elsewhere.url}/v1/messages", f"{elsewhere.url}/", "http://evil.example/metrics"):
        heard = await hear(guarded.url, post(b"{}", target=target))
        assert heard.status in (400, 403, 404, 405, 422)
    host = elsewhere.url.removeprefix("http://")
    assert (await hear(guarded.url, post(b"", target=host, method="CONNECT"))).status in (0, 400, 404, 405)
    assert elsewhere.visits == 0
    assert provider.received == []


SMUGGLED = post(ASK, target="/v1/messages?smuggled")
LENGTHS = [
    ("Content-Length: 4", "Transfer-Encoding: chunked"),
    ("Content-Length: 4", "Content-Length: 400"),
    ("Content-Length: 4, 400",),
    ("Content-Length: +4",),
    ("Content-Length: -1",),
    ("Content-Length: 0x4",),
    ("Transfer-Encoding: chunked, identity",),
    ("Transfer-Encoding: xchunked",),
    ("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
    ("Transfer-Encoding : chunked",),
]


async def test_a_body_of_unclear_length_hides_no_second_request(guarded: Served, provider: Upstream) -> None:
    """Whatever stands before the gateway may have counted otherwise, so that nothing behind is believed."""
    provider.replies = [streamed("openai-chat", ANSWER)] * len(LENGTHS)
    for lines in LENGTHS:
        head = "\r\n".join(["POST /v1/messages HTTP/1.1", "Host: localhost", *lines, "", ""])
        heard = await hear(guarded.url, head.encode() + b"0\r\n\r\n" + SMUGGLED)
        assert heard.answers <= 1, lines
        assert heard.status in (0, 400, 408, 501), lines
    assert provider.received == []


BROKEN_HEADS = [
    b"X-Note: a\rX-Api-Key: b",
    b"X-Note: a\x00b",
    b"X-No\x00te: a",
    b"X Note: a",
    b": empty",
    b"X-Note\r\n",
]


async def test_a_broken_header_is_refused_or_harmless(
    guarded: Served, provider: Upstream, tmp_path: Path
) -> None:
    await new_key(guarded, tmp_path)
    for line in BROKEN_HEADS:
        head = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n" + line
        heard = await hear(guarded.url, head + b"\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        assert heard.status in (400, 401), line
    assert provider.received == []


METHODS = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "post"]


async def test_another_method_does_nothing(guarded: Served, provider: Upstream) -> None:
    for method in METHODS:
        heard = await hear(guarded.url, post(ASK, "X-HTTP-Method-Override: POST", method=method))
        assert heard.status in (400, 405), method
        assert b"X-HTTP-Method-Override" not in heard.raw
    assert provider.received == []


PATHS = [
    *("/v1/../v1/messages", "/v1/%2e%2e/v1/messages", "/healthz/../v1/messages", "//v1/messages"),
    *("/v1//messages", "/v1/messages/..", "/V1/messages", "/v1/messages;x=y", "/v1/messages%00"),
    *("/v1/messages%2f..%2fmodels", "/healthz/%2e%2e/v1/models", "/..%2fmetrics", "/./v1/models"),
    *("/%2fv1/models", "/v1/models/../../metrics", "\\v1\\models", "/v1/%6dodels%0d%0aX-Evil:%201"),
    *("/healthz;/metrics", "/healthz#/metrics", "/readyz%2f..%2fmetrics", "*", "http:/v1/models"),
]


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_no_spelling_of_a_path_goes_around_the_key(
    guarded: Served, provider: Upstream, tmp_path: Path, method: str
) -> None:
    """Everything but the open places needs a key, however it is written."""
    await new_key(guarded, tmp_path)
    for path in PATHS:
        heard = await hear(guarded.url, post(ASK, target=path, method=method))
        assert heard.status in (400, 401, 404, 405) or heard.raw.endswith(b"ok\n"), path
        assert b"X-Evil" not in heard.head
    assert provider.received == []


async def test_two_keys_are_no_better_than_the_first(
    guarded: Served, provider: Upstream, tmp_path: Path
) -> None:
    good = await new_key(guarded, tmp_path)
    bad = "tw_" + "0" * 49
    provider.replies = [streamed("openai-chat", ANSWER)] * 2
    orders: list[tuple[int, list[str]]] = [
        (401, [f"X-Api-Key: {bad}", f"X-Api-Key: {good}"]),
        (401, [f"X-Api-Key: {bad}", f"Authorization: Bearer {good}"]),
        (200, [f"X-Api-Key: {good}", f"X-Api-Key: {bad}"]),
        (200, ["X-Api-Key: another-vendors", f"Authorization: Bearer {good}"]),
        (401, [f"X-Api-Key: {bad},{good}"]),
        (401, [f"Authorization: Basic {good}"]),
        (401, [f"Cookie: key={good}"]),
    ]
    for status, lines in orders:
        heard = await hear(guarded.url, post(ASK | {"stream": True}, *lines))
        assert heard.status == status, lines
        assert good.encode() not in heard.raw
    for _, headers, body in provider.received:
        assert good not in f"{headers} {body}"
        assert "x-api-key" not in headers


async def test_a_key_in_the_address_is_refused_and_not_repeated(
    guarded: Served, provider: Upstream, tmp_path: Path
) -> None:
    good = await new_key(guarded, tmp_path)
    paths = ("/v1/messages", "/v1beta/models/gemini-3.8-flash:generateContent", "/v1/models")
    for path, name in product(paths, ("key", "api_key", "KEY", "access_token", "%6bey")):
        heard = await hear(guarded.url, post(ASK, target=f"{path}?alt=sse&{name}={good}"))
        assert heard.status in (400, 401), (path, name)
        assert b"ends up in logs" in heard.raw
        assert good.encode() not in heard.raw
    assert provider.received == []


async def test_every_key_is_compared_in_constant_time_whichever_matches(
    guarded: Served, provider: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = [await new_key(guarded, tmp_path, name) for name in ("first", "second", "last")]
    compare, compared = hmac.compare_digest, list[int]()

    def counted(one: str, other: str) -> bool:
        compared[-1] += 1
        return compare(one, other)

    monkeypatch.setattr(hmac, "compare_digest", counted)
    for key in (*secrets, "tw_wrong", "x" * 100_00):
        compared.append(0)
        await hear(guarded.url, post(b"{}", f"X-Api-Key: {key}", target="/v1/models", method="GET"))
    assert compared == [3] * 5


async def test_a_configured_page_gets_leave_once(tmp_path: Path) -> None:
    """A browser takes a leave that is given twice for none."""
    page = "https://chat.example.com"
    config = config_of(f'[server]\nallowed_origins = ["{page}"]\n')
    async with gateway(tmp_path, {}, config) as served:
        for method in ("OPTIONS", "POST"):
            asks = "Access-Control-Request-Method: POST"
            heard = await hear(served.url, post(b"{}", f"Origin: {page}", asks, method=method))
            assert heard.raw.lower().count(b"access-control-allow-origin: " + page.encode()) == 1, method
            assert heard.raw.lower().count(b"access-control-allow-origin") == 1
