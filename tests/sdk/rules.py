"""The order rules of each dialect's stream, asserted on its raw bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple


class Frame(NamedTuple):
    """One server-sent event."""

    name: str | None
    data: Any


def frames(stream: bytes) -> list[Frame]:
    """The frames of a stream, written as vendors write it: `event:` (if any), one `data:`, a blank line."""
    assert stream.endswith(b"\n\n") or not stream
    found = []
    for block in stream.decode().split("\n\n")[:-1]:
        *event, data = block.split("\n")
        assert len(event) <= 1, f"more than two lines in one event: {block!r}"
        assert data.startswith("data: "), f"no data in {block!r}"
        name = event[0].removeprefix("event: ") if event else None
        value = data.removeprefix("data: ")
        found.append(Frame(name, value if value == "[DONE]" else json.loads(value)))
    return found


def anthropic(found: list[Frame]) -> None:
    assert all(name == data["type"] for name, data in found), "`event:` is the type"
    events = [data for _, data in found if data["type"] != "ping"]
    types = [event["type"] for event in events]
    assert types[0] == "message_start"
    assert types[-2:] == ["message_delta", "message_stop"]
    assert not {"message_start", "message_delta", "message_stop"} & set(types[1:-2])
    start = events[0]["message"]
    assert start["content"] == []
    assert start["stop_reason"] is None
    assert start["usage"].keys() >= {"input_tokens", "output_tokens"}
    assert events[-2]["delta"]["stop_reason"]
    _anthropic_blocks(events[1:-2])


def _anthropic_blocks(events: list[dict[str, Any]]) -> None:
    deltas = {"text": "text_delta", "tool_use": "input_json_delta", "thinking": "thinking_delta"}
    opened: str | None = None
    count = 0
    signed = False
    for event in events:
        assert event["index"] == count, "one block at a time, counted from 0"
        match event["type"]:
            case "content_block_start":
                assert opened is None, "the block before is closed"
                opened, signed = event["content_block"]["type"], False
                for field in ("text", "input", "thinking"):
                    assert not event["content_block"].get(field), "a block starts empty"
            case "content_block_delta":
                assert opened is not None, "deltas only inside a block"
                assert not signed, "nothing follows a signature"
                signed = event["delta"]["type"] == "signature_delta"
                assert event["delta"]["type"] == ("signature_delta" if signed else deltas[opened])
                assert opened == "thinking" or not signed
            case "content_block_stop":
                assert opened is not None
                opened, count = None, count + 1
            case other:
                raise AssertionError(f"{other} among the blocks")
    assert opened is None, "every block is closed"


def openai_chat(found: list[Frame]) -> None:
    assert all(name is None for name, _ in found), "chat names no events"
    assert found[-1].data == "[DONE]"
    chunks = [data for _, data in found[:-1]]
    assert "[DONE]" not in chunks
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert len({(chunk["id"], chunk["model"], chunk["created"]) for chunk in chunks}) == 1
    if not chunks[-1]["choices"]:
        assert chunks.pop()["usage"]["total_tokens"] > 0
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    assert len(choices) == len(chunks), "one choice in each chunk, except in the one with usage"
    assert all(choice["index"] == 0 for choice in choices)
    assert [choice["delta"].get("role") for choice in choices] == ["assistant"] + [None] * (len(choices) - 1)
    assert all(choice["finish_reason"] is None for choice in choices[:-1])
    assert choices[-1]["finish_reason"]
    assert not any(choices[-1]["delta"].values()), "the finish carries nothing else"
    _chat_calls([call for choice in choices for call in choice["delta"].get("tool_calls") or ()])


def _chat_calls(calls: list[dict[str, Any]]) -> None:
    seen: set[int] = set()
    for call in calls:
        if call["index"] in seen:
            assert not call.get("id"), "the id comes once"
            assert not call["function"].get("name"), "the name comes once"
        else:
            assert call["index"] == len(seen), "calls are counted from 0"
            assert call["id"]
            assert call["type"] == "function"
            assert call["function"]["name"]
            seen.add(call["index"])


def openai_responses(found: list[Frame]) -> None:
    assert all(name == data["type"] for name, data in found), "`event:` is the type"
    events = [data for _, data in found]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    types = [event["type"] for event in events]
    assert types[0] == "response.created"
    assert types[-1] in ("response.completed", "response.incomplete")
    lifecycle = [event["response"] for event in events if "response" in event]
    assert len({response["id"] for response in lifecycle}) == 1
    assert [response["status"] for response in lifecycle[:-1]] == ["in_progress"] * (len(lifecycle) - 1)
    assert lifecycle[0]["output"] == []
    middle = [event for event in events if "response" not in event]
    assert lifecycle[-1]["output"] == _response_items(middle), "the end repeats every finished item"


def _response_items(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The finished items. Every part of an item is opened, grows, is told in full, and is closed."""
    opened: dict[int, dict[str, Any]] = {}
    done: dict[int, dict[str, Any]] = {}
    parts: dict[tuple[int, str, int], _Part] = {}
    for event in events:
        index = event["output_index"]
        match event["type"].removeprefix("response.").rsplit(".", 1):
            case ["output_item", "added"]:
                assert index == len(opened) + len(done), "items are counted from 0"
                opened[index] = event["item"]
            case ["output_item", "done"]:
                started = opened.pop(index)
                item = done[index] = event["item"]
                assert (item["type"], item.get("id")) == (started["type"], started.get("id"))
                for (owner, _, _), part in parts.items():
                    assert owner != index or part.closed, "parts close before their item"
            case [kind, step]:
                assert event["item_id"] == opened[index]["id"], "deltas belong to an open item"
                number = event.get("content_index", event.get("summary_index", 0))
                family = "call" if kind.startswith("function_call") else kind.split("_")[0]
                key = (index, "reasoning" if family == "reasoning" else "item", number)
                parts.setdefault(key, _Part(implicit=family == "call")).take(kind, step, event)
    assert not opened, "every item is done"
    return [done[index] for index in sorted(done)]


