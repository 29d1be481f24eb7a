"""Seals of the simulated vendors: opaque to everybody else, and broken by one changed byte."""

from __future__ import annotations

import base64
import hashlib
import hmac

import msgspec

_TAG = 16


class Sealed(msgspec.Struct, frozen=True):
    """What a seal binds: scheme, model, account, what came before, and the thought itself."""

    scheme: str
    model: str
    account: str
    prefix: str
    """Digest of everything before the thought; empty where the vendor does not bind it."""
    thought: str
    """The whole thought, or what the vendor hides of it."""


class SimSealer:
    """Makes and opens seals. The key is the simulator's own secret."""

    def __init__(self, key: bytes = b"simulated, and no secret") -> None:
        self._key = key

    def seal(self, sealed: Sealed) -> str:
        """Padded standard base64, as every official SDK takes it."""
        payload = msgspec.msgpack.encode(sealed)
        return base64.b64encode(self._tag(payload) + payload).decode()

    def open(self, data: str) -> Sealed | None:
        """What was sealed; None for anything that this key did not seal. Both alphabets are read."""
        try:
            raw = base64.b64decode(data.translate(_STANDARD), validate=True)
        except ValueError:
            return None
        tag, payload = raw[:_TAG], raw[_TAG:]
        if not hmac.compare_digest(tag, self._tag(payload)):
            return None
        return msgspec.msgpack.decode(payload, type=Sealed)

    def _tag(self, payload: bytes) -> bytes:
        return hmac.new(self._key, payload, hashlib.sha256).digest()[:_TAG]


_STANDARD = str.maketrans("-_", "+/")


def digest(*parts: object) -> str:
    """A short fingerprint of JSON-like values, for prefixes and accounts."""
    return short(hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest())


def short(fingerprint: str) -> str:
    """As much of a fingerprint as is kept."""
    return fingerprint[:24]
