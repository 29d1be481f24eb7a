"""What only the local owner may switch on, when it is written and when it is used."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.session.tools.test_mcp import REAL
from tests.web.webs import MODEL, Answer, Browser, Served, all_bases, folded, frames, web_app
from thinkwire.sim.fixture import Running
from thinkwire.web.api.session_factory import compose

pytestmark = pytest.mark.anyio

PROXIED = {"x-forwarded-for": "203.0.113.7"}
FORWARDING = [
    PROXIED,
    {"forwarded": "for=203.0.113.7"},
    {"x-real-ip": "127.0.0.1"},
    {"via": "1.1 proxy"},
    {"x-forwarded-proto": "https"},
]
WIDE: list[dict[str, Any]] = [
    {"tools.approve": "allow"},
    {"tools.allow": ["write_file"]},
    {"tools.allow": ["*"], "tools.approve": "deny"},
    {"tools.enabled": ["run_command"]},
]
WIDE_WITHOUT_ACCOUNTS: list[dict[str, Any]] = [
    {"tools.enabled": ["*"]},
    {"tools.enabled": ["read_file", "run_*"]},
    {"tools.enabled": ["write_file"]},
    {"tools.enabled": ["mcp__*"]},
    {"tools.enabled": ["mcp__private__add"]},
]
HARMLESS: list[dict[str, Any]] = [
    {"tools.approve": "ask"},
    {"tools.approve": "deny"},
    {"tools.allow": []},
    {"tools.enabled": ["read_file", "list_files"]},
    {"thinking": {"enabled": True}},
]
COMMAND = '[[call:run_command {"command":"echo it-ran > ran.txt"}]] [[say:Over.]]'
WRITING = '[[call:write_file {"path":"note.txt","content":"hello"}]] [[say:Over.]]'


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private MCP server, and one that is shared."""
    folder = tmp_path / "config"
    folder.mkdir()
    servers = {"private": REAL, "open": REAL | {"shared": True}}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    monkeypatch.setenv("THINKWIRE_CONFIG", str(folder))
    return folder


@pytest.fixture
async def proxied(app: Served) -> Browser:
    """A browser that comes through a proxy; it holds the start token."""
    browser = await app.browser()
    browser.headers = dict(PROXIED)
    return browser


def refused(answer: Answer) -> None:
    assert (answer.status, answer.body["error"]["kind"]) == (403, "not_owner"), answer


async def say(browser: Browser, talk: str, text: str, decision: str = "no") -> tuple[dict[str, Any], int]:
    """The answer, and how often it was asked whether a call may be run."""
    seen: list[dict[str, Any]] = []
    asked = 0
    async with browser.request("POST", f"{talk}/chat", {"message": {"text": text}}) as reply:
        assert reply.status == 200, await reply.text()
        async for _, frame in frames(reply):
            seen.append(frame)
            if frame["type"] == "data-approval" and frame["data"]["state"] == "asked":
                asked += 1
                call = {"tool_call_id": frame["data"]["tool_call_id"], "decision": decision}
                await browser.post(f"{talk}/approve", call)
    return folded(seen), asked


def notes(message: dict[str, Any]) -> str:
    return " ".join(str(part["data"]) for part in message["parts"] if part["type"] == "data-note")


@pytest.mark.parametrize("headers", FORWARDING, ids=lambda headers: next(iter(headers)))
async def test_through_a_proxy_nothing_is_widened(app: Served, headers: dict[str, str]) -> None:
    browser = await app.browser()
    agent = await browser.post("/api/agents", {"name": "A", "tools": ["run_command"]})
    browser.headers = headers
    talk = await browser.talk()
    for settings in WIDE + WIDE_WITHOUT_ACCOUNTS:
        body = {"model": MODEL, "settings": settings}
        refused(await browser.ask("POST", "/api/conversations", body))
        refused(await browser.ask("PATCH", talk, {"settings": settings}))
    for tools in (["run_command"], ["mcp__private__add"], ["write_file"], ["*"]):
        refused(await browser.ask("POST", "/api/agents", {"name": "B", "tools": tools}))
    own = await browser.post("/api/agents", {"name": "B", "tools": ["read_file"]})
    refused(await browser.ask("PATCH", f"/api/agents/{own['id']}", {"tools": ["read_file", "run_command"]}))
    refused(await browser.ask("POST", "/api/conversations", {"agent_id": agent["id"]}))
    refused(await browser.ask("PATCH", talk, {"agent_id": agent["id"]}))
    assert (await browser.get(talk))["settings"] == {}
    for settings in HARMLESS:
        await browser.patch(talk, {"settings": settings})


