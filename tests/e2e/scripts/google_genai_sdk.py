# mypy: ignore-errors
"""The Python SDK of Google: streamed and whole."""

from common import ABOUT, KEY, MODEL, NAME, PROMPT, ROUNDS, SCHEMA, URL, get_weather
from google import genai
from google.genai import types

client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=URL))
CONFIG = types.GenerateContentConfig(
    system_instruction="Be brief.",
    tools=[
        types.Tool(
            function_declarations=[
                types.FunctionDeclaration(name=NAME, description=ABOUT, parameters_json_schema=SCHEMA)
            ]
        )
    ],
    thinking_config=types.ThinkingConfig(include_thoughts=True, thinking_budget=1024),
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
)


def streamed(contents):
    chunks = client.models.generate_content_stream(model=MODEL, contents=contents, config=CONFIG)
    found = [candidate.content for chunk in chunks for candidate in chunk.candidates or []]
    return [part for content in found if content for part in content.parts or []]


def whole(contents):
    answer = client.models.generate_content(model=MODEL, contents=contents, config=CONFIG)
    return answer.candidates[0].content.parts


def loop(ask):
    contents = [types.Content(role="user", parts=[types.Part(text=PROMPT)])]
    for _ in range(ROUNDS):
        parts = ask(contents)
        print("thinking:", "".join(part.text or "" for part in parts if part.thought))
        calls = [part.function_call for part in parts if part.function_call]
        if not calls:
            return "".join(part.text or "" for part in parts if not part.thought)
        results = [
            types.FunctionResponse(name=call.name, id=call.id, response={"result": get_weather(**call.args)})
            for call in calls
        ]
        contents.append(types.Content(role="model", parts=parts))
        answers = [types.Part(function_response=result) for result in results]
        contents.append(types.Content(role="user", parts=answers))
    raise SystemExit("it never ends")


answers = [loop(ask) for ask in (streamed, whole)]
assert len(set(answers)) == 1, answers
print("said:", answers[0])
