"""What the simulator's tests share: models, requests in every wire, and calls without a socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from thinkwire import dialects
from thinkwire.catalog import default_catalog
from thinkwire.events import Answer, collect
from thinkwire.providers import Provider, Route, default_providers
from thinkwire.sim.app import Simulator

PATIENCE = 15.0

MODELS = {
    "anthropic": "claude-opus-5-5",
    "openai": "gpt-6.1-sol",
    "google": "gemini-3.8-flash",
    "openrouter": "anthropic/claude-sonnet-5.5",
    "xai": "grok-4.7",
    "deepseek": "deepseek-v4-pro",
    "moonshot": "kimi-k3",
    "minimax": "MiniMax-M3",
    "qwen": "qwen3.8-max",
    "xiaomi": "mimo-v2.6-pro",
    "zai": "glm-5.3",
    "mistral": "mistral-large-4",
    "groq": "openai/gpt-oss-120b",
    "cerebras": "gpt-oss-120b",
    "fireworks": "accounts/fireworks/models/glm-5p3",
    "together": "openai/gpt-oss-120b",
    "ollama": "qwen3",
    "vllm": "Qwen/Qwen3-8B",
    "llamacpp": "qwen3",
    "lmstudio": "qwen/qwen3-8b",
}
KEYS = {"authorization": "Bearer any", "x-api-key": "any", "x-goog-api-key": "any"}
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Api(NamedTuple):
    """One API of a provider, with a model to ask."""

    provider: Provider
    route: Route
    model: str

    @property
    def id(self) -> str:
        return f"{self.provider.name}-{self.route.dialect}"

    @property
    def dialect(self) -> dialects.Dialect:
        return dialects.get(self.route.dialect)

    def path(self, stream: bool = False) -> str:
        path = self.route.stream_path if stream and self.route.stream_path else self.route.path
        return f"/{self.provider.name}{path.replace('{model}', self.model)}"

    def body(self, text: str, *, stream: bool = False, tools: bool = False) -> dict[str, Any]:
        """A plain request in the API's own words."""
        wire = self.route.dialect
        if wire == "gemini":
            body: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": text}]}]}
            declared = {"name": "get_weather", "parametersJsonSchema": WEATHER}
            return body | ({"tools": [{"functionDeclarations": [declared]}]} if tools else {})
        body = {"model": self.model, "stream": stream}
        if wire == "openai-responses":
            body |= {"input": [{"role": "user", "content": text}], "store": False}
            body |= {"include": ["reasoning.encrypted_content"]}
            tool: dict[str, Any] = {"type": "function", "name": "get_weather", "parameters": WEATHER}
        else:
            body["messages"] = [{"role": "user", "content": text}]
            tool = {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}
        if wire == "anthropic":
            body["max_tokens"] = 8000
            tool = {"name": "get_weather", "input_schema": WEATHER}
        return body | ({"tools": [tool]} if tools else {})


def apis() -> list[Api]:
    return [
        Api(provider, route, MODELS[provider.name])
        for provider in default_providers().values()
        for route in provider.routes
    ]


def api(provider: str, dialect: str, model: str | None = None) -> Api:
    found = next(a for a in apis() if (a.provider.name, a.route.dialect) == (provider, dialect))
    return found if model is None else found._replace(model=model)


class Got(NamedTuple):
    """What came back, byte for byte."""

    status: int
    headers: dict[str, str]
    chunks: list[bytes]
    complete: bool

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def call(
    app: Simulator,
    path: str,
    body: Any = None,
    *,
    headers: dict[str, str] | None = None,
    method: str = "POST",
) -> Got:
    """One request without a socket. `body` may be bytes."""
    raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    sent: list[Any] = []

    async def run() -> None:
        asked = iter([{"type": "http.request", "body": raw, "more_body": False}])

        async def receive() -> Any:
            message = next(asked, None)
            return message if message is not None else await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)

        bare, _, query = path.partition("?")
        given = (KEYS if headers is None or "x-sim-chaos" in headers else {}) | (headers or {})
        pairs = [(name.encode(), value.encode()) for name, value in given.items()]
        scope = {"type": "http", "method": method, "path": bare, "query_string": query.encode()}
        await asyncio.wait_for(app({**scope, "headers": pairs}, receive, send), PATIENCE)

    asyncio.run(run())
    start = next((message for message in sent if message["type"] == "http.response.start"), None)
    chunks = [message["body"] for message in sent if message["type"] == "http.response.body"]
    complete = bool(sent) and sent[-1].get("more_body") is False
    fields = {name.decode(): value.decode() for name, value in start["headers"]} if start else {}
    return Got(start["status"] if start else 0, fields, [chunk for chunk in chunks if chunk], complete)


def ask(app: Simulator, at: Api, body: dict[str, Any], *, stream: bool = False) -> Answer:
    """The answer to a request, read by the dialect that we speak as clients."""
    got = call(app, at.path(stream), body | ({} if at.route.dialect == "gemini" else {"stream": stream}))
    assert got.status == 200, got.body
    return read(at, got.body, stream=stream)


def read(at: Api, body: bytes, *, stream: bool) -> Answer:
    if not stream:
        return at.dialect.decode_response(json.loads(body))
    decoder = at.dialect.stream_decoder()
    return collect([*decoder.feed(body), *decoder.close()])


def key_paths(value: Any, at: str = "") -> Iterator[str]:
    """Every path of keys in a value; the places of a list are one."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{at}.{key}"
            yield from key_paths(inner, f"{at}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from key_paths(inner, f"{at}[]")


def known_model(provider: str) -> str:
    return next(facts.id for facts in default_catalog() if facts.provider == provider)
