"""The usual `mcpServers` table, read and checked."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from thinkwire.errors import ConfigError

_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


class McpServer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A server: a `command` to start, or a `url` to speak to. Fields of other programs are ignored."""

    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    disabled: bool = False

    def __repr__(self) -> str:
        """Without `env`, `headers` and the rest of the address, which may hold keys."""
        return f"McpServer(command={self.command!r})" if self.command else "McpServer(url=…)"


def read_servers(table: Mapping[str, Any]) -> dict[str, McpServer]:
    """The servers of a table, with or without `mcpServers` around it; ConfigError names what is wrong."""
    servers = table.get("mcpServers", table)
    if not isinstance(servers, Mapping):
        raise ConfigError("mcpServers must be a table of servers by name")
    read = {str(name): _server(str(name), value) for name, value in servers.items()}
    plain: dict[str, str] = {}
    for name in read:
        other = plain.setdefault(plain_name(name), name)
        if other != name:
            raise ConfigError(f"mcpServers: {other!r} and {name!r} are too much alike; rename one")
    return read


def _server(name: str, value: Any) -> McpServer:
    if not plain_name(name):
        raise ConfigError(f"mcpServers: {name!r} is no name; use letters and digits")
    try:
        server = msgspec.convert(value, McpServer)
    except msgspec.ValidationError as error:
        raise ConfigError(f"mcpServers.{name}: {error}") from None
    if (server.command is None) == (server.url is None):
        raise ConfigError(f"mcpServers.{name} needs either `command` or `url`")
    if server.url is not None and not re.match(r"https?://|\$\{", server.url):
        raise ConfigError(f"mcpServers.{name}: `url` must begin with http:// or https://")
    return server


def plain_name(name: str) -> str:
    """The name without what a tool's name cannot carry, and without `__`, which parts server from tool."""
    return re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9-]", "_", name)).strip("_")


def expanded(server: McpServer, environment: Mapping[str, str] | None = None) -> McpServer:
    """The server with `${NAME}` and `${NAME:-default}` filled in, so that keys need not be written down."""
    known = os.environ if environment is None else environment

    def fill(found: re.Match[str]) -> str:
        value = known.get(found[1], found[2])
        if value is None:
            raise ConfigError(f"the environment variable {found[1]} is not set")
        return value

    def walk(value: Any) -> Any:
        match value:
            case str():
                return _VARIABLE.sub(fill, value)
            case tuple():
                return tuple(map(walk, value))
            case dict():
                return {key: walk(item) for key, item in value.items()}
        return value

    return McpServer(**{name: walk(getattr(server, name)) for name in server.__struct_fields__})
