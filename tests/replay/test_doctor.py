"""The doctor against strict providers: what they refuse is found, and what is mended they take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any
from unittest.mock import patch

import msgspec
import pytest

from tests.client.test_matrix import LOOP, SEEDS, TOOLS, begun, results
from tests.grouping import for_each
from thinkwire.client import prepare as asking_module
from thinkwire.client.engine import Client
from thinkwire.client.prepare import CallSpec, PreparedRequest, prepare_request
from thinkwire.messages import Block, Conversation, Origin, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.providers import default_providers
from thinkwire.reasoning import Intent, parse_name
from thinkwire.reasoning.target import find_target
from thinkwire.replay import Destination, Replay, ReplaySettings
from thinkwire.replay.doctor import Mended, examine, healed, mend
from thinkwire.replay.findings import FINDING_CODES, Finding
from thinkwire.request import Request
from thinkwire.sim.rules.rule import RuleInput
from thinkwire.sim.rules.table import first_refusal
from thinkwire.sim.seal_binding import account_of
from thinkwire.sim.seals import SimSealer

MODELS = (*SEEDS, "claude-opus-5/high", "claude-sonnet-4-5/high", "o3-mini/med")
Turns = tuple[Turn, ...]


def destination(model: str) -> Destination:
    target = find_target(parse_name(model).name)
    assert target.provider is not None
    assert target.found is not None
    facts = target.found.facts
    return Destination(target.provider.name, target.model, facts.dialect, facts)


@cache
def talk(model: str) -> Conversation:
    """A tool loop of three rounds that has come to its last result, with the model's own thinking."""

    async def told() -> Conversation:
        said = begun(LOOP)
        async with Client(sim=True, learned_facts=False, retries=0) as client:
            for _ in range(3):
                answer = await client.complete(said, model=model, tools=TOOLS)
                said = said.plus(answer.turn, results(answer))
        return said

    return asyncio.run(told())


def _as_they_stand(turns: Turns, *_: Any) -> Replay:
    return Replay(turns)


def prepared(model: str, turns: Turns, system: tuple[Text, ...], *, off: bool = False) -> PreparedRequest:
    """The request with these turns word for word, but for what the wire itself cannot say."""
    asking = CallSpec(
        request=Request(turns=turns, system=system, tools=TOOLS),
        model=model,
        thinking=Intent(level="none") if off else None,
        replay=ReplaySettings(),
        providers=default_providers(),
    )
    with patch.object(asking_module, "plan_replay", _as_they_stand):
        return prepare_request(asking, 0.0)


def refusal(ready: PreparedRequest) -> str | None:
    """The rule by which the strict provider refuses the request."""
    facts = ready.plan.facts
    body = msgspec.json.decode(msgspec.json.encode(ready.body))
    headers = {name.lower(): value for name, value in ready.headers.items()}
    asked = RuleInput(
        *(ready.provider.name, ready.dialect.name, ready.model, facts),
        *(body, headers, SimSealer(), account_of("simulated")),
    )
    found = first_refusal(asked)
    return found[0].id if found else None


def raw_refusal(model: str, turns: Turns) -> str | None:
    return refusal(prepared(model, turns, talk(model).system))


def mended_refusal(model: str, turns: Turns) -> str | None:
    mended: Mended = mend(turns, destination(model))
    system = (*talk(model).system, *mended.system)
    return refusal(prepared(model, mended.turns, system, off=mended.thinking_off))


def on(turn: Turn, change: Callable[[Block], Block | None]) -> Turn:
    changed = [change(block) for block in turn.blocks]
    return msgspec.structs.replace(turn, blocks=tuple(block for block in changed if block is not None))


def each(turns: Turns, change: Callable[[Block], Block | None]) -> Turns:
    return tuple(on(turn, change) for turn in turns)


def sealed_with(change: Callable[[str], str]) -> Callable[[Block], Block]:
    def changed(block: Block) -> Block:
        seal = getattr(block, "seal", None)
        if seal is None:
            return block
        return msgspec.structs.replace(block, seal=Seal(seal.scheme, change(seal.data)))

    return changed


