"""Numbers and addresses in `gateway.toml`: what is absurd is refused, with what is accepted instead."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from click.testing import CliRunner
from msgspec import inspect

from thinkwire.cli.app import app
from thinkwire.errors import ConfigError
from thinkwire.gateway.config.document import accepted_at
from thinkwire.gateway.config.gateway_config import GatewayConfig, LedgerSettings, LimitSettings, Server
from thinkwire.gateway.http.keepalive import Round

SECTIONS: dict[str, type[msgspec.Struct]] = {
    "server": Server,
    "ledger": LedgerSettings,
    "limits": LimitSettings,
}
ABSURD = ["nan", "-nan", "inf", "-inf", "-1", "-1e-300", "1e+300", "9" * 25, "9" * 400, "true", '"5"', "[5]"]
TINY_IS_FINE = {"drain_seconds"}


def number_fields() -> Iterator[tuple[str, str]]:
    for section, kind in SECTIONS.items():
        for field in msgspec.structs.fields(kind):
            if accepted_at(kind, (field.encode_name,)) not in (None, "true or false"):
                yield section, field.encode_name


FIELDS = list(number_fields())


def complaint_of(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        GatewayConfig.read(text, "gateway.toml")
    return str(caught.value)


def test_all_sections_with_numbers_are_tried() -> None:
    known = inspect.type_info(GatewayConfig)
    assert isinstance(known, inspect.StructType)
    tables = {field.name: field.type for field in known.fields if isinstance(field.type, inspect.StructType)}
    numbers = (inspect.IntType, inspect.FloatType)
    numeric = {
        name for name, kind in tables.items() if any(isinstance(field.type, numbers) for field in kind.fields)
    }
    assert numeric == set(SECTIONS)
    assert len(FIELDS) >= 12


@pytest.mark.parametrize(("section", "name"), FIELDS)
def test_every_number_has_two_ends(section: str, name: str) -> None:
    accepted = accepted_at(SECTIONS[section], (name,))
    assert accepted is not None
    assert re.fullmatch(r"a (whole )?number from [\d.]+ to \d+", accepted)


@pytest.mark.parametrize(("section", "name"), FIELDS)
@pytest.mark.parametrize("value", ABSURD, ids=lambda value: value[:12])
def test_absurd_numbers_are_refused(section: str, name: str, value: str) -> None:
    complaint = complaint_of(f"[{section}]\n{name} = {value}\n")
    assert complaint.startswith(f"gateway.toml, line 2: {name} cannot be ")
    accepted = accepted_at(SECTIONS[section], (name,))
    assert f"it takes {accepted}" in complaint
    if value[0] not in '"[':
        assert value.removeprefix("-")[:25] in complaint or "nan" in complaint
    assert len(complaint) < 200


@pytest.mark.parametrize(("section", "name"), [pair for pair in FIELDS if pair[1] not in TINY_IS_FINE])
def test_the_smallest_numbers_are_refused(section: str, name: str) -> None:
    assert f"{name} cannot be" in complaint_of(f"[{section}]\n{name} = 1e-300\n")


@pytest.mark.parametrize(
    "ttl", ["0s", "0w", "521w", "999999999w", "9" * 30 + "s", "7d\\n", "٣d", "-1d", "nan"]
)
def test_spans_of_time_have_ends(ttl: str) -> None:
    assert "line 2: ttl" in complaint_of(f'[ledger]\nttl = "{ttl}"\n')


@pytest.mark.parametrize("text", [f"a = {'9' * 5000}", f"a = {'[' * 100_000}{']' * 100_000}"])
def test_numbers_and_lists_of_any_length_are_a_complaint(text: str) -> None:
    assert complaint_of(text).startswith("gateway.toml, line 1: ")


LEDGERS = {
    "ftp://x": False,
    "http://user:planted@x/": False,
    "mysql://x/d": False,
    "redis:x": False,
    "redis://[::1": False,
    "redis://x:port": False,
    "redis://x:99999": False,
    "sqlite://": False,
    "sqlite:///": False,
    "sqlite:///:memory:": False,
    "unix://": False,
    "ledger.db": True,
    "/var/lib/ledger.db": True,
    "sqlite:///ledger.db": True,
    "sqlite:////var/ledger.db": True,
    "redis://:planted@x:6379/0": True,
    "rediss://x": True,
    "unix:///run/redis.sock": True,
    "postgresql://user:planted@x/d": True,
    "postgres://x/d": True,
}
LIMITS = {url: is_legal and url.startswith(("redis", "unix")) for url, is_legal in LEDGERS.items()} | {
    "http://x": False,
    "postgresql://x/d": False,
}


@pytest.mark.parametrize(
    ("section", "url", "is_legal"),
    [
        *(("ledger", url, is_legal) for url, is_legal in LEDGERS.items()),
        *(("limits", url, is_legal) for url, is_legal in LIMITS.items()),
    ],
)
def test_addresses_of_stores(section: str, url: str, is_legal: bool) -> None:
    text = f'[{section}]\nurl = "{url}"\n'
    if is_legal:
        assert getattr(GatewayConfig.read(text, "gateway.toml"), section).url == url
        return
    complaint = complaint_of(text)
    assert complaint.startswith("gateway.toml, line 2: url cannot be '")
    assert "redis://HOST" in complaint
    assert "planted" not in complaint


@pytest.mark.parametrize(
    "url", ["ftp://x", "file:///etc", "x", "http:x", "http://", "http://x:99999", "ws://x"]
)
def test_addresses_of_providers(url: str) -> None:
    assert "base_url must be http(s)://HOST" in complaint_of(f'[providers.mine]\nbase_url = "{url}"\n')


@pytest.mark.parametrize(
    "text",
    [
        "[server]\nkeepalive_seconds = 1e-300\n",
        "[server]\nmax_body_mb = inf\n",
        '[ledger]\nurl = "ftp://x"\n',
        '[limits]\nurl = "http://x"\n',
    ],
)
def test_the_check_of_the_command_refuses_them(text: str, tmp_path: Path) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text(text)
    checked = CliRunner().invoke(app, ["serve", "--check", "--config", str(file)])
    assert checked.exit_code == 1
    assert f"{file}, line 2: " in checked.output


@pytest.mark.parametrize("seconds", [1e-300, 0.0, -1.0, math.nan, -math.inf, 1e-3])
def test_looking_for_silence_never_keeps_the_loop_busy(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Loop:
        delays: ClassVar[list[float]] = []

        def call_later(self, delay: float, call: object) -> None:
            self.delays.append(delay)

    monkeypatch.setattr("asyncio.get_running_loop", Loop)
    watch = Round(seconds)
    watch._wait()
    assert Loop.delays[-1] >= 0.01
