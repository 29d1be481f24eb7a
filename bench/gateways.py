"""The gateways that are measured: how each is started, and which ways lead through it.

Each gets the same upstream, and one process where it can be told; peers log as little as they can.
One that is not installed is left out, and said so.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.machine import BUILD, ROOT

ROUTES = (
    "messages→messages",
    "messages→chat",
    "chat→messages",
    "chat→chat",
    "responses→chat",
    "messages→gemini",
)


class Way(NamedTuple):
    """How a request takes a route: the model to name, what stands before the path, and its headers."""

    model: str
    prefix: str = ""
    headers: dict[str, str] = {}  # noqa: RUF012


class Start(NamedTuple):
    """What to run, and the file in which it tells its port where it takes one of its own."""

    command: list[str | Path]
    env: dict[str, str] = {}  # noqa: RUF012
    port_file: Path | None = None


class Gateway(NamedTuple):
    """A gateway: whether it is here, how it starts, and its ways by route."""

    name: str
    label: str
    version: Callable[[], str | None]
    start: Callable[[Path, int, int], Start]
    """From a folder, its port, and the upstream's."""
    ways: dict[str, Way]


def _python_version(venv: str, package: str) -> Callable[[], str | None]:
    def version() -> str | None:
        python = BUILD / venv / "bin" / "python"
        if not python.exists():
            return None
        code = f"import importlib.metadata as m; print(m.version('{package}'))"
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
        return done.stdout.strip() or None

    return version


def _node_version(folder: str, package: str) -> Callable[[], str | None]:
    def version() -> str | None:
        file = BUILD / folder / "node_modules" / package / "package.json"
        return str(json.loads(file.read_text())["version"]) if file.exists() else None

    return version


def _nginx_version() -> str | None:
    if shutil.which("nginx") is None:
        return None
    told = subprocess.run(["nginx", "-v"], capture_output=True, text=True, check=False).stderr
    return told.strip().rpartition("/")[2]


def _thinkwire(folder: Path, port: int, upstream: int, workers: int = 1) -> Start:
    """As it comes: limits, ledger, metrics and a log line per request; no access key."""
    base = f"http://127.0.0.1:{upstream}"
    text = "".join(
        f'[providers.{name}]\nbase_url = "{base}"\n' for name in ("anthropic", "openai", "deepseek", "google")
    )
    server = f"[server]\nworkers = {workers}\nmax_streams = 4096\nmax_body_mb = 64\n"
    (folder / "gateway.toml").write_text(f"{server}{text}[logging]\nlevel = 'info'\n")
    env = {
        "THINKWIRE_CONFIG": str(folder),
        "THINKWIRE_STATE": str(folder / "state"),
        **{f"{name}_API_KEY": "bench" for name in ("ANTHROPIC", "OPENAI", "DEEPSEEK", "GEMINI", "GOOGLE")},
    }
    binary = BUILD / "own" / "bin" / "thinkwire"
    return Start([binary, "serve", "--port", str(port), "--config", folder / "gateway.toml", "--no-sim"], env)


def _bare(module: str) -> Callable[[Path, int, int], Start]:
    def start(folder: Path, port: int, upstream: int) -> Start:
        python = BUILD / "own" / "bin" / "python"
        return Start([python, "-m", module, str(port), str(upstream)], {"PYTHONPATH": str(ROOT)})

    return start


def _nginx(folder: Path, port: int, upstream: int) -> Start:
    (folder / "nginx.conf").write_text(
        f"""user root; daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  client_max_body_size 64m; client_body_buffer_size 1m; keepalive_requests 1000000;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream mock {{ server 127.0.0.1:{upstream}; keepalive 512; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      proxy_pass http://mock; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;
    }}
  }}
}}
"""
    )
    return Start(["nginx", "-p", folder, "-e", folder / "error.log", "-c", folder / "nginx.conf"])


def _litellm(folder: Path, port: int, upstream: int) -> Start:
    base = f"http://127.0.0.1:{upstream}"
    models = {
        "chat": f"{{model: hosted_vllm/bench-model, api_base: {base}/v1, api_key: bench}}",
        "messages": f"{{model: anthropic/claude-sonnet-4-5, api_base: {base}, api_key: bench}}",
        "gemini": f"{{model: gemini/gemini-2.5-flash, api_base: {base}/v1beta, api_key: bench}}",
        # It would ask vLLM for a response of its own.
        "spoken": f"{{model: deepseek/deepseek-chat, api_base: {base}/v1, api_key: bench}}",
    }
    listed = "".join(
        f"  - model_name: {name}\n    litellm_params: {params}\n" for name, params in models.items()
    )
    (folder / "config.yaml").write_text(
        f"model_list:\n{listed}litellm_settings:\n  telemetry: false\n  drop_params: true\n"
    )
    env = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR", "DISABLE_ADMIN_UI": "True"}
    env["LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"] = "true"
    binary = BUILD / "litellm" / "bin" / "litellm"
    return Start(
        [binary, "--config", folder / "config.yaml", "--host", "127.0.0.1", "--port", str(port)],
        {**env, "PATH": f"{binary.parent}:{os.environ['PATH']}"},
    )


def _node() -> str:
    """The one in .venv, the same for every peer."""
    own = ROOT / ".venv" / "bin" / "node"
    return str(own) if own.exists() else "node"


def _portkey(folder: Path, port: int, upstream: int) -> Start:
    server = BUILD / "portkey" / "node_modules" / "@portkey-ai" / "gateway" / "build" / "start-server.js"
    env = {"TRUSTED_CUSTOM_HOSTS": "127.0.0.1,localhost", "NODE_ENV": "production"}
    return Start([_node(), server, "--headless", f"--port={port}"], env)


