"""What was sealed or remembered for one tenant is nothing to another; no altered seal reaches a provider."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import msgspec
import pytest

from tests.gateway.gateways import WEATHER, Served, gateway
from thinkwire import dialects
from thinkwire.gateway.auth.keys import KeyFile
from thinkwire.messages import Seal, Text, Thinking, ToolResult, Turn
from thinkwire.providers import default_providers
from thinkwire.request import Request, Tool
from thinkwire.sim.fixture import Running

pytestmark = pytest.mark.anyio

SCRIPT = '[[think:A secret thought.]] [[call:get_weather {"city":"Oslo"}]] [[say:Cold.]]'
MODELS = ("google/gemini-3.8-flash", "deepseek/deepseek-v4-pro", "openai/gpt-5.6-terra")
HOME = {"openai-responses": "openai/", "gemini": "google/"}
"""Where bytes pass through: there the seals are the vendor's own, and its own business."""
PATHS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/{model}:generateContent",
}


def foreign(dialect: str) -> list[str]:
    return [model for model in MODELS if not model.startswith(HOME.get(dialect, "nobody"))]


class House(NamedTuple):
    """A gateway with two tenants."""

    served: Served
    session: aiohttp.ClientSession
    alice: str
    bob: str


@pytest.fixture
async def house(simulator: Running, tmp_path: Path) -> AsyncIterator[House]:
    file = KeyFile(tmp_path / "access.toml")
    alice, bob = file.create("alice")[1], file.create("bob")[1]
    bases = {name: simulator.at(name) for name in default_providers()}
    async with gateway(tmp_path, bases) as served, aiohttp.ClientSession() as session:
        yield House(served, session, alice, bob)


async def told(
    house: House, key: str, dialect: str, model: str, turns: list[Turn], *, plan: bool = False
) -> tuple[dict[str, Any], set[str]]:
    """The answer to a history, or its plan, and the notes that came with it."""
    tools = (Tool("get_weather", "Weather.", WEATHER),)
    request = Request(model=model, turns=tuple(turns), tools=tools, max_tokens=9_000)
    body = dialects.get(dialect).encode_request(request).body
    headers = {"x-api-key": key} | ({"x-thinkwire-explain": "true"} if plan else {})
    url = house.served.url + PATHS[dialect].format(model=model)
    async with house.session.post(url, json=body, headers=headers) as reply:
        answer = json.loads(await reply.read())
        assert reply.status == 200, answer
        notes = json.loads(reply.headers.get("x-thinkwire-notes", "[]"))
    return answer, {note["code"] for note in notes}


async def begun(house: House, dialect: str, model: str) -> list[Turn]:
    """Alice's history after a first step, with the result of the tool."""
    asked = Turn("user", (Text(SCRIPT),))
    answer, _ = await told(house, house.alice, dialect, model, [asked])
    turn = dialects.get(dialect).decode_response(answer).turn
    results = tuple(ToolResult(call.id, (Text("mild"),), call.name) for call in turn.tool_calls)
    assert results
    return [asked, turn, Turn("user", results)]


def thought_in(plan: dict[str, Any]) -> bool:
    """Whether the provider would see the thought besides the script, or a proof of it."""
    text = json.dumps(plan["body"])
    proofs = [word for word in ('encrypted_content": "', 'thoughtSignature": "') if word in text]
    return text.count("A secret thought.") > 1 or (bool(proofs) and "skip_thought_signature" not in text)


def without_thinking(turn: Turn) -> Turn:
    kept = (block for block in turn.blocks if not isinstance(block, Thinking))
    bare = (msgspec.structs.replace(b, seal=None, extras={}) if hasattr(b, "seal") else b for b in kept)
    return Turn("assistant", tuple(bare))


@pytest.mark.parametrize("dialect", PATHS)
async def test_a_history_of_one_tenant_is_nothing_to_another(house: House, dialect: str) -> None:
    """Neither the seals in it nor, without them, the ids of its calls."""
    for model in foreign(dialect):
        turns = await begun(house, dialect, model)
        dropped = [turns[0], without_thinking(turns[1]), turns[2]]
        for history in (turns, dropped):
            own, _ = await told(house, house.alice, dialect, model, history, plan=True)
            assert thought_in(own), model
            if dialect == "openai-chat" and history is turns and model.startswith("deepseek"):
                continue  # a chat client brings its thinking in plain words, whoever it is
            other, codes = await told(house, house.bob, dialect, model, history, plan=True)
            assert not thought_in(other), model
            assert "thinking.restored" not in codes
        answer, codes = await told(house, house.bob, dialect, model, turns)
        assert "Cold." in json.dumps(answer) or "lost the thread" in json.dumps(answer)
        if dialect != "openai-chat":
            assert "seal.forged" in codes


FORGERIES: dict[str, Callable[[str], str]] = {
    "one letter changed": lambda data: data[:60] + ("A" if data[60] != "A" else "B") + data[61:],
    "cut": lambda data: data[: len(data) // 2],
    "made up": lambda data: data[:4] + "A" * len(data),
    "nothing behind the mark": lambda data: data[:4],
    "twice": lambda data: data + data,
    "huge": lambda data: data + "A" * 300_000,
}


@pytest.mark.parametrize("dialect", ["anthropic", "openai-responses", "gemini"])
async def test_no_altered_seal_reaches_a_provider(house: House, simulator: Running, dialect: str) -> None:
    for model in foreign(dialect):
        turns = await begun(house, dialect, model)
        before = simulator.app.fired.copy()
        for name, forge in FORGERIES.items():
            blocks = tuple(_with_seal(block, forge) for block in turns[1].blocks)
            forged = [turns[0], msgspec.structs.replace(turns[1], blocks=blocks), turns[2]]
            plan, codes = await told(house, house.alice, dialect, model, forged, plan=True)
            assert "seal.forged" in codes, (model, name)
            given = {block.seal.data for block in blocks if getattr(block, "seal", None)}
            assert not any(data in json.dumps(plan["body"]) for data in given), (model, name)
            answer, _ = await told(house, house.alice, dialect, model, forged)
            assert answer
        assert simulator.app.fired - before == {}, "a provider saw something that it had to refuse"


def _with_seal(block: Any, forge: Callable[[str], str]) -> Any:
    seal = getattr(block, "seal", None)
    return block if seal is None else msgspec.structs.replace(block, seal=Seal(seal.scheme, forge(seal.data)))


async def test_a_revoked_key_opens_nothing(house: House, tmp_path: Path) -> None:
    turns = await begun(house, "anthropic", MODELS[0])
    key, _ = KeyFile(tmp_path / "access.toml").revoke("alice")
    async with asyncio.timeout(10):
        while house.served.parts.keys.is_current(key.tenant):
            await asyncio.sleep(0.01)
    body = dialects.get("anthropic").encode_request(Request(model=MODELS[0], turns=tuple(turns))).body
    url = house.served.url + "/v1/messages"
    async with house.session.post(url, json=body, headers={"x-api-key": house.alice}) as reply:
        assert reply.status == 401
