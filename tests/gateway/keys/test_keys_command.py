"""`thinkwire keys`, as people type it."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from thinkwire.cli.keys import keys
from thinkwire.gateway.auth.keys import KeyFile, LastUsed, is_well_formed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("THINKWIRE_STATE", str(tmp_path / "state"))
    return tmp_path


def run(*args: str) -> Result:
    return CliRunner().invoke(keys, args)


def ok(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_key_is_shown_alone_on_standard_output_and_never_again(folder: Path) -> None:
    result = run("create", "ci")
    secret = result.stdout.strip()
    assert is_well_formed(secret)
    assert "not shown again" in result.stderr
    assert secret not in ok("list")
    assert secret not in ok("list", "--json")


def test_limits_are_kept_and_listed(folder: Path) -> None:
    ok(
        "create",
        "ci",
        "--models",
        "a*",
        "--models",
        "b*",
        "--spend-per-day",
        "2.5",
        "--rate",
        "60",
        "--expires",
        "1",
    )
    ok("create", "dev")
    rows = [json.loads(line) for line in ok("list", "--json").splitlines()]
    assert [row["name"] for row in rows] == ["ci", "dev"]
    assert (rows[0]["models"], rows[0]["spend_per_day"], rows[0]["rate_per_minute"]) == (
        ["a*", "b*"],
        2.5,
        60,
    )
    assert (rows[0]["expired"], rows[1]["expires"], rows[1]["last_used"]) == (False, None, None)
    assert "digest" not in rows[0]
    page = ok("list").splitlines()
    assert page[0].split() == [
        "id",
        "name",
        "models",
        "rate",
        "usd/day",
        "created",
        "expires",
        "last",
        "used",
    ]
    assert page[1].split()[1:6] == ["ci", "a*", "b*", "60", "2.5"]
    assert page[2].split()[1:5] == ["dev", "any", "any", "any"]


def test_an_operators_key_is_listed_as_one(folder: Path) -> None:
    ok("create", "prometheus", "--operator")
    ok("create", "ci")
    keys = KeyFile().read()
    assert keys is not None
    assert [key.tenant.is_operator for key in keys.key] == [True, False]
    assert [json.loads(line)["operator"] for line in ok("list", "--json").splitlines()] == [True, False]
    assert "prometheus (operator)" in ok("list")


def test_last_use_and_expiry_are_told(folder: Path) -> None:
    key, _ = KeyFile().create("ci", expires=datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))
    LastUsed().touch(key.id, 1_800_000_000)
    assert "2020-01-01 (expired)" in ok("list")
    assert "2027-01-15 08:00" in ok("list")


def test_a_revoked_key_is_gone_and_the_last_one_does_not_open_the_gateway(folder: Path) -> None:
    assert "There are no keys in" in ok("list")
    ok("create", "ci")
    ok("create", "dev")
    assert "is void" in ok("revoke", "ci")
    last = ok("revoke", "dev")
    assert "still needs one until" in last
    assert "Keys are needed all the same" in ok("list")


def test_a_rotated_key_has_a_new_secret_and_the_same_id(folder: Path) -> None:
    first = json.loads(ok("create", "ci", "--json"))
    second = json.loads(ok("rotate", "ci", "--json"))
    assert first["id"] == second["id"]
    keys = KeyFile().read()
    assert keys is not None
    assert keys.find(first["key"]) is None
    assert keys.find(second["key"]) is not None


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("create", "a b"), "a key's name"),
        (("revoke", "nobody"), "there is no key of that name or id"),
        (("rotate", "nobody"), "there is no key of that name or id"),
    ],
)
def test_what_cannot_be_done_is_said(folder: Path, args: tuple[str, ...], message: str) -> None:
    result = run(*args)
    assert result.exit_code == 1
    assert message in json.loads(result.stderr)["error"]["message"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--rate", value) for value in ("0", "-1", "nan")),
        *(("--spend-per-day", value) for value in ("0", "-1", "nan", "inf", "-inf", "1e999")),
        *(("--expires", value) for value in ("0", "nan", "inf")),
    ],
)
def test_numbers_that_mean_nothing_are_refused(folder: Path, option: str, value: str) -> None:
    result = run("create", "ci", option, value)
    assert result.exit_code == 2
    assert option in result.stderr
    assert KeyFile().read() is None


def test_a_folder_that_cannot_be_written_is_told(folder: Path) -> None:
    (folder / "config").write_text("a file where the folder should be")
    result = run("create", "ci")
    assert result.exit_code == 1
    assert "cannot be written" in json.loads(result.stderr)["error"]["message"]