def _portkey_way(provider: str) -> Way:
    """The upstream is named by each request, so the port is put in when it is known."""
    base = "http://127.0.0.1:{upstream}/v1"
    headers = {"x-portkey-provider": provider, "x-portkey-custom-host": base, "authorization": "Bearer bench"}
    if provider == "anthropic":
        headers |= {"x-api-key": "bench", "anthropic-version": "2023-06-01"}
    return Way("claude-sonnet-4-5" if provider == "anthropic" else "bench-model", headers=headers)


def _ccr(folder: Path, port: int, upstream: int) -> Start:
    home = folder / "home" / ".claude-code-router"
    home.mkdir(parents=True, exist_ok=True)
    provider = {
        "name": "mock",
        "api_base_url": f"http://127.0.0.1:{upstream}/v1/chat/completions",
        "api_key": "bench",
        "models": ["bench-model"],
    }
    settings = {"HOST": "127.0.0.1", "PORT": port, "LOG": False, "APIKEY": "bench", "Providers": [provider]}
    settings["Router"] = {"default": "mock,bench-model"}
    (home / "config.json").write_text(json.dumps(settings))
    cli = BUILD / "ccr" / "node_modules" / "@musistudio" / "claude-code-router" / "dist" / "cli.js"
    return Start([_node(), cli, "start"], {"HOME": str(folder / "home"), "SERVICE_PORT": str(port)})


def _tensorzero(folder: Path, port: int, upstream: int) -> Start:
    base = f"http://127.0.0.1:{upstream}"
    (folder / "tensorzero.toml").write_text(
        f"""[gateway]
observability.enabled = false
[models.chat]
routing = ["mock"]
[models.chat.providers.mock]
type = "openai"
model_name = "bench-model"
api_base = "{base}/v1/"
api_key_location = "none"
[models.messages]
routing = ["mock"]
[models.messages.providers.mock]
type = "anthropic"
model_name = "claude-sonnet-4-5"
api_base = "{base}/v1/messages"
api_key_location = "env::BENCH_KEY"
"""
    )
    python = BUILD / "tensorzero" / "bin" / "python"
    script = ROOT / "bench" / "peers" / "tensorzero" / "gateway.py"
    told = folder / "port"
    return Start([python, script, folder / "tensorzero.toml", told], {"BENCH_KEY": "bench"}, told)


def _claudish(folder: Path, port: int, upstream: int) -> Start:
    (folder / "models.json").write_text(
        json.dumps([{"slot": "bench-model", "model": "gpt-4.1", "provider": "openai"}])
    )
    modules = BUILD / "claudish" / "node_modules"
    command: list[str | Path] = [
        modules / ".bin" / "bun",
        modules / "claudish" / "dist" / "index.js",
        "serve",
    ]
    env = {"HOME": str(folder), "OPENAI_BASE_URL": f"http://127.0.0.1:{upstream}", "OPENAI_API_KEY": "bench"}
    return Start([*command, "--port", str(port), "--models", folder / "models.json"], env)


_SAME = {route: Way("bench-model") for route in ("messages→messages", "chat→chat")}

GATEWAYS = (
    Gateway(
        "thinkwire",
        "thinkwire",
        _python_version("own", "thinkwire"),
        _thinkwire,
        {
            "messages→messages": Way("claude-opus-5"),
            "messages→chat": Way("deepseek/deepseek-v4-pro"),
            "chat→messages": Way("anthropic/claude-opus-5"),
            "chat→chat": Way("gpt-4.1"),
            "responses→chat": Way("deepseek/deepseek-v4-pro"),
            "messages→gemini": Way("google/gemini-3.5-flash"),
        },
    ),
    Gateway("nginx", "nginx (forwards bytes)", _nginx_version, _nginx, _SAME),
    Gateway(
        "relay", "bare Python (forwards bytes)", _python_version("own", "uvloop"), _bare("bench.relay"), _SAME
    ),
    Gateway(
        "bare",
        "bare Python (translates words)",
        _python_version("own", "uvloop"),
        _bare("bench.bare"),
        {"messages→chat": Way("bench-model")},
    ),
    Gateway(
        "tensorzero",
        "TensorZero (Rust)",
        _python_version("tensorzero", "tensorzero"),
        _tensorzero,
        {
            "chat→chat": Way("tensorzero::model_name::chat", "/openai"),
            "chat→messages": Way("tensorzero::model_name::messages", "/openai"),
        },
    ),
    Gateway(
        "claudish",
        "claudish (Bun)",
        _node_version("claudish", "claudish"),
        _claudish,
        {"messages→chat": Way("bench-model", headers={"x-api-key": "bench"})},
    ),
    Gateway(
        "portkey",
        "Portkey (Node)",
        _node_version("portkey", "@portkey-ai/gateway"),
        _portkey,
        {
            "chat→chat": _portkey_way("openai"),
            "chat→messages": _portkey_way("anthropic"),
            "messages→messages": _portkey_way("anthropic"),
        },
    ),
    Gateway(
        "ccr",
        "claude-code-router (Node)",
        _node_version("ccr", "@musistudio/claude-code-router"),
        _ccr,
        {"messages→chat": Way("mock,bench-model", headers={"x-api-key": "bench"})},
    ),
    Gateway(
        "litellm",
        "LiteLLM (Python)",
        _python_version("litellm", "litellm"),
        _litellm,
        {
            "messages→messages": Way("messages"),
            "messages→chat": Way("chat"),
            "chat→messages": Way("messages"),
            "chat→chat": Way("chat"),
            "responses→chat": Way("spoken"),
            "messages→gemini": Way("gemini"),
        },
    ),
)
