"""Each protection switched off in turn: a strict provider must notice, or it protects nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
import pytest

from tests.client.test_matrix import TOOLS, begun, results
from thinkwire.client import prepare as asking_module
from thinkwire.client.engine import Client
from thinkwire.client.prepare import CallSpec, PreparedRequest, prepare_request
from thinkwire.errors import ProviderError
from thinkwire.messages import Conversation, Turn
from thinkwire.providers import default_providers
from thinkwire.reasoning.constraints import Companions
from thinkwire.replay import Replay
from thinkwire.request import ToolChoice
from thinkwire.sim.fixture import Running, simulator

__all__ = ["simulator"]
pytestmark = pytest.mark.anyio

CALL = '[[think:I look.]] [[call:get_weather {"city":"Oslo"}]] [[say:Cold.]]'
Change = Callable[[dict[str, Any]], None]


@pytest.fixture
async def client(simulator: Running) -> AsyncIterator[Client]:
    names = default_providers()
    bases = {name: simulator.at(name) for name in names}
    async with Client(
        keys=dict.fromkeys(names, "any-key"), bases=bases, retries=0, learned_facts=False
    ) as client:
        yield client


def no_replay(turns: tuple[Turn, ...], *_: Any) -> Replay:
    return Replay(turns)


def no_companions(self: Companions, setting: Any, request: Any) -> Any:
    return setting, request


async def talk_of(client: Client, first: str) -> Conversation:
    """A conversation in the middle of a tool loop that this model began."""
    answer = await client.complete(begun(CALL), model=first, tools=TOOLS)
    return begun(CALL).plus(answer.turn, results(answer))


async def test_without_the_replay_planner_a_foreign_call_is_refused(
    client: Client, simulator: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = await talk_of(client, "gpt-5.6-terra/high")
    monkeypatch.setattr(asking_module, "plan_replay", no_replay)
    with pytest.raises(ProviderError):
        await client.complete(talk, model="gemini-3.8-flash/high", tools=TOOLS)
    assert simulator.app.fired["gemini.signature_missing"]


COMPANIONS: list[tuple[str, dict[str, Any], str]] = [
    ("claude-opus-5-5/high", {"temperature": 0.2}, "anthropic."),
    ("claude-sonnet-4-5/high", {"max_tokens": 2_000}, "anthropic."),
    ("claude-opus-5-5/high", {"tools": TOOLS, "tool_choice": ToolChoice("any")}, "anthropic."),
    ("gpt-5.6-terra/high", {"temperature": 0.2}, "openai."),
    ("deepseek-v4-pro/high", {"tools": TOOLS, "tool_choice": ToolChoice("any")}, "deepseek."),
]


@pytest.mark.parametrize(("model", "request_fields", "vendor"), COMPANIONS)
async def test_without_the_companions_check_the_request_is_refused(
    client: Client,
    simulator: Running,
    monkeypatch: pytest.MonkeyPatch,
    *,
    model: str,
    request_fields: Any,
    vendor: str,
) -> None:
    await client.complete("Hi", model=model, **request_fields)
    monkeypatch.setattr(Companions, "fit", no_companions)
    before = sum(count for rule, count in simulator.app.fired.items() if rule.startswith(vendor))
    with pytest.raises(ProviderError):
        await client.complete("Hi", model=model, **request_fields)
    assert sum(count for rule, count in simulator.app.fired.items() if rule.startswith(vendor)) > before


def drop_signature(body: dict[str, Any]) -> None:
    body["messages"][1]["content"][0].pop("signature")


def change_thought(body: dict[str, Any]) -> None:
    body["messages"][1]["content"][0]["thinking"] = "Something else."


def change_prefix(body: dict[str, Any]) -> None:
    body["system"] = "Be verbose."


def drop_thinking(body: dict[str, Any]) -> None:
    del body["messages"][1]["content"][0]


def drop_reasoning_item(body: dict[str, Any]) -> None:
    body["input"] = [item for item in body["input"] if item.get("type") != "reasoning"]


def drop_follower(body: dict[str, Any]) -> None:
    body["input"] = [item for item in body["input"] if not str(item.get("type")).startswith("function_call")]


def drop_thought_signature(body: dict[str, Any]) -> None:
    for part in body["contents"][1]["parts"]:
        part.pop("thoughtSignature", None)


def drop_reasoning_content(body: dict[str, Any]) -> None:
    for message in body["messages"]:
        message.pop("reasoning_content", None)


def drop_result(body: dict[str, Any]) -> None:
    del body["messages"][-1]


MUTATIONS: list[tuple[str, Change]] = [
    ("claude-opus-5-5/high", drop_signature),
    ("claude-opus-5-5/high", change_thought),
    ("claude-opus-5-5/high", change_prefix),
    ("claude-opus-5-5/high", drop_result),
    ("claude-sonnet-4-5/high", drop_thinking),
    ("gpt-5.6-terra/high", drop_reasoning_item),
    ("gpt-5.6-terra/high", drop_follower),
    ("gemini-3.8-flash/high", drop_thought_signature),
    ("deepseek-v4-pro/high", drop_reasoning_content),
    ("kimi-k3/high", drop_reasoning_content),
]


@pytest.mark.parametrize(
    ("model", "change"), MUTATIONS, ids=[f"{model} {c.__name__}" for model, c in MUTATIONS]
)
async def test_a_spoiled_request_is_noticed(
    client: Client, simulator: Running, monkeypatch: pytest.MonkeyPatch, *, model: str, change: Change
) -> None:
    talk = await talk_of(client, model)
    assert (await client.complete(talk, model=model, tools=TOOLS)).turn.text == "Cold."

    def spoiled(asking: CallSpec, now: float) -> PreparedRequest:
        prepared = prepare_request(asking, now)
        if asking.recovery is not None:
            return prepared
        body = prepared.body
        change(body)
        return msgspec.structs.replace(prepared, data=msgspec.json.encode(body))

    monkeypatch.setattr("thinkwire.client.engine.prepare_request", spoiled)
    before = simulator.app.fired.total()
    try:
        answer = await client.complete(talk, model=model, tools=TOOLS)
    except ProviderError as error:
        answer = error.partial
    assert simulator.app.fired.total() > before, "no rule noticed"
    recovered = any(note.message.startswith("refused: ") for note in answer.notes)
    assert recovered != (answer.failure is not None), "said, and mended or raised"