def no_seals(turns: Turns) -> Turns:
    return each(turns, lambda b: msgspec.structs.replace(b, seal=None) if getattr(b, "seal", None) else b)


def cut_seals(turns: Turns) -> Turns:
    return each(turns, sealed_with(lambda data: data[:-3]))


def wrapped_seals(turns: Turns) -> Turns:
    return each(turns, sealed_with(lambda data: f"{data[:20]}\n{data[20:]}"))


def no_thinking(turns: Turns) -> Turns:
    return each(turns, lambda block: None if isinstance(block, Thinking) else block)


def no_thinking_in_the_first_step(turns: Turns) -> Turns:
    return (turns[0], *no_thinking(turns[1:2]), *turns[2:])


def thinking_last(turns: Turns) -> Turns:
    return tuple(
        msgspec.structs.replace(
            t, blocks=tuple(sorted(t.blocks, key=lambda b: isinstance(b, Thinking) * 1 - isinstance(b, Text)))
        )
        if t.role == "assistant"
        else t
        for t in turns
    )


def words_before_thinking(turns: Turns) -> Turns:
    return tuple(
        msgspec.structs.replace(t, blocks=(Text("I look."), *t.blocks)) if t.role == "assistant" else t
        for t in turns
    )


def no_result(turns: Turns) -> Turns:
    return turns[:2] + turns[3:]


def no_last_result(turns: Turns) -> Turns:
    return turns[:-1]


def half_the_results(turns: Turns) -> Turns:
    return (*turns[:4], msgspec.structs.replace(turns[4], blocks=turns[4].blocks[:1]), *turns[5:])


def no_call(turns: Turns) -> Turns:
    return (turns[0], *each(turns[1:2], lambda b: None if isinstance(b, ToolCall) else b), *turns[2:])


def repeated_result(turns: Turns) -> Turns:
    return (*turns[:2], msgspec.structs.replace(turns[2], blocks=turns[2].blocks * 2), *turns[3:])


def late_result(turns: Turns) -> Turns:
    return (*turns[:2], *turns[3:], turns[2])


def words_between(turns: Turns) -> Turns:
    return (*turns[:2], Turn("assistant", (Text("One moment."),)), *turns[2:])


def user_between(turns: Turns) -> Turns:
    return (*turns[:2], Turn("user", (Text("Hurry."),)), *turns[2:])


def words_before_results(turns: Turns) -> Turns:
    return (
        *turns[:2],
        msgspec.structs.replace(turns[2], blocks=(Text("Here:"), *turns[2].blocks)),
        *turns[3:],
    )


def words_after_results(turns: Turns) -> Turns:
    return (*turns[:-1], msgspec.structs.replace(turns[-1], blocks=(*turns[-1].blocks, Text("Go on."))))


def results_in_pieces(turns: Turns) -> Turns:
    return (*turns[:4], *(Turn("user", (block,)) for block in turns[4].blocks), *turns[5:])


def blank_text(turns: Turns) -> Turns:
    return tuple(msgspec.structs.replace(t, blocks=(*t.blocks, Text("\n\n"))) for t in turns)


def blank_turn(turns: Turns) -> Turns:
    return (*turns, Turn("assistant", (Text(""),)), Turn("user", (Text("And?"),)))


def empty_turn(turns: Turns) -> Turns:
    return (*turns, Turn("assistant"), Turn("user", (Text("And?"),)))


def half_a_call(turns: Turns) -> Turns:
    half = ToolCall("call_half", "get_time", '{"ci', interrupted=True)
    return (*turns, Turn("assistant", (half,)), Turn("user", (Text("And?"),)))


def half_a_thought(turns: Turns) -> Turns:
    half = Turn("assistant", (Thinking("Hm, I", interrupted=True),), origin=turns[1].origin)
    return (*turns, half, Turn("user", (Text("And?"),)))


def one_id_twice(turns: Turns) -> Turns:
    first = next(call.id for call in turns[1].tool_calls)

    def same(block: Block) -> Block:
        if isinstance(block, ToolCall):
            return msgspec.structs.replace(block, id=first)
        return msgspec.structs.replace(block, call_id=first) if isinstance(block, ToolResult) else block

    return each(turns, same)


