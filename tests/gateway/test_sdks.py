"""The official SDKs on foreign providers: thinking and tool loops, and no provider refuses anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import types as genai_types

from tests.gateway.gateways import ROUNDS, THOUGHTS, WEATHER, Served
from thinkwire.sim.fixture import Running

PATIENCE = 15.0
FOREIGN = {
    "anthropic": ["gpt-5.6-terra", "gemini-3.8-flash", "deepseek/deepseek-v4-pro", "moonshot/kimi-k3"],
    "openai-chat": ["claude-opus-5-5", "gemini-3.8-flash", "gpt-5.6-terra", "qwen/qwen3.8-max"],
    "openai-responses": ["claude-opus-5-5", "gemini-3.8-flash", "deepseek/deepseek-v4-pro", "zai/glm-5.3"],
    "gemini": ["claude-sonnet-4-5", "gpt-5.6-terra", "minimax/MiniMax-M3", "openrouter/moonshotai/kimi-k3"],
}


def foreign(dialect: str) -> pytest.MarkDecorator:
    """Every model streamed, and some of them also whole."""
    cases = [
        *[pytest.param(model, True, id=f"{model}-stream") for model in FOREIGN[dialect]],
        *[pytest.param(model, False, id=f"{model}-whole") for model in FOREIGN[dialect][1:3]],
    ]
    return pytest.mark.parametrize(("model", "stream"), cases)


@pytest.fixture
def unrefused(simulator: Running) -> Iterator[None]:
    """No provider refuses anything while the test runs."""
    before = simulator.app.fired.copy()
    yield
    assert simulator.app.fired - before == {}


@pytest.fixture(scope="module")
def claude(served: Served) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=served.url, api_key="any", max_retries=0, timeout=PATIENCE) as client:
        yield client


@pytest.fixture(scope="module")
def gpt(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        base_url=f"{served.url}/v1",
        api_key="any",
        max_retries=0,
        timeout=PATIENCE,
        _strict_response_validation=True,
    ) as client:
        yield client


@pytest.fixture(scope="module")
def gemini(served: Served) -> Iterator[genai.Client]:
    options = genai_types.HttpOptions(base_url=served.url, timeout=int(PATIENCE * 1000))
    with genai.Client(api_key="any", http_options=options) as client:
        yield client


@foreign("anthropic")
@pytest.mark.usefixtures("unrefused")
def test_anthropic_sdk_loops_through_tools(claude: anthropic.Anthropic, model: str, stream: bool) -> None:
    messages: list[Any] = [{"role": "user", "content": ROUNDS}]
    thoughts: list[str] = []
    for _ in range(4):
        asked: dict[str, Any] = {
            "model": model,
            "max_tokens": 32_000,
            "messages": messages,
            "thinking": {"type": "enabled", "budget_tokens": 16_000},
            "tools": [{"name": "get_weather", "input_schema": WEATHER}],
        }
        message = ask_claude(claude, stream, asked)
        thought = [block for block in message.content if block.type == "thinking"]
        assert all(block.signature for block in thought)
        thoughts += [block.thinking for block in thought]
        assert message.model == model
        calls = [block for block in message.content if block.type == "tool_use"]
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": "mild"} for call in calls]
        messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
    assert thoughts == THOUGHTS
    assert message.content[-1].text == "Cold and late."  # type: ignore[union-attr]
    assert message.usage.output_tokens > 0


def ask_claude(client: anthropic.Anthropic, stream: bool, asked: dict[str, Any]) -> anthropic.types.Message:
    if not stream:
        message: anthropic.types.Message = client.messages.create(**asked)
        return message
    with client.messages.stream(**asked) as streamed:
        return streamed.get_final_message()


@foreign("openai-chat")
@pytest.mark.usefixtures("unrefused")
def test_openai_sdk_loops_through_tools_on_chat(gpt: openai.OpenAI, model: str, stream: bool) -> None:
    """A chat client gives no thinking back, so that the ledger has to."""
    messages: list[Any] = [{"role": "user", "content": ROUNDS}]
    tool: Any = {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}
    thoughts: list[str] = []
    for _ in range(4):
        asked: dict[str, Any] = {
            "model": model,
            "messages": messages,
            "tools": [tool],
            "reasoning_effort": "high",
        }
        if stream:
            with gpt.chat.completions.stream(**asked, stream_options={"include_usage": True}) as streamed:
                thinking = "".join(_reasoning(event) for event in streamed)
                completion: Any = streamed.get_final_completion()
        else:
            completion = gpt.chat.completions.create(**asked)
            thinking = completion.choices[0].message.reasoning_content
            assert thinking == completion.choices[0].message.reasoning
        message = completion.choices[0].message
        thoughts.append(thinking)
        assert completion.usage.completion_tokens > 0
        calls = message.tool_calls or []
        given = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in calls
        ]
        messages.append(
            {"role": "assistant", "content": message.content, **({"tool_calls": given} if given else {})}
        )
        messages += [{"role": "tool", "tool_call_id": call.id, "content": "mild"} for call in calls]
    assert thoughts == THOUGHTS
    assert message.content == "Cold and late."


def _reasoning(event: Any) -> str:
    if event.type != "chunk":
        return ""
    deltas = [choice.delta for choice in event.chunk.choices]
    found = [getattr(delta, "reasoning_content", None) or "" for delta in deltas]
    assert found == [getattr(delta, "reasoning", None) or "" for delta in deltas]
    return "".join(found)


@foreign("openai-responses")
@pytest.mark.usefixtures("unrefused")
def test_openai_sdk_loops_through_tools_on_responses(gpt: openai.OpenAI, model: str, stream: bool) -> None:
    items: list[Any] = [{"role": "user", "content": ROUNDS}]
    tool = {"type": "function", "name": "get_weather", "parameters": WEATHER, "strict": False}
    thoughts: list[str] = []
    for _ in range(4):
        asked: dict[str, Any] = {
            "model": model,
            "input": items,
            "tools": [tool],
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "high", "summary": "auto"},
        }
        if stream:
            with gpt.responses.stream(**asked) as streamed:
                for _event in streamed:
                    pass
                response: Any = streamed.get_final_response()
        else:
            response = gpt.responses.create(**asked)
        for item in response.output:
            if item.type == "reasoning":
                assert item.encrypted_content
                thoughts += [part.text for part in item.summary]
        items += [
            item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output
        ]
        items += [
            {"type": "function_call_output", "call_id": item.call_id, "output": "mild"}
            for item in response.output
            if item.type == "function_call"
        ]
    assert thoughts == THOUGHTS
    assert response.output_text == "Cold and late."
    assert response.usage.output_tokens > 0


@foreign("gemini")
@pytest.mark.usefixtures("unrefused")
def test_google_sdk_loops_through_tools(gemini: genai.Client, model: str, stream: bool) -> None:
    declared = genai_types.FunctionDeclaration(name="get_weather", parameters_json_schema=WEATHER)
    config = genai_types.GenerateContentConfig(
        tools=[genai_types.Tool(function_declarations=[declared])],
        thinking_config=genai_types.ThinkingConfig(include_thoughts=True, thinking_budget=16_000),
        automatic_function_calling=genai_types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents: list[Any] = [genai_types.Content(role="user", parts=[genai_types.Part(text=ROUNDS)])]
    thoughts: list[str] = []
    for _ in range(4):
        asked: dict[str, Any] = {"model": model, "contents": contents, "config": config}
        if stream:
            answers = list(gemini.models.generate_content_stream(**asked))
        else:
            answers = [gemini.models.generate_content(**asked)]
        found = [candidate.content for answer in answers for candidate in answer.candidates or []]
        parts = [part for content in found if content for part in content.parts or []]
        thoughts.append("".join(part.text or "" for part in parts if part.thought))
        calls = [part for part in parts if part.function_call]
        assert not calls or calls[0].thought_signature
        results = []
        for part in calls:
            assert part.function_call is not None
            given = genai_types.Part.from_function_response(name="get_weather", response={"output": "mild"})
            assert given.function_response is not None
            given.function_response.id = part.function_call.id
            results.append(given)
        contents += [
            genai_types.Content(role="model", parts=parts),
            genai_types.Content(role="user", parts=results),
        ]
    assert thoughts == THOUGHTS
    assert "".join(part.text or "" for part in parts if not part.thought) == "Cold and late."
