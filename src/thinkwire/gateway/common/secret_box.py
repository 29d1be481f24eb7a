"""The gateway's secret, and what is locked with it."""

from __future__ import annotations

import base64
import binascii
import contextlib
import hmac
import os
import re
import stat
import zlib
from collections.abc import Sequence
from pathlib import Path

from thinkwire.config.paths import make_folder, state_folder
from thinkwire.errors import ConfigError

VARIABLE = "THINKWIRE_GATEWAY_KEY"
SIZE = 32
_LEAST = 16
_NONCE = 12
_WORTH_PACKING = 256


def secret_file() -> Path:
    """`gateway.key` in the state folder: 32 random bytes, or several times 32 with the newest first."""
    return state_folder() / "gateway.key"


def load_secrets() -> tuple[bytes, ...]:
    """The gateway's secrets, newest first: of THINKWIRE_GATEWAY_KEY, else of the file, made on first use."""
    given = os.environ.get(VARIABLE)
    if given:
        return tuple(_from_text(word) for word in re.split(r"[,\s]+", given.strip()))
    path = secret_file()
    try:
        return _from_file(path)
    except FileNotFoundError:
        _make(path)
        return _from_file(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None


def _from_text(word: str) -> bytes:
    try:
        secret = base64.b64decode(word + "=" * (-len(word) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if len(secret) != SIZE:
        raise ConfigError(
            f"{VARIABLE} must hold 32 bytes in base64, as `openssl rand -base64 32` prints them; "
            "several are separated by commas, the newest first"
        )
    return secret


def _from_file(path: Path) -> tuple[bytes, ...]:
    data = path.read_bytes()
    if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(f"{path} can be read by others; run `chmod 600 {path}`")
    if not data or len(data) % SIZE:
        raise ConfigError(f"{path} must hold 32 bytes for each key; put it back, or remove it for a new one")
    return tuple(data[at : at + SIZE] for at in range(0, len(data), SIZE))


def _make(path: Path) -> None:
    """A new secret. Of two processes that begin at once, the first one's stands."""
    own = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        make_folder(path.parent)
        descriptor = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(os.urandom(SIZE))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(own, path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be made: {error.strerror}; or set {VARIABLE}") from None
    finally:
        own.unlink(missing_ok=True)


class SecretBox:
    """Locks bytes for one purpose: AES-256-GCM, the newest secret locks and every one unlocks.

    What is locked is packed first where that helps. `bound` is not in it, but must be the same again.
    """

    def __init__(self, secrets: bytes | Sequence[bytes], purpose: str) -> None:
        try:
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
            from cryptography.hazmat.primitives.hashes import SHA256
            from cryptography.hazmat.primitives.kdf.hkdf import HKDF
        except ImportError:
            raise ConfigError("the gateway needs `cryptography`: pip install 'thinkwire[gateway]'") from None
        listed = [secrets] if isinstance(secrets, bytes) else list(secrets)
        if not listed or any(len(secret) < _LEAST for secret in listed):
            raise ConfigError(f"a gateway key has at least {_LEAST} bytes; {SIZE} are usual")

        def derived(secret: bytes, use: str) -> bytes:
            info = f"thinkwire {purpose} {use}".encode()
            return HKDF(algorithm=SHA256(), length=SIZE, salt=None, info=info).derive(secret)

        self._locks = [AESGCM(derived(secret, "lock")) for secret in listed]
        self._wrong_key = InvalidTag
        self._names = [hmac.new(derived(secret, "name"), digestmod="sha256") for secret in listed]

    def __repr__(self) -> str:
        return "Box(…)"

    def lock(self, data: bytes, bound: bytes) -> bytes:
        packed = zlib.compress(data, 1) if len(data) > _WORTH_PACKING else data
        plain = b"\x01" + packed if len(packed) < len(data) else b"\x00" + data
        nonce = os.urandom(_NONCE)
        return nonce + self._locks[0].encrypt(nonce, plain, bound)

    def unlock(self, data: bytes, bound: bytes) -> bytes | None:
        """What was locked; None for anything that was not locked here with this bound."""
        nonce, sealed = data[:_NONCE], data[_NONCE:]
        if len(nonce) < _NONCE:
            return None
        for lock in self._locks:
            try:
                plain = lock.decrypt(nonce, sealed, bound)
            except self._wrong_key:
                continue
            return zlib.decompress(plain[1:]) if plain[:1] == b"\x01" else plain[1:]
        return None

    def names(self, *facts: str | bytes) -> list[bytes]:
        """Names for these facts that tell nothing about them: one by each secret, the newest first."""
        return self.names_of(spelled(*facts))[0]

    def names_of(self, data: bytes, more: bytes = b"") -> tuple[list[bytes], list[bytes]]:
        """As `names`, for facts that are spelled already: for these, and for these with more behind them."""
        short: list[bytes] = []
        long: list[bytes] = []
        for begun in self._names:
            name = begun.copy()
            name.update(data)
            short.append(name.digest()[:16])
            if more:
                name.update(more)
                long.append(name.digest()[:16])
        return short, long


def spelled(*facts: str | bytes) -> bytes:
    """Facts as bytes that no other facts have; those of more facts begin with those of the first."""
    data = b""
    for fact in facts:
        part = fact.encode("utf-8", "surrogatepass") if isinstance(fact, str) else fact
        data += len(part).to_bytes(4) + part
    return data


def bound_to(tenant: str, version: int) -> bytes:
    """Associated data: whose it is, and in which format."""
    return bytes([version]) + tenant.encode("utf-8", "surrogatepass")
