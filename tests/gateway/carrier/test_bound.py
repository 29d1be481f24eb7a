"""Thinking that its maker takes back only behind the very words that it came after."""

from __future__ import annotations

from typing import Any

import httpx2
import msgspec
import pytest

from tests.gateway.gateways import Served
from thinkwire import dialects
from thinkwire.events import Answer
from thinkwire.gateway.seals.carrier import Carrier
from thinkwire.jsonvalue import dump_text, parse
from thinkwire.messages import Block, Origin, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.request import Request, Tool

CARRIER = Carrier(bytes(range(32)))
ORIGIN = Origin("anthropic", "https://a.example", "bound")
THOUGHT = Thinking("Hm.", seal=Seal("anthropic.signature", "EqQB"))
CALL = ToolCall("c1", "look", '{"city":"Oslo"}')
ASKED = Request(system=(Text("Be brief."),), turns=(Turn("user", (Text("Hi."),)),))
SEALING = ["anthropic", "openai-responses", "gemini"]


def given_out(*blocks: Block, dialect: str = "anthropic", after: Request | None = ASKED) -> Turn:
    sealer = CARRIER.sealer("t", dialect, ORIGIN, after=after)
    return sealer.answer(Answer(Turn("assistant", blocks), "stop")).turn


def opened(request: Request, *, bound: bool = True) -> tuple[tuple[Turn, ...], list[tuple[str, Any]]]:
    found, notes = CARRIER.open_request(request, "t", "anthropic", bound=bound)
    return found.turns, [(note.code, note.detail["count"]) for note in notes]


def behind(asked: Request, *turns: Turn) -> Request:
    return msgspec.structs.replace(asked, turns=(*asked.turns, *turns))


@pytest.mark.parametrize("dialect", SEALING)
def test_it_comes_back_behind_the_same(dialect: str) -> None:
    turns, notes = opened(behind(ASKED, given_out(THOUGHT, CALL, dialect=dialect)))
    assert THOUGHT in turns[1].blocks
    assert notes == []


