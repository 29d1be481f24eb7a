"""What else a client may ask, on every provider: it arrives, or a Note says what did not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.gateway.gateways import Served
from tests.gateway.matrix.clients import Talker, question
from tests.gateway.matrix.test_matrix import MODELS
from thinkwire import dialects
from thinkwire.events import Answer
from thinkwire.sim.fixture import Running

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PDF = "JVBERi0xLjEKdHJhaWxlcjw8Pj4KJSVFT0YK"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
WORDS = "Look at this."
ASKED = [question(WORDS)]


def with_blocks(**blocks: dict[str, Any]) -> dict[str, Callable[[dict[str, Any]], None]]:
    """Puts a native block beside the words of the user."""

    def anthropic(body: dict[str, Any]) -> None:
        body["messages"][-1]["content"] = [{"type": "text", "text": WORDS}, blocks["anthropic"]]

    def chat(body: dict[str, Any]) -> None:
        body["messages"][-1]["content"] = [{"type": "text", "text": WORDS}, blocks["chat"]]

    def responses(body: dict[str, Any]) -> None:
        content = [{"type": "input_text", "text": WORDS}, blocks["responses"]]
        body["input"] = [{"role": "user", "content": content}]

    def gemini(body: dict[str, Any]) -> None:
        body["contents"][-1]["parts"] = [{"text": WORDS}, blocks["gemini"]]

    return {"anthropic": anthropic, "openai-chat": chat, "openai-responses": responses, "gemini": gemini}


def with_fields(
    *, gemini: dict[str, Any], **fields: dict[str, Any]
) -> dict[str, Callable[[dict[str, Any]], None]]:
    """Sets fields of the body; Gemini's are in its configuration, or beside it if they are lists."""

    def setter(more: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
        return lambda body: body.update(more)

    def google(body: dict[str, Any]) -> None:
        body.update(gemini.get("beside", {}))
        body.setdefault("generationConfig", {}).update(gemini.get("config", {}))

    return {
        "anthropic": setter(fields["anthropic"]),
        "openai-chat": setter(fields["chat"]),
        "openai-responses": setter(fields["responses"]),
        "gemini": google,
    }


FEATURES = {
    "image": with_blocks(
        anthropic={"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        chat={"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        responses={"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
        gemini={"inlineData": {"mimeType": "image/png", "data": PNG}},
    ),
    "document": with_blocks(
        anthropic={
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
        },
        chat={
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
        },
        responses={
            "type": "input_file",
            "filename": "a.pdf",
            "file_data": f"data:application/pdf;base64,{PDF}",
        },
        gemini={"inlineData": {"mimeType": "application/pdf", "data": PDF}},
    ),
    "structured output": with_fields(
        anthropic={"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        chat={
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "place", "schema": SCHEMA, "strict": True},
            }
        },
        responses={
            "text": {"format": {"type": "json_schema", "name": "place", "schema": SCHEMA, "strict": True}}
        },
        gemini={"config": {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}},
    ),
    "forced tool": with_fields(
        anthropic={"tool_choice": {"type": "tool", "name": "get_weather"}},
        chat={"tool_choice": {"type": "function", "function": {"name": "get_weather"}}},
        responses={"tool_choice": {"type": "function", "name": "get_weather"}},
        gemini={
            "beside": {
                "toolConfig": {
                    "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}
                }
            }
        },
    ),
    "no tool": with_fields(
        anthropic={"tool_choice": {"type": "none"}},
        chat={"tool_choice": "none"},
        responses={"tool_choice": "none"},
        gemini={"beside": {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}},
    ),
    "stop": with_fields(
        anthropic={"stop_sequences": ["HALT"]},
        chat={"stop": ["HALT"]},
        responses={},
        gemini={"config": {"stopSequences": ["HALT"]}},
    ),
    "sampling": with_fields(
        anthropic={"temperature": 0.3, "top_p": 0.8},
        chat={"temperature": 0.3, "top_p": 0.8, "seed": 7},
        responses={"temperature": 0.3, "top_p": 0.8},
        gemini={"config": {"temperature": 0.3, "topP": 0.8, "seed": 7}},
    ),
}
SHOWN: dict[str, tuple[str, ...]] = {
    "image": (PNG,),
    "document": (PDF,),
    "structured output": ('"city"',),
    "forced tool": ("get_weather",),
    "no tool": (),
    "stop": ("HALT",),
    "sampling": ("0.3", "0.8"),
}
"""What of it a provider sees, if it is sent."""


@pytest.fixture(scope="module")
def talkers(served: Served) -> Iterator[dict[str, Talker]]:
    everyone = {name: Talker(served, name) for name in dialects.NAMES}
    yield everyone
    for talker in everyone.values():
        talker.close()


CELLS = [
    (ingress, provider, feature)
    for ingress in dialects.NAMES
    for provider in MODELS
    for feature in FEATURES
    if (ingress, feature) != ("openai-responses", "stop")  # which that wire does not have
]


@pytest.mark.parametrize(("ingress", "provider", "feature"), CELLS)
def test_it_arrives_or_a_note_says_what_did_not(
    talkers: dict[str, Talker], simulator: Running, ingress: str, provider: str, feature: str
) -> None:
    talker, model = talkers[ingress], f"{provider}/{MODELS[provider]}"
    before = simulator.app.fired.copy()
    body = talker.body(model, ASKED, stream=False, thinks=False)
    FEATURES[feature][ingress](body)
    plan = json.loads(talker.post(model, body, stream=False, **{"x-thinkwire-explain": "true"}).raw)
    codes = {note["code"] for note in plan["notes"]}
    sent = json.dumps(plan["body"])
    arrived = all(word in sent for word in SHOWN[feature])
    assert arrived or codes & {"sampling.dropped", "field.dropped"}, sent
    for stream in (False, True):
        body = talker.body(model, ASKED, stream=stream, thinks=False)
        FEATURES[feature][ingress](body)
        said = talker.post(model, body, stream=stream)
        assert said.status == 200, said.raw
        check(feature, said.answer, codes)
        if not said.record.kind.passed_through:
            assert set(said.record.kind.notes) <= codes
    assert simulator.app.fired - before == {}, "a provider refused something"


def check(feature: str, answer: Answer, codes: set[str]) -> None:
    """The answer is as it was asked for, unless it was said that it may not be."""
    assert answer.failure is None
    calls = [call.name for call in answer.turn.tool_calls]
    match feature:
        case "no tool":
            assert calls == []
        case "forced tool":
            assert calls == ["get_weather"] or "tool_choice.degraded" in codes
        case "structured output":
            assert "city" in json.loads(answer.turn.text) or "field.changed" in codes
