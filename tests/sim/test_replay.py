"""With every rule on: what was given is accepted when it comes back unaltered, and not otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.sim.support import Api, Got, api, apis, call
from thinkwire.sim.app import Simulator
from thinkwire.sim.rules.table import all_rules

APP = Simulator(rules=all_rules())
SCRIPT = (
    '[[think:First.]] [[call:get_weather {"city":"Oslo"}]] '
    '[[think:Second.]] [[call:get_weather {"city":"Rome"}]] & [[call:get_weather {"city":"Bern"}]] '
    "[[think:Third.]] [[say:All done.]]"
)
Body = dict[str, Any]


def continued(at: Api, body: Body, got: Any) -> Body:
    """The next request of a client that gives everything back as it came."""
    return _CONTINUED[at.route.dialect](body, got)


def _anthropic(body: Body, got: Any) -> Body:
    calls = [block for block in got["content"] if block["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": made["id"], "content": "mild"} for made in calls]
    turns = [{"role": "assistant", "content": got["content"]}, {"role": "user", "content": results}]
    return body | {"messages": [*body["messages"], *turns]}


def _chat(body: Body, got: Any) -> Body:
    message = {key: value for key, value in got["choices"][0]["message"].items() if value is not None}
    message.setdefault("content", None)
    if any(detail.get("format") == "google-gemini-v1" for detail in message.get("reasoning_details", ())):
        # OpenRouter's own client leaves out Gemini's thoughts, which nobody signed (reference 2.4).
        sealed = [detail for detail in message["reasoning_details"] if "data" in detail]
        message = message | {"reasoning_details": sealed}
    results = [
        {"role": "tool", "tool_call_id": made["id"], "content": "mild"} for made in message["tool_calls"]
    ]
    return body | {"messages": [*body["messages"], message, *results]}


def _responses(body: Body, got: Any) -> Body:
    calls = [item for item in got["output"] if item["type"] == "function_call"]
    results = [
        {"type": "function_call_output", "call_id": made["call_id"], "output": "mild"} for made in calls
    ]
    return body | {"input": [*body["input"], *got["output"], *results]}


def _gemini(body: Body, got: Any) -> Body:
    content = got["candidates"][0]["content"]
    calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
    results = [{"functionResponse": {**_known(made), "response": {"output": "mild"}}} for made in calls]
    return body | {"contents": [*body["contents"], content, {"role": "user", "parts": results}]}


def _known(made: dict[str, Any]) -> dict[str, Any]:
    return {key: made[key] for key in ("id", "name") if key in made}


_CONTINUED: dict[str, Callable[[Body, Any], Body]] = {
    "anthropic": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "gemini": _gemini,
}


def ask(at: Api, body: Body) -> Got:
    return call(APP, at.path(), body)


def beyond(at: Api) -> bool:
    """OpenAI's newest models refuse tools beside thinking on Chat Completions."""
    return at.id == "openai-openai-chat"


MORE = [
    api("openrouter", "openai-chat", "openai/gpt-6.1-sol"),
    api("openrouter", "openai-chat", "google/gemini-3.8-flash"),
    api("openrouter", "openai-chat", "moonshotai/kimi-k3"),
    api("anthropic", "anthropic", "claude-fable-5-2"),
    api("google", "gemini", "gemini-2.5-flash"),
]


@pytest.mark.parametrize("at", [a for a in apis() if not beyond(a)] + MORE, ids=lambda a: f"{a.id}-{a.model}")
def test_a_tool_loop_of_three_rounds_is_never_refused(at: Api) -> None:
    body = at.body(SCRIPT, tools=True)
    for _ in range(2):
        got = ask(at, body)
        assert got.status == 200, got.body
        body = continued(at, body, got.json)
    last = ask(at, body)
    assert last.status == 200, last.body
    assert at.dialect.decode_response(last.json).turn.text.strip() == "All done."