async def test_with_accounts_nothing_is_widened_by_anybody(guarded: Served) -> None:
    for browser in (await guarded.account("ada"), await guarded.account("root", admin=True)):
        talk = await browser.talk()
        for settings in WIDE:
            body = {"model": MODEL, "settings": settings}
            refused(await browser.ask("POST", "/api/conversations", body))
            refused(await browser.ask("PATCH", talk, {"settings": settings}))
        refused(await browser.ask("POST", "/api/agents", {"name": "B", "tools": ["run_command"]}))
        for settings in [*HARMLESS, {"tools.enabled": ["*"]}, {"tools.enabled": ["write_file"]}]:
            await browser.patch(talk, {"settings": settings})


async def test_the_start_token_is_no_way_around_accounts(guarded: Served) -> None:
    stranger = await guarded.browser()
    stranger.headers = {"authorization": "Bearer the-start-token-of-the-tests"}
    assert (await stranger.ask("GET", "/api/conversations")).status == 401
    ada = await guarded.account("ada")
    ada.headers = dict(stranger.headers)
    refused(await ada.ask("POST", "/api/conversations", {"model": MODEL, "settings": WIDE[0]}))


async def test_what_is_configured_on_disk_may_be_said_by_anybody(
    guarded: Served, proxied: Browser, config: Path
) -> None:
    (config / "config.toml").write_text('[tools]\napprove = "allow"\nallow = ["write_file"]\n')
    for browser in (await guarded.account("ada"), proxied):
        talk = await browser.talk()
        for settings in ({"tools.approve": "allow"}, {"tools.allow": ["write_file"]}):
            await browser.patch(talk, {"settings": settings})
        refused(await browser.ask("PATCH", talk, {"settings": {"tools.allow": ["write_file", "*"]}}))
    (config / "config.toml").write_text('[tools]\napprove = "deny"\n')
    refused(await proxied.ask("POST", "/api/conversations", {"settings": {"tools.approve": "ask"}}))


async def test_the_owner_may_have_everything(browser: Browser, workspace: Path) -> None:
    settings = {"tools.enabled": ["run_command"], "tools.approve": "allow", "tools.allow": ["write_file"]}
    talk = await browser.talk(settings=settings)
    message, asked = await say(browser, talk, COMMAND)
    assert (workspace / "ran.txt").read_text() == "it-ran\n"
    assert asked == 0
    assert "ignored" not in notes(message)


@pytest.mark.parametrize("by", ["settings", "agent"])
async def test_what_the_owner_switched_on_is_the_owners_alone(
    browser: Browser, proxied: Browser, workspace: Path, by: str
) -> None:
    settings: dict[str, Any] = {"tools.approve": "allow", "tools.allow": ["*"]}
    if by == "settings":
        talk = await browser.talk(settings=settings | {"tools.enabled": ["run_command", "read_file"]})
    else:
        body = {"name": "A", "model": MODEL, "tools": ["run_command", "read_file"]}
        agent = await browser.post("/api/agents", body)
        talk = await browser.talk(agent_id=agent["id"], settings=settings)
    message, asked = await say(proxied, talk, COMMAND, "yes")
    assert not (workspace / "ran.txt").exists()
    assert asked == 0
    told = notes(message)
    for words in (
        "tools.approve is ignored",
        "tools.allow is ignored",
        "the tool run_command is not offered",
    ):
        assert words in told
    assert "thinkwire serve" in told, "what to do"
    # The setting stays, and so does what others may still change.
    await proxied.patch(talk, {"settings": {"thinking": {"enabled": True}}})
    assert (await browser.get(talk))["settings"]["tools.approve"] == "allow"
    await say(browser, talk, COMMAND)
    assert (workspace / "ran.txt").exists()


async def test_rows_of_an_older_version_do_not_count_with_accounts(guarded: Served, workspace: Path) -> None:
    ada = await guarded.account("ada")
    me = (await ada.get("/api/me"))["user"]["id"]
    row = await guarded.store.create_conversation(
        model=MODEL,
        owner=me,
        settings={"tools.enabled": ["write_file", "run_command"], "tools.approve": "allow"},
    )
    message, asked = await say(ada, f"/api/conversations/{row.id}", WRITING)
    assert asked == 1
    assert not list(workspace.rglob("note.txt"))
    assert "tools.approve is ignored" in notes(message)
    assert "ask whoever runs it" in notes(message)


