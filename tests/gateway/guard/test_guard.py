"""The guard: whose requests are heard, and what of them travels on."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkwire import dialects
from thinkwire.errors import ConfigError
from thinkwire.gateway.auth.keys import KeyFile, Tenant
from thinkwire.gateway.common.refusal import ClientLeft, Refusal
from thinkwire.gateway.config.gateway_config import GatewayConfig, RouteChoice, Server
from thinkwire.gateway.http.headers import FORWARDED, forwarded_headers, header_value, told_headers
from thinkwire.gateway.http.security import (
    check_model,
    check_request,
    cors_headers,
    presented_key,
    read_body,
    require_keys,
)
from thinkwire.jsonvalue import parse
from thinkwire.notes import Note

PAGE = "https://chat.example.com"
CONFIG = GatewayConfig(
    server=Server(allowed_hosts=("gate.example.com", ".lan"), allowed_origins=(PAGE,), max_body_mb=0.001)
)


def scope(
    *headers: tuple[str, str], query: str = "", server: tuple[str, int] = ("127.0.0.1", 4141)
) -> dict[str, Any]:
    """A request's scope; it has a good Host unless it names one itself."""
    pairs = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    if not any(name == b"host" for name, _ in pairs):
        pairs.append((b"host", b"127.0.0.1:4141"))
    return {"type": "http", "headers": pairs, "query_string": query.encode("latin-1"), "server": server}


