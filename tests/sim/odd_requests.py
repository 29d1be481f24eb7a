"""Requests with any JSON in them, for simulators that must answer or refuse every one."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.sim.support import Api, Got, apis, call
from thinkwire.sim.app import Simulator

WORDS = (
    *("", "a", "none", "auto", "any", "required", "function", "tool", "user", "assistant", "system", "text"),
    *("tool_use", "tool_result", "thinking", "image", "reasoning", "message", "function_call", "json_schema"),
    *("function_call_output", "item_reference", "string", "object", "array", "number", "integer", "null"),
    *("high", "low", "enabled", "get_weather", "data:image/png;base64,AAAA", "thwi", "\ud800", "AAAA"),
)
FIELDS = (
    *("type", "text", "content", "role", "name", "id", "input", "tool_use_id", "tool_call_id", "call_id"),
    *("thinking", "signature", "data", "source", "url", "image_url", "function", "arguments", "parameters"),
    *("input_schema", "mode", "allowed_tools", "tools", "json_schema", "schema", "format", "effort"),
    *("budget_tokens", "summary", "encrypted_content", "output", "parts", "functionCall", "functionResponse"),
    *("inlineData", "thoughtSignature", "thought", "functionDeclarations", "parametersJsonSchema", "args"),
    *("response", "functionCallingConfig", "allowedFunctionNames", "thinkingConfig", "thinkingBudget"),
    *("thinkingLevel", "includeThoughts", "responseSchema", "responseJsonSchema", "reasoning_content"),
    *("tool_calls", "cache_control", "reasoning_details", "strict"),
)
TOP = (
    *("model", "messages", "input", "contents", "tools", "tool_choice", "toolConfig", "response_format"),
    *("text", "system", "instructions", "systemInstruction", "thinking", "reasoning", "reasoning_effort"),
    *("generationConfig", "max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "top_p"),
    *("stop", "stop_sequences", "stream", "stream_options", "store", "include", "previous_response_id"),
    *("output_config", "output_format", "metadata", "parallel_tool_calls", "service_tier", "user", "betas"),
    *("enable_thinking", "thinking_budget", "chat_template_kwargs", "extra_body", "provider", "plugins"),
    *("generateContentRequest", "context_management", "truncation", "n", "seed", "logprobs", "top_k"),
)
KEYWORDS = (
    *("type", "properties", "required", "items", "prefixItems", "minItems", "maxItems", "minimum", "maximum"),
    *("exclusiveMinimum", "maxLength", "minLength", "pattern", "enum", "const", "default", "anyOf", "oneOf"),
    *("allOf", "$ref", "$defs", "additionalProperties", "format", "nullable", "multipleOf"),
)

numbers = st.sampled_from([0, -1, 1, 3, 10**30, -(10**30), 0.5, 1e308, -1e308, 2**63, 1e-300])
atoms = st.none() | st.booleans() | numbers | st.sampled_from(WORDS) | st.text(max_size=5)
values = st.recursive(
    atoms,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)
types = st.sampled_from(["string", "number", "integer", "boolean", "object", "array", "null"]) | values
keywords = st.dictionaries(st.sampled_from(KEYWORDS), values, max_size=4)
properties = st.recursive(
    st.builds(lambda kind, more: {**more, "type": kind}, types, keywords) | keywords | values,
    lambda inner: st.dictionaries(
        st.sampled_from(["properties", "items", "anyOf", "allOf", "type"]),
        inner
        | st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "path"]), inner, max_size=2),
        max_size=3,
    ),
    max_leaves=4,
)
named = st.dictionaries(
    st.sampled_from(["city", "path", "command", "commands", "file"]), properties, max_size=3
)
schemas = (
    st.builds(lambda inside: {"type": "object", "properties": inside}, named)
    | st.builds(
        lambda inside, required: {"properties": inside, "required": required},
        named,
        st.just(["city", "path"]) | values,
    )
    | properties
)
TEXTS = ("Weather in Oslo, read a.txt, call get_weather -3.5", "[[shell:ls]]", '[[call:get_weather {"a":1}]]')


class Request(NamedTuple):
    """A request to one API."""

    api: Api
    path: str
    body: Any


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*at, key)
        yield from _places(one, (*at, key))


def _put(value: Any, place: tuple[Any, ...], given: Any) -> None:
    *above, last = place
    for key in above:
        value = value[key]
    value[last] = given


def _schema_places(body: Any) -> list[tuple[Any, ...]]:
    names = ("parameters", "input_schema", "parametersJsonSchema")
    return [place for place in _places(body) if place[-1] in names]


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """A plain request with tools, of which a few places hold something else."""
    api = draw(st.sampled_from(apis()))
    streamed = draw(st.booleans())
    body = copy.deepcopy(api.body(draw(st.sampled_from(TEXTS)), stream=streamed, tools=True))
    for place in _schema_places(body):
        if draw(st.booleans()):
            _put(body, place, draw(schemas))
    if draw(st.booleans()):
        body[draw(st.sampled_from(TOP))] = draw(values)
    body = copy.deepcopy(body)  # what was drawn must stay as it was
    if draw(st.booleans()):
        place = draw(st.sampled_from(sorted(_places(body), key=repr)))
        _put(body, place, draw(values))
    path = api.path(streamed)
    if draw(st.integers(0, 9)) == 0:
        path = path.replace(":generateContent", ":countTokens").replace("/messages", "/messages/count_tokens")
    return Request(api, path, body)


def check(app: Simulator, request: Request) -> Got:
    """The answer, which is none of the simulator's own failures."""
    got = call(app, request.path, request.body)
    assert 200 <= got.status < 500, (got.status, got.body)
    assert got.complete
    return got
