"""News for every browser of a user: what to look at again."""

from __future__ import annotations

from thinkwire.web import shapes
from thinkwire.web.call import Call, still_signed_in
from thinkwire.web.news import number_of, written
from thinkwire.web.problems import Problem


async def events(call: Call) -> shapes.Events:
    """Waits for news of the asker's own conversations; an empty list when there are none for a while."""
    web = call.web
    heard = await web.news.since(call.owner, number_of(call.query.after), web.options.news_patience)
    if not await still_signed_in(call):
        raise Problem(401, "signed_out", "sign in first")
    return shapes.Events(written(heard.number), heard.conversation_ids)