def refused(*headers: tuple[str, str], **more: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        check_request(scope(*headers, **more), CONFIG)
    return caught.value


GOOD_HOSTS = [
    *("localhost", "localhost:4141", "LOCALHOST", "127.0.0.1", "127.0.0.2:1", "[::1]:4141", "app.localhost"),
    *("gate.example.com", "Gate.Example.com:443", "a.lan", "a.b.lan:80", "lan", "localhost."),
]
BAD_HOSTS = [
    *("evil.com", "evil.com:4141", "localhost.evil.com", "127.0.0.1.evil.com", "gate.example.com.evil.com"),
    *("evil-gate.example.com", "evillan", "", "0.0.0.0", "10.0.0.1", "user@localhost", "localhost/evil.com"),
    *("localhost:port", "[::1", "evil.com#localhost", "localhost\tevil.com", "127.0.0.1:99999"),
]


@pytest.mark.parametrize("host", GOOD_HOSTS)
def test_this_machine_and_configured_names_are_heard(host: str) -> None:
    check_request(scope(("host", host)), CONFIG)


@pytest.mark.parametrize("host", BAD_HOSTS)
def test_a_name_that_somebody_else_points_here_is_refused(host: str) -> None:
    refusal = refused(("host", host))
    assert refusal.status == 403
    assert "evil" not in refusal.message


def test_the_address_that_was_called_is_a_good_host() -> None:
    check_request(scope(("host", "10.0.0.1:4141"), server=("10.0.0.1", 4141)), CONFIG)
    refused(("host", "10.0.0.2:4141"), server=("10.0.0.1", 4141))


def test_a_request_has_one_host() -> None:
    assert refused(("host", "localhost"), ("host", "localhost")).status == 400
    with pytest.raises(Refusal):
        check_request({"headers": [], "query_string": b""}, CONFIG)


GOOD_ORIGINS = ["http://127.0.0.1:4141", "https://127.0.0.1:4141", PAGE]
BAD_ORIGINS = [
    *("null", "http://evil.com", "http://127.0.0.1:8000", "http://127.0.0.1", "http://localhost:4141", ""),
    *(PAGE + ".evil.com", "http://chat.example.com", "http://[", "file://", "ftp://127.0.0.1:4141", "*"),
]


@pytest.mark.parametrize("origin", GOOD_ORIGINS)
def test_own_and_configured_pages_are_heard(origin: str) -> None:
    check_request(scope(("origin", origin)), CONFIG)


@pytest.mark.parametrize("origin", BAD_ORIGINS)
def test_every_other_page_is_refused_and_gets_no_leave(origin: str) -> None:
    assert refused(("origin", origin)).status == 403
    assert cors_headers(scope(("origin", origin)), CONFIG, preflight=True) == []


def test_two_origins_are_none() -> None:
    assert refused(("origin", PAGE), ("origin", PAGE)).status == 403


def test_leave_is_given_to_the_configured_page_by_name() -> None:
    asked = ("access-control-request-headers", "x-api-key,content-type\x00\x7f")
    leave = dict(cors_headers(scope(("origin", PAGE), asked), CONFIG, preflight=True))
    assert leave[b"access-control-allow-origin"] == PAGE.encode()
    assert leave[b"vary"] == b"Origin"
    assert leave[b"access-control-allow-headers"] == b"x-api-key,content-type??"
    assert b"*" not in b"".join(leave.values())


@pytest.mark.parametrize(
    "query", ["key=planted", "alt=sse&key=planted", "KEY=planted", "%6bey=planted", "key", "api_key=planted"]
)
def test_a_key_in_the_address_is_refused_without_repeating_it(query: str) -> None:
    refusal = refused(query=query)
    assert (refusal.status, refusal.kind) == (400, "auth")
    assert "x-goog-api-key" in refusal.message
    assert "planted" not in repr(refusal.failure)


def test_other_questions_in_the_address_are_fine() -> None:
    check_request(scope(query="beta=true&alt=sse&limit=1000&keys=1"), CONFIG)


@pytest.mark.parametrize("length", ["-1", "1e3", "1,1", "", "²", "9" * 40])
def test_a_length_that_is_no_number_is_refused(length: str) -> None:
    assert refused(("content-length", length)).status == 400


def test_an_unclear_or_packed_body_is_refused() -> None:
    assert refused(("content-length", "1"), ("content-length", "1")).status == 400
    assert refused(("content-length", "1"), ("transfer-encoding", "chunked")).status == 400
    assert refused(("content-encoding", "gzip")).status == 415
    check_request(scope(("content-encoding", "identity"), ("transfer-encoding", "chunked")), CONFIG)


def test_a_body_is_refused_by_its_announced_size() -> None:
    check_request(scope(("content-length", str(CONFIG.server.max_body))), CONFIG)
    assert refused(("content-length", str(CONFIG.server.max_body + 1))).status == 413


@pytest.mark.parametrize("dialect", dialects.NAMES)
def test_a_refusal_can_be_said_in_every_dialect(dialect: str) -> None:
    refusal = refused(("content-length", "99999999"))
    _, body = dialects.get(dialect).encode_error(refusal.failure)
    assert refusal.message in str(body)


async def body_of(*pieces: bytes, config: GatewayConfig = CONFIG, end: bool = True) -> bytes:
    messages: list[MutableMapping[str, Any]] = [
        {"type": "http.request", "body": piece, "more_body": True} for piece in pieces
    ]
    messages.append({"type": "http.request"} if end else {"type": "http.disconnect"})
    messages.reverse()

    async def receive() -> MutableMapping[str, Any]:
        return messages.pop()

    return await read_body(receive, config)


@pytest.mark.anyio
async def test_a_body_is_read_however_it_is_cut() -> None:
    assert await body_of(b"ab", b"", b"c") == b"abc"
    assert await body_of() == b""


@pytest.mark.anyio
async def test_a_body_of_unknown_length_is_refused_when_it_grows_too_large() -> None:
    assert len(await body_of(*[b"x"] * CONFIG.server.max_body)) == CONFIG.server.max_body
    with pytest.raises(Refusal) as caught:
        await body_of(*[b"x" * 100] * 100)
    assert caught.value.status == 413


@pytest.mark.anyio
async def test_a_client_that_leaves_is_told_apart() -> None:
    with pytest.raises(ClientLeft):
        await body_of(b"half", end=False)


KEY = "tw_x"
PRESENTED = [
    ([("x-api-key", "a")], "a"),
    ([("authorization", "Bearer a")], "a"),
    ([("authorization", "bearer   a ")], "a"),
    ([("x-goog-api-key", "a")], "a"),
    ([("authorization", "Basic a")], None),
    ([("authorization", "Bearer")], None),
    ([("x-api-key", "  ")], None),
    ([], None),
    ([("x-api-key", "sk-leftover"), ("authorization", f"Bearer {KEY}")], KEY),
    ([("x-api-key", KEY), ("authorization", "Bearer leftover")], KEY),
    ([("x-goog-api-key", KEY), ("x-api-key", "leftover")], KEY),
]


@pytest.mark.parametrize(("headers", "key"), PRESENTED)
def test_a_key_is_found_in_every_header_form(headers: list[tuple[str, str]], key: str | None) -> None:
    assert presented_key(scope(*headers)) == key


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "access.toml")


