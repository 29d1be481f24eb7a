"""Requests that nobody would write on purpose: answered, or refused in the vendor's words."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from hypothesis import given

from tests.sim.odd_requests import Request, check, requests
from tests.sim.support import KEYS, api, apis, call
from thinkwire.sim.app import Simulator
from thinkwire.sim.fixture import Running

APP = Simulator()
TEXT = "Weather in Oslo, call get_weather with -3.5"
ODD: list[Any] = [{}, [], "5", True, None, -5, 10**18, -(10**18), 1e308, -1e308]
MORE: list[Any] = [*ODD, [[]], [None], [{"type": 5}]]
NOT_PROPERTIES: list[Any] = [*ODD, {"city": 5}, {"": {}}]


def city(keyword: str, values: list[Any], **more: Any) -> list[Any]:
    """Schemas with one property, in which a keyword has one of these values."""
    return [{"properties": {"city": more | {keyword: value}}} for value in values]


SCHEMAS: list[Any] = [
    {"properties": {"city": {}}, "required": ["city", []]},
    {"properties": {"city": {}}, "required": [{}, 3, None]},
    {"properties": {"city": {"properties": {"a": {}}, "required": 5}}},
    {"properties": {"city": {"properties": {"a": {}}, "required": [[]]}}},
    *city("minimum", ODD, type="number"),
    *city("maximum", ODD, type="integer"),
    *city("minItems", ODD, type="array"),
    *city("maxLength", ODD, type="string"),
    *city("type", MORE),
    *[{"properties": value} for value in NOT_PROPERTIES],
    *([], 5, "text", None, True, {"type": 7}, {"enum": 5}, {"anyOf": [5, {}]}),
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_any_json_may_be_a_tools_schema(schema: Any) -> None:
    for at in apis():
        body = at.body(TEXT, tools=True)
        described = json.dumps(body).replace(json.dumps(_schema_of(body)), json.dumps(schema), 1)
        check(APP, Request(at, at.path(), json.loads(described)))


def _schema_of(value: Any) -> Any:
    """The schema inside a body with one tool."""
    if isinstance(value, dict):
        for name in ("parameters", "input_schema", "parametersJsonSchema"):
            if name in value:
                return value[name]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((found for one in inner if (found := _schema_of(one)) is not None), None)


@pytest.mark.parametrize(
    "more", [{"include": True}, {"include": 5}, {"reasoning": True}, {"reasoning": ["low"]}]
)
def test_any_json_may_be_an_option_of_responses(more: dict[str, Any]) -> None:
    for at in apis():
        if at.route.dialect == "openai-responses":
            check(APP, Request(at, at.path(), at.body(TEXT, tools=True) | more))


def test_arrays_are_not_longer_than_is_useful() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(8):
        schema = {"type": "array", "items": schema, "minItems": 1_000_000}
    at = api("openai", "openai-chat")
    body = at.body(TEXT) | {"tools": [{"type": "function", "function": {"name": "get_weather"}}]}
    body["tools"][0]["function"]["parameters"] = {"type": "object", "properties": {"city": schema}}
    assert len(check(APP, Request(at, at.path(), body)).body) < 4_000_000


@pytest.mark.parametrize(
    "text",
    [
        f"[[call:get_weather {'[' * 100_000}]]",
        f"[[call:get_weather {'9' * 5000}]]",
        f"Weather of {'9' * 400} degrees",
        *("[[fail:000]]", "[[fail:100]]", "[[fail:204]]", "[[fail:304]]", f"[[fail:429 x {'9' * 5000}]]"),
    ],
    ids=lambda text: text[:20],
)
def test_any_text_may_be_said(text: str, simulator: Running) -> None:
    at = api("deepseek", "openai-chat")
    schema = {"type": "object", "properties": {"degrees": {"type": "number"}}}
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": schema}}
    body = at.body(text) | {"tools": [tool]}
    got = call(APP, at.path(), body)
    assert got.complete
    if "fail" in text:
        assert got.status == 500
        assert "error" in got.json, "a fault that cannot be sent is the usual one"
    else:
        assert got.status == 200
    reply = httpx2.post(f"{simulator.url}{at.path()}", json=body, headers=KEYS)
    assert reply.status_code == got.status
    assert reply.headers["content-type"] == "application/json"


@given(requests())
def test_no_request_breaks_a_simulator(request: Request) -> None:
    check(APP, request)
