"""The official SDKs talk to the simulators over a socket, and notice nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from google import genai
from google.genai import errors as genai_errors
from google.genai import types as genai_types

from tests.sim.support import PATIENCE, WEATHER
from thinkwire.sim.app import Simulator
from thinkwire.sim.fixture import Running
from thinkwire.sim.rules.table import all_rules
from thinkwire.sim.server import running_simulator

CLAUDE, GPT, GEMINI = "claude-opus-5-5", "gpt-6.1-sol", "gemini-3.8-flash"
LOOP = (
    "[[think:Two cities, 二つ 🤔.]] "
    '[[call:get_weather {"city":"Oslo"}]] & [[call:get_weather {"city":"Rome"}]] '
    "[[think:Both mild.]] [[say:Mild in both.]]"
)
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@pytest.fixture(scope="module")
def claude(simulator: Running) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(
        base_url=simulator.at("anthropic"), api_key="any", max_retries=0, timeout=PATIENCE
    ) as client:
        yield client


@pytest.fixture(scope="module")
def gpt(simulator: Running) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        base_url=simulator.at("openai") + "/v1",
        api_key="any",
        max_retries=0,
        timeout=PATIENCE,
        _strict_response_validation=True,
    ) as client:
        yield client


def chat_client(simulator: Running, path: str, http: httpx2.Client) -> openai.OpenAI:
    return openai.OpenAI(
        base_url=simulator.url + path, api_key="any", max_retries=0, timeout=PATIENCE, http_client=http
    )


@pytest.fixture(scope="module")
def gemini(simulator: Running) -> Iterator[genai.Client]:
    options = genai_types.HttpOptions(base_url=simulator.at("google"), timeout=int(PATIENCE * 1000))
    with genai.Client(api_key="any", http_options=options) as client:
        yield client


def ask_claude(client: anthropic.Anthropic, stream: bool, **asked: Any) -> anthropic.types.Message:
    fields: dict[str, Any] = {"model": CLAUDE, "max_tokens": 4000, **asked}
    if not stream:
        message: anthropic.types.Message = client.messages.create(**fields)
        return message
    with client.messages.stream(**fields) as streamed:
        return streamed.get_final_message()


@both_ways
def test_anthropic_tool_loop_with_thinking(claude: anthropic.Anthropic, stream: bool) -> None:
    tools = [{"name": "get_weather", "input_schema": WEATHER}]
    asked: dict[str, Any] = {"tools": tools, "thinking": {"type": "adaptive", "display": "summarized"}}
    messages: list[Any] = [{"role": "user", "content": LOOP}]
    first = ask_claude(claude, stream, messages=messages, **asked)
    assert [block.type for block in first.content] == ["thinking", "tool_use", "tool_use"]
    assert first.content[0].thinking == "Two cities, 二つ 🤔."  # type: ignore[union-attr]
    assert first.stop_reason == "tool_use"
    calls = [block for block in first.content if block.type == "tool_use"]
    assert [made.input for made in calls] == [{"city": "Oslo"}, {"city": "Rome"}]
    results = [{"type": "tool_result", "tool_use_id": made.id, "content": "mild"} for made in calls]
    messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
    last = ask_claude(claude, stream, messages=messages, **asked)
    assert [block.type for block in last.content] == ["thinking", "text"]
    assert last.content[-1].text == "Mild in both."  # type: ignore[union-attr]
    assert last.stop_reason == "end_turn"
    assert last.usage.input_tokens > 0


def test_anthropic_counts_models_and_errors(claude: anthropic.Anthropic, simulator: Running) -> None:
    counted = claude.messages.count_tokens(model=CLAUDE, messages=[{"role": "user", "content": "Hello"}])
    assert counted.input_tokens > 0
    assert CLAUDE in [model.id for model in claude.models.list()]
    assert "simulated" in claude.models.retrieve(CLAUDE).display_name
    with pytest.raises(anthropic.NotFoundError):
        ask_claude(claude, False, model="nobody", messages=[{"role": "user", "content": "x"}])
    with pytest.raises(anthropic.RateLimitError):
        ask_claude(claude, True, messages=[{"role": "user", "content": "[[fail:429]]"}])
    with pytest.raises(anthropic.AuthenticationError):
        ask_claude(claude.copy(api_key="bad"), False, messages=[{"role": "user", "content": "x"}])


@both_ways
def test_openai_responses_tool_loop(gpt: openai.OpenAI, stream: bool) -> None:
    tool = {"type": "function", "name": "get_weather", "parameters": WEATHER, "strict": False}
    items: list[Any] = [{"role": "user", "content": LOOP}]

    def ask() -> Any:
        asked: dict[str, Any] = {
            "model": GPT,
            "input": items,
            "tools": [tool],
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "high", "summary": "auto"},
        }
        if not stream:
            return gpt.responses.create(**asked)
        with gpt.responses.stream(**asked) as streamed:
            for _ in streamed:
                pass
            return streamed.get_final_response()

    first = ask()
    assert [item.type for item in first.output] == ["reasoning", "function_call", "function_call"]
    assert first.output[0].summary[0].text == "Two cities, 二つ 🤔."
    assert first.output[0].encrypted_content
    items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in first.output]
    items += [
        {"type": "function_call_output", "call_id": item.call_id, "output": "mild"}
        for item in first.output
        if item.type == "function_call"
    ]
    last = ask()
    assert last.output_text == "Mild in both."
    assert last.usage.output_tokens_details.reasoning_tokens > 0


def test_openai_stored_responses_go_on(gpt: openai.OpenAI) -> None:
    first = gpt.responses.create(model=GPT, input="[[say:I am stored.]]")
    second = gpt.responses.create(model=GPT, input="[[say:Me too.]]", previous_response_id=first.id)
    assert (first.output_text, second.output_text) == ("I am stored.", "Me too.")
    assert second.previous_response_id == first.id


@both_ways
def test_openai_chat(gpt: openai.OpenAI, stream: bool) -> None:
    asked: dict[str, Any] = {"model": GPT, "messages": [{"role": "user", "content": "[[say:Hello 👋]]"}]}
    if stream:
        with gpt.chat.completions.stream(**asked, stream_options={"include_usage": True}) as streamed:
            got = streamed.get_final_completion()
    else:
        got = gpt.chat.completions.create(**asked)
    assert got.choices[0].message.content == "Hello 👋"
    assert got.choices[0].finish_reason == "stop"
    assert got.usage is not None
    with pytest.raises(openai.NotFoundError):
        gpt.chat.completions.create(model="nobody", messages=[{"role": "user", "content": "x"}])


VENDORS = [
    ("/deepseek", "deepseek-v4-pro", "reasoning_content"),
    ("/moonshot/v1", "kimi-k3", "reasoning_content"),
    ("/qwen/compatible-mode/v1", "qwen3.8-max", "reasoning_content"),
    ("/zai/api/paas/v4", "glm-5.3", "reasoning_content"),
    ("/openrouter/api/v1", "anthropic/claude-sonnet-5.5", "reasoning"),
    ("/groq/openai/v1", "openai/gpt-oss-120b", "reasoning"),
    ("/ollama/v1", "qwen3", "reasoning"),
]


@both_ways
@pytest.mark.parametrize(("path", "model", "field"), VENDORS, ids=[path for path, _, _ in VENDORS])
def test_openai_sdk_at_other_vendors(
    simulator: Running, http: httpx2.Client, path: str, model: str, field: str, stream: bool
) -> None:
    client = chat_client(simulator, path, http)
    tool: Any = {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}
    asked: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": LOOP}], "tools": [tool]}
    if not stream:
        message = client.chat.completions.create(**asked).choices[0].message
        thinking, calls = getattr(message, field), message.tool_calls or []
        arguments = [made.function.arguments for made in calls]
    else:
        thinking, arguments = "", []
        for chunk in client.chat.completions.create(**asked, stream=True):
            for choice in chunk.choices:
                thinking += getattr(choice.delta, field, None) or ""
                for made in choice.delta.tool_calls or ():
                    arguments += [""] * (made.index + 1 - len(arguments))
                    arguments[made.index] += (made.function and made.function.arguments) or ""
    assert thinking == "Two cities, 二つ 🤔."
    assert arguments == ['{"city":"Oslo"}', '{"city":"Rome"}']


@both_ways
def test_gemini_tool_loop(gemini: genai.Client, stream: bool) -> None:
    declared = genai_types.FunctionDeclaration(name="get_weather", parameters_json_schema=WEATHER)
    config = genai_types.GenerateContentConfig(
        tools=[genai_types.Tool(function_declarations=[declared])],
        thinking_config=genai_types.ThinkingConfig(include_thoughts=True),
        automatic_function_calling=genai_types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents: list[Any] = [genai_types.Content(role="user", parts=[genai_types.Part(text=LOOP)])]

    def ask() -> list[genai_types.Part]:
        if stream:
            chunks = gemini.models.generate_content_stream(model=GEMINI, contents=contents, config=config)
            answers = list(chunks)
        else:
            answers = [gemini.models.generate_content(model=GEMINI, contents=contents, config=config)]
        found = [candidate.content for answer in answers for candidate in answer.candidates or []]
        return [part for content in found if content for part in content.parts or []]

    parts = ask()
    assert "".join(part.text or "" for part in parts if part.thought) == "Two cities, 二つ 🤔."
    calls = [part for part in parts if part.function_call]
    assert [bool(part.thought_signature) for part in calls] == [True, False]
    results = [
        genai_types.Part.from_function_response(name="get_weather", response={"output": "mild"})
        for _ in calls
    ]
    for result, part in zip(results, calls, strict=True):
        assert result.function_response is not None
        assert part.function_call is not None
        result.function_response.id = part.function_call.id
    contents += [
        # A stream ends with an empty text, which nobody sends back.
        genai_types.Content(role="model", parts=[part for part in parts if part.text != ""]),
        genai_types.Content(role="user", parts=results),
    ]
    text = "".join(part.text or "" for part in ask() if not part.thought)
    assert text == "Mild in both."


def test_gemini_counts_models_and_errors(gemini: genai.Client) -> None:
    assert (gemini.models.count_tokens(model=GEMINI, contents="Hello").total_tokens or 0) > 0
    assert f"models/{GEMINI}" in [model.name for model in gemini.models.list()]
    with pytest.raises(genai_errors.ClientError, match="not found"):
        gemini.models.generate_content(model="nobody", contents="x")
    with pytest.raises(genai_errors.ServerError):
        gemini.models.generate_content(model=GEMINI, contents="[[fail:503]]")


def test_every_rule_is_on_by_default(simulator: Running) -> None:
    assert simulator.app.rules == all_rules()


def test_two_simulators_run_side_by_side_and_leave_no_thread() -> None:
    before = threading.active_count()
    with running_simulator(Simulator()) as one, running_simulator(Simulator(seed=1)) as two:
        assert one != two
        assert httpx2.get(f"{one}/ollama/v1/models").status_code == 200
        assert httpx2.get(f"{two}/ollama/v1/models").status_code == 200
    assert threading.active_count() == before
