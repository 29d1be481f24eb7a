"""`thinkwire serve` and the web app: who may be let in from elsewhere."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from thinkwire.cli.app import app

ELSEWHERE = ["0.0.0.0", "::", "192.0.2.7", "example.org"]


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path))
    monkeypatch.setattr("thinkwire.gateway.server.serve.listen", _never)


def _never(host: str, port: int) -> None:
    raise AssertionError(f"{host}:{port} was opened")


def serve(*options: str) -> Result:
    return CliRunner().invoke(app, ["serve", "--sim", *options])


@pytest.mark.parametrize("host", ELSEWHERE)
def test_others_are_not_let_in_without_accounts(host: str) -> None:
    assert CliRunner().invoke(app, ["keys", "create", "first"]).exit_code == 0
    done = serve("--host", host)
    assert done.exit_code == 1
    assert "--auth" in done.output
    assert "thinkwire users add" in done.output


@pytest.mark.parametrize("host", ELSEWHERE)
def test_nor_without_access_keys_for_the_gateway(host: str) -> None:
    done = serve("--host", host, "--auth")
    assert done.exit_code == 1
    assert "thinkwire keys create" in done.output


def started(monkeypatch: pytest.MonkeyPatch, *options: str) -> tuple[str, Any]:
    """What the console shows, and what would be served."""
    served: list[Any] = []
    monkeypatch.setattr(
        "thinkwire.gateway.server.serve.listen", lambda *_: socket.create_server(("127.0.0.1", 0))
    )
    monkeypatch.setattr("thinkwire.gateway.server.serve.run", lambda orders, listener: served.append(orders))
    # The command shares the token with its workers through the environment.
    monkeypatch.setenv("THINKWIRE_WEB_TOKEN", "")
    monkeypatch.setenv("THINKWIRE_WEB_COOKIE_SECRET", "")
    done = serve(*options)
    assert done.exit_code == 0, done.output
    return done.output, served[0]


def test_the_console_shows_the_address_that_signs_in(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, orders = started(monkeypatch)
    token = os.environ["THINKWIRE_WEB_TOKEN"]
    assert len(token) >= 43
    assert f"http://127.0.0.1:{orders.config.server.port}/?token={token}\n" in shown
    assert orders.web
    assert "everybody on this machine" in shown


def test_the_console_shows_the_operators_own_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thinkwire.gateway.server.serve.run", lambda orders, listener: None)
    monkeypatch.setattr(
        "thinkwire.gateway.server.serve.listen", lambda *_: socket.create_server(("127.0.0.1", 0))
    )
    monkeypatch.setenv("THINKWIRE_WEB_COOKIE_SECRET", "")
    monkeypatch.setenv("THINKWIRE_WEB_TOKEN", "a-token-of-the-operator-s-own")
    assert "/?token=a-token-of-the-operator-s-own\n" in serve().output
    monkeypatch.setenv("THINKWIRE_WEB_TOKEN", "too short")
    assert "24 to 256" in serve().output


def test_with_accounts_the_console_shows_no_token_and_who_may_use_the_gateway(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown, orders = started(monkeypatch, "--auth")
    assert "token=" not in shown
    assert "no client yet; create an access key with `thinkwire keys create NAME`" in shown
    assert orders.web
    assert orders.auth


@pytest.mark.parametrize("why", ["access keys", "allowed_hosts"])
def test_a_web_app_that_would_bypass_access_keys_is_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, why: str
) -> None:
    if why == "access keys":
        assert CliRunner().invoke(app, ["keys", "create", "first"]).exit_code == 0
    else:
        (tmp_path / "gateway.toml").write_text('[server]\nallowed_hosts = ["gate.example.com"]\n')
    shown, orders = started(monkeypatch)
    assert not orders.web
    assert "token=" not in shown
    line = next(line for line in shown.splitlines() if line.startswith("Web app"))
    for words in ("off", why, "--auth", "--no-web"):
        assert words in line
    shown, orders = started(monkeypatch, "--no-web")
    assert "off (--no-web)" in shown
    assert started(monkeypatch, "--auth")[1].web


@pytest.mark.parametrize(
    "options",
    [["--host", "127.0.0.1"], ["--host", "localhost"], ["--host", "::1"], ["--host", "0.0.0.0", "--auth"]],
)
def test_this_machine_needs_no_accounts_and_accounts_may_be_anywhere(options: list[str]) -> None:
    assert CliRunner().invoke(app, ["keys", "create", "first"]).exit_code == 0
    with pytest.raises(AssertionError, match="was opened"):
        raise serve(*options).exception or RuntimeError("it ended without a word")
