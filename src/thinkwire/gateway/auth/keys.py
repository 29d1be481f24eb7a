"""Access keys of the gateway: made once, shown once, kept as digests, and checked in constant time.

A key is 256 random bits, so nobody finds one by trying, however quickly digests are made: HMAC-SHA-256 with
a salt of the file is enough. It takes microseconds; the slow hash that guessable passwords need would cost
every request tens of milliseconds.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import math
import os
import re
import secrets
import stat
import string
import tempfile
import tomllib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from thinkwire.client.learned_facts import LOCAL_USER, TENANT
from thinkwire.config.paths import config_folder, make_folder, state_folder
from thinkwire.errors import ConfigError

PREFIX = "tw_"
LONGEST = 512
"""Nothing longer is hashed."""

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_NAME = r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}"
_PATTERN = r"[!#-\[\]-~]{1,200}"


class Tenant(msgspec.Struct, frozen=True):
    """Who asks. What is remembered for one tenant is never shown to another."""

    id: str
    name: str
    models: tuple[str, ...] = ()
    """Patterns of the names that may be asked for; empty is any."""
    rate_per_minute: int | None = None
    spend_per_day: float | None = None
    """US dollars, from midnight UTC."""
    is_operator: bool = False
    """Whether `/metrics` shows it the series of all tenants."""

    @property
    def scope(self) -> str:
        """The scope of what is learned from this tenant's requests."""
        return LOCAL_USER if self.id == "local" else f"{TENANT}{self.id}"

    def may_use(self, *names: str) -> bool:
        """Whether one of a model's names is within the key's scope."""
        return not self.models or any(fnmatchcase(name, pattern) for name in names for pattern in self.models)


LOCAL = Tenant(id="local", name="local")
"""Everybody on this machine, where no keys were made."""
UNKNOWN = Tenant(id="", name="")
"""The sender of a request whose key was not accepted, or not asked for."""


class AccessKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One key as it is kept. The key itself is nowhere."""

    id: str
    name: str
    digest: str
    created: datetime.datetime
    expires: datetime.datetime | None = None
    models: tuple[str, ...] = ()
    rate_per_minute: int | None = None
    spend_per_day: float | None = None
    operator: bool = False

    def __repr__(self) -> str:
        return f"AccessKey({self.id!r}, {self.name!r})"

    def expired(self, now: float) -> bool:
        return self.expires is not None and self.expires.timestamp() <= now

    @property
    def tenant(self) -> Tenant:
        limits = self.rate_per_minute, self.spend_per_day
        return Tenant(self.id, self.name, self.models, *limits, self.operator)


class Keys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All keys of a gateway."""

    salt: str
    key: tuple[AccessKey, ...] = ()

    def find(self, presented: str) -> AccessKey | None:
        """The key that was presented. Every one is compared, so that time tells nothing."""
        digest = digest_of(presented, self.salt)
        found = None
        for key in self.key:
            if hmac.compare_digest(key.digest, digest):
                found = key
        return found


def new_key() -> str:
    """`tw_`, 256 random bits and a checksum, by which a mistyped or leaked key can be told."""
    body = _base62(int.from_bytes(secrets.token_bytes(32)), 43)
    return PREFIX + body + _checksum(body)


def is_well_formed(key: str) -> bool:
    body, checksum = key[len(PREFIX) : -6], key[-6:]
    return key.startswith(PREFIX) and len(body) == 43 and _checksum(body) == checksum


def digest_of(key: str, salt: str) -> str:
    return hmac.new(bytes.fromhex(salt), key[:LONGEST].encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode("utf-8", "replace")), 6)


def _base62(number: int, width: int) -> str:
    digits = []
    for _ in range(width):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))


