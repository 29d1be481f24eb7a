"""What a store does, the same on SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.strategies import json_values, names, turns, usages, words
from thinkwire.errors import Failure, ThinkwireError
from thinkwire.messages import Opaque, Origin, Seal, Text, Thinking, Turn
from thinkwire.notes import Note
from thinkwire.store import HEAD, ConversationRow, RowNotFound, Store, StoreFailed
from thinkwire.store.ids import new_id
from thinkwire.store.tables import messages
from thinkwire.usage import Usage

pytestmark = pytest.mark.anyio

ASKED = Turn("user", (Text("Why are odd squares odd?"),))
ORIGIN = Origin("anthropic", "https://api.example", "claude-opus-5", "msg_1", 1.5)
THOUGHT = Thinking("Let me see.", seal=Seal("anthropic.signature", "c2VhbA=="))
ANSWER = Turn("assistant", (THOUGHT, Text("Because.")), ORIGIN)
law = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
async def talk(store: Store) -> ConversationRow:
    return await store.create_conversation("Squares", "claude-opus-5", {"reasoning.effort": "high"})


async def run(store: Store, statement: sa.Executable) -> None:
    await store.database.write(lambda connection: connection.execute(statement))


@law
@given(turn=turns, extra=st.dictionaries(names, json_values, max_size=2), usage=st.none() | usages())
async def test_any_turn_comes_back_equal(store: Store, turn: Turn, extra: dict, usage: Usage | None) -> None:
    talk = (await store.conversations() or [await store.create_conversation()])[0]
    kept = await store.append(talk.id, turn, parent=None, extra=extra, usage=usage)
    read = (await store.path(talk.id))[0]
    assert (read.turn, read.extra, read.usage) == (turn, extra, usage)
    assert (read.text, read.thinking, read.role) == (turn.text, turn.thinking, turn.role)
    assert read == kept
    await store.revise(kept.id, turn=turn, status="complete")
    assert (await store.message(kept.id)).turn == turn


@law
@given(title=words, query=words)
async def test_any_title_and_any_query_are_taken(store: Store, title: str, query: str) -> None:
    talk = await store.create_conversation(title)
    assert talk.title == title.replace("\0", "\ufffd")
    await store.search(query, thinking=True)


async def test_keys_keep_their_order_and_numbers_their_size(store: Store, talk: ConversationRow) -> None:
    data = {"b": 1, "a": 2.5, "big": 2**80, "nul": "a\0b", "": {"z": None, "y": [True]}}
    kept = await store.append(talk.id, Turn("assistant", (Opaque("anthropic", data),)))
    block = (await store.message(kept.id)).turn.blocks[0]
    assert isinstance(block, Opaque)
    assert list(block.data.items()) == list(data.items())


async def test_thinking_is_in_a_column_of_its_own(store: Store, talk: ConversationRow) -> None:
    kept = await store.append(talk.id, ANSWER)
    columns = "SELECT thinking, text, model, response_id FROM messages"
    found = await store.database.read(lambda connection: connection.exec_driver_sql(columns))
    assert tuple(found.one()) == ("Let me see.", "Because.", "claude-opus-5", "msg_1")
    assert kept.turn == ANSWER


async def test_each_turn_follows_the_one_before(store: Store, talk: ConversationRow) -> None:
    first = await store.append(talk.id, ASKED)
    second = await store.append(talk.id, ANSWER, finish="stop", notes=(Note("cache.lost", "Anew."),))
    assert (first.parent_id, first.seq, second.parent_id, second.seq) == (None, 1, first.id, 2)
    assert [kept.id for kept in await store.path(talk.id)] == [first.id, second.id]
    row = await store.conversation(talk.id)
    assert (row.head, row.count, row.preview) == (second.id, 2, "Because.")
    assert row.updated >= talk.updated
    assert (second.finish, second.notes) == ("stop", (Note("cache.lost", "Anew."),))


async def test_an_edit_begins_a_branch_and_loses_nothing(store: Store, talk: ConversationRow) -> None:
    asked = await store.append(talk.id, ASKED)
    answered = await store.append(talk.id, ANSWER)
    again = await store.append(talk.id, ANSWER, parent=asked.id)
    edited = await store.append(talk.id, ASKED, parent=None)
    assert [kept.id for kept in await store.path(talk.id)] == [edited.id]
    assert [kept.id for kept in await store.path(talk.id, again.id)] == [asked.id, again.id]
    await store.update(talk.id, head=answered.id)
    assert [kept.id for kept in await store.path(talk.id)] == [asked.id, answered.id]
    parents = {branch.id: branch.parent_id for branch in await store.tree(talk.id)}
    assert parents == {asked.id: None, answered.id: asked.id, again.id: asked.id, edited.id: None}
    assert [kept.seq for kept in await store.messages(talk.id)] == [1, 2, 3, 4]


async def test_a_parent_from_another_conversation_is_refused(store: Store, talk: ConversationRow) -> None:
    other = await store.create_conversation()
    stranger = await store.append(other.id, ASKED)
    with pytest.raises(RowNotFound):
        await store.append(talk.id, ASKED, parent=stranger.id)
    with pytest.raises(RowNotFound):
        await store.update(talk.id, head=stranger.id)
    with pytest.raises(RowNotFound):
        await store.path(talk.id, stranger.id)
    assert (await store.conversation(talk.id)).count == 0


async def test_what_is_not_there_is_said_by_name(store: Store) -> None:
    for call in (
        store.conversation("x"),
        store.message("x"),
        store.path("x"),
        store.append("x", ASKED),
        store.revise("x", status="complete"),
        store.rename("x", "y"),
        store.delete("x"),
        store.purge("x"),
        store.agent("x"),
        store.update_agent("x", name="y"),
        store.profile("x"),
        store.delete_profile("x"),
    ):
        with pytest.raises(RowNotFound, match=r"there is no \w+ 'x'"):
            await call


async def test_ids_that_no_database_can_hold_are_designed_errors(store: Store) -> None:
    for id in ("x\0", "\ud800"):
        with pytest.raises(ThinkwireError):
            await store.conversation(id)


async def test_a_message_may_bring_its_id_but_not_take_anothers(store: Store, talk: ConversationRow) -> None:
    assert (await store.append(talk.id, ASKED, id="mine")).id == "mine"
    with pytest.raises(StoreFailed):
        await store.append(talk.id, ANSWER, id="mine")
    assert [kept.turn for kept in await store.path(talk.id)] == [ASKED]


async def test_a_summary_says_what_it_covers(store: Store, talk: ConversationRow) -> None:
    asked = await store.append(talk.id, ASKED)
    summary = await store.append(talk.id, ASKED, kind="summary", covers=asked.id)
    kept = (await store.path(talk.id))[-1]
    assert (kept.kind, kept.covers, kept.id) == ("summary", asked.id, summary.id)


async def test_a_streaming_answer_is_revised_until_it_is_done(store: Store, talk: ConversationRow) -> None:
    await store.append(talk.id, ASKED)
    kept = await store.append(talk.id, Turn("assistant"), status="streaming")
    await store.revise(kept.id, turn=Turn("assistant", (Thinking("Let", interrupted=True),)))
    partial = (await store.path(talk.id))[-1]
    assert (partial.thinking, partial.status) == ("Let", "streaming")
    usage = Usage(input_uncached=3, output_visible=2, output_reasoning=1)
    await store.revise(
        kept.id, turn=ANSWER, status="complete", usage=usage, finish="stop", cost=0.5, elapsed_thinking=1.25
    )
    done = await store.message(kept.id)
    assert (done.turn, done.status, done.usage, done.finish) == (ANSWER, "complete", usage, "stop")
    assert (done.cost, done.elapsed_thinking) == (0.5, 1.25)
    assert done.updated > kept.updated
    assert (await store.conversation(talk.id)).preview == "Because."


async def test_a_failure_is_kept_as_it_was(store: Store, talk: ConversationRow) -> None:
    failure = Failure("rate_limit", "Slow down.", 429, retry_after=2.5, body={"error": "x\0"})
    kept = await store.append(talk.id, Turn("assistant"), status="streaming")
    await store.revise(kept.id, status="failed", failure=failure)
    assert (await store.message(kept.id)).failure == failure


async def test_a_write_that_was_begun_is_finished_though_nobody_waits(
    store: Store, talk: ConversationRow
) -> None:
    for _ in range(10):
        waiting = asyncio.create_task(store.append(talk.id, ASKED))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await store.append(talk.id, ANSWER)
    path = await store.path(talk.id)
    assert len(path) == 11
    assert path[-1].turn == ANSWER


async def test_many_at_once_form_one_chain(store: Store, talk: ConversationRow) -> None:
    await asyncio.gather(*(store.append(talk.id, ASKED, parent=HEAD) for _ in range(12)))
    assert [kept.seq for kept in await store.path(talk.id)] == list(range(1, 13))


async def test_conversations_are_listed_by_page_newest_first_and_by_owner(store: Store) -> None:
    mine = [await store.create_conversation(f"{number}") for number in range(5)]
    await store.create_conversation("hers", owner="her")
    await store.append(mine[0].id, ASKED)
    first = await store.conversations(limit=3)
    rest = await store.conversations(limit=3, before=first[-1].cursor)
    assert [row.title for row in first + rest] == ["0", "4", "3", "2", "1"]
    assert [row.title for row in await store.conversations("her")] == ["hers"]


async def test_the_bin_gives_back_and_forgets(store: Store, talk: ConversationRow) -> None:
    await store.append(talk.id, ASKED)
    await store.delete(talk.id)
    assert await store.conversations() == []
    assert await store.search("squares") == []
    assert [row.id for row in await store.conversations(deleted=True)] == [talk.id]
    await store.restore(talk.id)
    assert len(await store.search("squares")) == 2
    await store.delete(talk.id)
    deleted = (await store.conversation(talk.id)).deleted
    assert deleted is not None
    assert await store.empty_bin(deleted) == 0
    assert await store.empty_bin(deleted + 1) == 1
    with pytest.raises(RowNotFound):
        await store.conversation(talk.id)
    assert await store.messages(talk.id) == []


async def test_a_conversation_is_renamed_and_set_anew(store: Store, talk: ConversationRow) -> None:
    await store.rename(talk.id, "Odd ones")
    await store.update(talk.id, settings={"a": {"b": "\0"}}, model="kimi-k3")
    row = await store.conversation(talk.id)
    assert (row.title, row.settings, row.model) == ("Odd ones", {"a": {"b": "\0"}}, "kimi-k3")
    assert row.updated == talk.updated
    with pytest.raises(TypeError):
        await store.update(talk.id, owner="me")


async def test_agents_are_made_changed_and_put_away(store: Store) -> None:
    made = await store.create_agent(
        "Ada", "Count.", "claude-opus-5", thinking={"budget": 10_000}, tools=["read_file"], owner="me"
    )
    assert (await store.agents("me"), await store.agents()) == ([made], [])
    changed = await store.update_agent(made.id, name="Bea", tools=[])
    assert (changed.name, changed.tools, changed.thinking) == ("Bea", [], {"budget": 10_000})
    await store.delete_agent(made.id)
    assert await store.agents("me") == []
    assert (await store.agent(made.id)).name == "Bea"
    await store.restore_agent(made.id)
    assert len(await store.agents("me")) == 1


async def test_profiles_are_kept_by_name_and_owner(store: Store) -> None:
    await store.save_profile("deep", {"reasoning.effort": "low"})
    await store.save_profile("deep", {"reasoning.effort": "high"})
    await store.save_profile("deep", {}, owner="her")
    assert (await store.profile("deep")).values == {"reasoning.effort": "high"}
    assert [profile.name for profile in await store.profiles()] == ["deep"]
    await store.delete_profile("deep")
    assert await store.profiles() == []
    assert (await store.profile("deep", "her")).values == {}


async def test_usage_is_added_up_and_unknown_stays_unknown(store: Store) -> None:
    talk = await store.create_conversation(agent_id="ada")
    known = Usage(10, 5, 0, 15, 7, 3, 10)
    day = 86_400.0
    await store.append(talk.id, ASKED, created=day)
    await store.append(talk.id, ANSWER, usage=known, cost=0.25, created=day + 1)
    await store.append(talk.id, ANSWER, usage=Usage(input_total=4), created=2 * day - 1)
    await store.append(talk.id, ANSWER, created=2 * day)
    await store.append(talk.id, ANSWER, status="streaming", created=day)
    first, second = await store.usage()
    assert (first.day, second.day, first.agent_id) == ("1970-01-02", "1970-01-03", "ada")
    assert (first.provider, first.model, first.answers) == ("anthropic", "claude-opus-5", 2)
    assert (first.input_total, first.output_reasoning, first.cost) == (19, 3, 0.25)
    assert (first.unknown["output_reasoning"], "input_total" in first.unknown) == (1, False)
    assert (second.answers, second.input_total, second.unknown["input_total"]) == (1, None, 1)
    assert [row.day for row in await store.usage(until=2 * day)] == ["1970-01-02"]
    assert [row.day for row in await store.usage(utc_offset=3600)] == ["1970-01-02", "1970-01-03"]
    assert await store.usage("somebody else") == []


async def test_messages_from_elsewhere_are_adopted_with_their_tree(
    store: Store, talk: ConversationRow
) -> None:
    asked = await store.append(talk.id, ASKED, created=5.0)
    answered = await store.append(
        talk.id, ANSWER, usage=Usage(input_total=4), notes=(Note("cache.lost", "x"),)
    )
    again = await store.append(talk.id, ANSWER, parent=asked.id, status="streaming")
    summary = await store.append(talk.id, ASKED, kind="summary", covers=answered.id)
    other = await store.create_conversation()
    ids = await store.adopt(other.id, await store.messages(talk.id))
    copies = await store.messages(other.id)
    assert [copy.id for copy in copies] == [ids[old.id] for old in (asked, answered, again, summary)]
    assert [copy.parent_id for copy in copies] == [None, ids[asked.id], ids[asked.id], ids[again.id]]
    assert [copy.turn for copy in copies] == [ASKED, ANSWER, ANSWER, ASKED]
    assert (copies[0].created, copies[1].usage, copies[1].notes) == (5.0, answered.usage, answered.notes)
    assert (copies[2].status, copies[3].covers) == ("interrupted", ids[answered.id])
    assert (await store.conversation(other.id)).head == ids[summary.id]


async def test_an_unreadable_turn_does_not_brick_its_conversation(
    store: Store, talk: ConversationRow
) -> None:
    kept = await store.append(talk.id, ANSWER, notes=(Note("cache.lost", "Anew."),))
    notes = '[{"code":"from.the.future","message":"?"},{"code":"cache.lost","message":"Anew."}]'
    for turn in (
        '{"role":"assistant","blocks":[{"type":"hologram"}]}',
        "[]",
        '{"blocks":[{"seal":{"enc":1}}]}',
    ):
        change = messages.update().values(turn=turn, notes=notes, usage='"?"', failure="[]", extra="{}")
        await run(store, change)
        (read,) = await store.path(talk.id)
        assert (read.id, read.damaged, read.text, read.thinking) == (kept.id, True, "Because.", "Let me see.")
        assert (read.usage, read.failure, read.notes) == (None, None, kept.notes)


async def test_the_databases_troubles_are_told_without_what_was_kept(store: Store) -> None:
    for name in ("messages", "conversations"):
        drop = sa.text(f"ALTER TABLE {name} RENAME TO {name}_away")
        back = sa.text(f"ALTER TABLE {name}_away RENAME TO {name}")
        talk = await store.create_conversation("secret title")
        await run(store, drop)
        with pytest.raises(StoreFailed) as caught:
            await store.append(talk.id, ANSWER)
        await run(store, back)
        assert store.database.place.shown in str(caught.value)
        assert "c2VhbA==" not in f"{caught.value!r} {caught.value.__cause__}"
        assert (await store.append(talk.id, ANSWER)).turn == ANSWER


def test_ids_are_ordered_short_and_different() -> None:
    made = [new_id() for _ in range(10_000)]
    assert made == sorted(set(made))
    assert {len(id) for id in made} == {26}
    assert len({id[11:] for id in made}) == 10_000
