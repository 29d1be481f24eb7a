"""Stored responses: conversations by id, items by id, for their tenant only, and gone when deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.redis import RedisServer, redis, redis_url
from thinkwire import dialects
from thinkwire.errors import ConfigError, Overloaded
from thinkwire.gateway.responses import store as responses_store
from thinkwire.gateway.responses.store import ResponseStore, open_responses
from thinkwire.messages import Opaque, Text, Thinking, ToolCall, ToolResult
from thinkwire.request import Request

__all__ = ["redis", "redis_url"]
pytestmark = pytest.mark.anyio

KEY = bytes(range(32))
STORES = ["sqlite", pytest.param("redis", marks=pytest.mark.needs("redis"))]


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ResponseStore]:
    url = str(tmp_path / "responses.db")
    if request.param == "redis":
        url = request.getfixturevalue("redis_url")
    async with await open_responses(url, key=KEY) as store:
        yield store


def asked(said: Any, **more: Any) -> Request:
    return dialects.get("openai-responses").decode_request({"input": said, **more})


def answer(response_id: str, text: str) -> dict[str, Any]:
    """A response as the gateway gives it: a thought of ours, and words."""
    thought = {"type": "reasoning", "id": f"rs_{response_id}", "summary": [], "encrypted_content": "thwiAAAA"}
    part = {"type": "output_text", "text": text, "annotations": []}
    said = {"type": "message", "id": f"msg_{response_id}", "role": "assistant", "content": [part]}
    return {"id": response_id, "object": "response", "output": [thought, said], "status": "completed"}


async def talk(store: ResponseStore, *ids: str, tenant: str = "me") -> None:
    """A conversation of so many questions and answers."""
    before: dict[str, Any] = {}
    for number, response_id in enumerate(ids):
        request = asked(f"question {number}", **before)
        await store.keep(tenant, request, answer(response_id, f"answer {number}"))
        before = {"previous_response_id": response_id}


def said(request: Request) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in request.turns]


async def test_a_conversation_is_the_chain_of_its_responses(store: ResponseStore) -> None:
    await talk(store, "resp_1", "resp_2", "resp_3")
    request, notes = await store.open("me", asked("and now?", previous_response_id="resp_3"))
    assert said(request) == [
        *(("user", "question 0"), ("assistant", "answer 0")),
        *(("user", "question 1"), ("assistant", "answer 1")),
        *(("user", "question 2"), ("assistant", "answer 2")),
        ("user", "and now?"),
    ]
    assert notes == ()
    assert "previous_response_id" not in request.extras["openai_responses"]
    thought = request.turns[1].blocks[0]
    assert isinstance(thought, Thinking)
    assert thought.seal is not None
    assert thought.seal.data == "thwiAAAA"


async def test_a_conversation_may_fork(store: ResponseStore) -> None:
    await talk(store, "resp_1", "resp_2")
    await store.keep("me", asked("other", previous_response_id="resp_1"), answer("resp_b", "way"))
    request, _ = await store.open("me", asked("?", previous_response_id="resp_b"))
    assert [text for _, text in said(request)] == ["question 0", "answer 0", "other", "way", "?"]


async def test_a_long_conversation_is_kept_in_what_was_said_and_not_in_what_was_sent(tmp_path: Path) -> None:
    async with await open_responses(str(tmp_path / "r.db"), key=KEY) as store:
        words = {number: f"{number:03} {'word ' * 20}" for number in range(100)}
        before: dict[str, Any] = {}
        for number, text in words.items():
            await store.keep("me", asked(text, **before), answer(f"resp_{number}", "ok"))
            before = {"previous_response_id": f"resp_{number}"}
        turns = await store.load("me", "resp_99")
        assert turns is not None
        assert [turn.text for turn in turns if turn.role == "user"] == list(words.values())
        stats = await store._shelf.stats()
        assert stats.turns == 100
        assert stats.bytes < 100 * 1000


async def test_what_is_not_known_stays_named_for_the_vendor_may_know_it(store: ResponseStore) -> None:
    request, _ = await store.open("me", asked("?", previous_response_id="resp_elsewhere"))
    assert request.extras["openai_responses"]["previous_response_id"] == "resp_elsewhere"
    assert said(request) == [("user", "?")]


async def test_a_chain_with_a_missing_link_is_not_known(store: ResponseStore) -> None:
    await talk(store, "resp_1", "resp_2")
    assert await store.delete("me", "resp_1")
    assert await store.load("me", "resp_2") is None
    assert await store.get("me", "resp_2") is not None


async def test_a_chain_that_bites_its_tail_ends(
    store: ResponseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(responses_store, "LONGEST", 20)
    await store.keep("me", asked("a", previous_response_id="resp_2"), answer("resp_1", "x"))
    await store.keep("me", asked("b", previous_response_id="resp_1"), answer("resp_2", "y"))
    assert await store.load("me", "resp_1") is None


async def test_responses_are_found_by_their_own_tenant_only(store: ResponseStore) -> None:
    await talk(store, "resp_1")
    assert await store.get("you", "resp_1") is None
    assert await store.load("you", "resp_1") is None
    assert await store.delete("you", "resp_1") is False
    reference = {"type": "item_reference", "id": "msg_resp_1"}
    request, _ = await store.open("you", asked(reference_input(reference), previous_response_id="resp_1"))
    assert said(request) == [("user", "?")]
    assert await store.get("me", "resp_1") == answer("resp_1", "answer 0")


def reference_input(*items: dict[str, Any]) -> Any:
    return [*items, {"role": "user", "content": "?"}]


async def test_a_deleted_response_is_gone_with_its_items(store: ResponseStore) -> None:
    await talk(store, "resp_1")
    assert await store.delete("me", "resp_1") is True
    assert await store.delete("me", "resp_1") is False
    assert await store.get("me", "resp_1") is None
    reference = {"type": "item_reference", "id": "msg_resp_1"}
    request, _ = await store.open("me", asked(reference_input(reference)))
    assert said(request) == [("user", "?")]


async def test_a_response_that_was_not_to_be_stored_is_not(store: ResponseStore) -> None:
    await store.keep("me", asked("?", store=False), answer("resp_1", "x"))
    assert await store.get("me", "resp_1") is None
    await store.keep("me", asked("?", store=True), answer("resp_1", "x"))
    assert await store.get("me", "resp_1") == answer("resp_1", "x")


async def test_references_become_the_items_and_what_the_model_said_in_a_row_is_one_turn(
    store: ResponseStore,
) -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"}
    body = answer("resp_1", "Looking.")
    body["output"].append(call)
    await store.keep("me", asked("?"), body)
    items = [
        {"role": "user", "content": "?"},
        {"type": "item_reference", "id": "rs_resp_1"},
        {"id": "msg_resp_1"},
        {"type": "item_reference", "id": "fc_1"},
        {"type": "function_call_output", "call_id": "c", "output": "7"},
        {"type": "item_reference", "id": "rs_unknown"},
    ]
    request, _ = await store.open("me", asked(items))
    assert [turn.role for turn in request.turns] == ["user", "assistant", "user"]
    assert [type(block) for block in request.turns[1].blocks] == [Thinking, Text, ToolCall]
    assert isinstance(request.turns[2].blocks[0], ToolResult)
    assert request.turns[2].blocks[1] == Opaque("openai_responses", items[-1])


async def test_the_items_that_went_in_are_listed(store: ResponseStore) -> None:
    await talk(store, "resp_1", "resp_2")
    listed = await store.get("me", "resp_2", "/input_items")
    assert listed is not None
    assert [item["type"] for item in listed["data"]] == ["message", "reasoning", "message", "message"]
    assert listed["last_id"] == listed["data"][-1]["id"]
    assert await store.get("me", "resp_2", "/nothing") is None


async def test_what_is_kept_cannot_be_read_without_the_key(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    async with await open_responses(str(path), key=KEY) as store:
        await store.keep("me", asked("a planted secret"), answer("resp_1", "another one"))
    data = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"planted" not in data
    assert b"resp_1" not in data
    assert path.stat().st_mode & 0o077 == 0
    async with await open_responses(str(path), key=bytes(32)) as stranger:
        assert await stranger.get("me", "resp_1") is None


async def test_it_outlives_a_restart_and_a_new_key_beside_the_old_one(tmp_path: Path) -> None:
    path = str(tmp_path / "r.db")
    async with await open_responses(path, key=KEY) as store:
        await talk(store, "resp_1", "resp_2")
    async with await open_responses(path, key=[bytes(32), KEY]) as store:
        turns = await store.load("me", "resp_2")
        assert turns is not None
        assert len(turns) == 4
        assert await store.delete("me", "resp_2") is True
        assert await store.get("me", "resp_2") is None


async def test_a_response_that_is_too_large_is_not_kept(
    store: ResponseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(responses_store, "RESPONSE_LIMIT", 1000)
    await store.keep("me", asked("x" * 1000), answer("resp_1", "x"))
    await store.keep("me", asked("\ud800"), answer("resp_2", "x"))
    await store.keep("me", asked("x"), answer("resp_3", "x"))
    kept = [await store.get("me", name) is not None for name in ("resp_1", "resp_2", "resp_3")]
    assert kept == [False, False, True]


async def test_a_store_in_trouble_says_so_and_keeps_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    async with await open_responses(str(path), key=KEY) as store:
        await talk(store, "resp_1")
    async with await open_responses(str(path), key=KEY) as store:
        await store._shelf.aclose()
        await store.keep("me", asked("?"), answer("resp_2", "x"))
        with pytest.raises(Overloaded) as error:
            await store.get("me", "resp_1")
        assert error.value.failure.status == 503
        assert str(tmp_path) not in str(error.value)


async def test_without_an_address_it_is_a_file_in_the_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THINKWIRE_STATE", str(tmp_path))
    async with await open_responses(key=KEY):
        pass
    assert (tmp_path / "responses.db").exists()
    with pytest.raises(ConfigError):
        await open_responses(ttl=0, key=KEY)


async def test_redis_is_asked_again_on_another_connection(redis: RedisServer) -> None:
    """A restarted server knows neither its connections nor its scripts any more."""
    redis.say("FLUSHALL")
    async with await open_responses(redis.url, key=KEY) as store:
        for number in range(3):
            redis.say("CLIENT KILL TYPE normal SKIPME yes")
            redis.say("SCRIPT FLUSH")
            await store.keep("me", asked("?"), answer(f"resp_{number}", "x"))
            redis.say("CLIENT KILL TYPE normal SKIPME yes")
            assert await store.get("me", f"resp_{number}") is not None
        assert (await store._shelf.stats()).turns == 3
