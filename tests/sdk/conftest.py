"""One server for all SDK tests of a worker, and an environment in which no SDK can find anything but it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.sdk.server import PATIENCE, Loopback, running

if TYPE_CHECKING:
    import httpx2
    from openai import OpenAI

VENDORS = ("ANTHROPIC_", "OPENAI_", "GOOGLE_", "GEMINI_")


@pytest.fixture(scope="session")
def loopback() -> Iterator[Loopback]:
    with running() as server:
        yield server


@pytest.fixture(scope="module", autouse=True)
def nothing_but_loopback() -> Iterator[None]:
    """No keys, addresses or proxies from the machine's environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(VENDORS):
                patch.delenv(name)
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield


@pytest.fixture(scope="module")
def http_client() -> Iterator[httpx2.Client]:
    """The connection pool that an SDK's clients share."""
    import httpx2

    with httpx2.Client(timeout=PATIENCE) as client:
        yield client


@pytest.fixture(scope="module")
def openai(http_client: httpx2.Client) -> Callable[[str], OpenAI]:
    """A client of a base URL that takes nothing but what the SDK's types allow."""
    from openai import OpenAI

    def client(url: str) -> OpenAI:
        return OpenAI(
            base_url=f"{url}/v1",
            api_key="none",
            max_retries=0,
            timeout=PATIENCE,
            http_client=http_client,
            _strict_response_validation=True,
        )

    return client
