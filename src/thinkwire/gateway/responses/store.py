"""Responses that clients refer to by their ids, for upstreams that keep none themselves.

Each is kept as the client knows it: its own input, its body, and the id of the response before it. A
conversation is the chain of those, so it grows by what was said and not by what was sent.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from thinkwire.config.paths import state_folder
from thinkwire.dialects.openai_responses.constants import NAME, minted
from thinkwire.dialects.openai_responses.input_items import InputWriter, read_input
from thinkwire.dialects.shared import own
from thinkwire.errors import ConfigError, Failure, MalformedInput
from thinkwire.gateway.common.secret_box import SecretBox, bound_to, load_secrets
from thinkwire.gateway.ledger import DAY, open_backend
from thinkwire.gateway.ledger.backend import Entry, LedgerBackend, LedgerBackendError, Limits
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Block, Opaque, Turn
from thinkwire.notes import Note
from thinkwire.request import Request

VERSION = 1
RESPONSE_LIMIT = 16 * 1024 * 1024
"""Bytes of one response with its input, packed; a larger one is not kept."""
LONGEST = 2_000
"""Responses in one chain."""

_log = logging.getLogger("thinkwire.gateway.responses")


class Stored(msgspec.Struct, frozen=True, array_like=True):
    """One response. `parent` is the id of the one before it, `turns` are its own input."""

    parent: str | None
    turns: tuple[Turn, ...]
    body: JsonObject

    @property
    def output(self) -> list[JsonObject]:
        items = self.body.get("output")
        return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Stored).decode
_VENDOR = "vendor"
"""The kind of names that ids of a provider have."""
_GONE = b""
"""What stands in the place of a response that was deleted."""


async def open_responses(
    url: str | None = None,
    *,
    ttl: float = 30 * DAY,
    max_bytes: int = 512 * 1024 * 1024,
    key: bytes | Sequence[bytes] | None = None,
    resilient: bool = False,
) -> ResponseStore:
    """The store at an address, as for the ledger; without one, `responses.db` in the state folder.

    A Redis or PostgreSQL may be the ledger's: the names of the two never meet, and the shorter time counts.
    `resilient` is as for `open_ledger`.
    """
    if ttl <= 0 or max_bytes <= 0:
        raise ConfigError("the time and the size of stored responses must be more than nothing")
    address = url or str(state_folder() / "responses.db")
    shelf = await open_backend(address, Limits(ttl, max_bytes), resilient=resilient)
    return ResponseStore(shelf, load_secrets() if key is None else key)


class ResponseStore:
    """One tenant's responses are found by that tenant only."""

    def __init__(self, shelf: LedgerBackend, secrets: bytes | Sequence[bytes]) -> None:
        self._shelf = shelf
        self._box = SecretBox(secrets, "responses")

    async def __aenter__(self) -> ResponseStore:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def open(self, tenant: str, request: Request) -> tuple[Request, tuple[Note, ...]]:
        """The request with what it only names: an earlier response, an item of one.

        What is not known here stays named: the vendor may know it.
        """
        said = own(request.extras, NAME)
        named = said.get("previous_response_id")
        if isinstance(named, str) and named:
            before = await self.load(tenant, named)
            if before is not None:
                rest = {key: value for key, value in said.items() if key != "previous_response_id"}
                extras = request.extras | {NAME: rest}
                request = msgspec.structs.replace(request, turns=before + request.turns, extras=extras)
        turns = await self._with_items(tenant, request.turns)
        return msgspec.structs.replace(request, turns=turns), ()

    async def keep(self, tenant: str, request: Request, response: JsonObject) -> None:
        """Keeps a response, unless its client said not to; it is durable when this returns.

        `request` is what the client wrote, before `open` added to it. A store in trouble keeps nothing, and
        that is logged.
        """
        said, given = own(request.extras, NAME), response.get("id")
        if said.get("store") is False or not isinstance(given, str) or not given:
            return
        parent = said.get("previous_response_id")
        stored = Stored(parent if isinstance(parent, str) else None, request.turns, response)
        try:
            packed = _encode(stored)
        except (UnicodeEncodeError, OverflowError, RecursionError):
            _log.warning("response %s has something in it that cannot be kept", given)
            return
        if len(packed) > RESPONSE_LIMIT:
            _log.warning("response %s of %d bytes is too large to be kept", given, len(packed))
            return
        items = item_ids(response)
        names = [self._names(tenant, "response", given)[0]]
        names += [self._names(tenant, "item", item)[0] for item in items]
        try:
            await self._put(tenant, names, packed)
        except LedgerBackendError as error:
            _log.warning("response %s is not kept: %s", given, error)

    async def load(self, tenant: str, response_id: str) -> tuple[Turn, ...] | None:
        """The conversation up to and with a response; None when it, or one before it, is not known."""
        chain: list[Stored] = []
        named: str | None = response_id
        while named is not None and len(chain) < LONGEST:
            stored = await self._find(tenant, named)
            if stored is None:
                return None
            chain.append(stored)
            named = stored.parent
        if named is not None:
            return None
        return tuple(turn for stored in reversed(chain) for turn in (*stored.turns, *_answered(stored)))

    async def get(self, tenant: str, response_id: str, rest: str = "") -> JsonObject | None:
        """The body of a response, or its `/input_items`; None when it is not known."""
        stored = await self._find(tenant, response_id)
        if stored is None or rest not in ("", "/input_items"):
            return None
        if not rest:
            return stored.body
        before = await self.load(tenant, stored.parent) if stored.parent else ()
        return _listed(response_id, (*(before or ()), *stored.turns))

    async def delete(self, tenant: str, response_id: str) -> bool:
        """Forgets what a response says, at once; whether there was one."""
        if await self._find(tenant, response_id) is None:
            return False
        for name in self._names(tenant, "response", response_id):
            try:
                await self._put(tenant, [name], _GONE)
            except LedgerBackendError as error:
                raise _in_trouble(error) from None
        return True

    async def claim(self, tenant: str, ids: Sequence[str]) -> None:
        """Store that a tenant made these things, which a provider keeps."""
        try:
            await self._put(tenant, [self._names(tenant, _VENDOR, one)[0] for one in ids], _encode(ids))
        except LedgerBackendError as error:
            _log.warning("%s is not stored as its tenant's own: %s", ids[0], error)

    async def owned(self, tenant: str, ids: Iterable[str]) -> set[str]:
        """Those of the ids that a tenant claimed, or that are of a response kept here."""
        kinds = ("response", "item", _VENDOR)
        names = {name: one for one in ids for kind in kinds for name in self._names(tenant, kind, one)}
        try:
            values = await self._shelf.find(list(names), time.time())
        except LedgerBackendError as error:
            raise _in_trouble(error) from None
        bound = bound_to(tenant, VERSION)
        return {names[name] for name, value in values.items() if self._box.unlock(value, bound)}

    async def ping(self) -> None:
        """Read from the store; ShelfError when it does not answer."""
        await self._shelf.ping()

    async def aclose(self) -> None:
        await self._shelf.aclose()

    async def _put(self, tenant: str, names: Sequence[bytes], packed: bytes) -> None:
        value = self._box.lock(packed, bound_to(tenant, VERSION))
        await self._shelf.put(Entry(names[0], value, tuple(names)), time.time())

    async def _find(self, tenant: str, response_id: str) -> Stored | None:
        names = self._names(tenant, "response", response_id)
        found = await self._look(tenant, names)
        return next((found[name] for name in names if name in found), None)

    async def _look(self, tenant: str, names: Sequence[bytes]) -> dict[bytes, Stored]:
        try:
            values = await self._shelf.find(names, time.time())
        except LedgerBackendError as error:
            raise _in_trouble(error) from None
        opened = {value: self._unlocked(tenant, value) for value in set(values.values())}
        return {name: stored for name, value in values.items() if (stored := opened[value]) is not None}

    def _unlocked(self, tenant: str, value: bytes) -> Stored | None:
        plain = self._box.unlock(value, bound_to(tenant, VERSION))
        try:
            return _decode(plain) if plain else None
        except msgspec.DecodeError:
            return None

    def _names(self, tenant: str, kind: str, given: str) -> list[bytes]:
        return self._box.names(tenant, kind, given)

    async def _with_items(self, tenant: str, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        """The turns with the items themselves in place of references to them."""
        wanted = {item for turn in turns for block in turn.blocks if (item := _reference(block))}
        if not wanted:
            return turns
        names = {item: self._names(tenant, "item", item) for item in wanted}
        known = await self._look(tenant, [name for group in names.values() for name in group])
        outputs = {id(stored): _items_by_id(stored) for stored in known.values()}
        found = {
            item: turn
            for item, group in names.items()
            for name in group
            if name in known and (turn := _item_turn(outputs[id(known[name])], item)) is not None
        }
        return tuple(_joined(turns, found)) if found else turns


def _in_trouble(error: LedgerBackendError) -> Exception:
    _log.warning("stored responses cannot be reached: %s", error)
    return Failure("overloaded", "stored responses cannot be reached now; try again", status=503).as_error()


def item_ids(response: JsonObject) -> list[str]:
    """The ids of a response's output items."""
    output = response.get("output")
    items = output if isinstance(output, list) else []
    return [item["id"] for item in items if isinstance(item, dict) and isinstance(item.get("id"), str)]


def _answered(stored: Stored) -> tuple[Turn, ...]:
    return _read(stored.output)


def _read(items: list[JsonObject]) -> tuple[Turn, ...]:
    """Output items as a later request would bring them along."""
    try:
        return read_input(list(items), ("output",))
    except MalformedInput:
        return ()


def _reference(block: Block) -> str | None:
    """The id of the item that a block stands for."""
    if not isinstance(block, Opaque) or block.dialect != NAME or not isinstance(block.data, dict):
        return None
    given = block.data.get("id")
    refers = block.data.get("type", "item_reference") == "item_reference" and isinstance(given, str)
    return given if refers else None


def _items_by_id(stored: Stored) -> dict[str, JsonObject]:
    """The output items of a response by their ids; the first one where several have the same."""
    found: dict[str, JsonObject] = {}
    for item in stored.output:
        if isinstance(given := item.get("id"), str):
            found.setdefault(given, item)
    return found


def _item_turn(items: Mapping[str, JsonObject], item_id: str) -> Turn | None:
    return next(iter(_read([items[item_id]])), None) if item_id in items else None


def _joined(turns: Sequence[Turn], found: Mapping[str, Turn]) -> Iterator[Turn]:
    """The turns with what was found among them; what the model said in a row is one turn."""
    run: list[Turn] = []
    for turn in _split(turns, found):
        if run and run[-1].role == turn.role == "assistant":
            run.append(turn)
            continue
        if run:
            yield _as_one(run)
        run = [turn]
    if run:
        yield _as_one(run)


def _as_one(run: list[Turn]) -> Turn:
    """Join a run of turns into one; the first one's origin and extras are kept."""
    if len(run) == 1:
        return run[0]
    return msgspec.structs.replace(run[0], blocks=tuple([block for turn in run for block in turn.blocks]))


def _split(turns: Sequence[Turn], found: Mapping[str, Turn]) -> Iterator[Turn]:
    """The turns with each item in the place of the first reference to it; further ones stay references."""
    left = dict(found)
    for turn in turns:
        rest: list[Block] = []
        for block in turn.blocks:
            item = left.pop(_reference(block) or "", None)
            if item is None:
                rest.append(block)
                continue
            if rest:
                yield msgspec.structs.replace(turn, blocks=tuple(rest))
            yield item
            rest = []
        if rest or not turn.blocks:
            yield msgspec.structs.replace(turn, blocks=tuple(rest))


def _listed(response_id: str, turns: Sequence[Turn]) -> JsonObject:
    writer = InputWriter()
    for turn in turns:
        writer.write(turn)
    data = [
        {"type": "message", "id": minted("msg", response_id, at), **item}
        for at, item in enumerate(writer.items)
    ]
    ends = (data[0]["id"], data[-1]["id"]) if data else (None, None)
    return {"object": "list", "data": data, "first_id": ends[0], "last_id": ends[1], "has_more": False}
