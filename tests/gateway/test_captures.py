"""What real clients sent, sent on to every simulated provider: nothing breaks, and nobody refuses it.

A refusal counts only if the client's own vendor would have taken the same request.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import aiohttp
import pytest

from tests.gateway.gateways import Served
from tests.support import clients_root
from thinkwire import dialects
from thinkwire.catalog import default_catalog
from thinkwire.client.engine import Client
from thinkwire.client.prepare import PreparedRequest, prepare_request
from thinkwire.events import Answer, collect
from thinkwire.gateway.http.routes import Route, match_route
from thinkwire.gateway.ingress.home import HOME
from thinkwire.gateway.pipeline.translate import intent_for, normalise_request
from thinkwire.gateway.pipeline.upstream import resolve_upstream
from thinkwire.gateway.seals.carrier import Carrier
from thinkwire.jsonvalue import dump, parse
from thinkwire.providers import default_providers
from thinkwire.request import Request
from thinkwire.sim.rules.rule import RuleInput
from thinkwire.sim.rules.table import first_refusal, rules_for
from thinkwire.sim.seals import SimSealer

pytestmark = pytest.mark.needs("clients")

MODELS = (
    *("anthropic/claude-opus-5-5", "anthropic/claude-opus-4-8", "anthropic/claude-sonnet-4-5"),
    *("openai/gpt-5.6-terra", "openai/gpt-4.1", "openai/o3-mini"),
    *("google/gemini-3.8-flash", "google/gemini-2.5-pro", "xai/grok-4.6", "xai/grok-3-mini"),
    *("openrouter/anthropic/claude-opus-5", "openrouter/x-ai/grok-4.6", "qwen/qwen3.7-max"),
    *("minimax/MiniMax-M3", "deepseek/deepseek-v4-pro", "deepseek/deepseek-reasoner", "moonshot/kimi-k3"),
    *("moonshot/kimi-k2.6", "zai/glm-5.3", "mistral/mistral-large-4", "groq/openai/gpt-oss-120b"),
    *("cerebras/gpt-oss-120b", "ollama/gpt-oss:20b", "xiaomi/mimo-v2.5-pro", "together/openai/gpt-oss-120b"),
)
NEVER_STORED = "openai.item_not_stored"
"""The items that some captures refer to were never stored by anybody."""


class Capture(NamedTuple):
    """A request that a client once made."""

    name: str
    place: Route
    query: str
    body: dict[str, Any]

    @property
    def dialect(self) -> str:
        return self.place.dialect

    def original(self, at: str, model: str) -> set[str]:
        """The rules by which its own vendor would have refused it, for its own model or for this one."""
        vendor = HOME[self.dialect]
        models = {self.place.name or str(self.body.get("model")), *([model] if at == vendor else [])}
        return {rule for name in models for rule in self._refusals(vendor, name)}

    def _refusals(self, vendor: str, model: str) -> Iterator[str]:
        found = default_catalog().find(vendor, model)
        facts = found.facts if found else None
        asked = RuleInput(vendor, self.dialect, model, facts, self.body, {}, SimSealer(), "someone")
        return (rule.id for rule in rules_for(vendor, self.dialect) if rule.check(asked) is not None)


@cache
def captures() -> tuple[Capture, ...]:
    return tuple(_captures())


def _captures() -> Iterator[Capture]:
    root = clients_root()
    for path in sorted(root.glob("captures/*/*.json")) if root else ():
        capture = json.loads(path.read_bytes())
        place = match_route(capture["path"])
        assert place is not None
        if capture["method"] == "POST" and place.operation == "generate":
            name = f"{path.parent.name}/{path.stem}"
            yield Capture(name, place, str(capture.get("query") or ""), capture["body"])


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(keys=dict.fromkeys(default_providers(), "any-key"), learned_facts=False)


@cache
def decoded() -> tuple[tuple[Capture, Request], ...]:
    return tuple((one, dialects.get(one.dialect).decode_request(one.body)) for one in captures())


def sent(client: Client, model: str) -> Iterator[tuple[Capture, PreparedRequest]]:
    """Every capture as the gateway sends it on to a model: understood, opened, planned."""
    meant, carrier = resolve_upstream(client, model), Carrier(bytes(32))
    for capture, request in decoded():
        understood = normalise_request(request, capture.place, meant.located.destination, query=capture.query)
        request, _ = carrier.open_request(understood.request, "me", capture.dialect)
        thinking = intent_for(meant, understood.intent)
        how: dict[str, Any] = {"thinking": thinking, "streamed": understood.streamed}
        yield capture, prepare_request(client.asking(request, model=meant.upstream, **how), 0)


def test_there_are_captures_of_every_dialect() -> None:
    assert len(captures()) > 300
    assert {capture.dialect for capture in captures()} == set(HOME)


PRIVATE = ("x-anthropic-billing-header", "device_id", "x-codex-", "DeferredToolPlaceholder", "tool_reference")
"""Words that only the client's own vendor is meant to read."""


