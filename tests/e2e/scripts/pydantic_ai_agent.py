# mypy: ignore-errors
"""An agent of pydantic-ai, whole and streamed."""

import asyncio

from common import KEY, MODEL, PROMPT, URL, WIRE, get_weather
from pydantic_ai import Agent
from pydantic_ai.messages import ThinkingPart


def made():
    """The model, and how it is asked to think."""
    if WIRE == "messages":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        settings = {"anthropic_thinking": {"type": "enabled", "budget_tokens": 2048}, "max_tokens": 8000}
        return AnthropicModel(MODEL, provider=AnthropicProvider(api_key=KEY, base_url=URL)), settings
    if WIRE == "gemini":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        settings = {"google_thinking_config": {"include_thoughts": True}}
        return GoogleModel(MODEL, provider=GoogleProvider(api_key=KEY, base_url=URL)), settings
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(api_key=KEY, base_url=f"{URL}/v1")
    if WIRE == "chat":
        return OpenAIChatModel(MODEL, provider=provider), {"openai_reasoning_effort": "high"}
    settings = {"openai_reasoning_effort": "high", "openai_reasoning_summary": "auto"}
    return OpenAIResponsesModel(MODEL, provider=provider), settings


def show(messages):
    thoughts = [
        part.content for message in messages for part in message.parts if isinstance(part, ThinkingPart)
    ]
    print("thinking:", *thoughts)


async def main():
    model, settings = made()
    agent = Agent(model, model_settings=settings, tools=[get_weather])
    whole = await agent.run(PROMPT)
    show(whole.all_messages())
    async with agent.run_stream(PROMPT) as streamed:
        told = await streamed.get_output()
        show(streamed.all_messages())
    assert whole.output == told, (whole.output, told)
    print("said:", told)


asyncio.run(main())
