"""A scripted provider, a trap, and a gateway between them, all in the test's own loop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.client.upstream import Upstream, upstream
from tests.gateway.gateways import Served, config_of, gateway
from tests.gateway.security.wire import Trap, trap

UPSTREAM_KEY = "sk-upstream-0123456789-must-not-show"
PROVIDERS = ("deepseek", "anthropic", "openai", "google")
CONFIG = """
[[map]]
from = "mapped-*"
to = "deepseek/deepseek-v4-pro"
"""


@pytest.fixture
async def provider() -> AsyncIterator[Upstream]:
    async with upstream() as server:
        yield server


@pytest.fixture
async def elsewhere() -> AsyncIterator[Trap]:
    async with trap() as found:
        yield found


@pytest.fixture
async def guarded(provider: Upstream, tmp_path: Path) -> AsyncIterator[Served]:
    """A gateway with small limits, whose providers are all the scripted one."""
    bases = dict.fromkeys(PROVIDERS, provider.url)
    config = config_of(CONFIG, max_body_mb=0.2, body_seconds=0.2)
    async with gateway(tmp_path, bases, config, key=UPSTREAM_KEY) as one:
        yield one
