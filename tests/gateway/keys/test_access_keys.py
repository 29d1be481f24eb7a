"""Access keys: made once, kept as digests, changed as a whole."""

from __future__ import annotations

import datetime
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkwire.errors import ConfigError
from thinkwire.gateway.auth.keys import KeyFile, Keys, LastUsed, Tenant, digest_of, is_well_formed, new_key

SALT = "00" * 32


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "inner" / "access.toml")


def read(file: KeyFile) -> Keys:
    keys = file.read()
    assert keys is not None
    return keys


def test_keys_are_long_random_and_checkable() -> None:
    made = {new_key() for _ in range(50)}
    assert len(made) == 50
    assert all(re.fullmatch(r"tw_[0-9A-Za-z]{49}", key) and is_well_formed(key) for key in made)


@given(st.integers(3, 51), st.sampled_from("0123456789abcXYZ"))
def test_one_wrong_letter_is_noticed(at: int, letter: str) -> None:
    key = new_key()
    if key[at] != letter:
        assert not is_well_formed(key[:at] + letter + key[at + 1 :])


@given(st.text(max_size=60))
def test_nothing_else_is_taken_for_a_key(text: str) -> None:
    assert not is_well_formed(text)
    assert Keys(salt=SALT).find(text) is None


def test_a_key_is_found_by_itself_and_nothing_else(file: KeyFile) -> None:
    made = {file.create(name)[1]: name for name in ("a", "b", "c")}
    keys = read(file)
    for secret, name in made.items():
        found = keys.find(secret)
        assert found is not None
        assert found.name == name
        assert keys.find(secret[:-1]) is None
        assert keys.find(found.digest) is None
        assert keys.find(found.id) is None


def test_every_digest_is_compared_whether_or_not_one_was_found(
    file: KeyFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = [file.create(name)[1] for name in ("a", "b", "c")]
    compared: list[str] = []

    def compare(left: str, right: str) -> bool:
        compared.append(left)
        return left == right

    monkeypatch.setattr("hmac.compare_digest", compare)
    keys = read(file)
    for presented in (*secrets, "tw_nobody"):
        compared.clear()
        keys.find(presented)
        assert compared == [key.digest for key in keys.key]


def test_the_file_holds_no_key_and_only_its_owner_reads_it(file: KeyFile) -> None:
    key, secret = file.create("ci", models=("openai/*",), rate_per_minute=3, spend_per_day=0.5)
    text = file.path.read_text()
    assert secret not in text
    assert secret[3:20] not in text
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert read(file).key == (key,)
    assert key.tenant == Tenant(key.id, "ci", ("openai/*",), 3, 0.5)
    assert key.digest not in repr(key)
    assert [path.name for path in file.path.parent.iterdir() if path.name.startswith(".")] == []


def test_two_files_keep_the_same_key_differently() -> None:
    key = new_key()
    assert digest_of(key, SALT) != digest_of(key, "11" * 32)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_file_that_others_can_read_is_refused(file: KeyFile, mode: int) -> None:
    file.create("ci")
    file.path.chmod(mode)
    with pytest.raises(ConfigError, match="chmod 600"):
        file.read()


@pytest.mark.parametrize("text", ["planted = ", 'salt = "planted"', 'salt = "00"\n[[key]]\nplanted = 1'])
def test_a_damaged_file_is_told_without_showing_what_is_in_it(file: KeyFile, text: str) -> None:
    file.create("ci")
    file.path.write_text(text)
    with pytest.raises(ConfigError, match="is damaged") as caught:
        file.read()
    assert "planted" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "a b", 'a"', "a\n", "-a", "x" * 65, "tür"])
def test_a_name_that_cannot_be_written_is_refused(file: KeyFile, name: str) -> None:
    with pytest.raises(ConfigError, match="a key's name"):
        file.create(name)
    assert file.read() is None


@pytest.mark.parametrize("pattern", ["", 'a"b', "a\\b", "a b", "a\nb"])
def test_a_pattern_that_cannot_be_written_is_refused(file: KeyFile, pattern: str) -> None:
    with pytest.raises(ConfigError, match="is no pattern"):
        file.create("ci", models=(pattern,))


