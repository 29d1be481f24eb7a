# mypy: ignore-errors
"""Chat models of LangChain in a loop by hand, whole and streamed."""

from common import KEY, MODEL, PROMPT, ROUNDS, URL, WIRE, get_weather
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool


def made():
    if WIRE == "messages":
        from langchain_anthropic import ChatAnthropic

        thinking = {"type": "enabled", "budget_tokens": 2048}
        return ChatAnthropic(
            model=MODEL, api_key=KEY, base_url=URL, thinking=thinking, max_tokens=8000, max_retries=0
        )
    if WIRE == "gemini":
        from langchain_google_genai import ChatGoogleGenerativeAI

        return ChatGoogleGenerativeAI(
            model=MODEL, google_api_key=KEY, base_url=URL, include_thoughts=True, max_retries=1
        )
    from langchain_openai import ChatOpenAI

    how = {"model": MODEL, "api_key": KEY, "base_url": f"{URL}/v1", "max_retries": 0}
    if WIRE == "chat":
        return ChatOpenAI(**how, reasoning_effort="high")
    reasoning = {"effort": "high", "summary": "auto"}
    return ChatOpenAI(**how, use_responses_api=True, reasoning=reasoning, output_version="responses/v1")


def gathered(model, messages):
    pieces = list(model.stream(messages))
    return sum(pieces[1:], start=pieces[0])


def loop(ask):
    messages = [HumanMessage(PROMPT)]
    for _ in range(ROUNDS):
        answer = ask(messages)
        print("thinking:", answer.content if isinstance(answer.content, list) else "")
        messages.append(answer)
        if not answer.tool_calls:
            return answer.text if isinstance(answer.text, str) else answer.text()
        for call in answer.tool_calls:
            messages.append(
                ToolMessage(get_weather(**call["args"]), tool_call_id=call["id"], name=call["name"])
            )
    raise SystemExit("it never ends")


model = made().bind_tools([tool(get_weather)])
answers = [loop(model.invoke), loop(lambda messages: gathered(model, messages))]
assert len(set(answers)) == 1, answers
print("said:", answers[0])