@pytest.mark.parametrize("model", MODELS)
def test_no_provider_refuses_a_capture_or_reads_what_is_not_for_it(client: Client, model: str) -> None:
    sealer = SimSealer()
    wrong: list[tuple[str, str]] = []
    for capture, request in sent(client, model):
        provider, raw = request.provider.name, dump(request.body)
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = RuleInput(
            *(provider, request.dialect.name, request.model, request.plan.facts),
            *(parse(raw), headers, sealer, "someone"),
        )
        refusal = first_refusal(asked)
        if refusal is not None:
            rule = refusal[0].id
            excused = rule == NEVER_STORED or rule in capture.original(provider, request.model)
            wrong += [] if excused else [(capture.name, f"{rule}: {refusal[1].message[:120]}")]
        if provider != HOME[capture.dialect]:
            wrong += [(capture.name, word) for word in PRIVATE if word.encode() in raw]
    assert wrong == []


@pytest.mark.anyio
async def test_over_a_socket_every_fifth_capture_is_answered(served: Served) -> None:
    """Each goes to the next provider, so that every client meets several. Codex's ids were all made the same
    when they were captured, which OpenAI refuses."""
    broken = []
    async with aiohttp.ClientSession() as session:
        for number, capture in enumerate(captures()[::5]):
            model = MODELS[number % len(MODELS)]
            failure = await asked_of(session, served.url, capture, model)
            provider, _, name = model.partition("/")
            if failure is None or (provider == HOME[capture.dialect] and capture.original(provider, name)):
                assert failure is None or failure.startswith("400 ")
                continue
            broken.append((capture.name, model, failure))
    assert broken == []


async def asked_of(session: aiohttp.ClientSession, url: str, capture: Capture, model: str) -> str | None:
    """What went wrong; None when the answer is whole, in the client's own dialect."""
    path = {"anthropic": "/v1/messages", "openai-chat": "/v1/chat/completions"}.get(
        capture.dialect, "/v1/responses"
    )
    body = capture.body | {"model": model}
    if capture.dialect == "gemini":
        verb = "streamGenerateContent?alt=sse" if capture.place.streamed else "generateContent"
        path, body = f"/v1beta/models/{model}:{verb}", capture.body
    async with session.post(url + path, json=body) as reply:
        data = await reply.read()
    if reply.status != 200:
        return f"{reply.status} {data[:300].decode()}"
    answer = read(capture, data, streamed="event-stream" in reply.headers["content-type"])
    return None if answer.finish else str(answer.failure)


def read(capture: Capture, data: bytes, *, streamed: bool) -> Answer:
    dialect = dialects.get(capture.dialect)
    if not streamed:
        return dialect.decode_response(parse(data))
    decoder = dialect.stream_decoder()
    return collect([*decoder.feed(data), *decoder.close()])
