"""Things and whose they are: what belongs to somebody else is not there."""

from __future__ import annotations

from thinkwire.store import AgentRow, ConversationRow, MessageRow, RowNotFound
from thinkwire.web.errors import not_there
from thinkwire.web.request import ApiRequest


async def conversation(call: ApiRequest, id: str | None = None, *, deleted: bool = False) -> ConversationRow:
    """A conversation of whoever asks; from the bin only where that is meant."""
    try:
        row = await call.web.store.conversation(id or call.named("id"))
    except RowNotFound:
        raise not_there("conversation") from None
    if row.owner != call.owner or (row.deleted is not None and not deleted):
        raise not_there("conversation")
    return row


async def agent(call: ApiRequest, id: str | None = None, *, deleted: bool = False) -> AgentRow:
    try:
        row = await call.web.store.agent(id or call.named("id"))
    except RowNotFound:
        raise not_there("agent") from None
    if row.owner != call.owner or (row.deleted is not None and not deleted):
        raise not_there("agent")
    return row


async def message(call: ApiRequest) -> MessageRow:
    """A message of one of the asker's conversations."""
    try:
        kept = await call.web.store.message(call.named("id"))
        row = await call.web.store.conversation(kept.conversation_id)
    except RowNotFound:
        raise not_there("message") from None
    if row.owner != call.owner or row.deleted is not None:
        raise not_there("message")
    return kept
