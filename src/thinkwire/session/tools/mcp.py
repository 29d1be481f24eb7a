"""MCP servers as tools. Each has a task of its own that opens and closes it; a broken one breaks no other.

The `mcp` package takes over a second to import, so it is imported when a server is opened and not before.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import re
from collections.abc import Container, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from thinkwire.errors import ConfigError
from thinkwire.jsonvalue import JsonObject
from thinkwire.session.tools.environment import SHORTEST_SECRET, masked
from thinkwire.session.tools.mcp_config import McpServer, expanded, plain_name
from thinkwire.session.tools.mcp_result import output_of_result
from thinkwire.session.tools.process import BoundedOutput, captured
from thinkwire.session.tools.tool import Output, Spec, ToolFailed

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from mcp import Client

CONNECT_SECONDS = 30.0
CONNECTION_CLOSED = -32000
MOST_PAGES = 50
COMPLAINTS = 4096
"""Bytes of a server's error output that are kept."""


class ServerStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a server is, for people to see."""

    name: str
    state: Literal["connecting", "connected", "failed", "disabled", "closed"]
    tools: tuple[str, ...] = ()
    error: str | None = None


class McpServers:
    """Opens servers side by side, offers their tools and closes them, as `async with McpServers(…)`."""

    def __init__(self, servers: Mapping[str, McpServer], *, connect_timeout: float = CONNECT_SECONDS) -> None:
        self._servers = [_Server(name, server, connect_timeout) for name, server in servers.items()]
        self._tasks: dict[_Server, asyncio.Task[None]] = {}

    async def __aenter__(self) -> McpServers:
        wanted = [server for server in self._servers if not server.config.disabled]
        if not wanted:
            return self
        await _load_package()
        self._tasks = {
            server: asyncio.create_task(server.live(), name=f"mcp {server.name}") for server in wanted
        }
        try:
            await asyncio.gather(*(server.settled.wait() for server in wanted))
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End every server; returns when they are gone."""
        for server in self._servers:
            server.stop.set()
        for server, task in self._tasks.items():
            if not server.settled.is_set():
                task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    @property
    def status(self) -> tuple[ServerStatus, ...]:
        return tuple(server.status for server in self._servers)

    @property
    def tools(self) -> tuple[Spec, ...]:
        """The tools of all servers that could be reached, under names of their own."""
        named: dict[str, Spec] = {}
        for server in self._servers:
            for spec in server.tools:
                name = exposed_name(server.name, spec.name, named)
                named[name] = msgspec.structs.replace(spec, name=name)
        return tuple(named.values())


def exposed_name(server: str, tool: str, taken: Container[str] = ()) -> str:
    """`mcp__server__tool` in at most 64 characters that every provider takes."""
    name = f"mcp__{plain_name(server)}__{re.sub(r'[^A-Za-z0-9_-]', '_', tool)}"
    if len(name) <= 64 and name not in taken:
        return name
    digest = hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "replace")).hexdigest()[:8]
    return f"{name[:55]}_{digest}"


async def _load_package() -> None:
    try:
        # In a thread: over a second of importing would hold up everything else.
        await asyncio.to_thread(__import__, "mcp")
    except ImportError:
        raise ConfigError("MCP servers need the `mcp` package: pip install 'thinkwire[mcp]'") from None
    # Without a handler of its own, its tracebacks about odd servers would go to the user's terminal.
    logger = logging.getLogger("mcp")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


class _Server:
    """One server and the task that owns its connection."""

    def __init__(self, name: str, config: McpServer, connect_timeout: float) -> None:
        self.name, self.config, self.connect_timeout = name, config, connect_timeout
        state: Any = "disabled" if config.disabled else "connecting"
        self.status = ServerStatus(name, state)
        self.tools: list[Spec] = []
        self.complaints: BoundedOutput | None = None
        self.settled, self.stop = asyncio.Event(), asyncio.Event()

    async def live(self) -> None:
        """Open, serve until told to stop, close: all in the task that runs this."""
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self.connect_timeout):
                    client = await self._open(stack, expanded(self.config))
                    tools = await _all_tools(client)
                self.tools = [self._spec(client, tool) for tool in tools]
                self.status = ServerStatus(self.name, "connected", tuple(tool.name for tool in tools))
                self.settled.set()
                await self.stop.wait()
        except (Exception, BaseExceptionGroup) as error:
            self._fail(self._why(_first(error)))
        finally:
            if self.status.state in ("connecting", "connected"):
                self.status = ServerStatus(self.name, "closed", self.status.tools)
            self.settled.set()

    async def _open(self, stack: AsyncExitStack, config: McpServer) -> Client:
        from mcp import Client, StdioServerParameters, stdio_client
        from mcp.client.streamable_http import streamable_http_client

        if config.url is not None:
            http = await stack.enter_async_context(_http_client(config.headers))
            return await stack.enter_async_context(
                Client(streamable_http_client(config.url, http_client=http), cache=None)
            )
        writer, self.complaints = stack.enter_context(captured(COMPLAINTS))
        errors = stack.enter_context(os.fdopen(writer, "w"))
        parameters = StdioServerParameters(
            command=config.command or "", args=list(config.args), env=config.env, cwd=config.cwd
        )
        return await stack.enter_async_context(Client(stdio_client(parameters, errlog=errors), cache=None))

    def _spec(self, client: Client, tool: Any) -> Spec:
        async def call(arguments: JsonObject) -> Output:
            from mcp import MCPError

            if self.status.state != "connected":
                raise ToolFailed(f"The MCP server {self.name} is gone: {self.status.error or 'closed'}.")
            try:
                return output_of_result(await client.call_tool(tool.name, arguments))
            except MCPError as error:
                if error.code == CONNECTION_CLOSED:
                    self._fail("it ended")
                raise ToolFailed(self._hidden(f"The MCP server {self.name} says: {error.message}")) from None

        schema = {"type": "object", **dict(tool.input_schema)}
        return Spec(name=tool.name, description=tool.description, schema=schema, call=call)

    def _fail(self, why: str) -> None:
        self.status = ServerStatus(self.name, "failed", error=why)

    def _why(self, error: BaseException) -> str:
        match error:
            case TimeoutError():
                why = f"no answer within {self.connect_timeout:g} seconds"
            case FileNotFoundError() | PermissionError() if self.config.command:
                why = f"{self.config.command} cannot be started: {error.strerror}"
            case ConfigError():
                why = str(error)
            case _:
                why = f"{type(error).__name__}: {error}"
        said = self.complaints.text().decode("utf-8", "replace").strip() if self.complaints else ""
        return self._hidden(f"{why} ({said[-300:]})" if said else why)

    def _hidden(self, text: str) -> str:
        """The text without what the configuration gives to the server."""
        try:
            config = expanded(self.config)
        except ConfigError:
            config = self.config
        for name, value in (*config.env.items(), *config.headers.items()):
            if len(value) >= SHORTEST_SECRET:
                text = text.replace(value, f"[{name}]")
        return masked(text)


def _http_client(headers: Mapping[str, str]) -> AsyncClient:
    from httpx2 import AsyncClient, Timeout

    # Long reads: a server may keep a stream open; calls have the toolbox's time limit.
    return AsyncClient(headers=dict(headers), timeout=Timeout(30, read=300))


async def _all_tools(client: Client) -> list[Any]:
    tools: list[Any] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if not cursor:
            break
    return tools


def _first(error: BaseException) -> BaseException:
    """The error inside the groups that task groups make."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
