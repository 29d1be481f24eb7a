"""Tools: Python functions, files and commands of a workspace, MCP servers; run on the user's terms."""

from thinkwire.session.tools.approval import Approval, Ask, Policy, decide
from thinkwire.session.tools.builtin import builtin_tools
from thinkwire.session.tools.mcp import McpServers, ServerStatus
from thinkwire.session.tools.mcp_config import McpServer, read_servers
from thinkwire.session.tools.tool import Effect, Output, Spec, ToolFailed, tool
from thinkwire.session.tools.toolbox import Outcome, Toolbox, ToolContext
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
