"""Items of another vendor, in OpenAI's own words: what OpenAI would refuse of them stays away."""

from __future__ import annotations

from typing import Any

import pytest

from tests.replay.test_planner import codes, destination
from thinkwire import dialects
from thinkwire.messages import Turn
from thinkwire.replay import Replay, plan_replay
from thinkwire.request import Request

WORDS = {"role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}
REASONING = {"type": "reasoning", "summary": [], "encrypted_content": "Z0FB"}


def replayed(name: str, *items: dict[str, Any]) -> tuple[Replay, list[dict[str, Any]]]:
    """The plan for a history of these items, and what of them is sent."""
    wire = dialects.get("openai-responses")
    asked = {"role": "user", "content": "Well?"}
    turns: tuple[Turn, ...] = wire.decode_request({"model": "m", "input": [asked, *items, asked]}).turns
    replay = plan_replay(turns, destination(name))
    sent: list[dict[str, Any]] = wire.encode_request(Request(turns=replay.turns)).body["input"]
    return replay, sent[1:-1]


def message(name: str) -> dict[str, Any]:
    return {"type": "message", "id": name, **WORDS}


@pytest.mark.parametrize("name", ["resp_1", f"msg_{'x' * 80}", "msg_ä"])
def test_words_under_a_foreign_id_go_without_it(name: str) -> None:
    replay, sent = replayed("openai", message(name))
    assert "id" not in sent[0]
    assert sent[0]["content"][0]["text"] == "Yes."
    assert codes(replay) == ["field.changed"]


def test_ids_of_openai_itself_stay() -> None:
    replay, sent = replayed("openai", {"id": "rs_1", **REASONING}, message("msg_1"))
    assert [item["id"] for item in sent] == ["rs_1", "msg_1"]
    assert replay.notes == ()


def test_reasoning_under_a_foreign_id_stays_away_and_takes_the_ids_along() -> None:
    replay, sent = replayed("openai", {"id": "tco_1", **REASONING}, message("msg_1"))
    assert [item["type"] for item in sent] == ["message"]
    assert "id" not in sent[0]
    assert codes(replay) == ["field.changed"]


def test_a_second_item_of_one_id_is_not_sent() -> None:
    twice = [{"id": "rs_1", **REASONING}, {"id": "rs_1", **REASONING}]
    assert [item["type"] for item in replayed("openai", *twice, message("msg_1"))[1]] == [
        "reasoning",
        "message",
    ]


def test_a_search_under_an_id_that_is_too_long_stays_away() -> None:
    search = {"type": "web_search_call", "id": f"ws_{'x' * 80}", "status": "completed"}
    replay, sent = replayed("openai", search, message("msg_1"))
    assert [item["type"] for item in sent] == ["message"]
    assert codes(replay) == ["field.changed"]
    short = search | {"id": "ws_1"}
    assert [item["type"] for item in replayed("openai", short, message("msg_1"))[1]] == [
        "web_search_call",
        "message",
    ]
