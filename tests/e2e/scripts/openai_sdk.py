# mypy: ignore-errors
"""The Python SDK of OpenAI: Chat Completions or Responses; helper, plain stream and whole answer."""

import json

import openai
from common import ABOUT, KEY, MODEL, NAME, PROMPT, ROUNDS, SCHEMA, URL, WIRE, get_weather

client = openai.OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
FUNCTION = {"name": NAME, "description": ABOUT, "parameters": SCHEMA}


def chat_helper(**asked):
    with client.chat.completions.stream(**asked) as stream:
        for event in stream:
            if event.type == "chunk":
                show(choice.delta for choice in event.chunk.choices)
        return stream.get_final_completion().choices[0].message


def chat_whole(**asked):
    message = client.chat.completions.create(**asked).choices[0].message
    show([message])
    return message


def show(said):
    for one in said:
        print(getattr(one, "reasoning_content", None) or "", end="")


def chat(ask):
    messages = [{"role": "user", "content": PROMPT}]
    tools = [{"type": "function", "function": FUNCTION}]
    for _ in range(ROUNDS):
        message = ask(model=MODEL, messages=messages, tools=tools, reasoning_effort="low")
        if not message.tool_calls:
            return message.content
        # As most programs do it: the model's words and calls go back, its reasoning does not.
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": call.function.model_dump(include={"name", "arguments"}),
            }
            for call in message.tool_calls
        ]
        messages.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        for call in message.tool_calls:
            result = get_weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise SystemExit("it never ends")


def responses_helper(**asked):
    with client.responses.stream(**asked) as stream:
        return stream.get_final_response()


def responses_plain(**asked):
    events = list(client.responses.create(stream=True, **asked))
    return events[-1].response


def responses(ask):
    turns = [{"role": "user", "content": PROMPT}]
    for _ in range(ROUNDS):
        response = ask(
            model=MODEL,
            input=turns,
            tools=[{"type": "function", **FUNCTION}],
            reasoning={"effort": "low", "summary": "auto"},
            store=False,
            include=["reasoning.encrypted_content"],
        )
        for item in response.output:
            if item.type == "reasoning":
                print("thinking:", *(part.text for part in item.summary))
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text
        turns += [item.model_dump(exclude_none=True) for item in response.output]
        for call in calls:
            result = get_weather(**json.loads(call.arguments))
            turns.append({"type": "function_call_output", "call_id": call.call_id, "output": result})
    raise SystemExit("it never ends")


if WIRE == "chat":
    answers = [chat(ask) for ask in (chat_helper, chat_whole)]
else:
    answers = [responses(ask) for ask in (responses_helper, responses_plain, client.responses.create)]
assert len(set(answers)) == 1, answers
print("\nsaid:", answers[0])
