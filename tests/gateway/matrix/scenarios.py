"""What a client and a provider go through together; each says what must come out of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tests.gateway.gateways import Served, config_of
from tests.gateway.matrix.clients import Said, Talker, failure_of, forgetful, question, results
from thinkwire.messages import Thinking, ToolCall, Turn
from thinkwire.replay.planner import PLACEHOLDER

LOST = frozenset(
    {
        *("thinking.stripped", "thinking.dropped", "reasoning.learned", "seal.placeholder", "seal.forged"),
        *("replay.thinking_off", "replay.refusable", "tool_result.added", "tool_result.dropped"),
    }
)
"""Notes of thinking that did not reach its own model again, or of a history that had to be mended."""
SWITCHED = frozenset({"seal.placeholder", "replay.thinking_off"})
"""What is unavoidable for a model in a loop that another one began."""

CITIES = ("Oslo", "Bergen", "Rome")
LOOP = " ".join(
    [
        *(f'[[think:I look at {city}.]] [[call:get_weather {{"city":"{city}"}}]]' for city in CITIES),
        "[[think:Now I know.]] [[say:Cold and late.]]",
    ]
)
LOOP_THOUGHTS = [*(f"I look at {city}." for city in CITIES), "Now I know."]
PARALLEL = (
    "[[think:All at once.]] "
    + " & ".join(f'[[call:get_weather {{"city":"{city}"}}]]' for city in CITIES)
    + " [[think:Now I know.]] [[say:Cold and late.]]"
)
SILENCE = 0.24


class Cell(NamedTuple):
    """One client, one model, and another model to go to and come back from."""

    talker: Talker
    served: Served
    model: str
    other: str


def plain(cell: Cell) -> None:
    for stream in (True, False):
        said = _answered(cell.talker.ask(cell.model, [question("What is it?")], stream=stream, thinks=False))
        assert "simulated" in said.answer.turn.text
        assert said.answer.finish == "stop"


def thinking(cell: Cell) -> None:
    for stream in (True, False):
        said = _answered(
            cell.talker.ask(cell.model, [question("[[think:Let me see.]] [[say:Done.]]")], stream=stream)
        )
        assert _thoughts(said) == "Let me see."
        assert said.answer.turn.text == "Done."
        usage = said.record.usage
        assert usage is not None
        assert usage.output_total


def tool_loop(cell: Cell) -> None:
    for stream in (True, False):
        turns, thoughts = _looped(cell, LOOP, [cell.model] * 4, stream=stream)
        assert thoughts == LOOP_THOUGHTS
        assert [len(turn.tool_calls) for turn in turns[1::2]] == [1, 1, 1, 0]
        _goes_on(cell, turns, stream=stream)


def parallel_tools(cell: Cell) -> None:
    for stream in (True, False):
        turns, thoughts = _looped(cell, PARALLEL, [cell.model] * 2, stream=stream)
        assert thoughts == ["All at once.", "Now I know."]
        calls = turns[1].tool_calls
        assert [json.loads(call.arguments)["city"] for call in calls] == list(CITIES)
        assert len({call.id for call in calls}) == len(CITIES)


def dropped_reasoning(cell: Cell) -> None:
    """The client gives back words and calls only; the gateway remembers the rest."""
    for stream in (True, False):
        turns, thoughts = _looped(cell, LOOP, [cell.model] * 4, stream=stream, keep=forgetful)
        assert thoughts == LOOP_THOUGHTS
        _goes_on(cell, turns, stream=stream)


def switch_and_return(cell: Cell) -> None:
    """Two models take turns in one loop. Neither sees what the other thought; each finds its own again."""
    turns = [question(LOOP)]
    for step, model in enumerate([cell.model, cell.other, cell.model, cell.other]):
        if step == 1:
            assert not _shows(cell.talker.plan(model, turns), LOOP_THOUGHTS[0])
        elif step == 2:
            assert _shows(cell.talker.plan(model, turns), LOOP_THOUGHTS[0])
        said = _answered(cell.talker.ask(model, turns, stream=step % 2 == 0), switched=True)
        assert _thoughts(said) == LOOP_THOUGHTS[step]
        turns += [said.answer.turn, results(said.answer.turn)]
    assert said.answer.turn.text == "Cold and late."
    _goes_on(cell, turns[:-1], stream=False, switched=True)


def _shows(body: str, thought: str) -> bool:
    """Whether a provider's request has the thought besides the script, or Google's proof of it."""
    signatures = set(re.findall(r'"thoughtSignature": "([^"]+)"', body)) - {PLACEHOLDER.data}
    return body.count(thought) > 1 or bool(signatures)


def mid_stream_cut(cell: Cell) -> None:
    asked = [question("[[think:Let me see.]] [[say:This is only the first half of it]] [[cut]]")]
    said = cell.talker.ask(cell.model, asked, stream=True)
    assert said.status == 200
    assert said.answer.finish is None
    assert "first half" in said.answer.turn.text
    assert failure_of(said).message
    assert said.record.kind.failure == "connection_lost"
    whole = cell.talker.ask(cell.model, asked, stream=False)
    assert whole.status >= 500
    assert failure_of(whole).kind in ("overloaded", "connection_lost", "timed_out")
    assert whole.record.kind.failure == "connection_lost"


def too_many_requests(cell: Cell) -> None:
    """Once is tried again, by the client itself where bytes pass through; for good is told."""
    asked = [question(f"[[fail:429x1]] [[say:Here, {cell.talker.ingress}.]]")]
    once = cell.talker.ask(cell.model, asked, stream=False)
    if once.record.kind.passed_through:
        assert once.status == 429
        once = cell.talker.ask(cell.model, asked, stream=False)
    assert _answered(once).answer.turn.text.startswith("Here")
    said = cell.talker.ask(cell.model, [question("[[fail:429]]")], stream=True)
    assert said.status == 429
    assert failure_of(said).kind == "rate_limit"
    assert said.record.kind.failure == "rate_limit"


def long_silence(cell: Cell) -> None:
    script = f"[[stall:{SILENCE}]] [[think:Let me see.]] [[stall:{SILENCE}]] [[say:Done.]]"
    with _impatient(cell.served):
        said = _answered(cell.talker.ask(cell.model, [question(script)], stream=True))
    assert said.raw.startswith(b"\n\n"), "nothing was heard before the model spoke"
    assert said.answer.turn.text == "Done."
    assert b"\n:" not in said.raw, "comments break Google's clients"
    silent = said.raw.lstrip(b"\n")
    assert b"event: ping" in silent if cell.talker.ingress == "anthropic" else b"\n\n\n\n" in silent


SCENARIOS: dict[str, Callable[[Cell], None]] = {
    "plain": plain,
    "thinking": thinking,
    "tool loop x3": tool_loop,
    "parallel tools": parallel_tools,
    "dropped reasoning": dropped_reasoning,
    "switch and return": switch_and_return,
    "mid-stream cut": mid_stream_cut,
    "429": too_many_requests,
    "long silence": long_silence,
}


def _looped(
    cell: Cell,
    script: str,
    models: list[str],
    *,
    stream: bool,
    keep: Callable[[Turn], Turn] | None = None,
) -> tuple[list[Turn], list[str]]:
    """A scripted loop, each step asked of the next model: the client's history, and the thoughts it saw."""
    turns, thoughts = [question(script)], []
    for model in models:
        said = _answered(cell.talker.ask(model, turns, stream=stream))
        thoughts.append(_thoughts(said))
        turns.append(keep(said.answer.turn) if keep else said.answer.turn)
        if said.answer.turn.tool_calls:
            assert said.answer.finish == "tool_calls"
            turns.append(results(said.answer.turn))
    assert turns[-1].text == "Cold and late."
    return turns, thoughts


