# mypy: ignore-errors
"""The Python SDK of Anthropic: helper, whole answer and beta helper."""

import anthropic
from common import ABOUT, KEY, MODEL, NAME, PROMPT, ROUNDS, SCHEMA, URL, get_weather

client = anthropic.Anthropic(base_url=URL, api_key=KEY, max_retries=0)
TOOLS = [{"name": NAME, "description": ABOUT, "input_schema": SCHEMA}]


def helper(**asked):
    with client.messages.stream(**asked) as stream:
        return stream.get_final_message()


def beta(**asked):
    with client.beta.messages.stream(betas=["interleaved-thinking-2025-05-14"], **asked) as stream:
        return stream.get_final_message()


def loop(ask):
    messages = [{"role": "user", "content": PROMPT}]
    for _ in range(ROUNDS):
        thinking = {"type": "enabled", "budget_tokens": 2048}
        message = ask(model=MODEL, max_tokens=8000, messages=messages, tools=TOOLS, thinking=thinking)
        print("thinking:", *(block.thinking for block in message.content if block.type == "thinking"))
        if message.stop_reason != "tool_use":
            return "".join(block.text for block in message.content if block.type == "text")
        calls = [block for block in message.content if block.type == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": get_weather(**call.input)}
            for call in calls
        ]
        messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
    raise SystemExit("it never ends")


answers = [loop(ask) for ask in (helper, client.messages.create, beta)]
assert len(set(answers)) == 1, answers
print("said:", answers[0])
