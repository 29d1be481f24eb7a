"""News for every browser of a user: what to look at again."""

from __future__ import annotations

from thinkwire.web import schemas as shapes
from thinkwire.web.change_feed import number_of, written
from thinkwire.web.errors import Problem
from thinkwire.web.request import ApiRequest, still_signed_in


async def events(call: ApiRequest) -> shapes.Events:
    """Waits for news of the asker's own conversations; an empty list when there are none for a while."""
    web = call.web
    heard = await web.news.since(call.owner, number_of(call.query.after), web.options.news_patience)
    if not await still_signed_in(call):
        raise Problem(401, "signed_out", "sign in first")
    return shapes.Events(written(heard.number), heard.conversation_ids)
