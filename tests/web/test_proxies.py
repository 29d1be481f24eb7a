"""Whose forwarding headers count, and for what."""

from __future__ import annotations

import pytest

from thinkwire.web.auth.proxies import ProxyHeaders, TrustedProxies

pytestmark = pytest.mark.anyio


async def seen(trusted: str, peer: str, *forwarded_for: str, proto: str | None = None) -> tuple[str, str]:
    """The address and the scheme that an application sees."""
    found: list[tuple[str, str]] = []

    async def app(scope: object, receive: object, send: object) -> None:
        assert isinstance(scope, dict)
        found.append((scope["client"][0], scope["scheme"]))

    headers = [(b"x-forwarded-for", value.encode("latin-1")) for value in forwarded_for]
    headers += [(b"x-forwarded-proto", proto.encode())] if proto else []
    scope = {"type": "http", "scheme": "http", "client": (peer, 1), "headers": headers}

    async def receive() -> dict[str, object]:
        return {}

    async def send(message: object) -> None:
        pass

    await ProxyHeaders(app, TrustedProxies(trusted))(scope, receive, send)
    return found[0]


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded_for", "client"),
    [
        ("127.0.0.1", "127.0.0.1", ["203.0.113.7"], "203.0.113.7"),
        ("127.0.0.1", "127.0.0.1", ["9.9.9.9, 203.0.113.7"], "203.0.113.7"),
        ("127.0.0.1", "127.0.0.1", ["9.9.9.9", "203.0.113.7"], "203.0.113.7"),
        ("127.0.0.1, 10.0.0.0/8", "127.0.0.1", ["9.9.9.9, 203.0.113.7, 10.1.2.3"], "203.0.113.7"),
        ("10.0.0.0/8", "10.9.9.9", ["[2001:db8::1]:443"], "2001:db8::1"),
        ("10.0.0.0/8", "10.9.9.9", ["203.0.113.7:51234"], "203.0.113.7"),
        ("10.0.0.0/8", "10.9.9.9", ["9.9.9.9, not an address"], "10.9.9.9"),
        ("10.0.0.0/8", "203.0.113.7", ["9.9.9.9"], "203.0.113.7"),
        ("", "127.0.0.1", ["9.9.9.9"], "127.0.0.1"),
        ("*", "127.0.0.1", ["9.9.9.9"], "127.0.0.1"),
        ("*", "203.0.113.7", ["9.9.9.9, 8.8.8.8"], "203.0.113.7"),
        ("*,10.0.0.0/8", "10.1.1.1", ["9.9.9.9, 8.8.8.8"], "8.8.8.8"),
        ("nonsense", "127.0.0.1", ["9.9.9.9"], "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1", [""], "127.0.0.1"),
    ],
)
async def test_a_client_does_not_choose_its_address(
    trusted: str, peer: str, forwarded_for: list[str], client: str
) -> None:
    assert (await seen(trusted, peer, *forwarded_for))[0] == client


async def test_the_scheme_counts_from_trusted_proxies() -> None:
    assert (await seen("10.0.0.0/8", "10.1.1.1", proto="https"))[1] == "https"
    assert (await seen("10.0.0.0/8", "203.0.113.7", proto="https"))[1] == "http"
    assert (await seen("*", "203.0.113.7", proto="https"))[1] == "https"
    assert (await seen("10.0.0.0/8", "10.1.1.1", proto="gopher"))[1] == "http"


def test_a_star_and_nonsense_are_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    TrustedProxies("*, nonsense, 10.0.0.0/8")
    assert "name the addresses or networks of your proxies" in caplog.text
    assert "'nonsense' is no address or network" in caplog.text
