"""`thinkwire serve` and the web app: who may be let in from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from thinkwire.cli.app import app

ELSEWHERE = ["0.0.0.0", "::", "192.0.2.7", "example.org"]


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path))
    monkeypatch.setattr("thinkwire.gateway.serve.listen", _never)


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


@pytest.mark.parametrize(
    "options",
    [["--host", "127.0.0.1"], ["--host", "localhost"], ["--host", "::1"], ["--host", "0.0.0.0", "--auth"]],
)
def test_this_machine_needs_no_accounts_and_accounts_may_be_anywhere(options: list[str]) -> None:
    assert CliRunner().invoke(app, ["keys", "create", "first"]).exit_code == 0
    with pytest.raises(AssertionError, match="was opened"):
        raise serve(*options).exception or RuntimeError("it ended without a word")
