"""MCP servers: real ones over stdio and HTTP, broken ones beside them, and nothing left of any."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.session.tools.running import FREE, text_of
from thinkwire.errors import ConfigError
from thinkwire.messages import Image, Text, ToolCall
from thinkwire.session.tools import Outcome, Toolbox
from thinkwire.session.tools.mcp import McpServers, exposed_name
from thinkwire.session.tools.mcp_config import expanded, read_servers
from thinkwire.session.tools.tool import TOOL_NAME

SCRIPT = Path(__file__).with_name("mcp_server.py")
LIGHT = [sys.executable, "-I", "-S", "-c"]
REAL = {"command": sys.executable, "args": [str(SCRIPT)], "env": {"SERVICE_KEY": "planted-for-the-server"}}


async def call(box: Toolbox, name: str, **arguments: Any) -> Outcome:
    return await box.run(ToolCall("c", name, json.dumps(arguments)), FREE)


def light(code: str, **more: Any) -> dict[str, Any]:
    return {"command": LIGHT[0], "args": [*LIGHT[1:], code], **more}


async def until(condition: Any) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


def children() -> set[str]:
    """Command lines of this process's living children."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == os.getpid():
                found.add((entry / "cmdline").read_text().replace("\0", " ").strip())
        except (OSError, IndexError, NotADirectoryError):
            continue
    return found - {""}


@pytest.mark.anyio
async def test_a_real_server_over_stdio_with_broken_ones_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-in-the-environment")
    before, tasks = children(), asyncio.all_tasks()
    crash = "import sys, os; sys.stderr.write('no config; key ' + os.environ['K']); sys.exit(3)"
    servers = read_servers(
        {
            "mcpServers": {
                "real": REAL,
                "missing": {"command": "no-such-program-anywhere"},
                "crashing": light(crash, env={"K": "planted-key"}),
                "unset": {"command": "x", "env": {"A": "${NOT_SET_ANYWHERE}"}},
                "off": {"command": "x", "disabled": True},
            }
        }
    )
    async with McpServers(servers, connect_timeout=10) as opened:
        status = {one.name: one for one in opened.status}
        assert status["real"].state == "connected", status["real"].error
        assert status["off"].state == "disabled"
        for name in ("missing", "crashing", "unset"):
            assert status[name].state == "failed"
            assert status[name].error
        assert "cannot be started" in (status["missing"].error or "")
        assert "no config; key [K]" in (status["crashing"].error or "")
        assert "NOT_SET_ANYWHERE" in (status["unset"].error or "")
        box = Toolbox(opened.tools)
        await check_tools(box)
        environment = text_of(await call(box, "mcp__real__environment"))
        assert "planted-in-the-environment" not in environment
        assert "SERVICE_KEY=planted-for-the-server" in environment
        await check_cancellation(box, tmp_path)
        dead = await call(box, "mcp__real__die")
        assert dead.result.failed
        again = await call(box, "mcp__real__add", a=1, b=2)
        assert "is gone" in text_of(again)
    assert {one.state for one in opened.status} == {"failed", "disabled"}
    assert children() == before
    assert asyncio.all_tasks() == tasks


async def check_tools(box: Toolbox) -> None:
    definitions = {tool.name: tool for tool in box.definitions()}
    assert all(TOOL_NAME.fullmatch(name) for name in definitions)
    add = definitions["mcp__real__add"]
    assert add.description == "Add two numbers."
    assert (add.schema or {})["required"] == ["a", "b"]
    assert text_of(await call(box, "mcp__real__add", a=1, b=2)) == "3"
    (odd,) = [name for name in definitions if "odd" in name]
    assert text_of(await call(box, odd)) == "odd indeed"
    wrong = await call(box, "mcp__real__add", a="x")
    assert wrong.result.failed
    broken = await call(box, "mcp__real__broken")
    assert (broken.result.failed, "out of paper" in text_of(broken)) == (True, True)
    everything = await call(box, "mcp__real__everything")
    kinds = [block.text if isinstance(block, Text) else type(block) for block in everything.result.content]
    assert kinds == [
        "words",
        Image,
        "[picture of type image/svg+xml, 6 bytes: cannot be shown]",
        "[sound of type audio/wav, 3 bytes: cannot be shown]",
        "report: file:///report.txt",
        "[note://1]\na note",
        Image,
    ]
    assert [note.code for note in everything.notes] == ["block.degraded", "block.degraded"]


