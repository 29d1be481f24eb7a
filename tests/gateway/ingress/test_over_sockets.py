"""Loops of Codex over sockets: free-form and namespaced calls on foreign models, and stored responses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.gateway.gateways import SECRET, Served, gateway
from tests.gateway.ingress.asked import CLAUDE, DEEPSEEK, GEMINI, GROK, KIMI
from tests.gateway.ingress.test_codex import AGENTS, PATCH, RUN
from thinkwire import dialects
from thinkwire.events import Answer, collect
from thinkwire.gateway.responses.store import open_responses
from thinkwire.jsonvalue import parse
from thinkwire.providers import default_providers
from thinkwire.sim.fixture import Running

pytestmark = pytest.mark.anyio

FOREIGN = [CLAUDE, GEMINI, DEEPSEEK, GROK, KIMI]
SCRIPT = (
    '[[think:First the patch.]] [[call:apply_patch {"input":"*** Begin Patch"}]] '
    "[[think:Now help.]] [[call:agents__spawn {}]] & [[call:exec_command {}]] [[think:Good.]] [[say:Done.]]"
)
TOOLS = [PATCH, AGENTS, RUN, {"type": "web_search"}]
OUTPUTS = {"custom_tool_call": "custom_tool_call_output", "function_call": "function_call_output"}


@pytest.fixture
async def served(simulator: Running, tmp_path: Path) -> AsyncIterator[Served]:
    bases = {name: simulator.at(name) for name in default_providers()}
    async with (
        gateway(tmp_path, bases) as served,
        await open_responses(str(tmp_path / "responses.db"), key=SECRET) as responses,
    ):
        served.parts.responses = responses
        yield served


async def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """The response, whole or from the end of its stream."""
    async with aiohttp.ClientSession() as session, session.post(f"{url}/v1/responses", json=body) as reply:
        data = await reply.read()
        assert reply.status == 200, data[:300]
    if not body.get("stream"):
        whole: dict[str, Any] = parse(data)
        return whole
    events = [parse(line[6:]) for line in data.split(b"\n") if line.startswith(b"data: ")]
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    last = events[-1]["response"]
    assert last["output"] == done
    assert read(data).finish in ("stop", "tool_calls")
    ended: dict[str, Any] = last
    return ended


def read(data: bytes) -> Answer:
    decoder = dialects.get("openai-responses").stream_decoder()
    return collect([*decoder.feed(data), *decoder.close()])


def results(response: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": OUTPUTS[item["type"]], "call_id": item["call_id"], "output": "fine"}
        for item in response["output"]
        if item["type"] in OUTPUTS
    ]


def calls(response: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    return [
        (item["type"], item["name"], item.get("namespace"))
        for item in response["output"]
        if item["type"] in OUTPUTS
    ]


STEPS: list[list[tuple[str, str, str | None]]] = [
    [("custom_tool_call", "apply_patch", None)],
    [("function_call", "spawn", "agents"), ("function_call", "exec_command", None)],
    [],
]


@pytest.mark.parametrize("model", FOREIGN)
async def test_a_loop_with_free_form_and_namespaced_calls_is_never_refused(
    served: Served, model: str
) -> None:
    talk: list[dict[str, Any]] = [{"type": "message", "role": "user", "content": SCRIPT}]
    for step in STEPS:
        body = {"model": model, "input": talk, "tools": TOOLS, "store": False, "stream": True}
        response = await post(served.url, body)
        assert calls(response) == step
        talk += [*response["output"], *results(response)]
    assert response["output"][-1]["content"][0]["text"] == "Done."
    assert [record.kind.status for record in await served.recorded(3)] == [200, 200, 200]


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("model", FOREIGN)
async def test_the_same_loop_by_the_ids_of_stored_responses(served: Served, model: str, stream: bool) -> None:
    said: Any = SCRIPT
    before: dict[str, str] = {}
    for step in STEPS:
        body = {"model": model, "input": said, "tools": TOOLS, "stream": stream, **before}
        response = await post(served.url, body)
        assert calls(response) == step
        said, before = results(response), {"previous_response_id": response["id"]}
    assert response["output"][-1]["content"][0]["text"] == "Done."


async def test_items_that_are_only_referred_to_are_found(served: Served) -> None:
    """As the AI SDK does it when nothing is said about storing."""
    response = await post(served.url, {"model": DEEPSEEK, "input": SCRIPT, "tools": TOOLS})
    references = [{"type": "item_reference", "id": item["id"]} for item in response["output"]]
    talk = [{"role": "user", "content": SCRIPT}, *references, *results(response)]
    following = await post(served.url, {"model": DEEPSEEK, "input": talk, "tools": TOOLS})
    assert calls(following) == STEPS[1]


async def test_a_stored_response_is_shown_and_deleted_and_then_nobody_knows_it(served: Served) -> None:
    response = await post(served.url, {"model": CLAUDE, "input": "Hi"})
    place = f"{served.url}/v1/responses/{response['id']}"
    async with aiohttp.ClientSession() as session:
        async with session.get(place) as reply:
            shown = await reply.json()
        async with session.get(f"{place}/input_items") as reply:
            items = await reply.json()
        async with session.delete(place) as reply:
            assert (await reply.json())["deleted"] is True
        async with session.get(place) as reply:
            assert reply.status == 404
            assert (await reply.json())["error"]["type"] == "invalid_request_error"
        body = {"model": CLAUDE, "input": "And?", "previous_response_id": response["id"]}
        async with session.post(f"{served.url}/v1/responses", json=body) as reply:
            assert reply.status == 400
            assert (await reply.json())["error"]["code"] == "previous_response_not_found"
    assert shown["output"] == response["output"]
    assert [item["content"] for item in items["data"]] == ["Hi"]


async def test_the_thinking_of_a_deleted_response_does_not_come_back(served: Served) -> None:
    """Neither by a reference to its item nor by what stood around it."""
    response = await post(served.url, {"model": DEEPSEEK, "input": SCRIPT, "tools": TOOLS})
    thought, call = response["output"][0], response["output"][-1]
    assert thought["type"] == "reasoning"
    reference = {"type": "item_reference", "id": thought["id"]}
    talk = [{"role": "user", "content": SCRIPT}, reference, call, *results(response)]
    body = {"model": DEEPSEEK, "input": talk, "tools": TOOLS}
    async with aiohttp.ClientSession(headers={"x-thinkwire-explain": "true"}) as session:
        async with session.post(f"{served.url}/v1/responses", json=body) as reply:
            assert "First the patch." in str((await reply.json())["body"]["messages"][1:])
        async with session.delete(f"{served.url}/v1/responses/{response['id']}") as reply:
            assert (await reply.json())["deleted"] is True
        async with session.post(f"{served.url}/v1/responses", json=body) as reply:
            assert "First the patch." not in str((await reply.json())["body"]["messages"][1:])


async def test_nothing_is_deleted_while_the_ledger_cannot_be_reached(served: Served) -> None:
    response = await post(served.url, {"model": DEEPSEEK, "input": SCRIPT, "tools": TOOLS})
    place = f"{served.url}/v1/responses/{response['id']}"
    assert served.parts.ledger is not None
    await served.parts.ledger.aclose()
    async with aiohttp.ClientSession() as session:
        async with session.delete(place) as reply:
            assert reply.status == 503
            assert "nothing was deleted" in (await reply.json())["error"]["message"]
        async with session.get(place) as reply:
            assert reply.status == 200
