"""Titles: asked of the conversation's own model, with thinking at its least."""

from __future__ import annotations

import logging

from thinkwire.errors import ThinkwireError
from thinkwire.store import ConversationRow
from thinkwire.web.api.session_factory import compose
from thinkwire.web.state import AppState

_log = logging.getLogger("thinkwire.web")


async def make_title(web: AppState, row: ConversationRow) -> str | None:
    """Names the conversation; None when the model has no name for it."""
    talk = (await compose(web, row)).talk
    title = await talk.title()
    if title:
        await web.store.rename(row.id, title)
        await web.news.tell(row.owner, row.id)
    return title


async def title_if_none(web: AppState, conversation_id: str) -> None:
    """In the background, after a first answer; a failure only means that there is no title."""
    try:
        row = await web.store.conversation(conversation_id)
        if row.title is None and row.deleted is None and row.head is not None:
            await make_title(web, row)
    except ThinkwireError as error:
        _log.info("conversation %s has no title: %s", conversation_id, error)
