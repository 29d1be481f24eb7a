"""The doctor on native requests, spoilt at random: what a strict provider refuses is found and mended."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.replay.test_doctor import MODELS, destination, prepared, refusal, talk
from thinkwire.client.prepare import PreparedRequest
from thinkwire.errors import MalformedInput
from thinkwire.providers.encoding import encode_for
from thinkwire.replay.doctor import examine, mend_request

SPOILERS = ("delete", "repeat", "swap", "blank", "unfield", "retext", "rename")
FIELDS = (
    *("signature", "data", "thoughtSignature", "encrypted_content", "reasoning_content", "reasoning_details"),
    *("tool_calls", "tool_call_id", "id", "reasoning", "content", "thinking"),
)
LISTS = {"openai-responses": "input", "gemini": "contents"}
BOUND = "claude-opus-5-5/high"

spoilings = st.lists(
    st.tuples(st.sampled_from(SPOILERS), st.integers(0, 11), st.integers(0, 5), st.sampled_from(FIELDS)),
    min_size=1,
    max_size=3,
)


@cache
def good(model: str) -> PreparedRequest:
    return prepared(model, talk(model).turns, talk(model).system)


def with_body(ready: PreparedRequest, body: dict[str, Any]) -> PreparedRequest:
    return msgspec.structs.replace(ready, data=msgspec.json.encode(body))


def messages_of(body: dict[str, Any], dialect: str) -> list[Any]:
    return body[LISTS.get(dialect, "messages")]


def spoil(messages: list[Any], how: str, where: int, part: int, field: str) -> None:
    if not messages:
        return
    at = where % len(messages)
    message = messages[at]
    blocks = next((message[key] for key in ("parts", "content") if isinstance(message.get(key), list)), None)
    things, place = (blocks, part % len(blocks)) if blocks and part else (messages, at)
    if how == "delete":
        del things[place]
    elif how == "repeat":
        things.insert(place, copy.deepcopy(things[place]))
    elif how == "swap":
        things[place - 1], things[place] = things[place], things[place - 1]
    else:
        spoil_fields(things[place], how, field)


def spoil_fields(thing: dict[str, Any], how: str, field: str) -> None:
    match how:
        case "blank" if isinstance(thing.get("text"), str):
            thing["text"] = "\n"
        case "unfield":
            thing.pop(field, None)
        case "retext" if isinstance(thing.get(field), str) and field != "id":
            thing[field] = thing[field][:-1]
        case "rename":
            for key in ("id", "call_id", "tool_use_id", "tool_call_id"):
                if isinstance(thing.get(key), str):
                    thing[key] += ".x"


UNSEEN = (
    *("gemini.signature_moved", "gemini.signature_corrupted", "xai.encrypted_content"),
    "anthropic.thinking_modified",
)
"""What only the vendor can tell, who has the key."""
RECORDS = ("openai.reasoning_without_follower", "openai.item_without_reasoning")
"""Items of several answers shuffled into one: only the vendor's records tell which were together."""


@pytest.mark.parametrize("model", [model for model in MODELS if model != BOUND])
@settings(max_examples=30)
@given(spoilings)
def test_a_spoilt_request_is_found_out_and_mended(model: str, spoiling: list[Any]) -> None:
    ready = good(model)
    spoilt = ready.body
    for step in spoiling:
        spoil(messages_of(spoilt, ready.dialect.name), *step)
    ready = with_body(ready, spoilt)
    refused = refusal(ready)
    try:
        request = ready.dialect.decode_request(ready.body)
    except MalformedInput:
        return
    to = destination(model)
    found = examine(request, to)
    shuffled = RECORDS if len(spoiling) > 1 else ()
    if refused is not None and refused not in (*UNSEEN, *shuffled, "gemini.no_parts"):  # which is no turn
        assert any(f.severity != "odd" or f.code == "item.without_thinking" for f in found), refused
    fixed, mended = mend_request(request, to)
    body = encode_for(ready.provider, ready.dialect.name, fixed).body
    if mended.thinking_off:
        body["thinking"] = {"type": "disabled"}
    after = refusal(with_body(ready, body))
    assert after is None or after in (*UNSEEN, *shuffled)
