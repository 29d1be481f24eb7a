"""MCP servers in the web app: real ones over stdio, with approval, and broken ones beside them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.session.tools.test_mcp import REAL, children, light
from tests.web.webs import MODEL, Browser, Served, all_bases, folded, frames, web_app
from thinkwire.sim.fixture import Running
from thinkwire.web import mcp_servers as servers_module
from thinkwire.web.mcp_servers import configured_servers

pytestmark = pytest.mark.anyio

ADD = "mcp__testing__add"
CALLS = '[[call:mcp__testing__add {"a": 2, "b": 3}]] [[say:Added.]]'
BROKEN = light("import sys; sys.exit('no licence at /secret/place')")

With = Callable[..., AbstractAsyncContextManager[Served]]


@pytest.fixture
def serve(
    simulator: Running, own_url: str, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> With:
    """A web app with these MCP servers."""

    @asynccontextmanager
    async def serve(servers: dict[str, Any] | str, **options: Any) -> AsyncIterator[Served]:
        config = tmp_path / "config"
        config.mkdir(exist_ok=True)
        text = servers if isinstance(servers, str) else json.dumps({"mcpServers": servers})
        (config / "mcp.json").write_text(text)
        monkeypatch.setenv("THINKWIRE_CONFIG", str(config))
        async with web_app(own_url, all_bases(simulator.url), workspace, **options) as served:
            yield served

    return serve


async def asking(browser: Browser, talk: str, text: str, decision: str) -> dict[str, Any]:
    """The message that comes of a question whose tool calls are decided so."""
    seen: list[dict[str, Any]] = []
    async with browser.request("POST", f"{talk}/chat", {"message": {"text": text}}) as reply:
        assert reply.status == 200, await reply.text()
        async for _, frame in frames(reply):
            seen.append(frame)
            if frame["type"] == "data-approval" and frame["data"]["state"] == "asked":
                call = {"tool_call_id": frame["data"]["tool_call_id"], "decision": decision}
                await browser.post(f"{talk}/approve", call)
    return folded(seen)


async def servers_of(browser: Browser) -> dict[str, dict[str, Any]]:
    """The servers by name, when all of them have come to be what they will be."""
    while True:
        found = {entry["name"]: entry for entry in await browser.get("/api/tools/servers")}
        if all(entry["state"] != "connecting" for entry in found.values()):
            return found


def tool_part(message: dict[str, Any]) -> dict[str, Any]:
    return next(part for part in message["parts"] if part["type"] == "dynamic-tool")


async def agent_with(browser: Browser, *tools: str) -> str:
    agent = await browser.post("/api/agents", {"name": "A", "model": MODEL, "tools": list(tools)})
    return await browser.talk(agent_id=agent["id"])


async def test_an_agent_uses_a_servers_tool_when_it_is_allowed_to(serve: With) -> None:
    before = children()
    async with serve({"testing": REAL}) as app:
        browser = await app.browser()
        assert children() == before, "nothing is started before it is needed"
        assert await servers_of(browser) == {
            "testing": {"name": "testing", "state": "connected", "error": None}
        }
        entries = {entry["name"]: entry for entry in await browser.get("/api/tools")}
        assert entries[ADD] == {
            "name": ADD,
            "description": "Add two numbers.",
            "effect": "run",
            "server": "testing",
        }
        assert entries["read_file"]["server"] is None
        talk = await agent_with(browser, ADD)
        allowed = await asking(browser, talk, CALLS, "yes")
        part = tool_part(allowed)
        assert (part["toolName"], part["state"], part["output"]) == (ADD, "output-available", "5")
        asked = next(part for part in allowed["parts"] if part["type"] == "data-approval")
        assert (asked["data"]["tool"], asked["data"]["effect"], asked["data"]["state"]) == (ADD, "run", "yes")
        kept = (await browser.messages(talk))[-1]
        assert tool_part(kept)["output"] == "5"
        refused = tool_part(await asking(browser, talk, CALLS, "no"))
        assert refused["state"] == "output-error"
        assert "refused" in refused["errorText"]
    assert children() == before, "and nothing is left of it"


async def test_a_broken_server_breaks_no_other_and_says_why(serve: With) -> None:
    async with serve({"testing": REAL, "broken": BROKEN, "off": {**REAL, "disabled": True}}) as app:
        browser = await app.browser()
        states = await servers_of(browser)
        assert {name: entry["state"] for name, entry in states.items()} == {
            "testing": "connected",
            "broken": "failed",
            "off": "disabled",
        }
        assert "no licence" in states["broken"]["error"]
        unknown = await browser.ask("POST", "/api/agents", {"name": "A", "tools": ["mcp__broken__x"]})
        assert unknown.status == 400
        talk = await agent_with(browser, ADD)
        assert tool_part(await asking(browser, talk, CALLS, "yes"))["output"] == "5"


async def test_a_tool_that_has_gone_is_noted_and_the_answer_comes(serve: With) -> None:
    async with serve({"testing": REAL}) as app:
        browser = await app.browser()
        talk = await agent_with(browser, ADD, "read_file")
    async with serve({"testing": BROKEN}) as app:
        browser = await app.browser()
        told = folded(await browser.say(talk, "[[say:Without it.]]"))
        notes = [part["data"] for part in told["parts"] if part["type"] == "data-note"]
        (note,) = [note for note in notes if note["code"] == "setting.ignored"]
        assert ADD in note["message"]
        assert "testing is failed" in note["message"]
        assert told["parts"][-1]["text"] == "Without it."


async def test_a_server_that_died_is_started_again(serve: With, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers_module, "AGAIN", 0.0)
    async with serve({"testing": REAL}) as app:
        browser = await app.browser()
        talk = await agent_with(browser, ADD, "mcp__testing__die")
        died = tool_part(await asking(browser, talk, "[[call:mcp__testing__die {}]] [[say:Oh.]]", "yes"))
        assert died["state"] == "output-error"
        assert tool_part(await asking(browser, talk, CALLS, "yes"))["output"] == "5"


async def test_with_accounts_only_what_is_shared_is_offered(serve: With) -> None:
    servers = {"mine": REAL, "testing": {**REAL, "shared": True}, "bad": {**BROKEN, "shared": True}}
    async with serve(servers, auth=True) as app:
        ada = await app.account("ada")
        root = await app.account("root", admin=True)
        hers = await servers_of(ada)
        offered = {entry["server"] for entry in await ada.get("/api/tools")}
        assert offered == {None, "testing"}
        hidden = await ada.ask("POST", "/api/agents", {"name": "A", "tools": ["mcp__mine__add"]})
        assert hidden.status == 400
        assert hers["bad"] == {"name": "bad", "state": "failed", "error": None}, "not for everyone's eyes"
        theirs = await servers_of(root)
        assert "no licence" in theirs["bad"]["error"]
        talk = await agent_with(ada, ADD)
        assert tool_part(await asking(ada, talk, CALLS, "yes"))["output"] == "5"


async def test_a_server_that_says_nothing_keeps_nobody_from_reading(serve: With, tmp_path: Path) -> None:
    silent = light("import sys; sys.stdin.read()")
    async with serve({"testing": REAL}) as app:
        talk = await agent_with(await app.browser(), ADD)
    async with serve({"testing": silent}) as app, asyncio.timeout(15):
        browser = await app.browser()
        assert (await browser.get(talk))["context"] is not None
        assert await browser.messages(talk) == []
        (status,) = app.web.servers.status
        assert status.state == "connecting"


async def test_a_file_that_cannot_be_read_is_said(serve: With) -> None:
    async with serve('{"mcpServers": {"a": {}}}') as app:
        browser = await app.browser()
        (entry,) = await browser.get("/api/tools/servers")
        assert (entry["name"], entry["state"]) == ("mcp.json", "failed")
        assert "mcpServers.a needs either" in entry["error"]
        assert "read_file" in {tool["name"] for tool in await browser.get("/api/tools")}


async def test_many_who_ask_at_once_open_a_server_once(tmp_path: Path) -> None:
    started = tmp_path / "started"
    code = f"open({str(started)!r}, 'a').write('x'); import sys; sys.exit('over')"
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"one": light(code)}}))
    servers = configured_servers(auth=False, file=tmp_path / "mcp.json")
    await asyncio.gather(*(servers.tools() for _ in range(5)))
    await servers.tools()
    assert started.read_text() == "x"
    await servers.aclose()
