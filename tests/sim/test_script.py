"""The scripted model: thinks as hard as asked, answers what was asked, calls tools, stops where it must."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.sim.support import MODELS, WEATHER, Api, api, apis, ask, call
from thinkwire.messages import Text, Thinking, ToolCall
from thinkwire.sim.app import Simulator
from thinkwire.sim.model.text import LABEL

APP = Simulator(rules=())
CLAUDE = api("anthropic", "anthropic")
CHAT = api("deepseek", "openai-chat")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("at", apis(), ids=lambda at: at.id)
def test_the_answer_is_labelled_and_about_what_was_asked(at: Api, stream: bool) -> None:
    answer = ask(APP, at, at.body("Why is the sky blue?", stream=stream), stream=stream)
    assert answer.turn.text.startswith(LABEL)
    assert "Why is the sky blue?" in answer.turn.text
    assert answer.finish == "stop"
    assert answer.failure is None
    assert answer.notes == ()


@pytest.mark.parametrize("at", apis(), ids=lambda at: at.id)
def test_whole_and_streamed_answers_are_the_same(at: Api) -> None:
    text = '[[think:One.\n\nTwo 思考 👩‍💻.]] [[say:Let me look.]] [[call:get_weather {"city":"Oslo"}]]'
    body = at.body(text, tools=True)
    if at.route.dialect == "openai-chat":
        body["stream_options"] = {"include_usage": True}
    whole, streamed = (ask(APP, at, body, stream=stream) for stream in (False, True))
    assert streamed.turn.text == whole.turn.text == "Let me look."
    assert streamed.turn.thinking == whole.turn.thinking
    assert [(c.name, c.arguments) for c in streamed.turn.tool_calls] == [("get_weather", '{"city":"Oslo"}')]
    assert streamed.finish == whole.finish == "tool_calls"
    assert streamed.usage is not None
    assert whole.usage is not None
    assert streamed.usage.output_total == whole.usage.output_total


@pytest.mark.parametrize(
    "model",
    ["anthropic/claude-sonnet-5.5", "openai/gpt-6.1-sol", "google/gemini-3.8-flash"],
)
def test_openrouter_details_are_the_same_in_a_stream(model: str) -> None:
    at = api("openrouter", "openai-chat", model)
    body = at.body("[[think:One. 二]] [[say:a]] [[think:Two.]] [[say:b]]")
    whole, streamed = (ask(APP, at, body, stream=stream) for stream in (False, True))
    details = [
        [
            entry
            for block in answer.turn.blocks
            if isinstance(block, Thinking) and block.seal is not None
            for entry in json.loads(block.seal.data)
        ]
        for answer in (whole, streamed)
    ]
    assert details[0] == details[1]
    assert {entry["index"] for entry in details[0]} == {0, 1}


def depth(at: Api, **controls: Any) -> int:
    body = at.body("Explain tides.") | controls
    answer = ask(APP, at, body)
    assert answer.usage is not None
    return answer.usage.output_reasoning or 0


def test_more_effort_is_more_thinking() -> None:
    efforts = [
        depth(CLAUDE, thinking={"type": "adaptive"}, output_config={"effort": effort})
        for effort in ("low", "medium", "high", "max")
    ]
    assert efforts == sorted(efforts)
    assert 0 < efforts[0] < efforts[-1]
    budgets = [
        depth(
            api("anthropic", "anthropic", "claude-sonnet-4-5"),
            max_tokens=64_000,
            thinking={"type": "enabled", "budget_tokens": budget},
        )
        for budget in (1_024, 20_000, 60_000)
    ]
    assert budgets == sorted(set(budgets))


@pytest.mark.parametrize(
    ("at", "off"),
    [
        (api("anthropic", "anthropic", "claude-sonnet-4-5"), {}),
        (api("anthropic", "anthropic", "claude-opus-4-8"), {"thinking": {"type": "disabled"}}),
        (CHAT, {"thinking": {"type": "disabled"}}),
        (api("qwen", "openai-chat", "qwen3.6-plus"), {"enable_thinking": False}),
        (
            api("google", "gemini", "gemini-2.5-flash"),
            {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
        ),
    ],
)
def test_off_is_off(at: Api, off: dict[str, Any]) -> None:
    answer = ask(APP, at, at.body("[[think:no]] [[say:yes]]") | off)
    assert answer.turn.blocks[-1] == Text("yes", extras=answer.turn.blocks[-1].extras)  # type: ignore[union-attr]
    assert not any(isinstance(block, Thinking) for block in answer.turn.blocks)
    assert answer.usage is not None
    assert not answer.usage.output_reasoning


def test_hidden_thinking_is_sealed_and_counted_and_shown_on_request() -> None:
    body = CLAUDE.body("[[think:secret]] [[say:open]]")
    hidden = ask(APP, CLAUDE, body)
    shown = ask(APP, CLAUDE, body | {"thinking": {"type": "adaptive", "display": "summarized"}})
    assert hidden.turn.thinking == ""
    assert shown.turn.thinking == "secret"
    for answer in (hidden, shown):
        block = answer.turn.blocks[0]
        assert isinstance(block, Thinking)
        assert block.seal is not None
        assert answer.usage is not None
        assert answer.usage.output_reasoning == 2


def test_gemini_shows_thoughts_on_request_and_signs_the_first_call() -> None:
    at = api("google", "gemini")
    text = '[[think:hm]] [[call:get_weather {"city":"Oslo"}]] & [[call:get_weather {"city":"Rome"}]]'
    body = at.body(text, tools=True)
    plain = ask(APP, at, body)
    assert [type(block) for block in plain.turn.blocks] == [ToolCall, ToolCall]
    assert [call.seal is not None for call in plain.turn.tool_calls] == [True, False]
    shown = ask(APP, at, body | {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}})
    assert shown.turn.thinking == "hm"


FIELDS = {
    "deepseek": "reasoning_content",
    "moonshot": "reasoning_content",
    "xai": "reasoning_content",
    "groq": "reasoning",
    "cerebras": "reasoning",
    "ollama": "reasoning",
    "openrouter": "reasoning",
}


@pytest.mark.parametrize("name", FIELDS)
def test_each_vendor_has_its_field(name: str) -> None:
    at = api(name, "openai-chat")
    message = call(APP, at.path(), at.body("[[think:hm]] [[say:x]]")).json["choices"][0]["message"]
    assert message[FIELDS[name]] == "hm"
    others = {"reasoning", "reasoning_content"} - {FIELDS[name]}
    assert not others & message.keys()


def test_mistral_thinks_in_content_and_minimax_in_tags_or_details() -> None:
    mistral = api("mistral", "openai-chat")
    text = "[[think:hm]] [[say:x]]"
    content = call(APP, mistral.path(), mistral.body(text)).json["choices"][0]["message"]["content"]
    assert content[0] == {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    minimax = api("minimax", "openai-chat")
    tagged = call(APP, minimax.path(), minimax.body(text)).json["choices"][0]["message"]
    assert tagged["content"].startswith("<think>")
    split = call(APP, minimax.path(), minimax.body(text) | {"reasoning_split": True}).json
    message = split["choices"][0]["message"]
    assert message["content"] == "x"
    assert message["reasoning_details"][0]["text"] == "hm"


def test_openai_chat_never_shows_thinking_but_counts_it() -> None:
    at = api("openai", "openai-chat")
    got = call(APP, at.path(), at.body("[[think:hmmm]] [[say:x]]")).json
    assert "hmmm" not in str(got)
    assert got["usage"]["completion_tokens_details"]["reasoning_tokens"] == 1


def test_xai_chat_counts_reasoning_beside_completion() -> None:
    at = api("xai", "openai-chat")
    usage = call(APP, at.path(), at.body("[[think:hmmm]] [[say:xxxx]]")).json["usage"]
    assert usage["completion_tokens"] == 1
    assert usage["total_tokens"] == usage["prompt_tokens"] + 2


@pytest.mark.parametrize("at", apis(), ids=lambda at: at.id)
def test_a_tool_named_in_the_question_is_called_and_its_result_used(at: Api) -> None:
    answer = ask(APP, at, at.body("What is the weather in Oslo?", tools=True))
    [made] = answer.turn.tool_calls
    assert (made.name, made.arguments) == ("get_weather", '{"city":"Oslo"}')
    assert answer.finish == "tool_calls"


READ = {"type": "object", "properties": {"file_path": {"type": "string"}, "limit": {"type": "integer"}}}


def messages(*turns: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": MODELS["deepseek"], "messages": list(turns), **more}


def function(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def test_files_that_are_mentioned_are_read_in_parallel_or_one_by_one() -> None:
    tools = [function("get_weather", WEATHER), function("read_file", READ | {"required": ["file_path"]})]
    asked = {"role": "user", "content": "Compare src/a.py with README.md, please."}
    both = ask(APP, CHAT, messages(asked, tools=tools))
    assert [made.arguments for made in both.turn.tool_calls] == [
        '{"file_path":"src/a.py"}',
        '{"file_path":"README.md"}',
    ]
    one = ask(APP, CHAT, messages(asked, tools=tools, parallel_tool_calls=False))
    assert [made.arguments for made in one.turn.tool_calls] == ['{"file_path":"src/a.py"}']


def test_forced_and_forbidden_tools() -> None:
    tools = [function("alpha", WEATHER), function("beta", READ)]
    asked = {"role": "user", "content": "Hello, alpha!"}
    forced = {"type": "function", "function": {"name": "beta"}}
    assert [c.name for c in ask(APP, CHAT, messages(asked, tools=tools)).turn.tool_calls] == ["alpha"]
    chosen = ask(APP, CHAT, messages(asked, tools=tools, tool_choice=forced))
    assert [c.name for c in chosen.turn.tool_calls] == ["beta"]
    assert ask(APP, CHAT, messages(asked, tools=tools, tool_choice="none")).turn.tool_calls == ()


def test_a_shell_command_goes_to_the_tool_that_takes_one() -> None:
    text = {"role": "user", "content": "[[shell:ls -la]]"}
    string = function("bash", {"type": "object", "properties": {"command": {"type": "string"}}})
    array = {"type": "object", "properties": {"command": {"type": "array", "items": {"type": "string"}}}}
    one = ask(APP, CHAT, messages(text, tools=[function("f", WEATHER), string]))
    assert [(c.name, c.arguments) for c in one.turn.tool_calls] == [("bash", '{"command":"ls -la"}')]
    other = ask(APP, CHAT, messages(text, tools=[function("shell", array)]))
    assert other.turn.tool_calls[0].arguments == '{"command":["bash","-lc","ls -la"]}'
    assert "ls -la" in ask(APP, CHAT, messages(text)).turn.text


def test_a_script_goes_on_after_each_result() -> None:
    script = '[[think:1]] [[call:f {"n":1}]] [[think:2]] [[call:f {"n":2}]] & [[call:f {"n":3}]] [[say:done]]'
    turns: list[dict[str, Any]] = [{"role": "user", "content": script}]
    seen = []
    for _ in range(4):
        got = call(APP, CHAT.path(), messages(*turns)).json["choices"][0]["message"]
        calls = got.get("tool_calls", [])
        seen.append((got.get("reasoning_content"), [made["function"]["arguments"] for made in calls]))
        turns.append(got)
        turns += [{"role": "tool", "tool_call_id": made["id"], "content": "ok"} for made in calls]
        if not calls:
            break
    assert seen == [("1", ['{"n":1}']), ("2", ['{"n":2}', '{"n":3}']), (None, [])]
    assert turns[-1]["content"] == "done"


def test_kimi_without_its_own_reasoning_loses_the_thread() -> None:
    at = api("moonshot", "openai-chat")
    turns: list[dict[str, Any]] = [{"role": "user", "content": "[[think:why]] [[call:f {}]] [[say:done]]"}]
    got = call(APP, at.path(), {"model": at.model, "messages": turns}).json["choices"][0]["message"]
    result = {"role": "tool", "tool_call_id": got["tool_calls"][0]["id"], "content": "ok"}
    whole = ask(APP, at, {"model": at.model, "messages": [*turns, got, result]})
    assert whole.turn.text == "done"
    lost = ask(APP, at, {"model": at.model, "messages": [*turns, got | {"reasoning_content": ""}, result]})
    assert "lost the thread" in lost.turn.text
    other = api("deepseek", "openai-chat")
    off = {"model": other.model, "messages": turns, "thinking": {"type": "disabled"}}
    thoughtless = call(APP, other.path(), off).json["choices"][0]["message"]
    answered = result | {"tool_call_id": thoughtless["tool_calls"][0]["id"]}
    on = {"model": other.model, "messages": [*turns, thoughtless, answered]}
    assert ask(APP, other, on).turn.text == "done"
    foreign = {"id": "call_of_somebody", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    stranger = {"role": "assistant", "content": None, "tool_calls": [foreign]}
    answered = result | {"tool_call_id": foreign["id"]}
    assert ask(APP, at, {"model": at.model, "messages": [*turns, stranger, answered]}).turn.text == "done"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_max_tokens_cuts_and_thinking_may_eat_it_all(stream: bool) -> None:
    body = CHAT.body(f"[[think:{'t' * 400}]] [[say:{'s' * 400}]]")
    some = ask(APP, CHAT, body | {"max_tokens": 120}, stream=stream)
    assert (some.finish, len(some.turn.thinking), len(some.turn.text)) == ("length", 400, 80)
    none = ask(APP, CHAT, body | {"max_tokens": 50}, stream=stream)
    assert (none.finish, len(none.turn.thinking), none.turn.text) == ("length", 200, "")
    assert none.usage is not None
    assert (none.usage.output_total, none.usage.output_reasoning) == (50, 50)


def test_stop_sequences_end_the_answer() -> None:
    got = call(APP, CLAUDE.path(), CLAUDE.body("[[say:one END two]]") | {"stop_sequences": ["END"]}).json
    assert got["content"][-1]["text"] == "one "
    assert (got["stop_reason"], got["stop_sequence"]) == ("stop_sequence", "END")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("at", apis(), ids=lambda at: at.id)
def test_refusals_are_said_as_the_wire_says_them(at: Api, stream: bool) -> None:
    answer = ask(APP, at, at.body("[[refuse]]"), stream=stream)
    assert answer.finish == "refusal"
    assert "(simulated)" in answer.turn.text


def test_structured_output_is_json_of_the_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "n": {"type": "integer"}, "ok": {"type": "boolean"}},
        "required": ["name", "n"],
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    at = api("openai", "openai-chat")
    answer = ask(APP, at, at.body("Give me 7 names") | {"response_format": wanted})
    assert answer.turn.text == '{"name":"Give me 7 names","n":7}'


def test_usage_buckets_add_up() -> None:
    for at in apis():
        body = at.body("[[think:abcd]] [[say:efgh ijkl]]")
        usage = ask(APP, at, body).usage
        assert usage is not None
        assert usage.input_total is not None
        assert (usage.input_uncached or 0) + (usage.cache_read or 0) + (usage.cache_write or 0) == (
            usage.input_total if usage.input_uncached is not None else 0
        )
        assert usage.output_total == 4


def test_the_same_request_gives_the_same_bytes_and_another_seed_other_words() -> None:
    for at in apis():
        body = at.body("What is new?", stream=True)
        first, again = (call(Simulator(rules=()), at.path(True), body).body for _ in range(2))
        assert first == again
    assert ask(Simulator(seed=1, rules=()), CHAT, CHAT.body("Hi there")) != ask(
        Simulator(seed=2, rules=()), CHAT, CHAT.body("Hi there")
    )
