"""Reasoning that arrives in one field, in several, or in pieces, read as one thinking block."""

from __future__ import annotations

from typing import Any, TypeAlias

from thinkwire.dialects.openai_chat.constants import keep
from thinkwire.dialects.openai_chat.reasoning_details import FIELD, Details
from thinkwire.jsonvalue import JsonObject, Path, malformed
from thinkwire.messages import Extras, Form, Seal, Thinking

OPAQUE_FIELD = "reasoning_opaque"
OPAQUE_SCHEME = "copilot.opaque"

PLAIN = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
"""Fields with the text itself; where several differ, the first wins."""

FIELDS = frozenset((*PLAIN, FIELD, OPAQUE_FIELD))

Said: TypeAlias = list[tuple[str, str]]
"""The reasoning of one delta: fields and their texts, the most trusted first."""


class Thoughts:
    """One thinking block in the making.

    Two fields with the same words count once. The first field that spoke leads; another one that repeats its
    words, at once or later, only is remembered; one that goes on where the leader fell silent takes over.
    """

    __slots__ = ("_followed", "_others", "_steady", "details", "field", "leader", "opaque", "parts")

    def __init__(self) -> None:
        self.leader: str | None = None
        """The field whose words count."""
        self.parts: list[str] = []
        self._others: dict[str, list[str]] = {}
        self._followed: dict[str, _Follower] = {}
        """How far each other field has repeated the leader's words."""
        self._steady: set[str] = set()
        self.details = Details()
        self.opaque: str | None = None
        self.field: str | None = None
        """The field in which the block goes back; known with the first text."""

    @property
    def sealed(self) -> bool:
        """Whether there is something to keep even if nothing can be read."""
        return self.details.opaque or self.opaque is not None

    @property
    def form(self) -> Form:
        return self.details.form

    def read(self, delta: JsonObject) -> Said:
        """What a delta or a message says in its reasoning fields; its details and seal are taken in."""
        said: Said = [(field, text) for field in PLAIN if type(text := delta.get(field)) is str and text]
        entries = delta.get(FIELD)
        if type(entries) is list and entries:
            text = self.details.add(entries)
            if text:
                said.insert(0, (FIELD, text))
        opaque = delta.get(OPAQUE_FIELD)
        if type(opaque) is str and opaque:
            self.opaque = opaque
        return said

    def take(self, said: Said) -> str:
        """The text that is new in what was said."""
        if len(said) == 1:
            field, text = said[0]
            if field == self.leader:
                self.parts.append(text)
                return text
        if not said:
            return ""
        if self.field is None:
            self.field = next((name for name, _ in said if name != FIELD), FIELD)
        chosen = next((one for one in said if one[0] == self.leader), said[0])
        for name, text in said:
            if name != chosen[0]:
                self._others.setdefault(name, []).append(text)
                self._steady.add(name)
        return self._take_one(*chosen)

    def seal(self, *, verbatim: bool) -> Seal | None:
        if len(self.details):
            return self.details.seal(verbatim=verbatim)
        return Seal(OPAQUE_SCHEME, self.opaque) if self.opaque is not None else None

    def extras(self) -> Extras:
        """Further fields that said the same (True) or something else (their text)."""
        total = "".join(self.parts)
        beside: JsonObject = {}
        for name, parts in self._others.items():
            text = "".join(parts)
            if name == FIELD or (name == self.field and text == total):
                continue
            beside[name] = True if text == total else text
        native = {OPAQUE_FIELD: self.opaque} if self.opaque is not None and len(self.details) else {}
        return keep(native, beside=beside or None)

    def _take_one(self, field: str, text: str) -> str:
        if self.leader is None or field == self.leader:
            self.leader = field
            self.parts.append(text)
            return text
        pieces = self._others.setdefault(field, [])
        pieces.append(text)
        follower = self._followed.setdefault(field, _Follower())
        fresh = follower.beyond(pieces, self.parts)
        if fresh is None:
            fresh = text if field in self._steady else "".join(pieces)
            self.leader = field
            del self._others[field], self._followed[field]
            self.parts.append(fresh)
        elif fresh:
            self.parts.append(fresh)
            follower.catch_up(self.parts)
        return fresh


class _Follower:
    """A field that may repeat the leader's words. Each piece of either is compared once."""

    __slots__ = ("_at", "_part", "_read")

    def __init__(self) -> None:
        self._read = 0  # pieces that were compared
        self._part = self._at = 0  # up to where in the leader's

    def beyond(self, pieces: list[str], leader: list[str]) -> str | None:
        """What the pieces say after all that the leader said; None once they say something else."""
        fresh: list[str] = []
        for piece in pieces[self._read :]:
            at = 0
            while at < len(piece) and self._part < len(leader):
                mine = leader[self._part]
                size = min(len(mine) - self._at, len(piece) - at)
                if not mine.startswith(piece[at : at + size], self._at):
                    return None
                at += size
                self._at += size
                if self._at == len(mine):
                    self._part, self._at = self._part + 1, 0
            fresh.append(piece[at:])
        self._read = len(pieces)
        return "".join(fresh)

    def catch_up(self, leader: list[str]) -> None:
        """The leader has said the same up to its end."""
        self._part, self._at = len(leader), 0


def read_message(message: JsonObject, path: Path) -> tuple[Thinking | None, JsonObject]:
    """The thinking of a message in a request, and reasoning fields that are there but say nothing."""
    spoken = FIELDS.intersection(message)
    if not spoken:
        return None, {}
    if len(spoken) == 1:
        (only,) = spoken
        if only in PLAIN and type(message[only]) is str and message[only]:
            return Thinking(message[only], field=only), {}
    _check(message, path)
    thoughts = Thoughts()
    text = thoughts.take(thoughts.read(message))
    if not text and not thoughts.sealed:
        return None, {key: message[key] for key in FIELDS if message.get(key) is not None}
    thinking = Thinking(
        text=text,
        form=thoughts.form if text else "hidden",
        field=thoughts.field or hidden_field(thoughts),
        seal=thoughts.seal(verbatim=True),
        extras=thoughts.extras(),
    )
    silent = {key: "" for key in PLAIN if message.get(key) == ""}
    if message.get(FIELD) == []:
        silent[FIELD] = message[FIELD]
    return thinking, silent


def only_field(delta: JsonObject, field: str) -> JsonObject:
    """A delta whose reasoning is what this one field says; the other reasoning fields do not count."""
    rest = {key: value for key, value in delta.items() if key not in FIELDS and key != field}
    if delta.get(field) is not None:
        rest[field if field in FIELDS else PLAIN[0]] = delta[field]
    return rest


def hidden_field(thoughts: Thoughts) -> str:
    """The field of a block that has a seal and no text."""
    return FIELD if len(thoughts.details) else "reasoning_text"


def _check(message: JsonObject, path: Path) -> None:
    for key in (*PLAIN, OPAQUE_FIELD):
        value = message.get(key)
        if value is not None and type(value) is not str:
            raise malformed((*path, key), "a string", value)
    entries: Any = message.get(FIELD)
    if entries is not None and type(entries) is not list:
        raise malformed((*path, FIELD), "an array", entries)
    for at, entry in enumerate(entries or ()):
        if type(entry) is not dict:
            raise malformed((*path, FIELD, at), "an object", entry)
