"""One set of simulators on a socket for all tests, and an environment in which no SDK finds anything else."""

from __future__ import annotations

import os
from collections.abc import Iterator

import httpx2
import pytest

from tests.sim.support import PATIENCE
from thinkwire.sim.fixture import simulator

__all__ = ["simulator"]

VENDORS = ("ANTHROPIC_", "OPENAI_", "GOOGLE_", "GEMINI_")


@pytest.fixture(scope="session", autouse=True)
def nothing_but_loopback() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(VENDORS):
                patch.delenv(name)
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield


@pytest.fixture(scope="session")
def http() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=PATIENCE) as client:
        yield client
