"""Libraries: a small script each, which asks and runs `get_weather` until the model has answered."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.programs import (
    CHAT,
    GEMINI,
    KEY,
    MESSAGES,
    NODE,
    RESPONSES,
    SCRIPTS,
    WIRES,
    Build,
    Command,
    Program,
    Run,
)

TOOL = "get_weather"


def script(name: str, *more: str) -> Build:
    """Runs a script with what the library's own environment has: `SCRIPT URL WIRE MODEL PROMPT …`."""

    def build(run: Run) -> Command:
        runner = run.bin("python") if name.endswith(".py") else NODE
        argv: list[str | Path] = [runner, SCRIPTS / name, run.url, run.wire, run.model, run.prompt, *more]
        return Command(argv, {"GW_KEY": KEY, "LIBRARY": str(run.installed), "AI_SDK_LOG_WARNINGS": "false"})

    return build


AI_SDK = (
    "ai@7.0.169",
    "@ai-sdk/anthropic@4.0.102",
    "@ai-sdk/openai@4.0.114",
    "@ai-sdk/openai-compatible@3.0.90",
    "@ai-sdk/google@4.0.117",
    "zod@4.6.7",
)
PYDANTIC_AI = ("pydantic-ai-slim[openai,anthropic,google]==2.62.0",)
LANGCHAIN = ("langchain-openai==1.7.3", "langchain-anthropic==1.7.7", "langchain-google-genai==4.4.2")


def sdk(name: str, version: str, *wires: str) -> Program:
    """An official SDK for Python, in a line that people have."""
    build = script(f"{name.replace('-', '_')}_sdk.py")
    return Program(name, version, build, wires, wires, pip=(f"{name}=={version}",), tool=TOOL)


LIBRARIES = [
    Program("ai", "7.0.169", script("ai_sdk.mjs"), WIRES, WIRES, npm=AI_SDK, tool=TOOL),
    Program(
        "pydantic-ai", "2.62.0", script("pydantic_ai_agent.py"), WIRES, WIRES, pip=PYDANTIC_AI, tool=TOOL
    ),
    Program(
        "langchain",
        "1.7",
        script("langchain_loop.py"),
        WIRES,
        (MESSAGES, RESPONSES, GEMINI),
        pip=LANGCHAIN,
        tool=TOOL,
    ),
    sdk("anthropic", "2.8.0", MESSAGES),
    sdk("anthropic", "0.125.0", MESSAGES),
    sdk("openai", "3.49.0", CHAT, RESPONSES),
    sdk("openai", "2.20.0", CHAT, RESPONSES),
    sdk("google-genai", "3.1.0", GEMINI),
    sdk("google-genai", "1.75.0", GEMINI),
]
