"""Our client against strict simulated providers: tool loops, switches and returns, and no refusal."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import permutations
from typing import Any

import msgspec
import pytest

from thinkwire.client.engine import Client
from thinkwire.events import Answer
from thinkwire.messages import Conversation, Seal, Text, Thinking, ToolResult, Turn
from thinkwire.providers import default_providers
from thinkwire.replay import ReplaySettings
from thinkwire.request import Request, Tool
from thinkwire.sim.fixture import Running, simulator

__all__ = ["simulator"]
pytestmark = pytest.mark.anyio

MODELS = (
    *(
        "claude-opus-5-5/high",
        "claude-opus-5/med",
        "claude-sonnet-4-5/low",
        "gpt-5.6-terra/high",
        "o3-mini/med",
    ),
    *("gemini-3.8-flash/high", "gemini-2.5-pro/med", "openrouter/anthropic/claude-opus-5/high"),
    *("openrouter/google/gemini-3.8-flash/high", "openrouter/x-ai/grok-4.6/high", "mistral-large-4/high"),
    *("openrouter/moonshotai/kimi-k3/high", "xiaomi/mimo-v2.5-pro/high", "together/openai/gpt-oss-120b/high"),
    *("openrouter/openai/gpt-5.6-terra/med", "grok-4.6/high", "grok-3-mini/high", "qwen3.7-max/med"),
    *("MiniMax-M3/high", "MiniMax-M2.7/high", "deepseek-v4-pro/high", "deepseek-reasoner", "kimi-k3/high"),
    *("kimi-k2.6/high", "glm-5.3/high", "glm-4.7/high", "mistral-small-latest/high"),
    *(
        "qwen3-235b-a22b/med",
        "groq/openai/gpt-oss-120b/high",
        "cerebras/gpt-oss-120b/high",
        "ollama/gpt-oss:20b/high",
    ),
)
SEEDS = (
    *("claude-opus-5-5/high", "gpt-5.6-terra/high", "gemini-3.8-flash/high", "grok-4.6/high"),
    *(
        "openrouter/anthropic/claude-opus-5/high",
        "qwen3.7-max/med",
        "MiniMax-M3/high",
        "deepseek-v4-pro/high",
    ),
    *("kimi-k3/high",),
)
TOOLS = (
    Tool("get_weather", "Weather of a city.", {"type": "object", "properties": {"city": {"type": "string"}}}),
    Tool("get_time", "Time in a city.", {"type": "object", "properties": {"city": {"type": "string"}}}),
)
LOOP = (
    '[[think:First I look.]] [[call:get_weather {"city":"Oslo"}]] '
    '[[think:Two more at once.]] [[call:get_weather {"city":"Bergen"}]] & [[call:get_time {"city":"Oslo"}]] '
    '[[think:One last.]] [[call:get_time {"city":"Bergen"}]] [[think:Now I know.]] [[say:Cold and late.]]'
)


@pytest.fixture
async def client(simulator: Running) -> AsyncIterator[Client]:
    names = default_providers()
    bases = {name: simulator.at(name) for name in names}
    async with Client(keys=dict.fromkeys(names, "any-key"), bases=bases, retries=0) as client:
        yield client


def begun(text: str) -> Conversation:
    return Conversation(system=(Text("Be brief."),), turns=(Turn("user", (Text(text),)),))


def results(answer: Answer) -> Turn:
    return Turn(
        "user", tuple(ToolResult(call.id, (Text(f"{call.name}: 7"),)) for call in answer.turn.tool_calls)
    )


async def loop(
    client: Client, models: list[str], *, streamed: bool = True
) -> tuple[Conversation, list[Answer]]:
    """A scripted tool loop of three rounds, each step asked of the next model in turn."""
    talk = begun(LOOP)
    answers: list[Answer] = []
    for step in range(4):
        model = models[step % len(models)]
        answer = await client.complete(talk, model=model, tools=TOOLS, streamed=streamed)
        answers.append(answer)
        talk = talk.plus(answer.turn)
        if answer.turn.tool_calls:
            talk = talk.plus(results(answer))
    return talk, answers


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
async def test_a_plain_question_is_answered(client: Client, model: str, streamed: bool) -> None:
    answer = await client.complete("What is thinking?", model=model, streamed=streamed)
    assert answer.finish == "stop"
    assert "simulated" in answer.turn.text
    assert answer.usage is not None


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
async def test_a_tool_loop_of_three_rounds_is_never_refused(
    client: Client, model: str, streamed: bool
) -> None:
    talk, answers = await loop(client, [model], streamed=streamed)
    assert [len(answer.turn.tool_calls) for answer in answers] == [1, 2, 1, 0]
    assert answers[-1].turn.text == "Cold and late."
    again = await client.complete(talk.plus(Turn("user", (Text("[[say:Bye.]]"),))), model=model, tools=TOOLS)
    assert again.turn.text == "Bye."


async def test_kimi_works_with_its_reasoning_in_context_and_visibly_breaks_without(client: Client) -> None:
    """As the terminal's seed says: true makes it work, false breaks it, and that is expected."""
    call = '[[think:I look.]] [[call:get_weather {"city":"Oslo"}]] [[say:Cold.]]'
    for include, said in ((True, "Cold."), (None, "Cold."), (False, "lost the thread")):
        settings = ReplaySettings(include=include)
        first = await client.complete(begun(call), model="kimi-k3/high", tools=TOOLS, replay=settings)
        talk = begun(call).plus(first.turn, results(first))
        second = await client.complete(talk, model="kimi-k3/high", tools=TOOLS, replay=settings)
        assert said in second.turn.text
        assert ("replay.refusable" in {note.code for note in second.notes}) == (include is False)