def test_names_are_taken_once(file: KeyFile) -> None:
    file.create("ci")
    with pytest.raises(ConfigError, match="already"):
        file.create("ci")


def test_a_revoked_key_is_gone_and_the_file_stays(file: KeyFile) -> None:
    key, secret = file.create("ci")
    other, _ = file.create("dev")
    assert file.revoke("ci") == (key, 1)
    assert read(file).find(secret) is None
    assert file.revoke(other.id) == (other, 0)
    assert read(file).key == ()
    with pytest.raises(ConfigError, match="there are: none"):
        file.revoke("ci")


def test_rotation_changes_the_secret_and_nothing_else(file: KeyFile) -> None:
    until = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
    key, old = file.create("ci", models=("a*",), expires=until)
    rotated, new = file.rotate("ci")
    keys = read(file)
    assert keys.find(old) is None
    found = keys.find(new)
    assert found == rotated
    assert (rotated.tenant, rotated.expires) == (key.tenant, until)


def test_a_key_ends_when_it_was_said_to(file: KeyFile) -> None:
    key, _ = file.create("ci", expires=datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC))
    end = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC).timestamp()
    assert not key.expired(end - 1)
    assert key.expired(end)


def test_keys_made_at_the_same_time_are_all_kept(file: KeyFile) -> None:
    code = "import sys; from pathlib import Path; from thinkwire.gateway.auth.keys import KeyFile\n"
    code += "for n in range(5): KeyFile(Path(sys.argv[1])).create(f'{sys.argv[2]}-{n}')"
    runs = [subprocess.Popen([sys.executable, "-c", code, str(file.path), name]) for name in ("a", "b", "c")]
    assert [run.wait(timeout=30) for run in runs] == [0, 0, 0]
    assert len(read(file).key) == 15


def test_a_write_that_fails_leaves_the_old_file(file: KeyFile, monkeypatch: pytest.MonkeyPatch) -> None:
    file.create("ci")
    before = file.path.read_text()

    def full(descriptor: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match="cannot be written: no space"):
        file.create("dev")
    assert file.path.read_text() == before
    assert {path.name for path in file.path.parent.iterdir()} == {"access.toml", "access.lock"}


SCOPES = [
    ((), ("anything",), True),
    (("claude-*",), ("claude-opus-5",), True),
    (("claude-*",), ("gpt-5.5",), False),
    (("anthropic/*",), ("claude-opus-5", "anthropic/claude-opus-5"), True),
    (("Claude-*",), ("claude-opus-5",), False),
]


@pytest.mark.parametrize(("patterns", "names", "allowed"), SCOPES)
def test_a_scope_is_a_list_of_patterns(
    patterns: tuple[str, ...], names: tuple[str, ...], allowed: bool
) -> None:
    assert Tenant("t", "t", patterns).may_use(*names) is allowed


def test_last_use_is_kept_roughly_and_together(tmp_path: Path) -> None:
    path = tmp_path / "state" / "used.json"
    one, two = LastUsed(path), LastUsed(path)
    one.touch("a", 1000)
    one.touch("a", 1010)
    assert one.read() == {"a": 1000}
    two.touch("b", 1020)
    one.touch("a", 1061)
    assert one.read() == {"a": 1061, "b": 1020}
    two.touch("a", 1030)
    two.flush()
    assert one.read() == {"a": 1061, "b": 1020}
    path.write_text("{")
    assert one.read() == {}


@pytest.mark.parametrize(
    "limit", ["spend_per_day = nan", "spend_per_day = inf", "spend_per_day = 0", "rate_per_minute = 0"]
)
def test_a_limit_that_would_limit_nothing_is_refused_when_the_file_is_read(file: KeyFile, limit: str) -> None:
    file.create("ci")
    file.path.write_text(file.path.read_text() + f"{limit}\n")
    with pytest.raises(ConfigError, match=r"the key 'ci' has a limit that is none: .* must be"):
        file.read()


@pytest.mark.parametrize("usd", [float("nan"), float("inf"), 0.0, -1.0])
def test_a_limit_that_would_limit_nothing_is_refused_when_a_key_is_made(file: KeyFile, usd: float) -> None:
    with pytest.raises(ConfigError, match="above 0"):
        file.create("ci", spend_per_day=usd)