def renamed(name: Callable[[str], str]) -> Callable[[Turns], Turns]:
    def change(block: Block) -> Block:
        if isinstance(block, ToolCall):
            return msgspec.structs.replace(block, id=name(block.id))
        if isinstance(block, ToolResult):
            return msgspec.structs.replace(block, call_id=name(block.call_id))
        return block

    return lambda turns: each(turns, change)


def broken_arguments(turns: Turns) -> Turns:
    return each(turns, lambda b: msgspec.structs.replace(b, arguments="{") if isinstance(b, ToolCall) else b)


def no_beginning(turns: Turns) -> Turns:
    return turns[1:]


def only_results_at_the_beginning(turns: Turns) -> Turns:
    return turns[2:]


def results_said_by_the_model(turns: Turns) -> Turns:
    joined = msgspec.structs.replace(turns[1], blocks=turns[1].blocks + turns[2].blocks)
    return (turns[0], joined, *turns[3:])


def calls_said_by_the_user(turns: Turns) -> Turns:
    return (turns[0], Turn("user", turns[1].blocks), *turns[2:])


def system_in_the_loop(turns: Turns) -> Turns:
    return (*turns[:2], Turn("system", (Text("Be kind."),)), *turns[2:])


def system_at_the_start(turns: Turns) -> Turns:
    return (Turn("system", (Text("Be kind."),)), *turns)


def another_origin(turns: Turns) -> Turns:
    other = Origin(provider="somebody", model="some-model")
    return tuple(msgspec.structs.replace(t, origin=other) if t.role == "assistant" else t for t in turns)


def no_origin(turns: Turns) -> Turns:
    return tuple(msgspec.structs.replace(turn, origin=None) for turn in turns)


def unsigned_words(turns: Turns) -> Turns:
    plain = Turn("assistant", (Thinking("Hm.", field="reasoning_content"), Text("Yes.")))
    return (*turns, plain, Turn("user", (Text("And?"),)))


def moved_signature(turns: Turns) -> Turns:
    calls = turns[3].tool_calls
    seals = {calls[0].id: None, calls[1].id: calls[0].seal}

    def moved(block: Block) -> Block:
        return msgspec.structs.replace(block, seal=seals[block.id]) if isinstance(block, ToolCall) else block

    return (*turns[:3], on(turns[3], moved), *turns[4:])


def no_followers(turns: Turns) -> Turns:
    return (*turns, on(turns[1], lambda b: b if isinstance(b, Thinking) else None), *turns[:1])


def two_of_the_model(turns: Turns) -> Turns:
    return (*turns, Turn("assistant", (Text("One."),)), Turn("assistant", (Text("Two."),)), *turns[:1])


CORRUPTIONS: tuple[Callable[[Turns], Turns], ...] = (
    *(no_seals, cut_seals, wrapped_seals, no_thinking, no_thinking_in_the_first_step, thinking_last),
    *(words_before_thinking, no_result, no_last_result, half_the_results, no_call, repeated_result),
    *(late_result, words_between, user_between, words_before_results, words_after_results),
    *(results_in_pieces, blank_text, blank_turn, empty_turn, half_a_call, half_a_thought, one_id_twice),
    *(broken_arguments, no_beginning, only_results_at_the_beginning, results_said_by_the_model),
    *(calls_said_by_the_user, system_in_the_loop, system_at_the_start, another_origin, no_origin),
    *(unsigned_words, moved_signature, no_followers, two_of_the_model),
)
IDS = {
    "colons": renamed(lambda call: f"functions.{call}:0"),
    "long": renamed(lambda call: f"{call:x<80}"),
}
CASES = {change.__name__: change for change in CORRUPTIONS} | IDS


UNSEEN = ("words_before_thinking", "no_followers", "colons", "long", "one_id_twice")
"""Words or ids that somebody changed before thinking that is bound to them: nothing in the turns tells it.
The same goes for xAI's encrypted content, which comes in any length."""


