"""Command-line agents: they run tools by themselves, here a shell."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.e2e.programs import (
    CHAT,
    GEMINI,
    KEY,
    MESSAGES,
    NODE,
    RESPONSES,
    SCRIPTS,
    WIRES,
    Command,
    Program,
    Run,
)

LIMITS = {"context": 200_000, "output": 32_000}


def claude_code(run: Run) -> Command:
    binary = run.native("@anthropic-ai/claude-code-linux-x64/claude")
    options = ["--allowedTools", "Bash(echo:*)", "--output-format", "stream-json", "--verbose"]
    return Command(
        [binary, "-p", run.prompt, "--model", run.model, *options],
        {
            "ANTHROPIC_BASE_URL": run.url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "0",
            "DISABLE_AUTOUPDATER": "1",
        },
    )


LATER = "mcp__house__get_weather"
"""A tool of a server of the user's own, which Claude Code loads when the model has searched for it."""


def claude_code_in_a_house(run: Run) -> Command:
    """Claude Code with a server of one tool."""
    server = {"command": sys.executable, "args": [str(SCRIPTS / "weather_server.py")]}
    file = run.write("house.json", json.dumps({"mcpServers": {"house": server}}))
    argv, env, _ = claude_code(run)
    more = ["--mcp-config", str(file), "--strict-mcp-config", "--allowedTools", LATER]
    return Command([*argv, *more], env)


def codex(run: Run) -> Command:
    wire = "chat" if run.wire == CHAT else "responses"
    run.write(
        ".codex/config.toml",
        f'model = "{run.model}"\nmodel_provider = "gw"\ncheck_for_update_on_startup = false\n'
        "[analytics]\nenabled = false\n"
        f'[model_providers.gw]\nname = "gw"\nbase_url = "{run.url}/v1"\nenv_key = "GW_KEY"\n'
        f'wire_api = "{wire}"\nrequest_max_retries = 0\nstream_max_retries = 0\n',
    )
    final = run.home / "final"
    pattern = (
        "@openai/codex*/vendor/*/bin/codex"
        if wire == "responses"
        else "@openai/codex/vendor/x86_64-unknown-linux-musl/codex/codex"
    )
    effort = ["-c", "model_reasoning_effort=high", "-c", "model_reasoning_summary=detailed"]
    options = ["--skip-git-repo-check", "--sandbox", "danger-full-access", "--json", "-o", str(final)]
    return Command([run.native(pattern), "exec", *options, *effort, run.prompt], {"GW_KEY": KEY}, final)


def gemini_cli(run: Run) -> Command:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
    }
    run.write(".gemini/settings.json", json.dumps(settings))
    model = [] if run.model == "auto" else ["-m", run.model]
    return Command(
        [NODE, run.bin("gemini").resolve(), "--yolo", *model, "-p", run.prompt],
        {
            "GEMINI_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": run.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
    )


OPENCODE = {
    MESSAGES: ("anthropic", "/v1", "@ai-sdk/anthropic"),
    RESPONSES: ("openai", "/v1", "@ai-sdk/openai"),
    GEMINI: ("google", "/v1beta", "@ai-sdk/google"),
    CHAT: ("gw", "/v1", "@ai-sdk/openai-compatible"),
}


def opencode(run: Run) -> Command:
    name, path, package = OPENCODE[run.wire]
    model = {"name": "m", "reasoning": True, "tool_call": True, "limit": LIMITS}
    provider: dict[str, Any] = {
        "options": {"baseURL": run.url + path, "apiKey": KEY},
        "models": {run.model: model},
    }
    if run.wire == CHAT:
        provider |= {"npm": package, "name": "gw"}
    config = {"autoupdate": False, "share": "disabled", "provider": {name: provider}}
    file = run.write("opencode.json", json.dumps(config))
    switches = ("AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD")
    return Command(
        [
            run.native("opencode-linux-x64/bin/opencode"),
            "run",
            "--thinking",
            "-m",
            f"{name}/{run.model}",
            run.prompt,
        ],
        {"OPENCODE_CONFIG": str(file), **{f"OPENCODE_DISABLE_{switch}": "1" for switch in switches}},
    )


QWEN = {CHAT: "openai", RESPONSES: "openai-responses", MESSAGES: "anthropic", GEMINI: "gemini"}


def qwen_code(run: Run) -> Command:
    options = ["--auth-type", QWEN[run.wire], "-m", run.model, "--yolo", "-o", "stream-json"]
    return Command(
        [NODE, run.bin("qwen").resolve(), *options, "-p", run.prompt],
        {
            "OPENAI_BASE_URL": f"{run.url}/v1",
            "OPENAI_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": run.url,
            "ANTHROPIC_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": run.url,
            "GEMINI_API_KEY": KEY,
        },
    )


PI = {
    CHAT: ("openai-completions", "/v1"),
    RESPONSES: ("openai-responses", "/v1"),
    MESSAGES: ("anthropic-messages", ""),
    GEMINI: ("google-generative-ai", "/v1beta"),
}


def pi(run: Run) -> Command:
    api, path = PI[run.wire]
    model = {
        "id": run.model,
        "name": "m",
        "reasoning": True,
        "input": ["text"],
        "contextWindow": LIMITS["context"],
        "maxTokens": LIMITS["output"],
        "cost": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0),
    }
    provider = {"baseUrl": run.url + path, "apiKey": KEY, "api": api, "models": [model]}
    run.write(".pi/agent/models.json", json.dumps({"providers": {"gw": provider}}))
    options = ["-p", "--mode", "json", "--provider", "gw", "--model", run.model, "--thinking", "high"]
    return Command([NODE, run.bin("pi").resolve(), *options, run.prompt], {"PI_OFFLINE": "1"})