def test_a_gateway_that_others_can_reach_starts_with_keys_only(file: KeyFile) -> None:
    public = GatewayConfig(server=Server(host="0.0.0.0"))
    require_keys(GatewayConfig(), None)
    with pytest.raises(ConfigError, match="thinkwire keys create"):
        require_keys(public, None)
    file.create("ci")
    require_keys(public, file.read())
    file.revoke("ci")
    with pytest.raises(ConfigError, match="thinkwire keys create"):
        require_keys(public, file.read())


def test_a_scope_holds_for_every_name_of_a_model() -> None:
    tenant = Tenant("t", "t", models=("anthropic/*", "fast"))
    for asked, name in (("claude-opus-5/high", "claude-opus-5/high"), ("fast", "openai/gpt-5.5/low")):
        check_model(tenant, RouteChoice((name,), (), asked))
    with pytest.raises(Refusal) as caught:
        check_model(tenant, RouteChoice(("gpt-5.5/high",), (), "gpt-5.5/high"))
    assert (caught.value.status, caught.value.kind) == (403, "auth")


def test_only_the_listed_headers_travel_on_and_only_in_their_dialect() -> None:
    sent = scope(
        ("anthropic-beta", "a"),
        ("anthropic-beta", "b"),
        ("anthropic-version", "2023-06-01"),
        ("authorization", "Bearer planted"),
        ("x-api-key", "planted"),
        ("cookie", "planted"),
        ("openai-organization", "org"),
        ("openai-beta", "responses=v1"),
        ("user-agent", "x"),
        ("x-stainless-os", "Linux"),
        ("x-forwarded-for", "10.0.0.1"),
    )
    assert forwarded_headers(sent, "anthropic") == {
        "anthropic-beta": "a,b",
        "anthropic-version": "2023-06-01",
    }
    assert forwarded_headers(sent, "openai-responses") == {"openai-beta": "responses=v1"}
    assert forwarded_headers(sent, "gemini") == {}
    assert set(FORWARDED) == set(dialects.NAMES)


@pytest.mark.parametrize("value", ["a\r\nx-evil: 1", "a\nb", "a\x00", "é", "x" * 5000])
def test_a_header_that_could_break_out_does_not_travel(value: str) -> None:
    assert forwarded_headers(scope(("anthropic-beta", value)), "anthropic") == {}


@given(st.text(max_size=100))
def test_a_header_value_is_one_line_of_visible_ascii(text: str) -> None:
    assert all(" " <= letter <= "~" for letter in header_value(text))


ANY_TEXT = st.text(st.characters(), max_size=400)
NOTES = st.lists(st.builds(Note, st.sampled_from(["model.mapped", "seal.forged"]), ANY_TEXT), max_size=30)


@given(NOTES, ANY_TEXT | st.none())
def test_what_is_told_in_headers_is_legal_bounded_and_readable(notes: list[Note], level: str | None) -> None:
    pairs = told_headers(notes, requested=level, effective=level)
    assert sum(len(name) + len(value) + 4 for name, value in pairs) <= 8192
    assert all(0x20 <= byte <= 0x7E for _, value in pairs for byte in value)
    told = dict(pairs).get(b"x-thinkwire-notes")
    assert (told is None) == (not notes)
    if told is not None:
        assert {note["code"] for note in parse(told)} == {note.code for note in notes}


def test_notes_in_headers_keep_their_words() -> None:
    notes = [Note("model.mapped", "è 😀 \x7f\r\n"), Note("seal.forged", "b")]
    told = dict(told_headers(notes))[b"x-thinkwire-notes"]
    assert parse(told) == [{"code": note.code, "message": note.message} for note in notes]
