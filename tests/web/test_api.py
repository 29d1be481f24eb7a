"""The rest of the API over a real socket: agents, conversations, models, plans, usage, exports."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.web.webs import MODEL, Browser, Served, folded
from thinkwire.messages import Seal, Text, Thinking, ToolCall, Turn
from thinkwire.store import MessageRow
from thinkwire.usage import Usage
from thinkwire.web.thinking import ThinkingChoice

pytestmark = pytest.mark.anyio

SECRET = "c2VhbGVkLXByb29mLW9mLXRoaW5raW5n" * 4


async def test_agents_are_made_changed_deleted_and_brought_back(browser: Browser) -> None:
    made = await browser.post(
        "/api/agents", {"name": "Ada", "model": MODEL, "thinking": {"enabled": True, "level": "high"}}
    )
    at = f"/api/agents/{made['id']}"
    assert await browser.get(at) == made
    changed = await browser.patch(at, {"instructions": "Be brief.", "tools": ["read_file"]})
    assert (changed["instructions"], changed["tools"], changed["name"]) == ("Be brief.", ["read_file"], "Ada")
    assert (await browser.ask("DELETE", at)).status == 200
    assert await browser.get("/api/agents") == []
    assert (await browser.ask("GET", at)).status == 404
    assert (await browser.post(f"{at}/restore"))["name"] == "Ada"
    assert [agent["id"] for agent in await browser.get("/api/agents")] == [made["id"]]


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ({"model": "claude-sonnet-4-5", "thinking": {"enabled": True, "budget": 12}}, "1,024 to"),
        ({"model": "claude-3-5-haiku", "thinking": {"enabled": True}}, "does not think"),
        ({"model": MODEL, "thinking": {"enabled": True, "level": "enormous"}}, "no level"),
        ({"model": "nobody/has-this"}, "nobody is known to have"),
        ({"tools": ["no_such_tool"]}, "no tool called"),
        ({"thinking": {"enabled": True, "depth": 3}}, "unknown field"),
        ({"name": ""}, "length"),
    ],
)
async def test_an_agent_that_could_not_work_is_refused(
    browser: Browser, agent: dict[str, Any], words: str
) -> None:
    answer = await browser.ask("POST", "/api/agents", {"name": "A", **agent})
    assert answer.status == 400
    assert words in answer.body["error"]["message"]
    assert answer.body["error"]["advice"] == "fix_request"


@pytest.mark.parametrize(
    ("model", "thinking", "sentence"),
    [
        (MODEL, {"enabled": True, "level": "high"}, "will send adaptive, effort high; thinking summarised"),
        (
            MODEL,
            {"enabled": True, "level": "medium"},
            "will send adaptive, effort medium; thinking summarised",
        ),
        (
            "claude-sonnet-4-5",
            {"enabled": True, "budget": 8000},
            "will send 8,000 tokens; thinking summarised",
        ),
        ("claude-sonnet-4-5", {"enabled": True}, "will send 10,000 tokens; thinking summarised"),
        ("claude-sonnet-4-5", {"enabled": False}, "will turn thinking off"),
        (
            "gemini-2.5-pro",
            {"enabled": True, "level": "high", "budget": 4096},
            "will send 4,096 tokens; thinking summarised",
        ),
        (
            "o3",
            {"enabled": True, "level": "low", "budget": 9000},
            "will send effort low; thinking summarised",
        ),
    ],
)
async def test_the_plan_says_what_will_be_sent(
    browser: Browser, model: str, thinking: dict[str, Any], sentence: str
) -> None:
    plan = await browser.post("/api/plan", {"model": model, "thinking": thinking})
    assert plan["sentence"] == sentence
    assert plan["lines"]


async def test_every_level_that_a_card_offers_can_be_had(browser: Browser) -> None:
    (model,) = (await browser.get(f"/api/models?q={MODEL}&limit=1"))["models"]
    assert "medium" in model["thinking"]["levels"]
    for level in model["thinking"]["levels"]:
        thinking = {"enabled": True, "level": level}
        assert level in (await browser.post("/api/plan", {"model": MODEL, "thinking": thinking}))["sentence"]
        agent = await browser.post("/api/agents", {"name": level, "model": MODEL, "thinking": thinking})
        told = folded(
            await browser.say(await browser.talk(agent_id=agent["id"]), "[[think:Hm.]] [[say:Yes.]]")
        )
        assert (told["metadata"]["status"], told["metadata"]["effective"]["effort"]) == ("complete", level)
    wrong = {"model": MODEL, "thinking": {"enabled": True, "level": "gigantic"}}
    assert (await browser.ask("POST", "/api/plan", wrong)).status == 400


async def test_a_plan_for_a_model_that_cannot_be_off_has_a_note(browser: Browser) -> None:
    plan = await browser.post("/api/plan", {"model": MODEL, "thinking": {"enabled": False}})
    assert [note["code"] for note in plan["notes"]] == ["reasoning.minimum"]
    assert plan["effective"]["on"] is True


async def test_models_are_found_by_words_and_say_how_they_think(browser: Browser) -> None:
    models = (await browser.get("/api/models?q=anthropic+sonnet-4-5&limit=5"))["models"]
    assert models[0]["name"] == "anthropic/claude-sonnet-4-5"
    thinking = models[0]["thinking"]
    assert (thinking["kind"], thinking["budget"]["default"], thinking["can_be_off"]) == (
        "budget",
        10_000,
        True,
    )
    every = (await browser.get("/api/models?limit=1000"))["models"]
    assert {model["thinking"]["kind"] for model in every} == {"none", "always", "toggle", "budget", "effort"}
    for model in every:
        shown = model["thinking"]
        assert (shown["kind"] == "budget") == (shown["budget"] is not None)
        assert (shown["kind"] == "effort") == bool(shown["levels"])
        assert shown["sentence"].endswith(".")


async def test_an_agents_thinking_reaches_the_wire_and_the_explanation(browser: Browser) -> None:
    agent = await browser.post(
        "/api/agents",
        {
            "name": "A",
            "model": "claude-sonnet-4-5",
            "thinking": {"enabled": True, "budget": 4096},
            "instructions": "Brief.",
        },
    )
    talk = await browser.talk(agent_id=agent["id"])
    await browser.say(talk, "[[think:Hm.]] [[say:So.]]")
    answer = (await browser.messages(talk))[-1]
    told = await browser.get(f"/api/messages/{answer['id']}/explain")
    assert told["request"]["body"]["thinking"]["budget_tokens"] == 4096
    assert told["request"]["body"]["system"] == "Brief."
    assert (told["requested"]["budget"], told["effective"]["budget"]) == (4096, 4096)
    assert told["observed"]["thought"] is True
    assert told["usage"] == answer["metadata"]["usage"]
    assert "simulated" not in json.dumps(told["request"]["headers"]), "no key"
    asked = await browser.ask("GET", f"/api/messages/{(await browser.messages(talk))[0]['id']}/explain")
    assert asked.status == 409


async def test_a_conversations_own_word_counts_before_its_agents(browser: Browser) -> None:
    agent = await browser.post(
        "/api/agents", {"name": "A", "model": MODEL, "thinking": {"enabled": True, "level": "high"}}
    )
    talk = await browser.talk(agent_id=agent["id"])
    assert (await browser.get(talk))["model"] == MODEL
    changed = await browser.patch(talk, {"settings": {"thinking": {"enabled": True, "level": "low"}}})
    assert changed["settings"]["thinking"]["level"] == "low"
    await browser.say(talk, "[[say:One.]]")
    await browser.patch(talk, {"model": "claude-sonnet-4-5", "settings": {"thinking": None}})
    await browser.say(talk, "[[say:Two.]]")
    first, second = [message for message in await browser.messages(talk) if message["role"] == "assistant"]
    assert first["metadata"]["effective"] == {"on": True, "effort": "low"}
    assert (second["metadata"]["model"], second["metadata"]["effective"]["on"]) == ("claude-sonnet-4-5", True)
    for wrong in (
        {"settings": {"no.such": 1}},
        {"settings": {"thinking": 3}},
        {"model": "nobody/has-it"},
        {"x": 1},
    ):
        assert (await browser.ask("PATCH", talk, wrong)).status == 400, wrong


async def test_conversations_are_paged_found_deleted_and_brought_back(app: Served, browser: Browser) -> None:
    ids = []
    for number in range(5):
        row = await app.store.create_conversation(f"Talk {number}")
        await app.store.append(row.id, Turn("user", (Text(f"about badger number {number}"),)))
        ids.append(row.id)
    seen: list[str] = []
    at = ""
    while True:
        page = await browser.get(f"/api/conversations?limit=2&before={at}")
        seen += [item["id"] for item in page["items"]]
        if not page["next"]:
            break
        at = page["next"].replace("+", "%2B")
    assert seen == ids[::-1]
    found = (await browser.get("/api/conversations?q=badgers"))["items"]
    assert len(found) == 5
    assert "badger" in found[0]["preview"]
    assert (await browser.ask("DELETE", f"/api/conversations/{ids[0]}")).status == 200
    assert len((await browser.get("/api/conversations"))["items"]) == 4
    assert (await browser.ask("GET", f"/api/conversations/{ids[0]}/messages")).status == 404
    await browser.post(f"/api/conversations/{ids[0]}/restore")
    assert len((await browser.get("/api/conversations"))["items"]) == 5
    assert (await browser.ask("GET", "/api/conversations?before=rubbish")).status == 400


async def sealed_talk(app: Served) -> tuple[str, MessageRow]:
    row = await app.store.create_conversation("Sealed", model=MODEL)
    await app.store.append(row.id, Turn("user", (Text("Why?"),)))
    seal = Seal("anthropic.signature", SECRET)
    blocks = (
        Thinking("Because of this.", seal=seal, extras={"anthropic": {"native": SECRET}}),
        Thinking(form="redacted", seal=Seal("anthropic.redacted", SECRET)),
        Text("Because.", seal=seal),
        ToolCall("c1", "look", "{}", seal=seal),
    )
    kept = await app.store.append(row.id, Turn("assistant", blocks), usage=Usage(input_total=5))
    return row.id, kept


async def test_no_seal_leaves_the_server(app: Served, browser: Browser) -> None:
    id, kept = await sealed_talk(app)
    talk = f"/api/conversations/{id}"
    await browser.say(talk, "[[say:Go on.]]")
    answer = (await browser.messages(talk))[-1]
    paths = [
        f"{talk}/messages",
        f"{talk}/export?to=jsonl&thinking=true",
        f"{talk}/export?to=markdown&thinking=1",
        f"/api/messages/{kept.id}/explain",
        f"/api/messages/{answer['id']}/explain",
    ]
    for path in paths:
        reply = await browser.ask("GET", path)
        assert reply.status == 200, path
        text = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        assert SECRET.encode() not in text, path
    sent = (await browser.get(f"/api/messages/{answer['id']}/explain"))["request"]["body"]
    assert "<sealed, " in json.dumps(sent), "it was sent, and is only not shown"


async def test_exports_leave_thinking_out_unless_asked(app: Served, browser: Browser) -> None:
    id, _ = await sealed_talk(app)
    for form in ("jsonl", "markdown"):
        without = (await browser.ask("GET", f"/api/conversations/{id}/export?to={form}")).body
        with_it = await browser.ask("GET", f"/api/conversations/{id}/export?to={form}&thinking=true")
        assert b"Because of this." not in without
        assert b"Because of this." in with_it.body
        assert with_it.headers["content-disposition"].startswith('attachment; filename="Sealed.')


async def test_redacted_thinking_is_a_stub_that_says_why(app: Served, browser: Browser) -> None:
    id, _ = await sealed_talk(app)
    parts = (await browser.messages(f"/api/conversations/{id}"))[-1]["parts"]
    assert [part["type"] for part in parts] == ["reasoning", "data-redacted", "text", "dynamic-tool"]
    assert parts[1]["data"]["form"] == "redacted"
    assert "encrypted" in parts[1]["data"]["why"]


@pytest.mark.parametrize(
    ("asked", "usage", "blocks", "code"),
    [
        ({"level": "high"}, None, (Text("So."),), "none"),
        ({"level": "high"}, Usage(output_reasoning=99), (Text("So."),), "hidden"),
        ({"level": "high"}, None, (Thinking("Hm."), Text("So.")), None),
        ({"budget": 0}, None, (Text("So."),), None),
        ({}, None, (Text("So."),), None),
    ],
)
async def test_thinking_that_was_asked_for_and_is_missing_has_a_reason(
    app: Served, browser: Browser, asked: dict[str, Any], usage: Usage | None, blocks: Any, code: str | None
) -> None:
    row = await app.store.create_conversation()
    extra = {"asked": {"requested": asked, "effective": {"on": True}}}
    await app.store.append(row.id, Turn("assistant", blocks), usage=usage, extra=extra)
    metadata = (await browser.messages(f"/api/conversations/{row.id}"))[0]["metadata"]
    skipped = metadata["thinking_skipped"]
    assert (skipped["code"] if skipped else None) == code


async def test_usage_tells_what_is_unknown(app: Served, browser: Browser) -> None:
    agent = await app.store.create_agent("Ada")
    row = await app.store.create_conversation(agent_id=agent.id)
    whole = Usage(1, 2, 3, 6, 4, 5, 9)
    for usage in (whole, whole, None):
        await app.store.append(row.id, Turn("assistant", (Text("x"),)), usage=usage, created=86_400.0)
    (entry,) = (await browser.get("/api/usage?since=1970-01-02&until=1970-01-02"))["rows"]
    assert (entry["agent"], entry["answers"], entry["output_reasoning"]) == ("Ada", 3, 10)
    assert (entry["cost"], entry["unknown"]["output_reasoning"]) == (None, 1)
    assert (await browser.get("/api/usage?since=1970-01-03"))["rows"] == []
    assert (await browser.get("/api/usage?offset=-3600"))["rows"][0]["day"] == "1970-01-01"
    assert (await browser.ask("GET", "/api/usage?since=yesterday")).status == 400


async def test_context_says_how_full_the_window_is(browser: Browser) -> None:
    talk = await browser.talk()
    before = (await browser.get(talk))["context"]
    await browser.say(talk, "word " * 400 + "[[say:Long.]]")
    after = (await browser.get(talk))["context"]
    assert after["total"] > before["total"] + 300
    assert after["limit"] == 1_000_000


async def test_addresses_that_are_none_and_methods_that_are_wrong(browser: Browser) -> None:
    assert (await browser.ask("GET", "/api/nowhere")).status == 404
    wrong = await browser.ask("DELETE", "/api/models")
    assert (wrong.status, wrong.headers["allow"]) == (405, "GET")
    assert (await browser.ask("GET", "/assets/../../pyproject.toml")).status in (404, 503)
    assert (await browser.ask("GET", "/assets/%2e%2e/%2e%2e/app.py")).status == 404


def test_settings_take_of_level_and_budget_what_the_model_goes_by() -> None:
    from thinkwire.catalog import default_catalog
    from thinkwire.web.thinking import settings_of

    catalog = default_catalog()
    budget, effort = catalog.find("anthropic", "claude-sonnet-4-5"), catalog.find("openai", "o3")
    assert budget is not None
    assert effort is not None
    both = ThinkingChoice(True, "high", 5000)
    assert settings_of(both, budget.facts) == {"reasoning.enabled": True, "reasoning.maxTokens": 5000}
    assert settings_of(both, effort.facts) == {"reasoning.enabled": True, "reasoning.effort": "high"}
    assert settings_of(ThinkingChoice(), effort.facts) == {}
    assert settings_of(ThinkingChoice(False, "high"), None) == {"reasoning.enabled": False}
