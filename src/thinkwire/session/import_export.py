"""Whole conversations out of a store and into one: nothing is lost on the way."""

from __future__ import annotations

import time

from thinkwire.messages import Conversation
from thinkwire.store import MessageRow, Store
from thinkwire.transcripts import Archive, ArchiveHeader, ArchiveMessage, Imported, archive_of
from thinkwire.transcripts.archive import ARCHIVE_VERSION


async def archived(store: Store, conversation_id: str) -> Archive:
    """A conversation with its whole tree of messages."""
    row = await store.conversation(conversation_id)
    header = ArchiveHeader(
        version=ARCHIVE_VERSION,
        id=row.id,
        title=row.title,
        model=row.model,
        settings=row.settings,
        agent_id=row.agent_id,
        owner=row.owner or None,
        head=row.head,
        created=row.created,
        updated=row.updated,
        deleted=row.deleted,
    )
    messages = await store.messages(conversation_id)
    return Archive(header, tuple(_message(kept) for kept in messages))


async def adopted(store: Store, imported: Imported, *, owner: str = "") -> list[str]:
    """The ids of the conversations that a transcript became; what stood before a compaction is its own."""
    archives = imported.archives or tuple(
        archive_of(part, title=imported.title, model=imported.model)
        for part in (*imported.earlier, imported.conversation)
    )
    return [await _adopt(store, archive, owner) for archive in archives]


async def _adopt(store: Store, archive: Archive, owner: str) -> str:
    header = archive.header
    settings = dict(header.settings)
    if header.system and "system" not in settings:
        settings["system"] = "\n\n".join(text.text for text in header.system)
    row = await store.create_conversation(header.title, header.model, settings, owner=owner)
    ids = await store.adopt(row.id, [_kept(message, row.id) for message in archive.messages])
    if header.head in ids:
        await store.update(row.id, head=ids[header.head])
    return row.id


async def whole(store: Store, conversation_id: str) -> Conversation:
    """What was said on the way to where the conversation stands."""
    path = await store.path(conversation_id)
    return Conversation(turns=tuple(kept.turn for kept in path if kept.kind == "turn"))


def _message(kept: MessageRow) -> ArchiveMessage:
    return ArchiveMessage(
        id=kept.id,
        parent=kept.parent_id,
        seq=kept.seq,
        kind=kept.kind,
        status=kept.status,
        turn=kept.turn,
        finish=kept.finish,
        usage=kept.usage,
        notes=kept.notes,
        failure=kept.failure,
        covers=kept.covers,
        created=kept.created,
        updated=kept.updated,
        elapsed_thinking=kept.elapsed_thinking,
        cost=kept.cost,
        extra=kept.extra,
    )


def _kept(message: ArchiveMessage, conversation_id: str) -> MessageRow:
    created = time.time() if message.created is None else message.created
    return MessageRow(
        id=message.id,
        conversation_id=conversation_id,
        parent_id=message.parent,
        seq=message.seq or 0,
        role=message.turn.role,
        kind=message.kind,
        turn=message.turn,
        thinking=message.turn.thinking,
        text=message.turn.text,
        status=message.status,
        finish=message.finish,
        usage=message.usage,
        notes=message.notes,
        failure=message.failure,
        covers=message.covers,
        created=created,
        updated=created if message.updated is None else message.updated,
        elapsed_thinking=message.elapsed_thinking,
        cost=message.cost,
        extra=message.extra,
    )
