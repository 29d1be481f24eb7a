"""The ring of keys: whose key it is, and from when a change of the file counts."""

from __future__ import annotations

import datetime
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thinkwire.config.paths import CHECK_INTERVAL
from thinkwire.gateway.auth.key_cache import KeyCache
from thinkwire.gateway.auth.keys import LOCAL, KeyFile, LastUsed
from thinkwire.gateway.common.refusal import Refusal


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "access.toml")


class Ticks:
    """A clock that goes on by a step whenever it is looked at."""

    def __init__(self, step: float) -> None:
        self.now = 0.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def ring(
    file: KeyFile, *, loopback: bool = True, now: float = 1.8e9, ticks: Callable[[], float] | None = None
) -> KeyCache:
    """One to which every question comes late enough for another look at the file, if nothing else is said."""
    used = LastUsed(file.path.parent / "used.json")
    return KeyCache(
        file, loopback=loopback, used=used, clock=lambda: now, ticks=ticks or Ticks(step=CHECK_INTERVAL)
    )


def turned_away(ring: KeyCache, key: str | None) -> str:
    with pytest.raises(Refusal) as caught:
        ring.authenticate(key)
    assert (caught.value.status, caught.value.kind) == (401, "auth")
    return caught.value.message


def test_without_keys_everybody_on_this_machine_is_the_same_tenant(file: KeyFile) -> None:
    for key in (None, "any", "tw_wrong"):
        assert ring(file).authenticate(key) is LOCAL


def test_without_keys_nobody_from_elsewhere_is_heard(file: KeyFile) -> None:
    turned_away(ring(file, loopback=False), None)
    turned_away(ring(file, loopback=False), "any")


def test_with_keys_everybody_needs_one(file: KeyFile) -> None:
    key, secret = file.create("ci", rate_per_minute=5)
    keys = ring(file)
    assert keys.authenticate(secret) == key.tenant
    for wrong in (None, "", "planted-wrong", secret + "x", key.id, key.digest, "é" * 10_000, "\udcff"):
        assert "planted" not in turned_away(keys, wrong)
    assert LastUsed(file.path.parent / "used.json").read() == {key.id: 1.8e9}


def test_a_key_counts_while_the_gateway_runs_and_so_does_its_end(file: KeyFile) -> None:
    keys = ring(file)
    assert keys.authenticate(None) is LOCAL
    assert keys.is_current(LOCAL)
    _, secret = file.create("ci")
    assert not keys.is_current(LOCAL)
    tenant = keys.authenticate(secret)
    assert keys.is_current(tenant)
    turned_away(keys, None)
    file.revoke("ci")
    turned_away(keys, secret)
    assert not keys.is_current(tenant)
    turned_away(keys, None)


def test_keys_that_were_needed_stay_needed(file: KeyFile, caplog: pytest.LogCaptureFixture) -> None:
    _, secret = file.create("ci")
    keys = ring(file)
    file.path.write_text("broken")
    with caplog.at_level(logging.ERROR):
        assert keys.authenticate(secret).name == "ci"
    assert "the access keys stay as they were" in caplog.text
    turned_away(keys, None)
    file.path.unlink()
    turned_away(keys, secret)
    turned_away(keys, None)


def test_a_key_that_is_over_is_told_by_its_name_only(file: KeyFile) -> None:
    end = datetime.datetime.fromtimestamp(1.8e9, datetime.UTC)
    key, secret = file.create("ci", expires=end)
    assert ring(file, now=1.8e9 - 1).authenticate(secret).name == "ci"
    message = turned_away(ring(file), secret)
    assert message == "the access key 'ci' has expired"
    assert not ring(file).is_current(key.tenant)


def test_a_change_counts_within_a_tenth_of_a_second(file: KeyFile) -> None:
    _, secret = file.create("ci")
    ticks = Ticks(step=0)
    keys = ring(file, ticks=ticks)
    file.revoke("ci")
    ticks.now = CHECK_INTERVAL - 0.001
    assert keys.authenticate(secret).name == "ci"
    ticks.now = CHECK_INTERVAL
    turned_away(keys, secret)


def test_many_requests_look_at_the_file_once(file: KeyFile, monkeypatch: pytest.MonkeyPatch) -> None:
    _, secret = file.create("ci")
    ticks = Ticks(step=0)
    keys = ring(file, ticks=ticks)
    looks: list[object] = []
    stat = os.stat

    def watched(path: object, **how: Any) -> os.stat_result:
        looks.append(path)
        return stat(path, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", watched)
    for tenth in (1, 2):
        ticks.now = tenth * CHECK_INTERVAL
        for _ in range(50):
            keys.authenticate(secret)
        assert looks.count(str(file.path)) == tenth