async def begun(browser: Browser, talk: str, stack: AsyncExitStack) -> tuple[Any, str]:
    """A stream that waits for a decision, and the call that it is about."""
    body = {"message": {"text": COMMAND}}
    stream = frames(await stack.enter_async_context(browser.request("POST", f"{talk}/chat", body)))
    async for _, frame in stream:
        if frame["type"] == "data-approval":
            return stream, str(frame["data"]["tool_call_id"])
    raise AssertionError("nothing was asked")


async def approve_the_owners_call(owner: Browser, other: Browser, workspace: Path) -> None:
    talk = await owner.talk(settings={"tools.enabled": ["run_command"]})
    async with AsyncExitStack() as stack:
        stream, call_id = await begun(owner, talk, stack)
        for decision in ("yes", "always"):
            body = {"tool_call_id": call_id, "decision": decision}
            refused(await other.ask("POST", f"{talk}/approve", body))
        assert not (workspace / "ran.txt").exists()
        await owner.post(f"{talk}/approve", {"tool_call_id": call_id, "decision": "yes"})
        async for _ in stream:
            pass
    assert (workspace / "ran.txt").exists()
    async with AsyncExitStack() as stack:
        stream, call_id = await begun(owner, talk, stack)
        await other.post(f"{talk}/approve", {"tool_call_id": call_id, "decision": "no"})
        async for _ in stream:
            pass


async def test_only_the_owner_allows_calls_that_the_owner_began(
    browser: Browser, proxied: Browser, workspace: Path
) -> None:
    await approve_the_owners_call(browser, proxied, workspace)


@pytest.fixture
async def pair(
    simulator: Running, own_url: str, workspace: Path, redis_url: str
) -> AsyncIterator[list[Served]]:
    """Two servers without accounts, on one store and one Redis."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                web_app(own_url, all_bases(simulator.url), workspace, redis_url=redis_url)
            )
            for _ in range(2)
        ]


async def test_so_it_is_between_processes(pair: list[Served], workspace: Path) -> None:
    owner, other = await pair[0].browser(), await pair[1].browser()
    other.headers = dict(PROXIED)
    await approve_the_owners_call(owner, other, workspace)


async def test_a_session_of_the_owner_is_never_lent(app: Served, browser: Browser) -> None:
    talk = await browser.talk(settings={"tools.enabled": ["run_command"], "tools.approve": "allow"})
    row = await app.store.conversation(talk.rpartition("/")[2])
    other = (await compose(app.web, row, is_owner=False)).talk
    owners = (await compose(app.web, row, is_owner=True)).talk
    # Composing for the one in the middle of the other's request changes nothing about the other's session.
    assert owners is not other
    assert owners.settings.get("tools.approve") == "allow"
    assert other.settings.get("tools.approve") == "ask"
    assert other.offered.specs == ()


async def test_slash_commands_are_words_like_any_others(proxied: Browser, workspace: Path) -> None:
    talk = await proxied.talk()
    for words in ("/set tools.approve=allow", "/set tools.enabled run_command", "/profile load wide"):
        await proxied.say(talk, words)
    assert (await proxied.get(talk))["settings"] == {}
    _, asked = await say(proxied, talk, COMMAND)
    assert asked == 0
    assert not (workspace / "ran.txt").exists()
    spoken = [
        part["text"] for each in await proxied.messages(talk) for part in each["parts"] if "text" in part
    ]
    assert "/set tools.approve=allow" in spoken


async def test_tools_of_others_and_private_servers_that_are_not_even_started(
    app: Served, proxied: Browser
) -> None:
    async def tools(browser: Browser) -> set[str]:
        return {tool["name"] for tool in await browser.get("/api/tools")}

    async with asyncio.timeout(30):
        while "mcp__open__add" not in (names := await tools(proxied)):
            pass
    assert "read_file" in names
    owners = {"run_command", "write_file", "edit_file", "mcp__private__add"}
    assert not owners & names
    states = {entry["name"]: entry["state"] for entry in await proxied.get("/api/tools/servers")}
    assert states == {"open": "connected", "private": "closed"}
    browser = await app.browser()
    async with asyncio.timeout(30):
        while not owners <= await tools(browser):
            pass
