"""The start token: without it a server without accounts does nothing for anybody."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.web.webs import MODEL, TOKEN, Browser, Served, all_bases, frames, sign_in, web_app
from thinkwire.errors import ConfigError
from thinkwire.gateway.telemetry.logs import redacted
from thinkwire.sim.fixture import Running
from thinkwire.web.auth.start_token import StartToken, cookie_name
from thinkwire.web.auth.throttle import GuessLimit
from thinkwire.web.routes import OPERATIONS

pytestmark = pytest.mark.anyio

OTHER = "another-token-of-the-tests"


def bearer(token: str = TOKEN) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@pytest.mark.parametrize("headers", [{}, bearer(OTHER), {"cookie": "thinkwire_csrf=a", "x-csrf-token": "a"}])
async def test_every_operation_needs_the_token_and_says_what_to_do(
    app: Served, headers: dict[str, str]
) -> None:
    stranger = await app.stranger()
    paths = [(op.method, op.path) for op in OPERATIONS if not op.before_sign_in]
    paths += [("GET", "/api/openapi.json"), ("GET", "/api/nowhere"), ("PUT", "/api/me")]
    for method, path in paths:
        path = path.replace("{id}", "x").replace("{number}", "0")
        answer = await stranger.ask(method, path, headers=headers)
        assert (path, answer.status, answer.body["error"]["kind"]) == (path, 401, "start_token")
        assert "thinkwire serve" in answer.body["error"]["message"]


async def test_pages_are_public_and_nothing_in_them_is_secret(app: Served) -> None:
    answer = await (await app.stranger()).ask("GET", "/agents")
    assert answer.status in (200, 503)  # 503 says how to build them
    assert TOKEN.encode() not in answer.body


async def test_the_printed_address_signs_in_and_leaves_no_token_behind(app: Served) -> None:
    browser = await app.stranger()
    answer = await browser.ask("GET", f"/?token={TOKEN}", allow_redirects=False)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{cookie_name(urlsplit(app.url).port or 0)}=")
    for attribute in ("httponly", "samesite=strict", "path=/"):
        assert attribute in cookie.lower()
    assert TOKEN not in cookie
    assert "domain" not in cookie.lower()
    assert answer.headers["cache-control"] == "no-store"
    assert (await browser.get("/api/me"))["auth"] is False
    await browser.talk()


@pytest.mark.parametrize(
    ("path", "location"),
    [
        (f"/?token={TOKEN}&a=1&a=%20", "/?a=1&a=+"),
        (f"/agents?token={OTHER}", "/agents"),
        (f"//evil.example/?token={TOKEN}", "/evil.example/"),
        (f"/%5C%5Cevil.example?token={TOKEN}", "/evil.example"),
        (f"/a%20b%3fc?token={TOKEN}", "/a%20b%3Fc"),
    ],
)
async def test_the_address_without_the_token_is_on_this_server(app: Served, path: str, location: str) -> None:
    host, port = urlsplit(app.url).hostname, urlsplit(app.url).port
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n".encode())
    head = (await reader.read()).decode().lower().split("\r\n")
    writer.close()
    assert f"location: {location}".lower() in head


async def test_the_token_can_be_entered_on_the_page(app: Served) -> None:
    browser = await app.stranger()
    wrong = await browser.ask("POST", "/api/token", {"token": OTHER})
    assert (wrong.status, wrong.body["error"]["kind"]) == (401, "start_token")
    await browser.post("/api/token", {"token": f" {TOKEN}\n"})
    await browser.talk()


async def test_other_sites_cannot_enter_tokens(app: Served) -> None:
    browser = await app.stranger()
    headers = {"origin": "https://evil.example"}
    answer = await browser.ask("POST", "/api/token", {"token": TOKEN}, headers=headers)
    assert (answer.status, answer.body["error"]["kind"]) == (403, "origin")


async def test_scripts_send_the_token_in_a_header_and_need_no_cookie(app: Served) -> None:
    script = await app.stranger()
    script.headers = bearer()
    talk = await script.post("/api/conversations", {"model": MODEL})
    assert (await script.get(f"/api/conversations/{talk['id']}"))["model"] == MODEL


async def test_a_browser_with_the_cookie_still_needs_the_csrf_header(app: Served) -> None:
    browser = await app.browser()
    answer = await browser.ask("POST", "/api/agents", {"name": "A"}, headers={"x-csrf-token": ""})
    assert (answer.status, answer.body["error"]["kind"]) == (403, "csrf")


async def test_another_start_means_another_token(simulator: Running, own_url: str, tmp_path: Path) -> None:
    bases = all_bases(simulator.url)
    async with web_app(own_url, bases, tmp_path, start_token=StartToken(OTHER, "secret")) as served:
        browser = await served.stranger()
        old = StartToken(OTHER, "of an earlier start")
        name = cookie_name(urlsplit(served.url).port or 0)
        for value in (old.cookie, OTHER, TOKEN, ""):
            answer = await browser.ask("GET", "/api/me", headers={"cookie": f"{name}={value}"})
            assert answer.status == 401
        await sign_in(browser, OTHER)
        await browser.get("/api/me")


WAYS: dict[str, Callable[[Browser, str], Any]] = {
    "header": lambda browser, token: browser.ask("GET", "/api/me", headers=bearer(token)),
    "page": lambda browser, token: browser.ask("POST", "/api/token", {"token": token}),
    "address": lambda browser, token: browser.ask("GET", f"/?token={token}", allow_redirects=False),
}


@pytest.mark.parametrize("way", WAYS)
async def test_guesses_are_throttled_and_whoever_is_in_stays_in(app: Served, way: str) -> None:
    guest, guess = await app.browser(), WAYS[way]
    stranger = await app.stranger()
    for _ in range(30):
        assert (await guess(stranger, OTHER)).status in (401, 303), "the same old token is no attack"
    for number in range(19):
        assert (await guess(stranger, f"{OTHER}-{number}")).status in (401, 303)
    answer = await guess(stranger, TOKEN)
    assert (answer.status, answer.body["error"]["kind"]) == (429, "throttled")
    assert 0 < int(answer.headers["retry-after"]) <= 300
    await guest.get("/api/me")


async def test_pictures_of_other_sites_are_no_guesses(app: Served) -> None:
    stranger = await app.stranger()
    for number in range(30):
        headers = {"sec-fetch-dest": "image", "sec-fetch-site": "cross-site"}
        path = f"/?token={OTHER}-{number}"
        assert (await stranger.ask("GET", path, headers=headers, allow_redirects=False)).status == 303
    await sign_in(stranger)
    await stranger.get("/api/me")


def test_guesses_are_forgotten_after_a_while_and_counted_by_address() -> None:
    now = [100.0]
    limit = GuessLimit(1, 60, clock=lambda: now[0])
    limit.add("a", "wrong")
    limit.check("b")
    with pytest.raises(Exception, match="too many wrong tokens"):
        limit.check("a")
    now[0] += 60
    limit.check("a")


def test_the_token_is_made_at_the_start_or_set_by_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = StartToken.from_environment(), StartToken.from_environment()
    assert one.value != two.value
    assert len(one.value) >= 43
    assert one.value not in repr(one)
    monkeypatch.setenv("THINKWIRE_WEB_TOKEN", TOKEN)
    three, four = StartToken.from_environment(), StartToken.from_environment()
    assert three.value == four.value == TOKEN
    assert three.cookie != four.cookie, "knowing the token, one cannot make the cookie"
    monkeypatch.setenv("THINKWIRE_WEB_COOKIE_SECRET", "shared by workers")
    assert StartToken.from_environment().cookie == StartToken.from_environment().cookie


@pytest.mark.parametrize("value", ["short", "x" * 23, "x" * 257, "with a space and more letters", "ü" * 30])
def test_a_weak_or_unwritable_token_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("THINKWIRE_WEB_TOKEN", value)
    with pytest.raises(ConfigError, match="24 to 256") as caught:
        StartToken.from_environment()
    assert value not in str(caught.value)


def test_logs_hide_the_token() -> None:
    assert TOKEN not in redacted(f"GET /?a=1&token={TOKEN} HTTP/1.1")
    assert TOKEN not in redacted(f"http://127.0.0.1:4141/?token={TOKEN}")


@pytest.mark.parametrize(
    "hosts",
    [["[::1].evil.example"], ["[::1].evil.example:4141"], ["127.0.0.1", "127.0.0.1"], ["127.0.0.1/x?"], []],
)
@pytest.mark.parametrize("path", ["/", "/api/me"])
async def test_strange_host_headers_are_refused(
    app: Served, guarded: Served, hosts: list[str], path: str
) -> None:
    for served in (app, guarded):
        place = urlsplit(served.url)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        lines = [f"GET {path} HTTP/1.0", *(f"host: {host}" for host in hosts), "", ""]
        writer.write("\r\n".join(lines).encode())
        head = (await reader.read()).split(b"\r\n", 1)[0]
        writer.close()
        assert head.split()[1] in (b"400", b"403")


async def read_to_the_end(stream: Any) -> None:
    async for _ in stream:
        pass


async def test_an_app_that_is_switched_off_refuses_everything_and_ends_its_streams(
    simulator: Running, own_url: str, workspace: Path
) -> None:
    reasons: list[str] = []
    bases = all_bases(simulator.url)
    why_off = lambda: reasons[0] if reasons else None  # noqa: E731
    async with web_app(own_url, bases, workspace, why_off=why_off) as served:
        browser = await served.browser()
        talk = await browser.talk()
        said = {"message": {"text": "[[think:Half.]] [[stall:30]]"}}
        async with browser.request("POST", f"{talk}/chat", said) as reply:
            stream = frames(reply)
            await anext(stream)
            reasons.append("off, because there are access keys")
            with pytest.raises(EOFError):
                await asyncio.wait_for(read_to_the_end(stream), 10)
        answer = await browser.ask("GET", "/api/me")
        assert (answer.status, answer.body["error"]["kind"]) == (503, "web_off")
        assert "there are access keys" in answer.body["error"]["message"]
