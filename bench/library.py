"""Reading a stream with a library: CPU per event. Runs in the library's own environment.

`python library.py NAME PORT STREAMS EVENTS` prints JSON. The first stream warms up and is not counted.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

ASKED = "Why is the square of an odd number odd?"
Stream = Callable[[], AsyncIterator[Any]]


def anthropic(base: str) -> Stream:
    from anthropic import AsyncAnthropic

    client = AsyncAnthropic(base_url=base, api_key="bench")
    said: Any = [{"role": "user", "content": ASKED}]

    async def stream() -> AsyncIterator[Any]:
        async for event in await client.messages.create(
            model="claude-opus-5", max_tokens=1000, messages=said, stream=True
        ):
            yield event

    return stream


def openai(base: str) -> Stream:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=f"{base}/v1", api_key="bench")
    said: Any = [{"role": "user", "content": ASKED}]

    async def stream() -> AsyncIterator[Any]:
        async for chunk in await client.chat.completions.create(model="gpt-4.1", messages=said, stream=True):
            yield chunk

    return stream


def google_genai(base: str) -> Stream:
    from google import genai

    client = genai.Client(api_key="bench", http_options={"base_url": base})

    async def stream() -> AsyncIterator[Any]:
        async for chunk in await client.aio.models.generate_content_stream(
            model="gemini-3.5-flash", contents=ASKED
        ):
            yield chunk

    return stream


def litellm(base: str) -> Stream:
    import litellm as library

    library.telemetry = False
    said = [{"role": "user", "content": ASKED}]

    async def stream() -> AsyncIterator[Any]:
        async for chunk in await library.acompletion(
            model="anthropic/claude-sonnet-4-5", messages=said, stream=True, api_base=base, api_key="bench"
        ):
            yield chunk

    return stream


def pydantic_ai(base: str) -> Stream:
    from anthropic import AsyncAnthropic
    from pydantic_ai import Agent
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(anthropic_client=AsyncAnthropic(base_url=base, api_key="bench"))
    agent = Agent(AnthropicModel("claude-opus-5", provider=provider))

    async def stream() -> AsyncIterator[Any]:
        async with agent.run_stream(ASKED) as result:
            async for piece in result.stream_text(delta=True, debounce_by=None):
                yield piece

    return stream


def thinkwire(base: str) -> Stream:
    from thinkwire.client.engine import Client

    client = Client(bases={"anthropic": base}, keys={"anthropic": "bench"}, sim=False)

    def stream() -> AsyncIterator[Any]:
        return client.stream(ASKED, model="anthropic/claude-opus-5")

    return stream


LIBRARIES: dict[str, Callable[[str], Stream]] = {
    "thinkwire": thinkwire,
    "anthropic": anthropic,
    "openai": openai,
    "google-genai": google_genai,
    "pydantic-ai": pydantic_ai,
    "litellm": litellm,
}
ENVIRONMENTS = {"thinkwire": "own", "litellm": "litellm"}
"""Where a library is installed; `sdks` for the others."""


async def measured(stream: Stream, streams: int, events: int) -> dict[str, float]:
    async for _ in stream():
        pass
    seen, cpu, clock = 0, time.process_time(), time.perf_counter()
    for _ in range(streams):
        async for _ in stream():
            seen += 1
    cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
    return {"cpu_us": cpu / (streams * events) * 1e6, "per_second": streams * events / clock, "seen": seen}


def main(name: str, port: str, streams: str, events: str) -> None:
    stream = LIBRARIES[name](f"http://127.0.0.1:{port}")
    loop: Any = asyncio
    with suppress(ImportError):
        loop = import_module("uvloop")
    print(json.dumps(loop.run(measured(stream, int(streams), int(events)))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
