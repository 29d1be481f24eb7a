"""A server of one tool, by the Model Context Protocol on standard input and output."""

from __future__ import annotations

import json
import sys
from typing import Any

TOOL = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """What the client is told; nothing for what is not asked here."""
    match method:
        case "initialize":
            server = {"name": "house", "version": "1"}
            version = params["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            said = f"{params['arguments']['city']}: tool-ran-7319"
            return {"content": [{"type": "text", "text": said}]}
    return {}


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            result = answer(asked["method"], asked.get("params", {}))
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
