"""What a client wrote never counts as a provider's own words, however the provider quotes it."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reasoning.test_refusals import CASES, found_with, openai, send, unsupported
from thinkwire.messages import Text, Turn
from thinkwire.reasoning.client_text import HIDDEN, ClientText
from thinkwire.reasoning.refusal import bare_path
from thinkwire.request import Request, Tool

GPT = "gpt-5.6-terra/high"
LIES = [
    "thinking is not supported by this model",
    "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    "Unsupported value: 'reasoning.effort' does not support 'high' with this model. Supported values: 'low'.",
    "Invalid reasoning_effort: high. Valid values are: low",
    "reasoning.effort: Extra inputs are not permitted",
    "'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low'\"",
    "does not support reasoning_effort value high",
    "does not support parameter reasoningEffort",
    "Unrecognized request argument supplied: reasoning_effort",
    '{"error": {"message": "thinking is not supported by this model"}}',
]
ECHOES = [
    "Unknown parameter: '{}'.",
    "{}: Extra inputs are not permitted",
    "Invalid value: '{}'. Supported values are: 'low' and 'medium'.",
    "{} is not supported by this model",
    "Invalid schema for function '{}'",
    "The model `{}` refused: {}",
    "Invalid JSON near: …{}…",
]


def in_field(lie: str) -> dict[str, Any]:
    return {"extras": {"openai_responses": {lie: 1}}}


def in_value(lie: str) -> dict[str, Any]:
    return {"extras": {"openai_responses": {"service_tier": lie}}}


def in_words(lie: str) -> dict[str, Any]:
    return {"turns": (Turn("user", (Text(f"Somebody said: {lie} Is that so?"),)),)}


def in_tool(lie: str) -> dict[str, Any]:
    return {"tools": (Tool(lie, schema={"type": "object"}),)}


def in_schema(lie: str) -> dict[str, Any]:
    return {"tools": (Tool("f", schema={"type": "object", "properties": {lie: {"type": "string"}}}),)}


def in_model_output(lie: str) -> dict[str, Any]:
    turns = (Turn("user", (Text("Hi"),)), Turn("assistant", (Text(lie),)), Turn("user", (Text("So?"),)))
    return {"turns": turns}


PLACES = (in_field, in_value, in_words, in_tool, in_schema, in_model_output)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize("lie", LIES)
def test_no_echo_teaches_anything(lie: str, echo: str, place: Any) -> None:
    sent = send(GPT, **place(lie))
    said = echo.replace("{}", lie)
    for body in (openai(said), openai(said, lie), {"detail": said}, {"error": {"upstream_error": said}}):
        recovery = sent.refused(body)
        assert recovery is None or not recovery.is_lasting


def test_the_same_words_of_the_provider_itself_do_teach() -> None:
    for lie in LIES[1:3]:
        recovery = send(GPT).refused(openai(lie))
        assert recovery is not None
        assert recovery.is_lasting


@pytest.mark.parametrize(
    ("said", "message", "param"),
    [
        # A field whose name is that of a control but for its dots, at the top or inside.
        ({"reasoning.effort": 1}, "Unknown parameter: 'reasoning.effort'.", "reasoning.effort"),
        ({"reasoning_effort": 1}, "Unknown parameter: 'reasoning_effort'.", "reasoning_effort"),
        ({"reasoning-effort": 1}, "Unknown parameter: 'reasoning-effort'.", "reasoning-effort"),
        ({"x": {"reasoning": 1}}, "Unsupported parameter: 'reasoning' is not supported.", None),
        ({"detail": "reasoning_effort"}, "Invalid value: 'reasoning_effort'. Valid values are: 'low'.", None),
        ({"text": {"verbosity": "high"}}, unsupported("high", "'medium'"), "text.verbosity"),
    ],
)
def test_names_that_the_client_brought_are_not_the_plans(
    said: dict[str, Any], message: str, param: str | None
) -> None:
    sent = send(GPT, extras={"openai_responses": said})
    assert sent.refused(openai(message, param)) is None


def test_a_summary_that_the_client_worded_is_not_the_plans_own_word() -> None:
    lie = LIES[0]
    sent = send(GPT)
    patch = sent.plan.patch | {"reasoning": {"effort": "high", "summary": lie}}
    worded = sent._replace(plan=msgspec.structs.replace(sent.plan, patch=patch), body=sent.body | patch)
    assert worded.refused(openai(f"Invalid value: {lie}", "reasoning.summary")) is None


def _named(body: Any) -> str:
    """The words `param` and `loc` of an error that names a field beside its message."""
    text = json.dumps(body).replace('"param": null', "").replace('\\"param\\": null', "")
    return " ".join(word for word in ("param", "loc") if f'{word}"' in text or f'{word}\\"' in text)


def _said(body: Any) -> str:
    """All words of an error, also those inside strings."""
    return str(body).replace("\\n", " ").replace("\\", "")


BY_WORDS = [
    name
    for name, case in CASES.items()
    if case.action.get("is_lasting") and not {"param", "loc"} & set(re.findall(r"\w+", _named(case.body)))
]
"""Refusals whose words alone say what they are about."""


@pytest.mark.parametrize("name", BY_WORDS)
def test_a_client_that_says_the_refusal_first_is_not_believed(name: str) -> None:
    case = CASES[name]
    found = found_with(case.model, case.facts)
    sent = send(case.model, found, **case.said)
    recovery = sent.refused(case.body, case.status)
    assert recovery is not None
    message = recovery.note.message.removeprefix("refused: ")
    turns = (Turn("user", (Text(f"x{message}x {_said(case.body)}"),)),)
    knowing = send(case.model, found, **case.said | {"turns": turns})
    second = knowing.refused(case.body, case.status)
    assert second is None or not second.is_lasting


@given(st.text(), st.text(), st.text())
def test_whole_texts_are_hidden_and_nothing_else_breaks(before: str, text: str, after: str) -> None:
    client = ClientText({"messages": [{"content": text}]}, {}, {})
    hidden = client.hide(f"{before} {text} {after}", (), bare_path)
    words = [word for word in text.lower().split() if word.isascii() and word.isalnum()]
    if len(words) > 1 and words == text.lower().split():
        assert HIDDEN in hidden
    assert client.hide("", (), bare_path) == ""


def test_a_conversation_too_long_to_search_teaches_nothing() -> None:
    message = "Unsupported parameter: 'reasoning.effort' is not supported with this model."
    turns = tuple(Turn("user", (Text(f"{number} " + "word " * 700),)) for number in range(700))
    assert send(GPT).refused(openai(message)) is not None
    assert send(GPT, turns=turns).refused(openai(message)) is None


def test_a_request_of_too_many_strings_teaches_nothing() -> None:
    message = "Unsupported parameter: 'reasoning.effort' is not supported with this model."
    schema = {"type": "object", "enum": ["x"] * 100_000}
    assert send(GPT, tools=(Tool("f", schema=schema),)).refused(openai(message)) is None


def test_plain_words_of_a_conversation_do_not_hide_a_refusal() -> None:
    turns = (Turn("user", (Text("high"),)), Turn("assistant", (Text("thinking is hard"),)), *Request().turns)
    message = "Unsupported parameter: 'reasoning.effort' is not supported with this model."
    assert send(GPT, turns=turns).refused(openai(message)) is not None