class KeyFile:
    """`access.toml`: readable by its owner only, replaced as a whole."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or config_folder() / "access.toml"

    def read(self) -> Keys | None:
        """The keys; None when there never were any. A file without keys still means that keys are needed."""
        try:
            mode = self.path.stat().st_mode
            text = self.path.read_text("utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{self.path} cannot be read ({type(error).__name__})") from None
        if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigError(f"{self.path} can be read by others; run `chmod 600 {self.path}`")
        try:
            keys = msgspec.convert(tomllib.loads(text), Keys)
            bytes.fromhex(keys.salt)
        except (tomllib.TOMLDecodeError, msgspec.ValidationError, ValueError) as error:
            # The parser's message may quote the file.
            raise ConfigError(
                f"{self.path} is damaged ({type(error).__name__}); make the keys anew"
            ) from None
        for key in keys.key:
            if (flaw := _flaw(key.rate_per_minute, key.spend_per_day)) is not None:
                raise ConfigError(f"{self.path}: the key {key.name!r} has a limit that is none: {flaw}")
        return keys

    def create(
        self,
        name: str,
        *,
        models: tuple[str, ...] = (),
        rate_per_minute: int | None = None,
        spend_per_day: float | None = None,
        expires: datetime.datetime | None = None,
        operator: bool = False,
    ) -> tuple[AccessKey, str]:
        """A new key: what is kept of it, and the key itself, which is never seen again."""
        _check(name, models)
        if (flaw := _flaw(rate_per_minute, spend_per_day)) is not None:
            raise ConfigError(flaw)
        with self._changing() as keys:
            if any(key.name == name for key in keys.key):
                raise ConfigError(
                    f"there is a key {name!r} already; revoke it, or rotate it to get a new secret"
                )
            secret = new_key()
            key = AccessKey(
                id=secrets.token_hex(4),
                name=name,
                digest=digest_of(secret, keys.salt),
                created=_now(),
                expires=expires,
                models=models,
                rate_per_minute=rate_per_minute,
                spend_per_day=spend_per_day,
                operator=operator,
            )
            self._write(msgspec.structs.replace(keys, key=(*keys.key, key)))
        return key, secret

    def rotate(self, wanted: str) -> tuple[AccessKey, str]:
        """A new secret for the same tenant, who keeps what the gateway remembers; the old one is void."""
        with self._changing() as keys:
            secret = new_key()
            digest = digest_of(secret, keys.salt)
            key = msgspec.structs.replace(_named(keys, wanted), digest=digest, created=_now())
            others = tuple(one if one.id != key.id else key for one in keys.key)
            self._write(msgspec.structs.replace(keys, key=others))
        return key, secret

    def revoke(self, wanted: str) -> tuple[AccessKey, int]:
        """Takes a key out, by name or id; how many are left."""
        with self._changing() as keys:
            key = _named(keys, wanted)
            left = tuple(one for one in keys.key if one.id != key.id)
            self._write(msgspec.structs.replace(keys, key=left))
        return key, len(left)

    @contextmanager
    def _changing(self) -> Iterator[Keys]:
        """The keys as they are, while nobody else changes them."""
        try:
            make_folder(self.path.parent)
            with _alone(self.path.with_suffix(".lock")):
                yield self.read() or Keys(salt=secrets.token_hex(32))
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be written: {error.strerror or error}") from None

    def _write(self, keys: Keys) -> None:
        write_private(self.path, _as_toml(keys))


class LastUsed:
    """When each key was last used, to the minute or so; a file of its own, which may be lost without harm."""

    EVERY = 60.0

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_folder() / "access-used.json"
        self._seen: dict[str, float] = {}
        self._written = 0.0

    def read(self) -> dict[str, float]:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=dict[str, float])
        except (OSError, msgspec.DecodeError):
            return {}

    def touch(self, key: str, now: float) -> None:
        self._seen[key] = now
        if now - self._written >= self.EVERY:
            self._written = now
            self.flush()

    def flush(self) -> None:
        if not self._seen:
            return
        merged = self.read()
        for key, when in self._seen.items():
            merged[key] = max(when, merged.get(key, 0.0))
        with suppress(OSError):
            make_folder(self.path.parent)
            write_private(self.path, msgspec.json.encode(merged).decode())


def write_private(path: Path, text: str) -> None:
    """Replaces a file in one step with one that only its owner can read."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0)


def _named(keys: Keys, wanted: str) -> AccessKey:
    for key in keys.key:
        if wanted in (key.name, key.id):
            return key
    names = ", ".join(key.name for key in keys.key) or "none"
    raise ConfigError(f"there is no key of that name or id; there are: {names}")


def _check(name: str, models: tuple[str, ...]) -> None:
    if not re.fullmatch(_NAME, name):
        raise ConfigError(
            "a key's name has up to 64 letters, digits and . _ @ -, and begins with one of the first"
        )
    for pattern in models:
        if not re.fullmatch(_PATTERN, pattern):
            raise ConfigError(f"{pattern!r} is no pattern of model names")


def _flaw(rate_per_minute: int | None, spend_per_day: float | None) -> str | None:
    """What is wrong with a key's limits; a comparison with NaN or infinity would never refuse anything."""
    if spend_per_day is not None and not 0 < spend_per_day < math.inf:
        return f"spend_per_day must be a number of US dollars above 0, and it is {spend_per_day:g}"
    if rate_per_minute is not None and rate_per_minute < 1:
        return f"rate_per_minute must be 1 or more, and it is {rate_per_minute}"
    return None


def _as_toml(keys: Keys) -> str:
    lines = [
        "# Access keys of the gateway, as digests. `thinkwire keys` writes this file.",
        f'salt = "{keys.salt}"',
    ]
    for key in keys.key:
        lines += ["", "[[key]]"]
        fields = msgspec.to_builtins(key, builtin_types=(datetime.datetime,))
        lines += [f"{name} = {_value(value)}" for name, value in fields.items()]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """Names and patterns have neither quotes nor backslashes, so that nothing needs an escape."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value}"'
        case list() | tuple():
            return f"[{', '.join(_value(item) for item in value)}]"
        case datetime.datetime():
            return value.isoformat()
    return repr(value)
