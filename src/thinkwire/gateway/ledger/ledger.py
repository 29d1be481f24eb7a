"""The ledger's logic: remembers what a client may drop, and gives it back to the requests that lack it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from thinkwire.errors import Failure
from thinkwire.gateway.common.secret_box import SecretBox, bound_to, spelled
from thinkwire.gateway.ledger.backend import Entry, LedgerBackend, LedgerBackendError, Stats
from thinkwire.gateway.ledger.matching import Fact, facts_of, place_of, places_of, prefixes_of, worth_keeping
from thinkwire.gateway.ledger.restore import (
    Remembered,
    RestorePass,
    gained,
    lacking,
    native_items,
    references,
)
from thinkwire.messages import Origin, Turn
from thinkwire.notes import Note
from thinkwire.request import Request

VERSION = 1
TURN_LIMIT = 1024 * 1024
"""Bytes of one turn, packed; a larger one is not remembered."""

_log = logging.getLogger("thinkwire.gateway.ledger")


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Remembered).decode


class Ledger:
    """One tenant's turns are found by that tenant only, whichever model wrote them: a restored turn tells its
    origin, and the replay planner decides who may see it."""

    def __init__(self, shelf: LedgerBackend, secrets: bytes | Sequence[bytes], ttl: float) -> None:
        self._shelf = shelf
        self._box = SecretBox(secrets, "ledger")
        self.ttl = ttl

    async def __aenter__(self) -> Ledger:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def remember(
        self,
        tenant: str,
        upstream: str,
        turn: Turn,
        *,
        after: Sequence[Turn] = (),
        items: Mapping[str, int] | None = None,
        prefix: bytes = b"",
    ) -> bool:
        """Keeps an answer that has something to lose; whether it did. It is durable when this returns.

        `after` are the turns that it answers: they tell answers apart that have the same ids or words.
        `items` are the ids that the client was given for thinking (`Sealer.items`), `prefix` is the digest
        of the whole request (`prefixes_of`). A store in trouble keeps nothing, and that is logged.
        """
        kept = worth_keeping(turn)
        if kept is None:
            return False
        if kept.origin is None:
            provider, _, model = upstream.partition("/")
            kept = msgspec.structs.replace(kept, origin=Origin(provider or None, model=model or None))
        known = {**native_items(kept), **(items or {})}
        try:
            entry = self._entry(
                tenant, Remembered(kept, upstream, known, prefix), place_of(after, len(after))
            )
        except (UnicodeEncodeError, OverflowError, RecursionError):
            return False
        if len(entry.value) > TURN_LIMIT:
            _log.warning("an answer of %d bytes is too large for the ledger", len(entry.value))
            return False
        try:
            await self._shelf.put(entry, time.time())
        except LedgerBackendError as error:
            _log.warning("not remembered: %s", error)
            return False
        return True

    def _entry(self, tenant: str, remembered: Remembered, place: bytes | None) -> Entry:
        whose, after = spelled(tenant), spelled(b"after", place) if place else b""
        likely: list[bytes] = []
        sure: list[bytes] = []
        for fact in facts_of(remembered.turn):
            short, long = self._box.names_of(whose + spelled(*fact), after)
            likely += short[:1]
            sure += long[:1]
        sure += [self._names(tenant, ("item", item))[0] for item in remembered.items]
        packed = _encode(remembered)
        content = self._box.names("content", tenant, _encode(remembered.turn.blocks))[0]
        value = self._box.lock(packed, bound_to(tenant, VERSION))
        return Entry(content, value, tuple(sure), tuple(likely))

    def _names(self, tenant: str, fact: Fact) -> list[bytes]:
        return self._box.names(tenant, *fact)

    async def restore(
        self, tenant: str, upstream: str, request: Request, *, bound: bool = False
    ) -> tuple[Request, tuple[Note, ...]]:
        """The request with the thinking, seals and items that its client left out.

        With `bound`, only where nothing has changed before it: the vendor would refuse it elsewhere.

        Where several remembered turns fit, one that the same upstream wrote is preferred. A store in trouble
        leaves the request as it is, and that is said.
        """
        lost, referred = lacking(request.turns), references(request.turns)
        if not lost and not referred:
            return request, ()
        whose = spelled(tenant)
        places = places_of(request.turns, lost)
        names = {
            index: self._turn_names(whose, request.turns[index], place)
            for index, place in zip(lost, places, strict=True)
        }
        items = {item: self._names(tenant, ("item", item)) for item in referred}
        groups = [group for pair in names.values() for group in pair]
        wanted = [name for group in (*groups, *items.values()) for name in group]
        if not wanted:
            return request, ()
        try:
            values = await self._shelf.find(wanted, time.time())
        except LedgerBackendError as error:
            _log.warning("not restored: %s", error)
            message = "the ledger cannot be read; thinking that the client left out stays away"
            return request, (Note("thinking.dropped", message),)
        opened = {value: self._unlocked(tenant, value) for value in set(values.values())}
        known = {name: found for name, value in values.items() if (found := opened[value])}
        if not known:
            return request, ()
        given = RestorePass(upstream, known)
        prefixes = list(prefixes_of(request)) if bound else []
        turns = tuple(
            given.turn(turn, names[index], prefixes[index] if bound else b"") if index in names else turn
            for index, turn in enumerate(request.turns)
        )
        at = [at for at, pair in enumerate(zip(turns, request.turns, strict=True)) if gained(*pair)]
        request = msgspec.structs.replace(request, turns=given.references(turns, items))
        count = len(at) + given.referred
        if not count:
            return request, ()
        message = f"thinking that the client left out of {count} turns was put back"
        note = Note("thinking.restored", message, detail={"turns": count, "at": at})
        return request, (note,)

    def _turn_names(self, whose: bytes, turn: Turn, place: bytes | None) -> tuple[list[bytes], list[bytes]]:
        """All names that a turn of this tenant's may be known by, the sure ones first."""
        after = spelled(b"after", place) if place else b""
        sure: list[bytes] = []
        likely: list[bytes] = []
        for fact in facts_of(turn):
            short, long = self._box.names_of(whose + spelled(*fact), after)
            likely += short
            sure += long
        return sure, likely

    async def known_items(self, tenant: str, items: Iterable[str]) -> set[str]:
        """Those of the reasoning items that a tenant's remembered turns have; none when the store fails."""
        names = {name: item for item in items for name in self._names(tenant, ("item", item))}
        try:
            values = await self._shelf.find(list(names), time.time())
        except LedgerBackendError as error:
            _log.warning("not looked up: %s", error)
            return set()
        return {names[name] for name in values}

    async def forget(self, tenant: str, items: Iterable[str]) -> int:
        """Forget the turns that have these reasoning items; how many. Raises when the store fails."""
        names = [name for item in items for name in self._names(tenant, ("item", item))]
        try:
            return await self._shelf.remove(names) if names else 0
        except LedgerBackendError as error:
            _log.warning("not forgotten: %s", error)
            message = "the ledger cannot be reached now, so nothing was deleted; try again"
            raise Failure("overloaded", message, status=503).as_error() from None

    def _unlocked(self, tenant: str, value: bytes) -> Remembered | None:
        plain = self._box.unlock(value, bound_to(tenant, VERSION))
        try:
            return None if plain is None else _decode(plain)
        except msgspec.DecodeError:
            return None

    async def ping(self) -> None:
        """Read from the store; ShelfError when it does not answer."""
        await self._shelf.ping()

    async def stats(self) -> Stats:
        return await self._shelf.stats()

    async def purge(self, older_than: float | None = None) -> int:
        """Forgets turns that were not used for so many seconds, or all of them; how many that were."""
        return await self._shelf.purge(None if older_than is None else time.time() - older_than)

    async def aclose(self) -> None:
        await self._shelf.aclose()
