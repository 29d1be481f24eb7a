"""Our lines: a header for each conversation and a line for each stored message. Nothing is lost in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from thinkwire.errors import Failure, MalformedInput
from thinkwire.jsonvalue import dump, parse_as
from thinkwire.messages import Conversation, Text, Turn
from thinkwire.notes import Note
from thinkwire.transcripts.jsonl import BOM, bad_line
from thinkwire.usage import Usage

ARCHIVE_VERSION = 1


class ArchiveHeader(
    msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="conversation", kw_only=True
):
    """The first line of a conversation."""

    version: int
    id: str | None = None
    title: str | None = None
    model: str | None = None
    system: tuple[Text, ...] = ()
    settings: dict[str, Any] = {}
    agent_id: str | None = None
    owner: str | None = None
    head: str | None = None
    """The message that the conversation stands at; the last line when there is none."""
    created: float | None = None
    updated: float | None = None
    deleted: float | None = None


class ArchiveMessage(
    msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="message", kw_only=True
):
    """One stored message. `parent` makes a tree of them: edits and second answers are all there."""

    id: str
    parent: str | None = None
    seq: int | None = None
    kind: Literal["turn", "summary"] = "turn"
    status: Literal["streaming", "complete", "interrupted", "failed"] = "complete"
    turn: Turn
    finish: str | None = None
    usage: Usage | None = None
    notes: tuple[Note, ...] = ()
    failure: Failure | None = None
    covers: str | None = None
    """For a summary: the last message that it stands for."""
    created: float | None = None
    updated: float | None = None
    elapsed_thinking: float | None = None
    cost: float | None = None
    extra: dict[str, Any] = {}


class Archive(msgspec.Struct, frozen=True):
    """One conversation with all its messages."""

    header: ArchiveHeader
    messages: tuple[ArchiveMessage, ...] = ()


def write_archives(archives: Iterable[Archive]) -> bytes:
    """The lines of several conversations, one after the other."""
    return b"".join(
        dump(line) + b"\n" for archive in archives for line in (archive.header, *archive.messages)
    )


def read_archives(data: bytes) -> tuple[Archive, ...]:
    """The conversations of such lines; MalformedInput names the line that does not fit."""
    archives: list[tuple[ArchiveHeader, list[ArchiveMessage]]] = []
    for number, text in enumerate(data.removeprefix(BOM).split(b"\n"), 1):
        if not text.strip():
            continue
        line = _line(number, text)
        if isinstance(line, ArchiveHeader):
            if line.version != ARCHIVE_VERSION:
                raise bad_line(number, f"version {line.version} is not known here, but {ARCHIVE_VERSION}")
            archives.append((line, []))
        elif archives:
            archives[-1][1].append(line)
        else:
            raise bad_line(number, "a message before the conversation that it belongs to")
    return tuple(Archive(header, tuple(messages)) for header, messages in archives)


def _line(number: int, text: bytes) -> ArchiveHeader | ArchiveMessage:
    try:
        line: ArchiveHeader | ArchiveMessage = parse_as(text, ArchiveHeader | ArchiveMessage)
    except MalformedInput as error:
        raise bad_line(number, str(error)) from None
    return line


def archive_of(conversation: Conversation, *, title: str | None = None, model: str | None = None) -> Archive:
    """A conversation as stored messages, each the child of the one before."""
    names = [f"m{number:04}" for number in range(1, len(conversation.turns) + 1)]
    messages = tuple(
        ArchiveMessage(id=name, parent=parent, turn=turn, created=turn.origin.time if turn.origin else None)
        for name, parent, turn in zip(names, [None, *names], conversation.turns, strict=False)
    )
    header = ArchiveHeader(
        version=ARCHIVE_VERSION,
        title=title,
        model=model,
        system=conversation.system,
        head=names[-1] if names else None,
    )
    return Archive(header, messages)


def conversation_of(archive: Archive) -> Conversation:
    """The turns from the root to the head. Summaries are left out: what they stand for is there."""
    by_id = {message.id: message for message in archive.messages}
    last = archive.messages[-1].id if archive.messages else None
    at = archive.header.head if archive.header.head in by_id else last
    path: list[ArchiveMessage] = []
    while at is not None and at in by_id:
        path.append(by_id.pop(at))
        at = path[-1].parent
    turns = tuple(message.turn for message in reversed(path) if message.kind == "turn")
    return Conversation(system=archive.header.system, turns=turns)