def _with_broken_seals(turn: Turn) -> Turn:
    def broken(block: Any) -> Any:
        seal = getattr(block, "seal", None)
        if seal is None:
            return block
        return msgspec.structs.replace(block, seal=Seal(seal.scheme, "A" + seal.data[1:]))

    return msgspec.structs.replace(turn, blocks=tuple(broken(block) for block in turn.blocks))


SEALED = ("claude-opus-5-5/high", "claude-sonnet-4-5/high", "gpt-5.6-terra/high", "gemini-3.8-flash/high")


@pytest.mark.parametrize("model", SEALED)
async def test_a_changed_seal_is_refused_and_recovered_once(
    client: Client, simulator: Running, model: str
) -> None:
    text = '[[think:I look.]] [[call:get_weather {"city":"Oslo"}]] [[say:Cold.]]'
    first = await client.complete(begun(text), model=model, tools=TOOLS)
    talk = begun(text).plus(_with_broken_seals(first.turn), results(first))
    before = simulator.app.fired.total()
    answer = await client.complete(talk, model=model, tools=TOOLS)
    assert answer.turn.text == "Cold."
    assert "thinking.stripped" in {note.code for note in answer.notes}
    assert simulator.app.fired.total() > before, "a rule must notice an altered byte"


async def test_the_embedded_simulators_need_no_key() -> None:
    async with Client(sim=True) as client:
        answer = await client.complete("Hello?", model="claude-opus-5-5/high")
    assert "simulated" in answer.turn.text


async def test_simulated_thinking_is_at_home_wherever_the_simulators_listen() -> None:
    async with Client(sim=True) as client:
        first = await client.complete("[[think:Hm.]] Hello?", model="claude-opus-5-5/high")
        talk = begun("Hello?").plus(first.turn, Turn("user", (Text("And?"),)))
        client._bases = {name: base.replace("127.0.0.1", "localhost") for name, base in client._bases.items()}
        second = await client.complete(talk, model="claude-opus-5-5/high")
    assert first.turn.origin is not None
    assert first.turn.origin.endpoint == "simulated://anthropic"
    assert "thinking.dormant" not in {note.code for note in second.notes}


@pytest.mark.parametrize("model", SEEDS)
async def test_stopping_and_starting_to_think_is_never_refused(client: Client, model: str) -> None:
    name = model.rpartition("/")[0]
    _, answers = await loop(client, [f"{name}/high", f"{name}/none"])
    assert answers[-1].turn.text == "Cold and late."


@pytest.mark.parametrize(("first", "second"), list(permutations(SEEDS, 2)))
async def test_switching_in_the_middle_of_a_loop_and_back_is_never_refused(
    client: Client, first: str, second: str
) -> None:
    talk, answers = await loop(client, [first, second])
    assert answers[-1].turn.text == "Cold and late."
    thought = [block for block in answers[0].turn.blocks if isinstance(block, Thinking)]
    back = await client.complete(talk.plus(Turn("user", (Text("[[say:Bye.]]"),))), model=first, tools=TOOLS)
    assert back.turn.text == "Bye."
    assert thought == [block for block in talk.turns[1].blocks if isinstance(block, Thinking)]


PROFILES = [
    ("kimi-k2-thinking", ReplaySettings(include=True), True),
    ("claude-sonnet-5/high", ReplaySettings(include=True), True),
    ("gemini-2.5-flash/high", ReplaySettings(include=False), False),
    ("gpt-4o", ReplaySettings(), False),
]


@pytest.mark.parametrize(("model", "settings", "kept"), PROFILES, ids=[model for model, *_ in PROFILES])
async def test_the_profiles_of_the_terminals_seed_work_as_written(
    client: Client, model: str, settings: ReplaySettings, kept: bool
) -> None:
    text = '[[think:I look.]] [[call:get_weather {"city":"Oslo"}]] [[say:Cold.]]'
    first = await client.complete(begun(text), model=model, tools=TOOLS, replay=settings)
    talk = begun(text).plus(first.turn, results(first))
    second = await client.complete(talk, model=model, tools=TOOLS, replay=settings)
    assert second.turn.text == "Cold."
    assert any(isinstance(block, Thinking) for block in first.turn.blocks) == (model != "gpt-4o")
    assert ("thinking.stripped" in {note.code for note in second.notes}) == (not kept and model != "gpt-4o")


@pytest.mark.parametrize(
    ("model", "counts"),
    [("claude-opus-5-5/high", True), ("gemini-3.8-flash/high", True), ("kimi-k3", False)],
)
async def test_the_vendor_counts_where_it_can(client: Client, model: str, counts: bool) -> None:
    question = Turn("user", (Text("How long is this?"),))
    counted = await client.count_tokens(client.asking(Request(turns=(question,)), model=model))
    assert (counted is not None) is counts
    if counted is not None:
        answer = await client.complete([question], model=model)
        assert answer.usage is not None
        assert counted == answer.usage.input_total
