"""MCP servers whose tools agents can have: opened when they are first needed, and again when they have died.

They are those of `mcp.json` in the configuration folder. They can do what the server itself can; so with
accounts, and to anyone but the local owner, only those are offered that say `"shared": true` there.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from thinkwire.config.paths import config_folder
from thinkwire.errors import ThinkwireError
from thinkwire.jsonvalue import parse_object
from thinkwire.session.tools import McpServer, McpServers, ServerStatus, Spec, read_servers
from thinkwire.session.tools.mcp_config import plain_name

MCP = "mcp__"
PATIENCE = 30.0
"""Seconds to wait for servers that are being opened."""
AGAIN = 30.0
"""Seconds after which a server that could not be opened, or has died, is opened again."""

_log = logging.getLogger("thinkwire.web")


class _One:
    """One server, in whatever state it is."""

    def __init__(self, name: str, config: McpServer, *, is_shared: bool) -> None:
        self.name = name
        self.is_shared = is_shared
        """Whether not only the local owner may have its tools."""
        self._config = config
        self._opened: McpServers | None = None
        self._opening: asyncio.Task[None] | None = None
        self._tried = 0.0
        self._trouble: str | None = None

    @property
    def status(self) -> ServerStatus:
        if self._trouble is not None:
            return ServerStatus(self.name, "failed", error=self._trouble)
        if self._opened is None:
            return ServerStatus(self.name, "disabled" if self._config.disabled else "closed")
        return self._opened.status[0]

    @property
    def tools(self) -> tuple[Spec, ...]:
        return self._opened.tools if self._opened is not None and self._trouble is None else ()

    def wake(self) -> asyncio.Task[None] | None:
        """Opens it where it is not open; what is to be waited for."""
        if self._config.disabled:
            return None
        idle = self._opening is None or self._opening.done()
        due = self._opening is None or time.monotonic() - self._tried >= AGAIN
        if idle and due and self.status.state != "connected":
            self._tried = time.monotonic()
            self._opening = asyncio.create_task(self._open())
        return self._opening

    async def aclose(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        if self._opened is not None:
            await self._opened.close()

    async def _open(self) -> None:
        old, self._opened = self._opened, McpServers({self.name: self._config})
        if old is not None:
            await old.close()
        try:
            await self._opened.__aenter__()
            self._trouble = None
        except ThinkwireError as error:
            self._trouble = str(error)
        if self.status.error:
            _log.warning("MCP server %s: %s", self.name, self.status.error)


class ToolServers:
    """All of them. `trouble` is why there are none, where their file cannot be read."""

    def __init__(
        self,
        servers: Mapping[str, McpServer],
        trouble: str | None = None,
        *,
        shared: Collection[str] = (),
    ) -> None:
        """`shared` are the names of those whose tools not only the local owner may have."""
        self._servers = [_One(name, config, is_shared=name in shared) for name, config in servers.items()]
        self._trouble = trouble

    async def tools(self, patience: float = PATIENCE, *, only_shared: bool = False) -> tuple[Spec, ...]:
        """The tools of those that can be reached, waiting a while for those that are being opened."""
        wanted = [one for one in self._servers if one.is_shared or not only_shared]
        opening = [task for one in wanted if (task := one.wake()) is not None and not task.done()]
        if opening:
            await asyncio.wait(opening, timeout=patience)
        return tuple(spec for one in wanted for spec in one.tools)

    def is_private(self, pattern: str) -> bool:
        """Return whether a name or pattern can mean a tool of a server that is not shared."""
        head, star, _ = pattern.partition("*")
        private = [prefix_of(one.name) for one in self._servers if not one.is_shared]
        return any(head.startswith(prefix) or (star and prefix.startswith(head)) for prefix in private)

    @property
    def status(self) -> tuple[ServerStatus, ...]:
        told = tuple(one.status for one in self._servers)
        if self._trouble is not None:
            return (ServerStatus("mcp.json", "failed", error=self._trouble), *told)
        return told

    def server_of(self, tool: str) -> str | None:
        """Whose tool this is, by its name."""
        return next((one.name for one in self._servers if tool.startswith(prefix_of(one.name))), None)

    async def aclose(self) -> None:
        await asyncio.gather(*(one.aclose() for one in self._servers))


def configured_servers(*, auth: bool, file: Path | None = None) -> ToolServers:
    """The servers of `mcp.json`; none where there is no such file."""
    file = file or config_folder() / "mcp.json"
    try:
        table = parse_object(file.read_bytes())
        servers = read_servers(table)
    except FileNotFoundError:
        return ToolServers({})
    except (OSError, ThinkwireError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        _log.warning("no MCP servers: %s: %s", file, why)
        return ToolServers({}, why)
    entries: Any = table.get("mcpServers", table)
    shared = {name for name in servers if entries[name].get("shared") is True}
    if auth:
        servers = {name: server for name, server in servers.items() if name in shared}
    return ToolServers(servers, shared=shared)


def names_servers(patterns: Iterable[str]) -> bool:
    """Whether some of these mean tools of MCP servers."""
    return any(pattern.startswith((MCP, "*")) for pattern in patterns)


def prefix_of(server: str) -> str:
    return f"{MCP}{plain_name(server)}__"
