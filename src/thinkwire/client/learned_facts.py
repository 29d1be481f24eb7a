"""Learned facts: what providers' refusals taught about models, kept in a file for thirty days."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from thinkwire.catalog import Facts
from thinkwire.config.paths import WatchedFile, make_folder, state_folder
from thinkwire.errors import ConfigError
from thinkwire.reasoning.corrections import Change, changed_facts

LEARNED_DAYS = 30
"""How long a learned fact is believed; vendors change their models."""
MOST_PER_SCOPE = 50
MOST = 1_000

EVERYONE = "everyone"
"""The scope of facts that an operator has promoted."""
LOCAL_USER = "user"
"""The scope of the library, the terminal, and a gateway without keys."""

_LOCK_TRIES, _LOCK_PAUSE = 25, 0.01


TENANT = "tenant:"
"""Begins the scope of one tenant of a gateway; its id follows."""


def tenant_scope(tenant_id: str) -> str:
    """The scope of one tenant of a gateway."""
    return TENANT + tenant_id


def web_scope(owner: str) -> str:
    """The scope of one user of the web application."""
    return f"web:{owner}"


class LearnedFact(msgspec.Struct, frozen=True):
    """A corrected fact about a model, whose refusal taught it, and for whom it counts."""

    scope: str
    provider: str
    model: str
    change: Change
    """Fields of Facts and their new values."""
    evidence: str
    """The refusal, in the provider's words."""
    learned: float
    """Seconds since the epoch."""

    @property
    def id(self) -> str:
        """Names what was learned, for whom; the same fact learned again has the same id."""
        said = msgspec.json.encode((self.scope, self.provider, self.model, self.change), order="sorted")
        return hashlib.sha256(said).hexdigest()[:10]

    @property
    def expires(self) -> float:
        return self.learned + LEARNED_DAYS * 86_400

    def is_about(self, facts: Facts) -> bool:
        return self.model == facts.id and self.provider == facts.provider

    def apply(self, facts: Facts) -> Facts:
        """The corrected facts. A correction that no longer fits them changes nothing."""
        try:
            return changed_facts(facts, self.change)
        except msgspec.ValidationError:
            return facts


_decode = msgspec.json.Decoder(LearnedFact).decode
_encode = msgspec.json.Encoder().encode


def default_learned_facts() -> LearnedFactsFile:
    """The file in the state folder."""
    return LearnedFactsFile(state_folder() / "learned_facts.jsonl")


class LearnedFactsFile:
    """One JSON object per line; a line that is no learned fact with a scope is ignored, and dropped in time.

    Every change rewrites the file under a lock, so that several processes can learn at once. What this
    process learns counts at once, what others learn within a tenth of a second.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._file = WatchedFile(path, clock=clock)
        self._by_model: dict[tuple[str, str], list[LearnedFact]] = {}

    def add(self, fact: LearnedFact) -> bool:
        """Remembers a fact, in place of the same one learned before; False where the file is locked for long.

        A scope that is full loses its oldest fact; a full file one of the scope that has most.
        """
        with self._locked() as is_mine:
            if not is_mine:
                return False
            facts = [old for old in _read(self.path) if old.id != fact.id and old.expires > fact.learned]
            self._write(_bounded([*facts, fact]))
        return True

    def all(self, now: float) -> list[LearnedFact]:
        """The facts that are still believed, oldest first."""
        return [fact for fact in _read(self.path) if fact.expires > now]

    def corrected(self, facts: Facts, now: float, scope: str) -> Facts:
        """The facts about a model with everything that was learned for everyone and in this scope."""
        learned = self._about(facts)
        if not learned:
            return facts
        for wanted in dict.fromkeys((EVERYONE, scope)):
            for fact in learned:
                if fact.scope == wanted and fact.expires > now:
                    facts = fact.apply(facts)
        return facts

    def has_own(self, facts: Facts, scope: str) -> bool:
        """Whether something was learned about a model in this scope, as far as the file was last read."""
        learned = self._by_model.get((facts.provider, facts.id))
        return learned is not None and any(fact.scope == scope for fact in learned)

    def forget(self, ids: list[str]) -> list[LearnedFact]:
        """Removes facts by id; ConfigError names an id that no fact has."""
        with self._changing() as facts:
            gone = [_find(facts, wanted) for wanted in dict.fromkeys(ids)]
            self._write([fact for fact in facts if fact not in gone])
        return gone

    def forget_all(self, now: float) -> int:
        """Removes every fact; returns how many were still believed."""
        with self._changing() as facts:
            self._write([])
        return sum(fact.expires > now for fact in facts)

    def promote(self, ids: list[str], now: float) -> list[LearnedFact]:
        """Lets facts count for everyone, for another thirty days."""
        with self._changing() as facts:
            chosen = [_find(facts, wanted) for wanted in dict.fromkeys(ids)]
            promoted = [msgspec.structs.replace(fact, scope=EVERYONE, learned=now) for fact in chosen]
            names = {fact.id for fact in (*chosen, *promoted)}
            self._write(_bounded([*(fact for fact in facts if fact.id not in names), *promoted]))
        return promoted

    def _about(self, facts: Facts) -> list[LearnedFact] | None:
        """The file is read again only when it has changed."""
        if self._file.changed():
            self._by_model = _by_model(_read(self.path))
        return self._by_model.get((facts.provider, facts.id))

    @contextmanager
    def _changing(self) -> Iterator[list[LearnedFact]]:
        try:
            with self._locked() as is_mine:
                if not is_mine:
                    raise ConfigError(f"{self.path} is locked by another process; try again")
                yield _read(self.path)
        except OSError as error:
            raise ConfigError(f"cannot change {self.path}: {error.strerror}") from None

    @contextmanager
    def _locked(self) -> Iterator[bool]:
        """Holds the lock of all processes; False where another one holds it for a quarter of a second."""
        make_folder(self.path.parent)
        try:
            import fcntl
        except ImportError:
            yield True
            return
        descriptor = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            for _ in range(_LOCK_TRIES):
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    time.sleep(_LOCK_PAUSE)
                else:
                    yield True
                    return
            yield False
        finally:
            os.close(descriptor)

    def _write(self, facts: list[LearnedFact]) -> None:
        """Replaces the file in one step, so that readers never see half of it."""
        descriptor, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(_encode(fact) + b"\n" for fact in facts)
            os.replace(temporary, self.path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        self._by_model = _by_model(facts)
        self._file.look_again()


def _by_model(facts: list[LearnedFact]) -> dict[tuple[str, str], list[LearnedFact]]:
    found: dict[tuple[str, str], list[LearnedFact]] = {}
    for fact in facts:
        found.setdefault((fact.provider, fact.model), []).append(fact)
    return found


def _bounded(facts: list[LearnedFact]) -> list[LearnedFact]:
    """At most so many facts, the newest of each scope."""
    counts = Counter(fact.scope for fact in facts)
    while facts:
        scope, most = counts.most_common(1)[0]
        if most <= MOST_PER_SCOPE and len(facts) <= MOST:
            break
        oldest = next(fact for fact in facts if fact.scope == scope)
        facts = [fact for fact in facts if fact is not oldest]
        counts[scope] -= 1
    return facts


def _find(facts: list[LearnedFact], wanted: str) -> LearnedFact:
    for fact in facts:
        if fact.id == wanted:
            return fact
    raise ConfigError(f"no learned fact has the id {wanted!r}; `thinkwire models learned` lists them")


def _read(path: Path) -> list[LearnedFact]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return []
    return [fact for fact in map(_fact, lines) if fact is not None]


def _fact(line: bytes) -> LearnedFact | None:
    try:
        return _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