OTHERS = {
    "system prompt": msgspec.structs.replace(ASKED, system=(Text("Remember what matters."),)),
    "tools": msgspec.structs.replace(ASKED, tools=(Tool("look", "", {"type": "object"}),)),
    "words": msgspec.structs.replace(ASKED, turns=(Turn("user", (Text("A summary."),)),)),
    "turns": behind(ASKED, Turn("assistant", (Text("Hello."),)), Turn("user", (Text("Hi."),))),
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("dialect", SEALING)
def test_behind_something_else_it_sleeps_and_that_is_said(dialect: str, other: str) -> None:
    turns, notes = opened(behind(OTHERS[other], given_out(THOUGHT, CALL, dialect=dialect)))
    assert [type(block) for block in turns[-1].blocks] == [ToolCall]
    assert turns[-1].origin == ORIGIN
    assert notes == [("prefix.broken", 1)]


def test_it_is_awake_again_where_it_was_said() -> None:
    turn = given_out(THOUGHT, Text("Yes."))
    opened(behind(OTHERS["system prompt"], turn))
    turns, notes = opened(behind(ASKED, turn))
    assert (turns[1].blocks, notes) == ((THOUGHT, Text("Yes.")), [])


def test_thinking_that_a_call_brings_along_sleeps_with_the_rest() -> None:
    turn = given_out(THOUGHT, CALL, dialect="gemini")
    bare = msgspec.structs.replace(turn, blocks=turn.blocks[1:])
    assert opened(behind(ASKED, bare)) == (
        (*ASKED.turns, Turn("assistant", (THOUGHT, CALL), origin=ORIGIN)),
        [("thinking.restored", 1)],
    )
    turns, notes = opened(behind(OTHERS["words"], bare))
    assert (turns[1].blocks, notes) == ((CALL,), [("prefix.broken", 1)])


def test_an_answer_that_the_client_cut_in_pieces_is_judged_by_its_first() -> None:
    later = Thinking("And then.", seal=Seal("anthropic.signature", "EqQC"))
    turn = given_out(THOUGHT, CALL, later, Text("Yes."))
    first, second = (
        msgspec.structs.replace(turn, blocks=part) for part in (turn.blocks[:2], turn.blocks[2:])
    )
    result = Turn("user", (ToolResult("c1", (Text("7"),)),))
    turns, notes = opened(behind(ASKED, first, result, second))
    assert (turns[3].blocks, notes) == ((later, Text("Yes.")), [])


def test_it_does_not_matter_in_which_pieces_the_client_has_the_words() -> None:
    """The ledger may have put thinking between them, so that they went out in pieces."""
    said, more = Turn("assistant", (Text("One. "), Text("Two."))), Turn("user", (Text("And?"),))
    whole = msgspec.structs.replace(said, blocks=(Text("One.\nTwo."),))
    turn = given_out(THOUGHT, after=behind(ASKED, said, more))
    turns, notes = opened(behind(ASKED, whole, more, turn))
    assert (turns[3].blocks, notes) == ((THOUGHT,), [])


def test_a_model_that_does_not_look_gets_it_behind_anything() -> None:
    turns, notes = opened(behind(OTHERS["words"], given_out(THOUGHT)), bound=False)
    assert (turns[1].blocks, notes) == ((THOUGHT,), [])


def test_thinking_of_a_model_that_binds_nothing_goes_to_one_that_does() -> None:
    turns, notes = opened(behind(OTHERS["words"], given_out(THOUGHT, after=None)))
    assert (turns[1].blocks, notes) == ((THOUGHT,), [])


MODEL = "anthropic/claude-opus-5-5/high"
ASKED_AGAIN = {"thinking.stripped", "reasoning.learned"}
LOOP = '[[think:I look.]] [[call:look {"city":"Oslo"}]] [[think:I know.]] [[say:Cold.]]'


@pytest.mark.parametrize("dialect", SEALING)
def test_a_fork_under_another_system_prompt_is_asked_once(served: Served, dialect: str) -> None:
    """As Qwen Code's memory agent does it: the talk so far, behind instructions of its own."""
    asked = Request(
        model=MODEL,
        max_tokens=4000,
        system=(Text("You write code."),),
        tools=(Tool("look", "Looks.", {"type": "object", "properties": {"city": {"type": "string"}}}),),
        turns=(Turn("user", (Text(LOOP),)),),
    )
    said, codes = answered(served, dialect, asked)
    assert codes.isdisjoint({"prefix.broken", *ASKED_AGAIN})
    results = Turn("user", tuple(ToolResult(c.id, (Text("7"),), name=c.name) for c in said.tool_calls))
    going_on = behind(asked, said, results)
    fork = msgspec.structs.replace(going_on, system=(Text("You remember things."),))
    last, codes = answered(served, dialect, fork)
    assert last.text == "Cold."
    assert "prefix.broken" in codes
    assert codes.isdisjoint(ASKED_AGAIN)
    assert '"signature"' not in planned(served, dialect, fork)
    last, codes = answered(served, dialect, going_on)
    assert last.text == "Cold."
    assert codes.isdisjoint({"prefix.broken", *ASKED_AGAIN})
    assert '"signature"' in planned(served, dialect, going_on)


def sent(served: Served, dialect: str, request: Request, **headers: str) -> httpx2.Response:
    paths = {"anthropic": "/v1/messages", "openai-responses": "/v1/responses"}
    path = paths.get(dialect, f"/v1beta/models/{MODEL}:generateContent")
    body = dialects.get(dialect).encode_request(request).body
    reply = httpx2.post(served.url + path, json=body, headers=headers)
    assert reply.status_code == 200, reply.text
    return reply


def answered(served: Served, dialect: str, request: Request) -> tuple[Turn, set[str]]:
    """What the model says, and the codes of the Notes about it."""
    reply = sent(served, dialect, request)
    notes = parse(reply.headers.get("x-thinkwire-notes", "[]"))
    return dialects.get(dialect).decode_response(reply.json()).turn, {note["code"] for note in notes}


def planned(served: Served, dialect: str, request: Request) -> str:
    """What would be sent."""
    return dump_text(sent(served, dialect, request, **{"x-thinkwire-explain": "true"}).json()["body"])
