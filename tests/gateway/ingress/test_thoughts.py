"""Thinking that clients bring along: ours, a vendor's own, and what nobody vouches for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.ingress.asked import CLAUDE, DEEPSEEK, GEMINI, GPT, GROK, HOMES, OLD_CLAUDE, codes, normal
from thinkwire.gateway.ingress import Normalised, normalise
from thinkwire.gateway.ingress.untrusted_thinking import still_true
from thinkwire.gateway.seals.payload import PREFIX
from thinkwire.messages import Opaque, Thinking
from thinkwire.notes import Note
from thinkwire.request import Request

OURS = f"{PREFIX}AbCd"
OTHERS = {"anthropic": [GPT, GEMINI, DEEPSEEK], "gemini": [GPT, CLAUDE, GROK]}
OTHERS["openai-responses"] = [CLAUDE, GEMINI, DEEPSEEK, GROK]


def body(dialect: str, seal: str | None) -> dict[str, Any]:
    """A conversation with one thought of the model, sealed like this."""
    match dialect:
        case "anthropic":
            thought = {"type": "thinking", "thinking": "Hm.", "signature": seal or ""}
            said = [thought, {"type": "text", "text": "Yes."}]
            return {"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": said}]}
        case "openai-responses":
            sealed = {"encrypted_content": seal} if seal else {}
            item = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], **sealed}
            return {
                "input": [{"role": "user", "content": "?"}, item, {"role": "assistant", "content": "Yes."}]
            }
        case "gemini":
            signed = {"thoughtSignature": seal} if seal else {}
            parts = [{"text": "Hm.", "thought": True, **signed}, {"text": "Yes."}]
            return {
                "contents": [{"role": "user", "parts": [{"text": "?"}]}, {"role": "model", "parts": parts}]
            }
    message = {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."}
    return {"messages": [{"role": "user", "content": "?"}, message]}


def thoughts(done: Normalised) -> list[str]:
    return [block.text for turn in done.request.turns for block in turn.blocks if isinstance(block, Thinking)]


@pytest.mark.parametrize(("dialect", "model"), [(name, model) for name in OTHERS for model in OTHERS[name]])
def test_a_vendors_own_seal_is_shown_to_nobody_else(dialect: str, model: str) -> None:
    done = normal(dialect, body(dialect, "dmVuZG9y"), model)
    assert thoughts(done) == []
    assert codes(done) == ["thinking.dormant"]
    assert done.request.turns[-1].text == "Yes."


@pytest.mark.parametrize("dialect", OTHERS)
def test_a_vendors_own_seal_goes_home(dialect: str) -> None:
    done = normal(dialect, body(dialect, "dmVuZG9y"), HOMES[dialect])
    assert thoughts(done) == ["Hm."]
    assert codes(done) == []


@pytest.mark.parametrize("dialect", OTHERS)
@pytest.mark.parametrize("model", [CLAUDE, GPT, GEMINI, DEEPSEEK])
def test_what_is_sealed_by_us_is_left_to_the_carrier(dialect: str, model: str) -> None:
    done = normal(dialect, body(dialect, OURS), model)
    assert thoughts(done) == ["Hm."]
    assert codes(done) == []


@pytest.mark.parametrize("dialect", OTHERS)
@pytest.mark.parametrize("model", [CLAUDE, GPT, GEMINI, DEEPSEEK])
def test_what_lost_its_seal_is_left_out_and_that_is_said(dialect: str, model: str) -> None:
    done = normal(dialect, body(dialect, None), model)
    assert thoughts(done) == []
    assert codes(done) == ["thinking.dropped"]


@pytest.mark.parametrize(
    ("model", "kept"), [(DEEPSEEK, True), (OLD_CLAUDE, False), (GEMINI, False), (GPT, False)]
)
def test_a_chat_clients_thinking_goes_where_thinking_needs_no_seal(model: str, kept: bool) -> None:
    done = normal("openai-chat", body("openai-chat", None), model)
    assert bool(thoughts(done)) is kept
    assert codes(done) == ([] if kept else ["thinking.dropped"])


@pytest.mark.parametrize("signature", ["dmVuZG9y", "skip_thought_signature_validator"])
def test_a_signed_call_loses_a_signature_that_is_not_for_the_one_who_is_asked(signature: str) -> None:
    call = {"functionCall": {"id": "c", "name": "f", "args": {}}, "thoughtSignature": signature}
    asked = {"contents": [{"role": "user", "parts": [{"text": "?"}]}, {"role": "model", "parts": [call]}]}
    away, home = normal("gemini", asked, CLAUDE), normal("gemini", asked, GEMINI)
    assert away.request.turns[-1].tool_calls[0].seal is None
    assert codes(away) == (["seal.dropped"] if signature == "dmVuZG9y" else [])
    seal = home.request.turns[-1].tool_calls[0].seal
    assert seal is not None
    assert seal.data == signature


def test_without_a_destination_a_request_is_fit_for_anybody() -> None:
    for dialect in OTHERS:
        assert normalise(Request(), dialect).request == Request()
    kept = Request(tools=(Opaque("openai_responses", {"type": "web_search"}),))
    assert normalise(kept, "openai-responses").request.tools == ()


def test_only_thoughts_that_stay_away_are_said_to_be_dropped() -> None:
    said = body("gemini", None)
    said["contents"] *= 2
    done = normal("gemini", said, GPT)
    (note,) = done.notes
    assert note.detail == {"count": 2, "at": [1, 3]}
    other = Note("seal.dropped", "another")
    assert still_true([note, other], set()) == [note, other]
    assert still_true([note, other], {1, 3}) == [other]
    (left,) = still_true([note], {1})
    assert left.detail == {"count": 1, "at": [3]}
    assert left.message.startswith("1 thoughts ")
