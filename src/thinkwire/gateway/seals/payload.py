"""What a carrier holds, and its spelling: the original of a block, as far as a client would lose it."""

from __future__ import annotations

import base64
import binascii
import os
from typing import Any

import msgspec

from thinkwire.gateway.common.secret_box import SecretBox, bound_to
from thinkwire.jsonvalue import repaired
from thinkwire.messages import Extras, Image, Origin, Text, Thinking, ToolCall

PREFIX = "thwi"
"""How every carrier begins, in both alphabets of base64; no vendor's seal does."""

VERSION = 1
TEXT_LIMIT = 32 * 1024
"""Bytes of thinking that one carrier holds; of longer thinking it holds the digest."""

_MAGIC = base64.b64decode(PREFIX)
_RESPELL = str.maketrans({"-": "+", "_": "/", **dict.fromkeys("= \t\r\n")})


class SealedBlock(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """One block's original. The text of thinking is there when the client's is not to be relied on."""

    at: int
    """The block's index in its answer."""
    block: Thinking | ToolCall | Text | Image
    digest: bytes = b""
    """Of the whole text, on thinking."""
    calls: int = 0
    """How many calls stood before it."""
    leads: bool = True
    """Whether no text stood between it and the call before it, or the turn's beginning."""


class CarrierPayload(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """The first that is kept is the block that the carrier rides on; the others are of the same answer."""

    turn: bytes
    """Random; the same in all carriers of one answer."""
    origin: Origin
    kept: tuple[SealedBlock, ...]
    prefix: bytes = b""
    """Of all that stood before the answer, where its maker takes thinking back only behind that."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(CarrierPayload).decode


def new_turn() -> bytes:
    return os.urandom(8)


def has_room(text: str) -> bool:
    """Whether a carrier has room for this text."""
    return len(text) <= TEXT_LIMIT and len(text.encode("utf-8", "surrogatepass")) <= TEXT_LIMIT


def is_ours(data: str) -> bool:
    """Whether a seal claims to be a carrier, true or forged."""
    return data.lstrip().startswith(PREFIX)


def write(box: SecretBox, carried: CarrierPayload, tenant: str) -> str:
    """The carrier, in standard padded base64."""
    locked = box.lock(_packed(carried), bound_to(tenant, VERSION))
    return base64.b64encode(_MAGIC + bytes([VERSION]) + locked).decode()


def read(box: SecretBox, data: str, tenant: str) -> CarrierPayload | None:
    """What a carrier holds, however its base64 is spelled; None when it was not made here for this tenant."""
    raw = _unspelled(data)
    if raw is None:
        return None
    head = len(_MAGIC)
    if raw[:head] != _MAGIC or raw[head : head + 1] != bytes([VERSION]):
        return None
    plain = box.unlock(raw[head + 1 :], bound_to(tenant, VERSION))
    try:
        return None if plain is None else _decode(plain)
    except msgspec.DecodeError:
        return None


def _unspelled(data: str) -> bytes | None:
    """The bytes of a carrier: as we spell it, which nearly every client keeps, or in another base64."""
    try:
        return binascii.a2b_base64(data, strict_mode=True)
    except ValueError:
        spelled = data.translate(_RESPELL)
    try:
        return base64.b64decode(spelled + "=" * (-len(spelled) % 4), validate=True)
    except ValueError:
        return None


def _packed(carried: CarrierPayload) -> bytes:
    """Extras that this format cannot hold stay behind; characters that UTF-8 cannot are replaced."""
    try:
        return _encode(carried)
    except UnicodeEncodeError:
        return _encode(repaired(msgspec.to_builtins(carried, builtin_types=(bytes,))))
    except (OverflowError, RecursionError):
        bare = tuple(
            msgspec.structs.replace(kept, block=_without_extras(kept.block)) for kept in carried.kept
        )
        return _packed(msgspec.structs.replace(carried, kept=bare))


def _without_extras(block: Any) -> Any:
    nothing: Extras = {}
    return msgspec.structs.replace(block, extras=nothing)