UNREFUSED = {"words_after_results", "another_origin", "no_origin", "two_of_the_model", "colons"} | {
    *("one_id_twice", "results_in_pieces", "long", "unsigned_words", "half_a_thought")
}
"""What our own wires mend while they write, or what no provider is known to refuse."""


def found_in(findings: tuple[Finding, ...]) -> bool:
    """Whether it was found that the provider refuses, or may refuse, the conversation."""
    return any(f.severity != "odd" or f.code == "item.without_thinking" for f in findings)


@pytest.mark.parametrize("model", MODELS)
def test_a_good_conversation_has_nothing_wrong_and_is_left_as_it_is(model: str) -> None:
    turns = talk(model).turns
    assert examine(turns, destination(model)) == ()
    assert raw_refusal(model, turns) is None
    assert mended_refusal(model, turns) is None
    assert healed(turns, destination(model)) == Mended(turns)


@for_each("name", CASES)
@pytest.mark.parametrize("model", MODELS)
def test_what_a_provider_refuses_is_found_and_what_is_mended_it_takes(model: str, name: str) -> None:
    turns = CASES[name](talk(model).turns)
    found = examine(turns, destination(model))
    refused = raw_refusal(model, turns)
    if (refused == "anthropic.prefix_changed" and name in UNSEEN) or refused == "xai.encrypted_content":
        return
    if refused is not None:
        assert found_in(found), refused
    assert mended_refusal(model, turns) is None
    kept = healed(turns, destination(model)).turns
    assert mended_refusal(model, kept) is None


def test_every_corruption_is_refused_by_somebody_or_is_known_not_to_be() -> None:
    free = [model for model in MODELS if not model.startswith("claude-opus-5-5")]  # it refuses every change
    refused = {name for name in CASES for model in free if raw_refusal(model, CASES[name](talk(model).turns))}
    assert set(CASES) - refused == UNREFUSED


def test_every_corruption_is_found_by_somebody() -> None:
    for name, change in CASES.items():
        found = [f for model in MODELS for f in examine(change(talk(model).turns), destination(model))]
        assert found or name in ("no_origin", "words_after_results"), name


def prefilled() -> Request:
    return Request(turns=(Turn("user", (Text("Hi"),)), Turn("assistant", (Text("Well,"),))))


def test_a_request_that_ends_with_the_model_is_closed_and_a_stored_conversation_may_end_so() -> None:
    to, request = destination("claude-opus-5-5"), prefilled()
    assert [finding.code for finding in examine(request, to)] == ["turn.prefill"]
    assert mend(request, to).turns[-1] == Turn("user", (Text("Continue."),))
    assert examine(request.turns, to) == ()
    assert mend(request.turns, to).turns == request.turns


def test_another_models_thinking_is_said_to_be_dormant_and_not_lost() -> None:
    found = examine(talk("claude-opus-5-5/high").turns, destination("gemini-3.8-flash"))
    asleep = [finding for finding in found if finding.code == "thinking.dormant"]
    assert {finding.mend for finding in asleep} == {
        "lost: no, dormant; it is not sent here and goes back to claude-opus-5-5"
    }
    assert len(asleep) == 3


def test_settings_that_leave_out_what_the_model_asks_for_are_found() -> None:
    found = examine(talk("kimi-k3/high").turns, destination("kimi-k3"), ReplaySettings(include=False))
    assert [finding.code for finding in found] == ["settings.refusable"]


def test_every_code_is_found_somewhere() -> None:
    targets = [destination(model) for model in MODELS]
    found = {
        f.code for m in MODELS for name in CASES for f in examine(CASES[name](talk(m).turns), destination(m))
    }
    found |= {f.code for m in MODELS for to in targets for f in examine(talk(m).turns, to)}
    found |= {f.code for to in targets for f in examine(prefilled(), to)}
    kimi = examine(talk("kimi-k3/high").turns, destination("kimi-k3"), ReplaySettings(strip="all"))
    twice = talk("gpt-5.6-terra/high").turns
    found |= {f.code for f in (*kimi, *examine(twice + twice, destination("gpt-5.6-terra")))}
    assert set(FINDING_CODES) - found == set()
