"""Talking: an answer is begun, followed, picked up again, stopped."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import UNSET
from starlette.responses import Response

from thinkwire.messages import Block
from thinkwire.session.attachments import attached
from thinkwire.store import ConversationRow, MessageRow, RowNotFound
from thinkwire.store.ids import new_id
from thinkwire.web import schemas as shapes
from thinkwire.web.api import ownership as owned
from thinkwire.web.api.message_groups import MessageGroup, MessageTree, groups, is_results
from thinkwire.web.api.session_factory import compose
from thinkwire.web.errors import Problem, not_there
from thinkwire.web.mcp_servers import PATIENCE
from thinkwire.web.request import ApiRequest, still_signed_in
from thinkwire.web.runs.branch_writer import BranchWriter
from thinkwire.web.runs.run import UserInput, WebRun
from thinkwire.web.sse import event_stream
from thinkwire.web.titles import title_if_none


async def chat(call: ApiRequest) -> Response:
    """Says something, and streams the answer; the answer goes on when its reader leaves."""
    row = await owned.conversation(call)
    saying = await _saying(call)
    following = await call.web.runs.start(row.id, lambda: _begun(call, row, saying))
    return event_stream(
        following, 0, allowed=_allowed(call, row.id), check_every=call.web.options.check_every
    )


async def stream(call: ApiRequest) -> Response:
    """The answer in the making from its beginning, or from after `last-event-id`; 204 when there is none."""
    row = await owned.conversation(call)
    after = _number(call.request.headers.get("last-event-id") or call.query.last_event_id)
    following = await call.web.runs.find(row.id)
    if following is None or (following.over and not after):
        return Response(status_code=204)
    if call.query.run and call.query.run != following.id:
        return Response(status_code=204)
    return event_stream(
        following, after, allowed=_allowed(call, row.id), check_every=call.web.options.check_every
    )


async def stop(call: ApiRequest) -> shapes.Stopped:
    """Ends the answer in the making; everything that arrived is kept."""
    row = await owned.conversation(call)
    return shapes.Stopped(await call.web.runs.stop(row.id))


async def approve(call: ApiRequest) -> shapes.Approved:
    row = await owned.conversation(call)
    decided = await call.web.runs.approve(
        row.id, call.body.tool_call_id, call.body.decision, is_owner=call.is_owner
    )
    if not decided:
        raise Problem(409, "not_asked", "this call waits for nobody's word; it may have been decided already")
    return shapes.Approved(True)


async def _saying(call: ApiRequest) -> UserInput:
    """What is said, with its files; MalformedInput when it is nothing."""
    message = call.body.message
    if message is None:
        return UserInput()
    if call.body.regenerate is not None:
        raise Problem(400, "malformed_input", "either a message, or an answer to make again")
    if not message.text.strip() and not message.files:
        raise Problem(400, "malformed_input", "there is nothing in the message")
    files: list[Block] = []
    for file in message.files:
        try:
            upload, data = await call.web.store.upload(file.file_id, call.owner)
        except RowNotFound:
            raise not_there("file") from None
        files.append(attached(data, upload.name))
    return UserInput(message.text or None, tuple(files))


async def _begun(call: ApiRequest, row: ConversationRow, saying: UserInput) -> WebRun:
    web = call.web
    head = await _head(call, row)
    composed = await compose(web, row, is_owner=call.is_owner, patience=PATIENCE)
    going_on = await _going_on(call, row, head) if saying.text is None and not saying.files else None
    message_id = going_on.id if going_on else new_id()
    line = BranchWriter(web.store, head, None if going_on else message_id)
    parent = going_on.kept[0].parent_id if going_on else head
    answering = WebRun(composed.talk, line, message_id, parent, owner=row.owner, needs_owner=call.is_owner)
    answering.begin(UserInput(saying.text, saying.files, composed.notes))
    if row.title is None:
        web.background(_then_title(call, answering))
    return answering


async def _head(call: ApiRequest, row: ConversationRow) -> str | None:
    """After which message the conversation goes on."""
    body, store = call.body, call.web.store
    if body.regenerate is not None:
        kept = await _message(call, row, body.regenerate)
        return kept.parent_id if kept.role == "assistant" else kept.id
    if body.parent_id is UNSET:
        return row.head
    if body.parent_id is None:
        return None
    kept = await _message(call, row, body.parent_id)
    if kept.role == "user" and not is_results(kept):
        return kept.id
    end = MessageTree(await store.tree(row.id)).newest_under(kept.id)
    for group in groups(await store.path(row.id, end)):
        if any(each.id == kept.id for each in group.kept):
            return group.last.id
    return kept.id


async def _message(call: ApiRequest, row: ConversationRow, id: str) -> MessageRow:
    try:
        kept = await call.web.store.message(id)
    except RowNotFound:
        raise not_there("message") from None
    if kept.conversation_id != row.id:
        raise not_there("message")
    return kept


async def _going_on(call: ApiRequest, row: ConversationRow, head: str | None) -> MessageGroup | None:
    """The unfinished answer that is gone on with; None when an answer begins anew."""
    if head is None:
        raise Problem(409, "empty", "nothing was said yet, so there is nothing to answer")
    last = groups(await call.web.store.path(row.id, head))[-1]
    if last.role == "user":
        return None
    if last.finished:
        raise Problem(409, "answered", "everything is answered; say something, or make an answer again")
    return last


def _allowed(call: ApiRequest, conversation_id: str) -> Callable[[], Awaitable[bool]]:
    """Whether the reader of a long stream may still read: signed in, and the conversation still theirs."""

    async def allowed() -> bool:
        try:
            await owned.conversation(call, conversation_id)
        except Problem:
            return False
        return await still_signed_in(call)

    return allowed


async def _then_title(call: ApiRequest, answering: WebRun) -> None:
    await answering.wait()
    if answering.ending == "complete":
        await title_if_none(call.web, answering.conversation_id)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0