def _goes_on(cell: Cell, turns: list[Turn], *, stream: bool, switched: bool = False) -> None:
    """The talk is not bricked: another question is answered."""
    asked = [*turns, question("[[say:Bye.]]")]
    said = _answered(cell.talker.ask(cell.model, asked, stream=stream), switched=switched)
    assert said.answer.turn.text == "Bye."


def _answered(said: Said, *, switched: bool = False) -> Said:
    """A good answer under the name that was asked for, with nothing lost on the way."""
    codes = set(said.record.kind.notes) - (SWITCHED if switched else set())
    assert said.status == 200, said.raw
    assert said.answer.failure is None, said.answer.failure
    assert said.record.kind.failure is None
    assert codes & LOST == set()
    origin = said.answer.turn.origin
    assert origin is not None
    kind = said.record.kind
    assert origin.model == (kind.model if kind.passed_through else kind.asked)
    assert said.answer.usage is not None or b"usage" not in said.raw
    return said


def _thoughts(said: Said) -> str:
    """The readable thinking; where the wire has a field for seals, none of it comes without one."""
    blocks = [block for block in said.answer.turn.blocks if isinstance(block, Thinking)]
    if said.record.kind.dialect in ("anthropic", "openai-responses"):
        assert all(block.seal is not None and block.seal.data for block in blocks)
    calls = [block for block in said.answer.turn.blocks if isinstance(block, ToolCall)]
    if said.record.kind.dialect == "gemini" and calls:
        assert calls[0].seal is not None
    return said.answer.turn.thinking


@contextmanager
def _impatient(served: Served) -> Iterator[None]:
    """A gateway that does not bear silence, for the next request."""
    before = served.parts.config
    served.parts.configure(config_of(keepalive_seconds=SILENCE / 6))
    try:
        yield
    finally:
        served.parts.configure(before)
