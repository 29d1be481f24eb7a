"""Seals at rest: encrypted when a key is configured, and never why a conversation cannot be read."""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from thinkwire.errors import ConfigError
from thinkwire.jsonvalue import JsonObject, dump_text
from thinkwire.messages import Turn

SHORTEST_KEY = 16
_INFO = b"thinkwire store: seals"
_INFO_NAME = b"thinkwire store: name of a key"

_turn = msgspec.json.Decoder(Turn).decode
_tree = msgspec.json.Decoder().decode


def the_key(key: str | None = None) -> str | None:
    """The key, else $THINKWIRE_STORE_KEY."""
    return key or os.environ.get("THINKWIRE_STORE_KEY")


class SealCipher:
    """Writes and reads turns as JSON. Of several keys, separated by commas, the first locks and all open."""

    def __init__(self, keys: str | None = None) -> None:
        self._keys = dict(_key(text.strip()) for text in keys.split(",")) if keys and keys.strip() else {}
        self._name = next(iter(self._keys), None)

    def write(self, turn: Turn, place: str) -> str:
        """The turn as JSON; encrypted seals open only at the same place, which is the message's id."""
        if self._name is None:
            return dump_text(turn)
        tree = _tree(dump_text(turn))
        for block in _sealed(tree):
            block["seal"] = self._lock(block["seal"], place)
        return dump_text(tree)

    def read(self, text: str, place: str) -> tuple[Turn, int]:
        """The turn, and how many of its seals could not be opened."""
        if '"enc"' not in text:
            return _turn(text), 0
        tree = _tree(text)
        unopened = 0
        for block in _sealed(tree):
            if "enc" in block["seal"]:
                block["seal"] = self._open(block["seal"]["enc"], place)
                unopened += block["seal"] is None
        return msgspec.convert(tree, Turn), unopened

    def _lock(self, seal: JsonObject, place: str) -> JsonObject:
        assert self._name is not None
        nonce = os.urandom(12)
        locked = self._keys[self._name].encrypt(nonce, dump_text(seal).encode(), place.encode())
        return {"enc": {"key": self._name, "nonce": _text(nonce), "data": _text(locked)}}

    def _open(self, locked: Any, place: str) -> JsonObject | None:
        from cryptography.exceptions import InvalidTag

        try:
            cipher = self._keys[locked["key"]]
            plain = cipher.decrypt(b64decode(locked["nonce"]), b64decode(locked["data"]), place.encode())
            return dict(_tree(plain))
        except (KeyError, TypeError, ValueError, InvalidTag):
            return None


def _sealed(tree: JsonObject) -> Iterator[JsonObject]:
    """Every block that has a seal, those inside tool results too."""
    for block in tree.get("blocks", ()):
        for part in (block, *block.get("content", ())) if block.get("type") == "tool_result" else (block,):
            if part.get("type") != "opaque" and type(part.get("seal")) is dict:
                yield part


def _key(secret: str) -> tuple[str, Any]:
    """The key's name, which tells nothing about it, and its cipher."""
    if len(secret) < SHORTEST_KEY:
        raise ConfigError(
            f"a store key needs {SHORTEST_KEY} characters or more; `openssl rand -base64 32` makes a good one"
        )
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise ConfigError("an encrypted store needs more packages: pip install 'thinkwire[store]'") from None
    derive = _derivation(secret.encode())
    return derive(_INFO_NAME, 4).hex(), AESGCM(derive(_INFO, 32))


def _derivation(secret: bytes) -> Callable[[bytes, int], bytes]:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return lambda info, length: HKDF(SHA256(), length, salt=None, info=info).derive(secret)


def _text(data: bytes) -> str:
    return b64encode(data).decode()