class _Part:
    """One part of an item: its text as the deltas tell it."""

    def __init__(self, implicit: bool) -> None:
        # Arguments are the whole of a call, and have no part events around them.
        self.implicit = implicit
        self.opened = self.told = self.closed = False
        self.text = ""

    def take(self, kind: str, step: str, event: dict[str, Any]) -> None:
        whole = event.get("part", event)
        text = next((whole[key] for key in ("text", "refusal", "arguments") if key in whole), None)
        match kind, step:
            case (("content_part" | "reasoning_summary_part"), "added"):
                assert not self.opened
                assert text == "", "a part starts empty"
                self.opened = True
            case (("content_part" | "reasoning_summary_part"), "done"):
                assert self.told, "the text is told in full before its part closes"
                assert text == self.text
                self.closed = True
            case _, "delta":
                assert self.opened or self.implicit
                assert not self.told
                self.text += event["delta"]
            case _, "done":
                assert self.opened or self.implicit
                assert not self.told
                assert text == self.text, "the deltas add up"
                self.told, self.closed = True, self.implicit
            case other:
                raise AssertionError(f"unknown step {other}")


def gemini(found: list[Frame]) -> None:
    assert all(name is None for name, _ in found), "Google names no events"
    chunks = [data for _, data in found]
    assert len({(chunk["responseId"], chunk["modelVersion"]) for chunk in chunks}) == 1
    candidates = [chunk["candidates"] for chunk in chunks]
    assert all(len(candidate) == 1 for candidate in candidates)
    assert all(candidate[0].get("content", {"role": "model"})["role"] == "model" for candidate in candidates)
    reasons = [candidate[0].get("finishReason") for candidate in candidates]
    assert reasons[-1]
    assert not any(reasons[:-1]), "the finish reason comes last"


RULES: dict[str, Callable[[list[Frame]], None]] = {
    "anthropic": anthropic,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "gemini": gemini,
}
