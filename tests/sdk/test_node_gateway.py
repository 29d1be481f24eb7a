"""The official SDKs for JavaScript as clients of the gateway, on models of other vendors."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.gateways import ROUNDS, THOUGHTS, WEATHER, running_gateway
from tests.support import ROOT, need
from thinkwire.providers import default_providers
from thinkwire.sim.app import Simulator
from thinkwire.sim.server import running_simulator

pytestmark = [pytest.mark.e2e, pytest.mark.needs("node")]

FOREIGN = {
    "anthropic": ["gpt-5.6-terra", "gemini-3.8-flash", "deepseek/deepseek-v4-pro", "moonshot/kimi-k3"],
    "openai-chat": ["claude-opus-5-5", "gemini-3.8-flash", "gpt-5.6-terra", "minimax/MiniMax-M3"],
    "openai-responses": ["claude-opus-5-5", "gemini-3.8-flash", "xai/grok-4.5", "zai/glm-5.3"],
    "gemini": ["claude-sonnet-4-5", "gpt-5.6-terra", "moonshot/kimi-k3", "mistral/magistral-medium-latest"],
}
TOOL = {"name": "get_weather", "description": "The weather in a city.", "schema": WEATHER}


@pytest.fixture(scope="module")
def providers() -> Simulator:
    return Simulator()


@pytest.fixture(scope="module")
def url(providers: Simulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A gateway in front of all providers."""
    with running_simulator(providers) as base:
        bases = {name: f"{base}/{name}" for name in default_providers()}
        with running_gateway(tmp_path_factory.mktemp("gateway"), bases) as served:
            yield served.url


def loops(dialect: str, url: str, node: Path) -> dict[str, Any]:
    """What came of the tool loop on every foreign model."""
    asked = {"prompt": ROUNDS, "tool": TOOL, "result": "mild"}
    cases = {model: {"url": url, "params": asked | {"model": model}} for model in FOREIGN[dialect]}
    done = subprocess.run(
        [node, ROOT / "tests/js/loop.mjs", dialect],
        input=json.dumps(cases).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("dialect", list(FOREIGN))
def test_tool_loops_keep_their_thinking_and_nothing_is_refused(
    dialect: str, url: str, providers: Simulator
) -> None:
    wanted = {"value": {"thoughts": THOUGHTS, "text": "Cold and late."}}
    assert loops(dialect, url, need("node")) == dict.fromkeys(FOREIGN[dialect], wanted)
    assert providers.fired == {}
