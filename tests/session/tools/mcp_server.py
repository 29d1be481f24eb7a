"""A real MCP server with the official package: run as a script it speaks over stdio."""

from __future__ import annotations

import asyncio
import base64
import os
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(8)).decode()


def make_server() -> MCPServer:
    server = MCPServer("testing")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool(name="odd.name with spaces and far more letters than any provider would ever take")
    def odd() -> str:
        return "odd indeed"

    @server.tool()
    def broken() -> str:
        raise ToolError("out of paper")

    @server.tool()
    def environment() -> str:
        return "\n".join(f"{name}={value}" for name, value in os.environ.items())

    @server.tool(structured_output=False)
    def everything() -> list[Any]:
        return [
            TextContent(type="text", text="words"),
            ImageContent(type="image", data=PNG, mime_type="image/png"),
            ImageContent(type="image", data="PHN2Zy8+", mime_type="image/svg+xml"),
            AudioContent(type="audio", data="AAAA", mime_type="audio/wav"),
            ResourceLink(type="resource_link", name="report", uri="file:///report.txt"),
            EmbeddedResource(
                type="resource",
                resource=TextResourceContents(uri="note://1", text="a note", mime_type="text/plain"),
            ),
            EmbeddedResource(
                type="resource", resource=BlobResourceContents(uri="x://2", blob=PNG, mime_type="image/png")
            ),
        ]

    @server.tool()
    async def wait(folder: str) -> str:
        """Wait for ever, and leave a file when it begins and when it is cancelled."""
        Path(folder, "begun").touch()
        try:
            await asyncio.sleep(300)
        finally:
            Path(folder, "cancelled").touch()
        return "never"

    @server.tool()
    def die() -> str:
        os._exit(7)

    return server


if __name__ == "__main__":
    make_server().run()
