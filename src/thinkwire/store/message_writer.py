"""What writing a message means, whichever way it gets into the database."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Any

from msgspec import UNSET, UnsetType

from thinkwire.errors import Failure
from thinkwire.messages import Turn
from thinkwire.notes import Note
from thinkwire.store.heartbeat import Heartbeat
from thinkwire.store.ids import new_id
from thinkwire.store.mapping import preview, read_message, told_columns, turn_columns, word_columns
from thinkwire.store.process import this_process
from thinkwire.store.rows import HEAD, Kind, MessageRow, Status
from thinkwire.store.seal_encryption import SealCipher
from thinkwire.usage import Usage

Columns = dict[str, Any]

AFTER_REVISION = ("conversation_id", "status", "text", "thinking", "text_words", "thinking_words")
"""The columns of a revised message that `after_revision` looks at."""


class MessageWriter(ABC):
    """Keeps turns and revises them. Whoever has a database says how a row gets there."""

    _safe: SealCipher
    _heart: Heartbeat

    @abstractmethod
    async def _insert_row(self, columns: Columns) -> Columns:
        """Puts a message in its place, in one transaction: the row as it is then."""

    @abstractmethod
    async def _revise_row(self, id: str, columns: Columns) -> None:
        """Changes a message, and what follows from that, in one transaction."""

    async def append(
        self,
        conversation_id: str,
        turn: Turn,
        *,
        parent: str | None = HEAD,
        kind: Kind = "turn",
        status: Status = "complete",
        covers: str | None = None,
        finish: str | None = None,
        usage: Usage | None = None,
        notes: tuple[Note, ...] = (),
        failure: Failure | None = None,
        elapsed_thinking: float | None = None,
        cost: float | None = None,
        extra: dict[str, Any] | None = None,
        created: float | None = None,
        id: str | None = None,
    ) -> MessageRow:
        """Keeps a turn under its parent (None begins a new root) and makes it the conversation's head."""
        id = id or new_id()
        told = {
            "finish": finish,
            "usage": usage,
            "notes": notes,
            "failure": failure,
            "elapsed_thinking": elapsed_thinking,
            "cost": cost,
            "extra": extra or {},
        }
        place: Columns = {
            "conversation_id": conversation_id,
            "parent_id": parent,
            "kind": kind,
            "covers": covers,
        }
        columns = place | self._message_columns(id, turn, status, told)
        if created is not None:
            columns["created"] = created
        row = await self._insert_row(columns)
        if status == "streaming":
            self._heart.beat_for(id)
        return read_message(row, self._safe)

    async def revise(
        self,
        message_id: str,
        *,
        turn: Turn | UnsetType = UNSET,
        status: Status | UnsetType = UNSET,
        usage: Usage | UnsetType | None = UNSET,
        notes: tuple[Note, ...] | UnsetType = UNSET,
        finish: str | UnsetType | None = UNSET,
        failure: Failure | UnsetType | None = UNSET,
        elapsed_thinking: float | UnsetType | None = UNSET,
        cost: float | UnsetType | None = UNSET,
        extra: dict[str, Any] | UnsetType = UNSET,
    ) -> None:
        """Changes what is given of a message, in one transaction, and gives a sign of life."""
        told = {
            "usage": usage,
            "notes": notes,
            "finish": finish,
            "failure": failure,
            "elapsed_thinking": elapsed_thinking,
            "cost": cost,
            "extra": extra,
        }
        columns = told_columns({name: value for name, value in told.items() if value is not UNSET})
        columns["updated"] = time.time()
        if turn is not UNSET:
            columns |= turn_columns(turn, message_id, self._safe)
            if status not in (UNSET, "streaming"):
                columns |= word_columns(columns["text"], columns["thinking"])
        if status is not UNSET:
            columns["status"] = status
            columns["owner_process"] = this_process() if status == "streaming" else None
        await self._revise_row(message_id, columns)
        if status == "streaming":
            self._heart.beat_for(message_id)
        elif status is not UNSET:
            self._heart.ended(message_id)

    def _message_columns(self, id: str, turn: Turn, status: Status, told: Columns) -> Columns:
        now = time.time()
        columns = turn_columns(turn, id, self._safe) | told_columns(told)
        columns |= {"id": id, "status": status, "created": now, "updated": now}
        if status == "streaming":
            return columns | {"owner_process": this_process()}
        return columns | word_columns(columns["text"], columns["thinking"])


def placed(columns: Columns, head: str | None, count: int) -> Columns:
    """A message as the newest of a conversation that had this head and so many messages."""
    parent = head if columns["parent_id"] == HEAD else columns["parent_id"]
    return columns | {"parent_id": parent, "seq": count + 1}


def after_insert(values: Columns) -> Columns:
    """What changes of the conversation whose newest message this is."""
    moved = {"head": values["id"], "count": values["seq"], "updated": values["updated"]}
    words = preview(values["text"])
    return moved | ({"preview": words} if words else {})


def after_revision(columns: Columns, row: Columns) -> tuple[Columns, Columns]:
    """What a revision changes besides: of the message, and of the conversation if it is the head there.

    Nothing while it is being written.
    """
    if row["status"] == "streaming" or not columns.keys() & {"status", "text"}:
        return {}, {}
    words = word_columns(row["text"], row["thinking"])
    if all(row[name] == value for name, value in words.items()):
        words = {}
    said = {"preview": preview(row["text"])} if row["text"].strip() else {}
    return words, {"updated": columns["updated"]} | said


def interrupted(text: str, thinking: str) -> Columns:
    """What changes of a message that nobody writes any more."""
    return {"status": "interrupted", "owner_process": None, **word_columns(text, thinking)}
