"""Requests to the rules: one accepted body per vendor, and the cases that the tables are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from thinkwire.catalog import default_catalog
from thinkwire.sim.rules.rule import RuleInput
from thinkwire.sim.seal_binding import account_of, call_print
from thinkwire.sim.seals import Sealed, SimSealer

Json = dict[str, Any]

SEALER = SimSealer(b"of these tests")
ACCOUNT = account_of("a key of these tests")
OTHER_ACCOUNT = account_of("another key")


class Case(NamedTuple):
    """A request that one rule refuses, in these words, and one much like it that passes."""

    rule: str
    refused: RuleInput
    passes: RuleInput
    words: str
    also: tuple[str, ...] = ()
    """Other rules that cannot but refuse it too, later."""


def of(vendor: str, cases: list[Case]) -> list[Case]:
    """Cases whose rules are named without their vendor, with it."""
    return [
        case._replace(rule=f"{vendor}.{case.rule}", also=tuple(f"{vendor}.{name}" for name in case.also))
        for case in cases
    ]


def ask(
    provider: str, dialect: str, body: Json, headers: Mapping[str, str] | None = None, **facts: Any
) -> RuleInput:
    """A request as the app hands it over; `facts` changes what is known about the model."""
    found = default_catalog().find(provider, body["model"])
    known = found.facts if found else None
    if known is not None and facts:
        known = msgspec.structs.replace(known, **facts)
    return RuleInput(provider, dialect, body["model"], known, body, headers or {}, SEALER, ACCOUNT)


def seal(scheme: str, model: str, thought: str, *, prefix: str = "", account: str = ACCOUNT) -> str:
    return SEALER.seal(Sealed(scheme, model, account, prefix, thought))


def user(*content: Any) -> Json:
    """A user message of the wires that have messages: one string, or blocks."""
    return {"role": "user", "content": _content(content)}


def assistant(*content: Any, **fields: Any) -> Json:
    return {"role": "assistant", "content": _content(content), **fields}


def _content(content: tuple[Any, ...]) -> Any:
    return content[0] if len(content) == 1 and isinstance(content[0], str) else list(content)


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def messages_api(
    model: str, *messages: Json, headers: Mapping[str, str] | None = None, **fields: Any
) -> RuleInput:
    body: Json = {"model": model, "max_tokens": 4096, "messages": list(messages) or [user("Hello")]}
    return ask("anthropic", "anthropic", {**body, **fields}, headers)


def tool_use(number: int = 1) -> Json:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "look", "input": {"at": number}}


def tool_result(number: int = 1) -> Json:
    return {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "seen"}


def chat(provider: str, model: str, *messages: Json, **fields: Any) -> RuleInput:
    body: Json = {"model": model, "messages": list(messages) or [user("Hello")]}
    return ask(provider, "openai-chat", {**body, **fields})


def call(name: str = "call_1") -> Json:
    return {"id": name, "type": "function", "function": {"name": "look", "arguments": "{}"}}


def calls(*names: str, **fields: Any) -> Json:
    return {"role": "assistant", "content": None, "tool_calls": [call(name) for name in names], **fields}


def result(name: str = "call_1") -> Json:
    return {"role": "tool", "tool_call_id": name, "content": "seen"}


CHAT_TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


def responses(model: str, *items: Json, provider: str = "openai", **fields: Any) -> RuleInput:
    body: Json = {"model": model, "input": list(items) or "Hello"}
    return ask(provider, "openai-responses", {**body, **fields})


def function_call(name: str = "call_1", **fields: Any) -> Json:
    return {"type": "function_call", "call_id": name, "name": "look", "arguments": "{}", **fields}


def output(name: str = "call_1") -> Json:
    return {"type": "function_call_output", "call_id": name, "output": "seen"}


def reasoning(**fields: Any) -> Json:
    return {"type": "reasoning", "summary": [], **fields}


def gemini(model: str, *contents: Json, facts: Json | None = None, **fields: Any) -> RuleInput:
    body: Json = {"model": model, "contents": list(contents) or [content("user", {"text": "Hello"})]}
    return ask("google", "gemini", {**body, **fields}, **(facts or {}))


def content(role: str, *parts: Json) -> Json:
    return {"role": role, "parts": list(parts)}


def thinking_config(**fields: Any) -> Json:
    return {"generationConfig": {"thinkingConfig": fields}}


def model_call(name: str = "look", signature: str | None = None) -> Json:
    part: Json = {"functionCall": {"name": name, "args": {"at": 1}}}
    return part if signature is None else {**part, "thoughtSignature": signature}


def response(name: str = "look") -> Json:
    return {"functionResponse": {"name": name, "response": {"output": "seen"}}}


def thought_signature(model: str, name: str = "look", args: Json | None = None) -> str:
    return seal("gemini.thought", model, call_print(name, args or {"at": 1}))
