"""All libraries side by side: CPU per streamed event, and the CPU of importing them."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from typing import Any

from bench.library import ENVIRONMENTS, LIBRARIES
from bench.machine import BUILD, ROOT
from bench.measure import shape

EVENTS = 2000
IMPORTS = {
    "thinkwire": "import thinkwire",
    "anthropic": "import anthropic",
    "openai": "import openai",
    "google-genai": "from google import genai",
    "pydantic-ai": "import pydantic_ai",
    "litellm": "import litellm",
}


def _python(name: str) -> str:
    return str(BUILD / ENVIRONMENTS.get(name, "sdks") / "bin" / "python")


def streams(provider: int, *, rounds: int, count: int) -> dict[str, Any]:
    """Medians over interleaved rounds, by library."""
    shape(provider, events=EVENTS, pace=0, group=8)
    seen: dict[str, list[dict[str, float]]] = {}
    failures: dict[str, str] = {}
    for _ in range(rounds):
        for name in LIBRARIES:
            how = [name, str(provider), str(count), str(EVENTS)]
            command = [_python(name), str(ROOT / "bench" / "library.py"), *how]
            env = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_PROXY": "127.0.0.1"}
            try:
                done = subprocess.run(
                    command, env=env, capture_output=True, text=True, timeout=180, check=True
                )
                seen.setdefault(name, []).append(json.loads(done.stdout.splitlines()[-1]))
            except (OSError, subprocess.SubprocessError, IndexError, ValueError) as error:
                said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
                failures[name] = said[-1][:200] if said else "failed"
    shape(provider, group=1)
    told: dict[str, Any] = {
        name: {key: statistics.median(one[key] for one in many) for key in many[0]}
        for name, many in seen.items()
    }
    return told | {name: {"failure": why} for name, why in failures.items() if name not in told}


def imports(*, rounds: int) -> dict[str, float | None]:
    """CPU seconds of each import beyond a bare Python's; None where it is not installed."""
    taken: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, code in IMPORTS.items():
            bare, whole = _cpu(name, "pass"), _cpu(name, code)
            if bare is not None and whole is not None:
                taken.setdefault(name, []).append(whole - bare)
    return {name: statistics.median(taken[name]) if name in taken else None for name in IMPORTS}


def _cpu(name: str, code: str) -> float | None:
    try:
        process = subprocess.Popen(
            [_python(name), "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except OSError:
        return None
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime if process.returncode == 0 else None
