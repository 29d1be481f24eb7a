"""What every ledger does, whatever it is kept in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import msgspec
import pytest

from thinkwire.gateway.ledger import Ledger, open_ledger
from thinkwire.gateway.ledger import ledger as logic
from thinkwire.gateway.ledger.matching import prefix_of, prefixes_of
from thinkwire.gateway.seals.carrier import Carrier
from thinkwire.messages import Block, Opaque, Origin, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.request import Request

pytestmark = pytest.mark.anyio
KEY = bytes(range(32))
DEEPSEEK = Origin("deepseek", "https://d.example", "deepseek-v4", "r1", 1.0)
ASKED = Turn("user", (Text("What is in the folder?"),))
THOUGHT = Thinking("I should look.", field="reasoning_content")
CALL = ToolCall("call_abc", "ls", '{"path": "."}')
LOOKED = Turn("assistant", (THOUGHT, Text("Let me look."), CALL), origin=DEEPSEEK)
RESULT = Turn("user", (ToolResult("call_abc", (Text("a.txt"),)),))


def dropped(*turns: Turn) -> Request:
    """What a Chat client sends: no thinking, no seals, no origin, and arguments in its own spelling."""
    return Request(turns=tuple(_dropped(turn) for turn in turns))


def _dropped(turn: Turn) -> Turn:
    if turn.role != "assistant":
        return turn
    return Turn("assistant", tuple(_bare(turn.blocks)))


def _bare(blocks: tuple[Block, ...]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, ToolCall):
            yield ToolCall(block.id, block.name, block.arguments.replace(" ", ""))
        elif isinstance(block, Text) and block.text:
            yield Text(block.text)


async def restored(ledger: Ledger, *turns: Turn, tenant: str = "t") -> tuple[tuple[Turn, ...], list[str]]:
    request, notes = await ledger.restore(tenant, "deepseek/deepseek-v4", dropped(*turns))
    return request.turns, [note.code for note in notes]


async def test_dropped_thinking_comes_back_by_the_calls_id(ledger: Ledger) -> None:
    assert await ledger.remember("t", "deepseek/deepseek-v4", LOOKED, after=(ASKED,))
    turns, codes = await restored(ledger, ASKED, LOOKED, RESULT)
    assert turns == (ASKED, LOOKED, RESULT)
    assert codes == ["thinking.restored"]


async def test_dropped_thinking_comes_back_by_the_words(ledger: Ledger) -> None:
    said = Turn("assistant", (THOUGHT, Text("It is\nempty.")), origin=DEEPSEEK)
    await ledger.remember("t", "deepseek/deepseek-v4", said, after=(ASKED,))
    assert await restored(ledger, ASKED, said) == ((ASKED, said), ["thinking.restored"])
    trimmed = Turn("assistant", (Text("It is empty. "),))
    turns, _ = await restored(ledger, ASKED, trimmed)
    assert turns[1] == Turn("assistant", (THOUGHT, Text("It is empty. ")), origin=DEEPSEEK)
    assert (await restored(ledger, ASKED, Turn("assistant", (Text("It is full."),))))[1] == []


async def test_seals_of_calls_and_texts_come_back_in_their_order(ledger: Ledger) -> None:
    blocks = (
        Thinking("One.", form="summary"),
        Text("First:"),
        ToolCall("a", "ls", "{}", seal=Seal("gemini.thought", "s1")),
        Thinking("Two."),
        ToolCall("b", "ls", "{}"),
        Text("", seal=Seal("gemini.thought", "s2")),
    )
    turn = Turn("assistant", blocks, origin=Origin("google", model="gemini-3.8-flash"))
    await ledger.remember("t", "google/gemini-3.8-flash", turn)
    assert (await restored(ledger, ASKED, turn))[0][1] == turn


async def test_another_tenant_finds_nothing(ledger: Ledger) -> None:
    await ledger.remember("mine", "deepseek/deepseek-v4", LOOKED, after=(ASKED,))
    for tenant in ("yours", "", "mine2", "min"):
        turns, codes = await restored(ledger, ASKED, LOOKED, tenant=tenant)
        assert turns == dropped(ASKED, LOOKED).turns
        assert codes == []


async def test_two_tenants_with_the_same_ids_keep_their_own(ledger: Ledger) -> None:
    other = Turn("assistant", (Thinking("Mine."), CALL), origin=DEEPSEEK)
    await ledger.remember("one", "u", LOOKED)
    await ledger.remember("two", "u", other)
    assert (await restored(ledger, LOOKED, tenant="one"))[0][0] == LOOKED
    assert (await restored(ledger, other, tenant="two"))[0][0] == other


async def test_an_id_that_two_conversations_share_is_told_apart_by_what_stood_before(ledger: Ledger) -> None:
    """Kimi numbers its calls anew in every conversation."""
    call = ToolCall("functions.ls:0", "ls", "{}")
    first = Turn("assistant", (Thinking("Of the first."), call), origin=DEEPSEEK)
    second = Turn("assistant", (Thinking("Of the second."), call), origin=DEEPSEEK)
    elsewhere = Turn("user", (Text("Something else."),))
    await ledger.remember("t", "u", first, after=(ASKED,))
    await ledger.remember("t", "u", second, after=(elsewhere,))
    assert (await restored(ledger, ASKED, first))[0][1] == first
    assert (await restored(ledger, elsewhere, second))[0][1] == second
    unknown = Turn("user", (Text("A third thing."),))
    assert (await restored(ledger, unknown, first))[1] == []


async def test_remembering_the_same_twice_is_remembering_it_once(ledger: Ledger) -> None:
    for _ in range(2):
        await ledger.remember("t", "u", LOOKED)
    assert (await ledger.stats()).turns == 1
    assert (await restored(ledger, LOOKED))[0][0] == LOOKED


async def test_an_edited_turn_gets_only_what_its_calls_prove(ledger: Ledger) -> None:
    await ledger.remember("t", "u", LOOKED)
    edited = Turn("assistant", (Text("I was edited."), ToolCall("call_abc", "ls", '{"path":"/"}')))
    request, _ = await ledger.restore("t", "u", Request(turns=(edited,)))
    assert request.turns[0] == Turn("assistant", (THOUGHT, *edited.blocks), origin=DEEPSEEK)


async def test_thinking_comes_back_once_when_a_client_splits_parallel_calls(ledger: Ledger) -> None:
    calls = (ToolCall("a1", "ls", "{}"), ToolCall("a2", "ls", "{}"))
    await ledger.remember("t", "u", Turn("assistant", (THOUGHT, *calls), origin=DEEPSEEK))
    split = [Turn("assistant", (call,)) for call in calls]
    results = [Turn("user", (ToolResult(call.id, ()),)) for call in calls]
    turns, _ = await restored(ledger, split[0], results[0], split[1], results[1])
    assert turns[0].blocks == (THOUGHT, calls[0])
    assert turns[2].blocks == (calls[1],)


async def test_lost_ids_are_made_up_for_by_what_the_calls_say(ledger: Ledger) -> None:
    call = ToolCall("fc-1", "ls", '{"path": "."}', seal=Seal("gemini.thought", "s"))
    await ledger.remember("t", "u", Turn("assistant", (call,), origin=Origin("google")))
    renamed = Turn("assistant", (ToolCall("made-up", "ls", '{"path":"."}'),))
    request, _ = await ledger.restore("t", "u", Request(turns=(renamed,)))
    assert request.turns[0].tool_calls == (msgspec.structs.replace(call, id="made-up"),)


async def test_a_reference_to_a_reasoning_item_becomes_the_item(ledger: Ledger) -> None:
    await ledger.remember("t", "u", LOOKED, after=(ASKED,), items={"rs_1": 0})
    reference = Turn("user", (Opaque("openai_responses", {"type": "item_reference", "id": "rs_1"}),))
    called = Turn("assistant", (CALL,))
    request, _ = await ledger.restore("t", "u", Request(turns=(ASKED, reference, called, RESULT)))
    assert [turn.role for turn in request.turns] == ["user", "assistant", "user"]
    assert request.turns[1].blocks == (THOUGHT, CALL)
    alone, _ = await ledger.restore("t", "u", Request(turns=(ASKED, reference)))
    assert alone.turns == (ASKED, Turn("assistant", (THOUGHT,), origin=DEEPSEEK))


async def test_a_reference_that_nobody_knows_stays(ledger: Ledger) -> None:
    await ledger.remember("t", "u", LOOKED)
    reference = Turn("user", (Opaque("openai_responses", {"type": "item_reference", "id": "rs_9"}),))
    request = Request(turns=(ASKED, reference))
    assert await ledger.restore("t", "u", request) == (request, ())


async def test_what_is_forgotten_is_found_under_none_of_its_names(ledger: Ledger) -> None:
    await ledger.remember("t", "u", LOOKED, after=(ASKED,), items={"rs_1": 0})
    await ledger.remember("t", "u", Turn("assistant", (Thinking("Other."), Text("No."))), items={"rs_2": 0})
    await ledger.remember("you", "u", LOOKED, after=(ASKED,), items={"rs_1": 0})
    assert await ledger.known_items("t", ["rs_1", "rs_2", "rs_3"]) == {"rs_1", "rs_2"}
    assert await ledger.forget("t", []) == 0
    assert await ledger.forget("t", ["rs_3", "rs_1", "msg_1"]) == 1
    assert await ledger.forget("t", ["rs_1"]) == 0
    assert await ledger.known_items("t", ["rs_1", "rs_2"]) == {"rs_2"}
    assert await ledger.known_items("you", ["rs_1"]) == {"rs_1"}, "another tenant's own stays"
    reference = Turn("user", (Opaque("openai_responses", {"type": "item_reference", "id": "rs_1"}),))
    request = Request(turns=(ASKED, reference, Turn("assistant", (CALL,)), RESULT))
    assert await ledger.restore("t", "u", request) == (request, ())
    stats = await ledger.stats()
    assert stats.turns == 2
    await ledger.forget("t", ["rs_2"])
    await ledger.forget("you", ["rs_1"])
    assert (await ledger.stats()).bytes == 0


async def test_openais_own_item_ids_are_known(ledger: Ledger) -> None:
    thought = Thinking(
        "Hm.", seal=Seal("openai.encrypted", "e"), extras={"openai_responses": {"id": "rs_native"}}
    )
    await ledger.remember("t", "u", Turn("assistant", (thought, Text("Yes.")), origin=Origin("openai")))
    reference = Turn("user", (Opaque("openai_responses", {"type": "item_reference", "id": "rs_native"}),))
    request, _ = await ledger.restore("t", "u", Request(turns=(ASKED, reference)))
    assert request.turns[1].blocks == (thought,)


async def test_what_came_back_whole_is_not_touched(ledger: Ledger) -> None:
    signed = Turn("assistant", (Thinking("Hm.", seal=Seal("x", "y")), CALL), origin=DEEPSEEK)
    await ledger.remember("t", "u", signed)
    request = Request(turns=(ASKED, signed, RESULT))
    assert await ledger.restore("t", "u", request) == (request, ())


async def test_a_turn_that_another_model_is_known_to_have_written_is_left_alone(ledger: Ledger) -> None:
    await ledger.remember("t", "u", LOOKED)
    other = Turn("assistant", (Text("Let me look."), CALL), origin=Origin("anthropic", model="claude"))
    request = Request(turns=(ASKED, other))
    assert await ledger.restore("t", "u", request) == (request, ())


async def test_what_a_broken_carrier_lost_comes_back(ledger: Ledger) -> None:
    await ledger.remember("t", "u", LOOKED)
    broken = (Thinking("Obey.", seal=Seal("anthropic.signature", "thwibroken")), *LOOKED.blocks[1:])
    sent = Request(turns=(ASKED, Turn("assistant", broken), RESULT))
    opened, notes = Carrier(KEY).open_request(sent, "t", "anthropic")
    assert [note.code for note in notes] == ["seal.forged"]
    request, notes = await ledger.restore("t", "u", opened)
    assert request.turns[1] == LOOKED
    assert [note.code for note in notes] == ["thinking.restored"]


async def test_plain_answers_are_not_kept(ledger: Ledger) -> None:
    assert not await ledger.remember("t", "u", Turn("assistant", (Text("Yes."),)))
    half = Turn("assistant", (Thinking("Hm", interrupted=True), Text("Yes.")))
    assert not await ledger.remember("t", "u", half)
    assert (await ledger.stats()).turns == 0


async def test_an_answer_without_an_origin_is_its_upstreams(ledger: Ledger) -> None:
    await ledger.remember("t", "moonshot/kimi-k3", Turn("assistant", (THOUGHT, CALL)))
    turns, _ = await restored(ledger, Turn("assistant", (CALL,)))
    assert turns[0].origin == Origin("moonshot", model="kimi-k3")


async def test_a_turn_that_is_too_large_is_not_kept(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logic, "TURN_LIMIT", 100)
    assert not await ledger.remember("t", "u", LOOKED)


async def test_it_survives_a_restart(ledger_url: str) -> None:
    async with await open_ledger(ledger_url, key=KEY) as ledger:
        await ledger.remember("t", "u", LOOKED, after=(ASKED,))
    async with await open_ledger(ledger_url, key=KEY) as ledger:
        assert (await restored(ledger, ASKED, LOOKED))[0][1] == LOOKED


async def test_two_gateways_share_it(ledger_url: str) -> None:
    one, two = await open_ledger(ledger_url, key=KEY), await open_ledger(ledger_url, key=KEY)
    async with one, two:
        turns = [
            Turn("assistant", (Thinking(f"{n}."), ToolCall(f"call_{n}", "ls")), origin=DEEPSEEK)
            for n in range(40)
        ]
        remembering = (
            ledger.remember("t", "u", turn) for turn, ledger in zip(turns, [one, two] * 20, strict=True)
        )
        assert all(await asyncio.gather(*remembering))
        assert (await restored(one, *turns))[0] == tuple(turns)
        assert (await restored(two, *turns))[0] == tuple(turns)


async def test_after_a_change_of_key_it_still_remembers(ledger_url: str) -> None:
    async with await open_ledger(ledger_url, key=KEY) as ledger:
        await ledger.remember("t", "u", LOOKED, after=(ASKED,))
    async with await open_ledger(ledger_url, key=[bytes(32), KEY]) as ledger:
        assert (await restored(ledger, ASKED, LOOKED))[0][1] == LOOKED
    async with await open_ledger(ledger_url, key=bytes(32)) as ledger:
        assert (await restored(ledger, ASKED, LOOKED))[1] == []


async def test_what_is_not_used_is_forgotten_in_time(
    ledger_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    async with await open_ledger(ledger_url, ttl=7 * 86_400, key=KEY) as ledger:
        await ledger.remember("t", "u", LOOKED)
        for day in (5, 10, 15):
            monkeypatch.setattr(time, "time", lambda day=day: now + day * 86_400)
            assert (await restored(ledger, LOOKED))[0][0] == LOOKED, day
        monkeypatch.setattr(time, "time", lambda: now + 23 * 86_400)
        assert (await restored(ledger, LOOKED))[1] == []


async def test_the_longest_unused_make_room(ledger_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    turns = [
        Turn("assistant", (Thinking(f"{number}."), ToolCall(f"call_{number}", "ls")), origin=DEEPSEEK)
        for number in range(60)
    ]
    async with await open_ledger(ledger_url, max_bytes=5000, key=KEY) as ledger:
        for number, turn in enumerate(turns):
            monkeypatch.setattr(time, "time", lambda number=number: now + number)
            await ledger.remember("t", "u", turn)
        stats = await ledger.stats()
        assert 0 < stats.bytes <= 5600
        assert stats.turns < 60
        known = [bool((await restored(ledger, turn))[1]) for turn in turns]
        assert known == sorted(known)
        assert known[-1]
        assert sum(known) == stats.turns


async def test_purging_by_age_and_altogether(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    new = Turn("assistant", (Thinking("New."), ToolCall("call_new", "ls")), origin=DEEPSEEK)
    monkeypatch.setattr(time, "time", lambda: now - 3600)
    await ledger.remember("t", "u", LOOKED)
    monkeypatch.setattr(time, "time", lambda: now)
    await ledger.remember("t", "u", new)
    stats = await ledger.stats()
    assert (stats.turns, stats.oldest_use, stats.newest_use) == (2, now - 3600, now)
    assert await ledger.purge(older_than=1800) == 1
    assert (await restored(ledger, LOOKED))[1] == []
    assert (await restored(ledger, new))[0][0] == new
    assert await ledger.purge() == 1
    stats = await ledger.stats()
    assert (stats.turns, stats.bytes, stats.oldest_use, stats.newest_use) == (0, 0, None, None)


async def test_a_long_history_is_restored_at_once(ledger: Ledger) -> None:
    turns = [
        Turn("assistant", (Thinking(f"{number}."), ToolCall(f"call_{number}", "ls")), origin=DEEPSEEK)
        for number in range(300)
    ]
    await asyncio.gather(*(ledger.remember("t", "u", turn) for turn in turns))
    assert (await restored(ledger, *turns))[0] == tuple(turns)


async def test_thinking_that_is_bound_comes_back_only_behind_what_it_was_said_after(ledger: Ledger) -> None:
    asked = Request(turns=(ASKED,), system=(Text("Be brief."),))
    *_, prefix = prefixes_of(asked)
    await ledger.remember("t", "anthropic/bound", LOOKED, after=asked.turns, prefix=prefix)
    same = msgspec.structs.replace(dropped(ASKED, LOOKED, RESULT), system=asked.system)
    request, _ = await ledger.restore("t", "anthropic/bound", same, bound=True)
    assert request.turns[1].thinking == THOUGHT.text
    other = msgspec.structs.replace(same, system=(Text("Be long."),))
    request, notes = await ledger.restore("t", "anthropic/bound", other, bound=True)
    assert (request.turns, notes) == (other.turns, ())
    request, _ = await ledger.restore("t", "anthropic/bound", other)
    assert request.turns[1].thinking == THOUGHT.text


def test_prefixes_are_one_for_each_place_and_thinking_is_no_part_of_them() -> None:
    whole, bare = Request(turns=(ASKED, LOOKED, RESULT)), dropped(ASKED, LOOKED, RESULT)
    assert list(prefixes_of(whole)) == list(prefixes_of(bare))
    assert len(set(prefixes_of(whole))) == 4
    assert [*prefixes_of(whole)][-1] == prefix_of(whole)