async def check_cancellation(box: Toolbox, folder: Path) -> None:
    task = asyncio.create_task(call(box, "mcp__real__wait", folder=str(folder)))
    await until((folder / "begun").exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until((folder / "cancelled").exists)
    assert text_of(await call(box, "mcp__real__add", a=2, b=2)) == "4"


@asynccontextmanager
async def http_server(seen: list[dict[str, str]]) -> AsyncIterator[str]:
    import uvicorn

    from tests.session.tools.mcp_server import make_server

    inner = make_server().streamable_http_app()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            seen.append({name.decode(): value.decode() for name, value in scope["headers"]})
        await inner(scope, receive, send)

    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await until(lambda: server.started)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        await task
        listener.close()


@pytest.mark.anyio
async def test_a_real_server_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMOTE_TOKEN", "planted-token")
    seen: list[dict[str, str]] = []
    with socket.socket() as closed_port:
        closed_port.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{closed_port.getsockname()[1]}/mcp"
        async with http_server(seen) as url:
            tasks = asyncio.all_tasks()
            headers = {"authorization": "Bearer ${REMOTE_TOKEN}"}
            servers = read_servers(
                {
                    "real": {"url": url, "headers": headers},
                    "nobody": {"url": nobody},
                    "elsewhere": {"url": url + "/nothing/here"},
                }
            )
            async with McpServers(servers, connect_timeout=10) as opened:
                states = {one.name: one.state for one in opened.status}
                assert states == {"real": "connected", "nobody": "failed", "elsewhere": "failed"}
                box = Toolbox(opened.tools)
                await check_tools(box)
                await check_cancellation(box, tmp_path)
            assert asyncio.all_tasks() == tasks
    assert seen[0]["authorization"] == "Bearer planted-token"
    assert "planted" not in repr(opened.status)
    assert "planted" not in repr(servers)


@pytest.mark.anyio
async def test_servers_that_never_answer_are_given_up() -> None:
    before, tasks = children(), asyncio.all_tasks()
    babble = "import sys\nfor _ in range(20): print('this is no JSON', flush=True)\nsys.stdin.read()"
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
    servers = {
        "silent": light("import sys; sys.stdin.read()"),
        "babbling": light(babble),
        "closing": light("import os, sys; os.close(1); sys.stdin.read()"),
        "deaf": light(deaf),
    }
    async with McpServers(read_servers(servers), connect_timeout=0.5) as opened:
        assert {one.state for one in opened.status} == {"failed"}
        assert "no answer within 0.5 seconds" in (opened.status[0].error or "")
        assert opened.tools == ()
    assert children() == before
    assert asyncio.all_tasks() == tasks


@pytest.mark.anyio
async def test_giving_up_while_connecting_leaves_nothing() -> None:
    before, tasks = children(), asyncio.all_tasks()
    servers = McpServers(read_servers({"silent": light("import sys; sys.stdin.read()")}))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5), servers:
            pytest.fail("it never answers")
    assert children() == before
    assert asyncio.all_tasks() == tasks


@pytest.mark.anyio
async def test_without_the_package_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(ConfigError, match=r"thinkwire\[mcp\]"):
        async with McpServers(read_servers({"a": {"command": "x"}})):
            pass
    async with McpServers({}) as none:
        assert (none.tools, none.status) == ((), ())


def test_the_package_is_not_imported_before_a_server_is_opened() -> None:
    code = "import sys, thinkwire.session.tools.mcp; print('mcp' in sys.modules, 'pydantic' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


WRONG = [
    ({"mcpServers": []}, "table of servers"),
    ({"a": {}}, "either `command` or `url`"),
    ({"a": {"command": "x", "url": "http://x"}}, "either `command` or `url`"),
    ({"a": {"command": 1}}, "mcpServers.a"),
    ({"a": {"url": "ftp://x"}}, "http"),
    ({"_ _": {"command": "x"}}, "no name"),
    ({"a b": {"command": "x"}, "a_b": {"command": "x"}}, "too much alike"),
    ({"a": "x"}, "mcpServers.a"),
]


@pytest.mark.parametrize(("table", "complaint"), WRONG)
def test_a_wrong_table_is_a_config_error(table: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        read_servers(table)


def test_variables_are_filled_in() -> None:
    server = read_servers({"a": {"command": "${BIN:-x}", "args": ["--k=${K}"], "env": {"A": "${K}"}}})["a"]
    filled = expanded(server, {"K": "v"})
    assert (filled.command, filled.args, filled.env) == ("x", ("--k=v",), {"A": "v"})


@given(server=st.text(min_size=1), tool=st.text(min_size=1))
def test_every_exposed_name_is_one_that_providers_take(server: str, tool: str) -> None:
    name = exposed_name(server, tool)
    other = exposed_name(server, tool, {name})
    assert TOOL_NAME.fullmatch(name)
    assert TOOL_NAME.fullmatch(other)
    assert name.startswith("mcp__")


def test_a_server_cannot_pass_for_another() -> None:
    assert not exposed_name("a__b", "c").startswith("mcp__a__")
    assert not exposed_name("a_", "c").startswith("mcp__a___")
