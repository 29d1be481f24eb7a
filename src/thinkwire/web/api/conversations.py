"""Conversations: listed, found, read, changed, put into the bin, exported."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET
from starlette.responses import Response

from thinkwire.errors import MalformedInput, ThinkwireError
from thinkwire.messages import Conversation, Text
from thinkwire.store import ConversationRow, MessageRow
from thinkwire.transcripts import Archive, ArchiveHeader, ArchiveMessage, write_archives, write_markdown
from thinkwire.transcripts.archive import ARCHIVE_VERSION
from thinkwire.web import schemas as shapes
from thinkwire.web.api import ownership as owned
from thinkwire.web.api.message_groups import MessageGroup, MessageTree, groups
from thinkwire.web.api.session_factory import checked_settings, compose, located
from thinkwire.web.auth.permissions import check_settings, check_tools
from thinkwire.web.errors import Problem, not_there
from thinkwire.web.exporting import file_name, released
from thinkwire.web.metadata import ui_message
from thinkwire.web.request import ApiRequest
from thinkwire.web.runs.registry import ActiveRun
from thinkwire.web.titles import make_title


async def list_conversations(call: ApiRequest) -> shapes.Conversations:
    """The newest first; with `q` those in which its words are found, and where."""
    query = call.query
    if query.q.strip():
        rows, following = await _found(call, query.q, query.limit), None
    else:
        rows = await call.web.store.conversations(call.owner, query.limit, _cursor(query.before))
        following = "{}~{}".format(*rows[-1].cursor) if len(rows) == query.limit else None
    running = await call.web.runs.running([row.id for row in rows])
    models = {agent.id: agent.model for agent in await call.web.store.agents(call.owner)}
    entries = [_entry(row, models.get(row.agent_id or ""), row.id in running) for row in rows]
    return shapes.Conversations(entries, following)


async def create(call: ApiRequest) -> shapes.Conversation:
    body = call.body
    if body.agent_id is not None:
        await _check_agent(call, body.agent_id)
    if body.model is not None:
        located(call.web, body.model)
    settings = checked_settings(body.settings)
    check_settings(call.web, settings, is_owner=call.is_owner)
    row = await call.web.store.create_conversation(
        model=body.model,
        settings=settings,
        agent_id=body.agent_id,
        owner=call.owner,
    )
    await call.web.news.tell(call.owner, row.id)
    return await _whole(call, row)


async def read(call: ApiRequest) -> shapes.Conversation:
    return await _whole(call, await owned.conversation(call))


async def change(call: ApiRequest) -> shapes.Conversation:
    """Changes what is given. Settings are merged, null takes one back; `head` is the message to stand at."""
    row, body, store = await owned.conversation(call), call.body, call.web.store
    changes: dict[str, Any] = {}
    if body.model is not UNSET:
        if body.model is not None:
            located(call.web, body.model)
        changes["model"] = body.model
    if body.agent_id is not UNSET:
        if body.agent_id is not None:
            await _check_agent(call, body.agent_id)
        changes["agent_id"] = body.agent_id
    if body.settings is not UNSET:
        merged = row.settings | body.settings
        settings = checked_settings({key: value for key, value in merged.items() if value is not None})
        changed = {key: value for key, value in settings.items() if key in body.settings}
        check_settings(call.web, changed, is_owner=call.is_owner)
        changes["settings"] = settings
    if body.head is not UNSET:
        changes["head"] = await _standing_at(call, row, body.head)
    if changes:
        await store.update(row.id, **changes)
    if body.title is not UNSET:
        await store.rename(row.id, body.title)
    await call.web.news.tell(call.owner, row.id)
    return await _whole(call, await store.conversation(row.id))


async def _check_agent(call: ApiRequest, id: str) -> None:
    """Refuse an agent of somebody else, and one with tools that the requester may not have."""
    row = await owned.agent(call, id)
    check_tools(call.web, row.tools, is_owner=call.is_owner)


async def delete(call: ApiRequest) -> shapes.Done:
    """Into the bin; an answer in the making is stopped."""
    row = await owned.conversation(call)
    await call.web.runs.stop(row.id)
    await call.web.store.delete(row.id)
    await call.web.news.tell(call.owner, row.id)
    return shapes.Done()


async def restore(call: ApiRequest) -> shapes.Conversation:
    row = await owned.conversation(call, deleted=True)
    await call.web.store.restore(row.id)
    await call.web.news.tell(call.owner, row.id)
    return await _whole(call, await call.web.store.conversation(row.id))


async def messages(call: ApiRequest) -> shapes.Messages:
    """The branch at which the conversation stands. Of an answer in the making, what was there before it."""
    row, store = await owned.conversation(call), call.web.store
    making = (await call.web.runs.running([row.id])).get(row.id)
    path = await store.path(row.id) if row.head else []
    tree = MessageTree(await store.tree(row.id))
    shown = groups(path)
    branches = {group.id: siblings for group in shown if len(siblings := tree.siblings(group.id)) > 1}
    told = [_told(group, making) for group in shown]
    if making is not None and _begins_here(making, path):
        told.append(_nothing_yet(making, path))
    return shapes.Messages(
        [msgspec.convert(message, shapes.UIMessage) for message in told],
        branches,
        making.message_id if making else None,
    )


async def title(call: ApiRequest) -> shapes.Titled:
    """A name for the conversation, asked of its own model."""
    row = await owned.conversation(call)
    if not row.count:
        raise Problem(409, "empty", "nothing was said yet, so there is nothing to name")
    return shapes.Titled(await make_title(call.web, row))


async def export(call: ApiRequest) -> Response:
    """A file for people or for programs. Thinking only when it is asked for; seals never."""
    row = await owned.conversation(call)
    kept = await call.web.store.path(row.id) if row.head else []
    thinking = call.query.thinking
    system = tuple(Text(text) for text in [await _instructions(call, row)] if text)
    if call.query.to == "markdown":
        turns = tuple(released(each.turn, thinking=thinking) for each in kept if each.kind == "turn")
        text = write_markdown(Conversation(system, turns), thinking=thinking, title=row.title)
        return _file(text.encode("utf-8", "replace"), "text/markdown", file_name(row.title, "md"))
    messages = tuple(_archived(each, thinking=thinking) for each in kept)
    header = ArchiveHeader(
        version=ARCHIVE_VERSION,
        id=row.id,
        title=row.title,
        model=row.model,
        system=system,
        head=row.head,
        created=row.created,
        updated=row.updated,
    )
    data = write_archives([Archive(header, messages)])
    return _file(data, "application/jsonl", file_name(row.title, "jsonl"))


def _archived(kept: MessageRow, *, thinking: bool) -> ArchiveMessage:
    return ArchiveMessage(
        id=kept.id,
        parent=kept.parent_id,
        seq=kept.seq,
        kind=kept.kind,
        status=kept.status,
        turn=released(kept.turn, thinking=thinking),
        finish=kept.finish,
        usage=kept.usage,
        notes=kept.notes,
        covers=kept.covers,
        created=kept.created,
        updated=kept.updated,
        elapsed_thinking=kept.elapsed_thinking,
        cost=kept.cost,
    )


def _file(data: bytes, media: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, headers=headers, media_type=media)


async def _instructions(call: ApiRequest, row: ConversationRow) -> str | None:
    try:
        words = (await compose(call.web, row, is_owner=call.is_owner)).talk.settings.get("system")
    except ThinkwireError:
        return None
    return str(words) if words else None


def _told(group: MessageGroup, making: ActiveRun | None) -> dict[str, Any]:
    """An answer in the making is given as it was before; its stream has the rest."""
    if making is None or making.message_id != group.id:
        return ui_message(group)
    at = next((index for index, kept in enumerate(group.kept) if kept.id == making.base), -1)
    before = group.kept[: at + 1]
    told = ui_message(group, running=True)
    earlier = ui_message(MessageGroup("assistant", before))["parts"] if before else []
    return told | {"parts": earlier}


def _begins_here(making: ActiveRun, path: list[MessageRow]) -> bool:
    """Whether an answer of which nothing has come will be the next message of this branch."""
    ids = [kept.id for kept in path]
    return making.message_id not in ids and (making.base is None or making.base in ids)


def _nothing_yet(making: ActiveRun, path: list[MessageRow]) -> dict[str, Any]:
    parent = path[-1].id if path else None
    metadata = {"status": "streaming", "parent_id": parent}
    return {"id": making.message_id, "role": "assistant", "parts": [], "metadata": metadata}


async def _standing_at(call: ApiRequest, row: ConversationRow, id: str) -> str:
    """A message of the branch that is shown is gone on from; with another one, its branch is shown."""
    store = call.web.store
    branches = await store.tree(row.id)
    if id not in {branch.id for branch in branches}:
        raise not_there("message")
    path = await store.path(row.id) if row.head else []
    for group in groups(path):
        if any(kept.id == id for kept in group.kept):
            return group.last.id
    return MessageTree(branches).newest_under(id)


async def _found(call: ApiRequest, words: str, limit: int) -> list[ConversationRow]:
    found: dict[str, ConversationRow] = {}
    for hit in await call.web.store.search(words, call.owner, limit * 3):
        if hit.conversation_id not in found and len(found) < limit:
            row = await call.web.store.conversation(hit.conversation_id)
            found[row.id] = msgspec.structs.replace(row, preview=hit.snippet)
    return list(found.values())


def _cursor(text: str) -> tuple[float, str] | None:
    if not text:
        return None
    updated, _, id = text.partition("~")
    try:
        return float(updated), id
    except ValueError:
        raise MalformedInput("not a `next` of this list", path="before") from None


def _entry(row: ConversationRow, model: str | None, running: bool) -> shapes.ConversationEntry:
    return shapes.ConversationEntry(
        id=row.id,
        title=row.title,
        model=row.model or model,
        agent_id=row.agent_id,
        preview=row.preview,
        updated=row.updated,
        count=row.count,
        running=running,
    )


async def _whole(call: ApiRequest, row: ConversationRow) -> shapes.Conversation:
    running = await call.web.runs.running([row.id])
    context, model = await _context(call, row)
    return shapes.Conversation(
        **msgspec.structs.asdict(_entry(row, model, row.id in running)),
        created=row.created,
        head=row.head,
        settings=row.settings,
        context=context,
    )


async def _context(call: ApiRequest, row: ConversationRow) -> tuple[shapes.Context | None, str | None]:
    """How full the window is, and of which model; unknown where no model can be asked."""
    try:
        talk = (await compose(call.web, row, is_owner=call.is_owner)).talk
        stamp = (row.head, row.updated, talk.settings)
        found = call.web.counted.get(row.id, stamp)
        if found is None:
            found = call.web.counted.put(row.id, stamp, await talk.effective())
        return shapes.Context(found.total, found.limit, found.shown()), talk.model
    except ThinkwireError:
        return None, None