CLINE = {CHAT: "openai-compatible", RESPONSES: "openai-native", MESSAGES: "anthropic", GEMINI: "gemini"}


def cline(run: Run) -> Command:
    provider = CLINE[run.wire]
    path = {CHAT: "/v1", RESPONSES: "/v1", MESSAGES: "/v1", GEMINI: "/v1beta"}[run.wire]
    settings = {"provider": provider, "model": run.model, "apiKey": KEY, "baseUrl": run.url + path}
    entry = {"settings": settings, "updatedAt": "2026-11-15T00:00:00.000Z", "tokenSource": "manual"}
    known = {"version": 1, "lastUsedProvider": provider, "modes": {}, "providers": {provider: entry}}
    run.write(".cline/data/settings/providers.json", json.dumps(known))
    options = ["--json", "-P", provider, "-m", run.model, "--thinking", "high"]
    return Command([run.bin("cline"), *options, run.prompt])


CONTINUE = {CHAT: ("openai", "/v1"), MESSAGES: ("anthropic", "/v1/")}


def continue_cli(run: Run) -> Command:
    provider, path = CONTINUE[run.wire]
    model = {
        "name": "m",
        "provider": provider,
        "model": run.model,
        "apiBase": run.url + path,
        "apiKey": KEY,
        "roles": ["chat"],
        "capabilities": ["tool_use"],
    }
    config = {"name": "gw", "version": "1.0.0", "schema": "v1", "models": [model]}
    file = run.write("config.yaml", json.dumps(config))
    argv: list[str | Path] = [
        NODE,
        run.bin("cn").resolve(),
        "-p",
        "--auto",
        "--config",
        str(file),
        run.prompt,
    ]
    return Command(argv, {"CONTINUE_TELEMETRY_ENABLED": "0"})


AIDER = {CHAT: "openai", MESSAGES: "anthropic", GEMINI: "gemini"}


def aider(run: Run) -> Command:
    # Of a name that it does not know, LiteLLM tells Google's wire nothing about thinking; so the name does.
    model = f"{run.model}/high" if run.wire == GEMINI else run.model
    no = ("git", "check-update", "show-model-warnings", "pretty", "fancy-input", "show-release-notes")
    thinking = ["--thinking-tokens", "4k"] if run.wire == MESSAGES else []
    options = [f"--no-{what}" for what in no] + ["--yes-always", "--analytics-disable", *thinking]
    return Command(
        [run.bin("aider"), *options, "--model", f"{AIDER[run.wire]}/{model}", "--message", run.prompt],
        {
            "OPENAI_API_BASE": f"{run.url}/v1",
            "OPENAI_API_KEY": KEY,
            "ANTHROPIC_API_BASE": run.url,
            "ANTHROPIC_API_KEY": KEY,
            "GEMINI_API_BASE": f"{run.url}/v1beta",
            "GEMINI_API_KEY": KEY,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        },
    )


WEATHER = 'def get_weather(city: str) -> str:\n    "The weather."\n    return "tool-" + "ran-7319"'


def llm(run: Run) -> Command:
    run.write("llm/keys.json", json.dumps({"gw": KEY}))
    model = {
        "model_id": "gw",
        "model_name": run.model,
        "api_base": f"{run.url}/v1",
        "api_key_name": "gw",
        "supports_tools": True,
        "reasoning": True,
        "responses": run.wire == RESPONSES,
    }
    file = run.write("llm/extra-openai-models.yaml", json.dumps([model]))
    options = ["-m", "gw", "-o", "reasoning_effort", "high", "--functions", WEATHER]
    return Command([run.bin("llm"), *options, run.prompt], {"LLM_USER_PATH": str(file.parent)})


AGENTS = [
    Program(
        "claude-code",
        "2.1.325",
        claude_code,
        (MESSAGES,),
        (MESSAGES,),
        npm=("@anthropic-ai/claude-code@2.1.325",),
    ),
    Program("codex", "0.166.0", codex, (RESPONSES,), (RESPONSES,), npm=("@openai/codex@0.166.0",)),
    Program("codex", "0.80.0", codex, (CHAT,), npm=("@openai/codex@0.80.0",)),
    Program("gemini-cli", "0.61.0", gemini_cli, (GEMINI,), npm=("@google/gemini-cli@0.61.0",)),
    Program("opencode", "1.18.33", opencode, WIRES, WIRES, npm=("opencode-ai@1.18.33",)),
    Program(
        "qwen-code",
        "0.24.4",
        qwen_code,
        WIRES,
        WIRES,
        npm=("@qwen-code/qwen-code@0.24.4",),
        tool="slow shell",
    ),
    Program("pi", "0.73.1", pi, WIRES, WIRES, npm=("@mariozechner/pi-coding-agent@0.73.1",)),
    Program("cline", "3.0.65", cline, WIRES, WIRES, npm=("cline@3.0.65",), choosy=(GEMINI,)),
    Program("continue", "1.5.47", continue_cli, (CHAT, MESSAGES), npm=("@continuedev/cli@1.5.47",)),
    Program(
        "aider",
        "0.86.2",
        aider,
        (CHAT, MESSAGES, GEMINI),
        (CHAT, MESSAGES, GEMINI),
        pip=("aider-chat==0.86.2",),
        tool="",
    ),
    Program("llm", "0.36", llm, (CHAT, RESPONSES), (RESPONSES,), pip=("llm==0.36",), tool="get_weather"),
]