def test_thinking_by_budget_survives_a_loop_and_shows_what_it_binds() -> None:
    at = api("anthropic", "anthropic", "claude-sonnet-4-5")
    body = at.body(SCRIPT, tools=True) | {"thinking": {"type": "enabled", "budget_tokens": 2000}}
    second = continued(at, body, ask(at, body).json)
    assert ask(at, second).status == 200
    bare = second["messages"][1] | {"content": second["messages"][1]["content"][1:]}
    refused = ask(at, second | {"messages": [second["messages"][0], bare, second["messages"][2]]})
    assert refused.status == 400
    assert refused.headers["x-sim-rule"].startswith("anthropic.")


def altered(text: str) -> str:
    return text[:-9] + ("A" if text[-9] != "A" else "B") + text[-8:]


def test_one_altered_byte_of_a_seal_is_caught_everywhere() -> None:
    claude = api("anthropic", "anthropic")
    body = claude.body(SCRIPT, tools=True)
    second = continued(claude, body, ask(claude, body).json)
    block = second["messages"][1]["content"][0]
    block["signature"] = altered(block["signature"])
    assert ask(claude, second).status == 400

    gpt = api("openai", "openai-responses")
    body = gpt.body(SCRIPT, tools=True)
    second = continued(gpt, body, ask(gpt, body).json)
    item = next(item for item in second["input"] if item.get("type") == "reasoning")
    item["encrypted_content"] = altered(item["encrypted_content"])
    refused = ask(gpt, second)
    assert (refused.status, refused.json["error"]["code"]) == (400, "invalid_encrypted_content")

    gemini = api("google", "gemini")
    body = gemini.body(SCRIPT, tools=True)
    second = continued(gemini, body, ask(gemini, body).json)
    part = second["contents"][1]["parts"][0]
    part["thoughtSignature"] = altered(part["thoughtSignature"])
    assert ask(gemini, second).status == 400


def test_the_prefix_is_bound_where_the_model_binds_it() -> None:
    at = api("anthropic", "anthropic")
    body = at.body(SCRIPT, tools=True) | {"system": "Be brief."}
    second = continued(at, body, ask(at, body).json)
    assert ask(at, second).status == 200
    assert ask(at, second | {"system": [{"type": "text", "text": "Be brief."}]}).status == 200
    refused = ask(at, second | {"system": "Be long."})
    assert (refused.status, refused.headers["x-sim-rule"]) == (400, "anthropic.prefix_changed")


def test_another_key_cannot_read_encrypted_reasoning() -> None:
    at = api("openai", "openai-responses")
    body = at.body(SCRIPT, tools=True)
    second = continued(at, body, ask(at, body).json)
    got = call(APP, at.path(), second, headers={"authorization": "Bearer another"})
    assert (got.status, got.json["error"]["code"]) == (400, "invalid_encrypted_content")


def test_stored_answers_can_be_named() -> None:
    at = api("openai", "openai-responses")
    body = {
        key: value for key, value in at.body(SCRIPT, tools=True).items() if key not in ("store", "include")
    }
    first = ask(at, body).json
    [made] = [item for item in first["output"] if item["type"] == "function_call"]
    result = {"type": "function_call_output", "call_id": made["call_id"], "output": "mild"}
    named = ask(at, body | {"previous_response_id": first["id"], "input": [result]})
    assert named.status == 200, named.body
    assert [item["type"] for item in named.json["output"]].count("function_call") == 2
    by_id = [{"type": "item_reference", "id": item["id"]} for item in first["output"]]
    referred = ask(at, body | {"input": [*body["input"], *by_id, result]})
    assert referred.status == 200, referred.body
    lost = ask(at, body | {"previous_response_id": "resp_nowhere", "input": [result]})
    assert (lost.status, lost.json["error"]["code"]) == (400, "previous_response_not_found")
    item = {"type": "reasoning", "id": "rs_nowhere", "summary": []}
    assert ask(at, body | {"input": [*body["input"], item]}).status == 404


def test_refusals_are_counted_by_rule() -> None:
    app = Simulator(rules=all_rules())
    at = api("anthropic", "anthropic", "claude-sonnet-4-5")
    body = at.body("Hello") | {"thinking": {"type": "enabled", "budget_tokens": 5}}
    got = call(app, at.path(), body)
    assert got.status == 400
    assert dict(app.fired) == {got.headers["x-sim-rule"]: 1}
