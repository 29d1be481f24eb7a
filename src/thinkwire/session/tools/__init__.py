"""Tools: Python functions, files and commands of a workspace, MCP servers; run on the user's terms.

What only some conversations have is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thinkwire.session.tools.approval import Approval, Ask, Policy, decide
from thinkwire.session.tools.tool import Effect, Output, Spec, ToolFailed, tool
from thinkwire.session.tools.toolbox import Outcome, Toolbox, ToolContext

if TYPE_CHECKING:
    from thinkwire.session.tools.builtin import builtin_tools
    from thinkwire.session.tools.mcp import McpServers, ServerStatus
    from thinkwire.session.tools.mcp_config import McpServer, read_servers
    from thinkwire.session.tools.workspace import Workspace

__all__ = [
    "Approval",
    "Ask",
    "Effect",
    "McpServer",
    "McpServers",
    "Outcome",
    "Output",
    "Policy",
    "ServerStatus",
    "Spec",
    "ToolContext",
    "ToolFailed",
    "Toolbox",
    "Workspace",
    "builtin_tools",
    "decide",
    "read_servers",
    "tool",
]

_HOME = {
    "McpServer": "mcp_config",
    "McpServers": "mcp",
    "ServerStatus": "mcp",
    "Workspace": "workspace",
    "builtin_tools": "builtin",
    "read_servers": "mcp_config",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'thinkwire.session.tools' has no attribute {name!r}")
    return getattr(import_module(f"thinkwire.session.tools.{_HOME[name]}"), name)
