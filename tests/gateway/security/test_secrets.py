"""Secrets that were planted in every place come out in none: answers, headers, logs, metrics, records."""

from __future__ import annotations

import base64
import io
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.client.upstream import Reply, Upstream, refused, streamed, upstream
from tests.gateway.gateways import SECRET, Served, config_of, gateway
from tests.gateway.security.wire import ASK, Heard, hear, post
from thinkwire.errors import ConfigError
from thinkwire.events import Answer
from thinkwire.gateway.auth.keys import KeyFile
from thinkwire.gateway.config.gateway_config import GatewayConfig, Server
from thinkwire.gateway.pipeline.services import open_services
from thinkwire.gateway.telemetry.logs import JsonLines, log_request
from thinkwire.gateway.telemetry.metrics import Metrics
from thinkwire.messages import Text, Thinking, Turn

pytestmark = pytest.mark.anyio

KEYS = {
    "of a known form": "sk-proj-Zk9Zk9Zk9Zk9Zk9Zk9Zk9Zk9Zk9",
    "of no known form": "correct-horse-battery-staple",
}
GATEWAYS_OWN = [SECRET.hex(), base64.b64encode(SECRET).decode(), base64.urlsafe_b64encode(SECRET).decode()]
ANSWER = Answer(Turn("assistant", (Thinking("Hm.", field="reasoning_content"), Text("Hello."))), "stop")
MODELS = {"claude-opus-5": "anthropic", "deepseek/deepseek-v4-pro": "openai-chat"}
"""One whose bytes pass through, and one that is translated."""


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """Everything that is logged, as the gateway writes it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    loggers = [logging.getLogger(name) for name in ("thinkwire", "uvicorn", "aiohttp", "asyncio")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel("DEBUG")
    yield stream
    for logger, level in zip(loggers, levels, strict=True):
        logger.removeHandler(handler)
        logger.setLevel(level)


@pytest.fixture
async def provider() -> AsyncIterator[Upstream]:
    async with upstream() as server:
        yield server


class Ears:
    """All that comes out of a gateway."""

    def __init__(self, served: Served, lines: io.StringIO) -> None:
        self.served = served
        self.metrics = Metrics()
        self.heard: list[Heard] = []
        self._lines = lines
        served.parts.metrics = self.metrics
        served.parts.observers += (self.metrics.observe, log_request)

    async def ask(self, *lines: str, **how: object) -> Heard:
        body = how.pop("body", ASK)
        heard = await hear(self.served.url, post(body, *lines, **how))  # type: ignore[arg-type]
        self.heard.append(heard)
        return heard

    def kept(self) -> str:
        """What stays on the machine: log lines, metrics, and what a debugger would show."""
        return "\n".join([self.metrics.expose()[0].decode(), self._lines.getvalue(), repr(self.served.parts)])

    def everything(self) -> str:
        return "\n".join([self.kept(), *(heard.raw.decode("utf-8", "replace") for heard in self.heard)])


def is_hidden(secret: str, text: str) -> bool:
    """Neither the secret nor a long piece of it is in the text."""
    return not any(secret[at : at + 16] in text for at in range(len(secret) - 15))


FAILURES = [400, 401, 402, 403, 404, 413, 422, 429, 500, 503, 529]


@pytest.mark.parametrize("kind", KEYS)
async def test_a_provider_that_repeats_the_key_is_not_repeated(
    provider: Upstream, tmp_path: Path, lines: io.StringIO, kind: str
) -> None:
    key = KEYS[kind]
    async with gateway(tmp_path, dict.fromkeys(("anthropic", "deepseek"), provider.url), key=key) as served:
        ears = Ears(served, lines)
        for model in MODELS:
            for stream in (True, False):
                for status in FAILURES:
                    provider.replies = [refused(status, f"bad key {key} (thinking)", retry_after="0")] * 3
                    assert (await ears.ask(body=ASK | {"model": model, "stream": stream})).status >= 400
                for odd in (f"<html>{key}</html>", f'{{"error": "{key}"}}', f"data: {key}\n\n"):
                    at_once = {"retry-after": "0"}
                    again = Reply(500 if stream else 200, odd.encode(), at_once)
                    provider.replies = [Reply(500, odd.encode(), at_once), again]
                    await ears.ask(body=ASK | {"model": model, "stream": stream})
        assert len(provider.received) > 40
        assert is_hidden(key, ears.everything())
        assert all(is_hidden(own, ears.everything()) for own in GATEWAYS_OWN)


async def test_access_keys_and_what_was_tried_as_one_are_told_to_nobody(
    provider: Upstream, tmp_path: Path, lines: io.StringIO
) -> None:
    file = KeyFile(tmp_path / "access.toml")
    _, good = file.create("somebody", models=("deepseek/*",))
    async with gateway(tmp_path, {"deepseek": provider.url}, config_of(max_body_mb=0.01)) as served:
        ears = Ears(served, lines)
        for key in (good, "tw_" + "x" * 49, KEYS["of a known form"], "AIzaSy8Sy8Sy8Sy8Sy8Sy8Sy8Sy8Sy8Sy8"):
            forms = [f"X-Api-Key: {key}", f"Authorization: Bearer {key}", f"X-Goog-Api-Key: {key}"]
            for line in [*forms, f"Host: {key}", f"Origin: http://{key}", f"Cookie: {key}"]:
                provider.replies = [streamed("openai-chat", ANSWER)]
                for body in (ASK | {"stream": True}, ASK | {"model": "other"}, b"{"):
                    await ears.ask(line, body=body)
            await ears.ask(f"X-Api-Key: {good}", target=f"/v1/messages?key={key}")
            await ears.ask(f"X-Api-Key: {good}", target="/v1/models", method="GET")
            assert is_hidden(key, ears.everything())
            await ears.ask(f"X-Api-Key: {good}", body=ASK | {"model": key})
            ears.heard.pop()  # who names a key as the model is told that there is no such model
            assert is_hidden(key, ears.kept())
        assert any(heard.status == 200 for heard in ears.heard)
        digests = [one.digest for one in (file.read() or pytest.fail("no keys")).key]
        assert all(is_hidden(digest, ears.everything()) for digest in digests)


async def test_a_gateway_that_others_can_reach_does_not_open_without_keys(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.168.1.5", "gateway.example"):
        with pytest.raises(ConfigError, match="thinkwire keys create"):
            async with open_services(GatewayConfig(server=Server(host=host))):
                pytest.fail(f"it opened on {host}")
