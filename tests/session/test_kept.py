"""A session on a real store: durable before it is shown as done, and open to whoever comes next."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.session.talk import client_of, ending, of, said, session_of, settings_of
from thinkwire.client.engine import Client
from thinkwire.errors import ConfigError
from thinkwire.session import Compacted, Session, SessionNote, TurnSaved
from thinkwire.session.history import view
from thinkwire.session.write_behind import WriteBehindStore
from thinkwire.sim.fixture import Running, simulator
from thinkwire.store import Store, open_store
from thinkwire.store.ids import new_id

__all__ = ["simulator"]
pytestmark = pytest.mark.anyio

LOOP = '[[think:I look.]] [[call:get_weather {"city":"Oslo"}]] [[think:So.]] [[say:Rain.]]'


@pytest.fixture
async def client(simulator: Running) -> AsyncIterator[Client]:
    async with client_of(simulator) as client:
        yield client


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await open_store(f"sqlite:///{tmp_path}/kept.db") as store:
        yield store


async def begun(client: Client, store: Store, **values: Any) -> Session:
    row = await store.create_conversation(model=values.get("model"))
    session = session_of(client, **values)
    session.keeper, session.conversation_id = store, row.id
    return session


async def test_every_turn_is_in_the_store_when_it_is_said_to_be_kept(client: Client, store: Store) -> None:
    session = await begun(client, store, model="claude-opus-5-5/high")
    async for happening in session.send(LOOP):
        if isinstance(happening, TurnSaved):
            kept = await store.message(happening.id)
            assert (kept.role, kept.status) == (happening.role, happening.status)
    path = await store.path(session.conversation_id)
    assert [kept.thinking for kept in path if kept.role == "assistant"] == ["I look.", "So."]
    assert path[-1].usage is not None
    assert path[-1].elapsed_thinking is not None
    assert [kept.turn for kept in path] == list((await session.conversation()).turns)


async def test_another_session_goes_on_where_one_ended(client: Client, store: Store) -> None:
    first = await begun(client, store, model="claude-opus-5-5/high")
    await said(first, LOOP)
    second = Session(
        client, settings_of(model="gpt-5.6-terra/high"), keeper=store, conversation_id=first.conversation_id
    )
    assert ending(await said(second, "[[think:Aha.]][[say:Back.]]")).ending == "complete"
    third = Session(
        client, settings_of(model="claude-opus-5-5/high"), keeper=store, conversation_id=first.conversation_id
    )
    assert ending(await said(third, "[[say:Home.]]")).ending == "complete"
    assert len(await store.path(first.conversation_id)) == 8


async def test_a_summary_is_kept_beside_what_it_covers(client: Client, store: Store) -> None:
    session = await begun(client, store, model="kimi-k2-thinking", context__limit=3_000)
    await said(session, "What do you make of it? " + "word " * 1_500)
    happenings = await said(session, "And of this? " + "word " * 1_500)
    assert of(Compacted, happenings)
    path = await store.path(session.conversation_id)
    assert [kept.kind for kept in path].count("summary") == 1
    assert len(view(path).lines) < len(path)
    found = await store.search("word")
    assert found


async def test_a_store_that_opens_late_has_everything_in_the_end(client: Client, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/late.db"
    conversation_id = new_id()
    behind = WriteBehindStore(open_store(url), conversation_id, model="claude-opus-5-5/high")
    session = Session(
        client, settings_of(model="claude-opus-5-5/high"), keeper=behind, conversation_id=conversation_id
    )
    happenings = await said(session, "[[think:Hm.]][[say:Yes.]]")
    await behind.aclose()
    assert behind.trouble is None
    async with await open_store(url) as store:
        path = await store.path(conversation_id)
        assert [kept.id for kept in path] == list(
            dict.fromkeys(event.id for event in of(TurnSaved, happenings))
        )
        assert [kept.status for kept in path] == ["complete", "complete"]
        assert (await store.conversation(conversation_id)).model == "claude-opus-5-5/high"


@pytest.mark.parametrize(
    ("error", "words"), [(ConfigError("no room"), "no room"), (RuntimeError("a secret"), "RuntimeError")]
)
async def test_a_store_that_does_not_open_stops_no_conversation(
    client: Client, error: Exception, words: str
) -> None:
    async def broken() -> None:
        raise error

    behind = WriteBehindStore(broken(), "id")
    session = Session(client, settings_of(model="claude-opus-5-5/high"), keeper=behind, conversation_id="id")
    assert ending(await said(session, "[[say:Yes.]]")).ending == "complete"
    assert ending(await said(session, "[[say:Again.]]")).ending == "complete"
    await behind.aclose()
    assert words in str(behind.trouble)
    assert "a secret" not in str(behind.trouble)


async def test_seals_whose_key_is_gone_are_said_and_the_conversation_goes_on(
    client: Client, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/sealed.db"
    async with await open_store(url, key="a key that is long enough") as store:
        session = await begun(client, store, model="claude-opus-5-5/high")
        await said(session, LOOP)
        conversation_id = session.conversation_id
    async with await open_store(url) as store:
        again = session_of(client, model="claude-opus-5-5/high")
        again.keeper, again.conversation_id = store, conversation_id
        happenings = await said(again, "[[say:Still here.]]")
        assert ending(happenings).ending == "complete"
        assert "seal.dropped" in [event.note.code for event in of(SessionNote, happenings)]
        assert "seal.dropped" not in [
            event.note.code for event in of(SessionNote, await said(again, "[[say:x]]"))
        ]


async def test_a_title_is_asked_for_with_as_little_thinking_as_possible(
    client: Client, simulator: Running
) -> None:
    session = session_of(client, model="claude-opus-5/high")
    await said(session, "How do tides come about?")
    title = await session.title()
    assert title
    assert len(title) <= 80
    assert "\n" not in title
