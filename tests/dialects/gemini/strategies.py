"""Hypothesis strategies and samples for Gemini's dialect: what its wire carries without loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from tests.dialects.gemini.wire import SEAL, SIGNED, array, call, chunk, result, sse
from tests.strategies import json_values, names, some_words, words
from thinkwire.events import Answer, FinishReason
from thinkwire.jsonvalue import JsonObject, dump_text
from thinkwire.messages import (
    Block,
    Document,
    Image,
    Opaque,
    Origin,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)
from thinkwire.request import OutputFormat, Request, Tool, ToolChoice
from thinkwire.usage import measure

maybe_seal = st.sampled_from([None, SEAL])
objects = st.dictionaries(words, json_values, max_size=3)
texts = st.builds(Text, text=words, seal=maybe_seal)
thoughts = st.builds(Thinking, text=some_words, form=st.just("summary"), seal=maybe_seal) | st.just(
    Thinking(form="hidden", seal=SEAL)
)
calls = st.builds(ToolCall, id=names, name=names, arguments=objects.map(dump_text), seal=maybe_seal)
images = st.builds(Image, media_type=st.just("image/png"), data=st.just("aGk="), seal=maybe_seal) | st.builds(
    Image, media_type=st.just("image/webp"), url=st.just("gs://b/a"), seal=maybe_seal
)
documents = st.builds(
    Document, media_type=st.just("application/pdf"), data=st.just("aGk="), name=st.none() | words
) | st.builds(Document, media_type=st.just("text/plain"), text=words)
opaques = st.builds(Opaque, dialect=st.just("gemini"), data=st.fixed_dictionaries({"toolCall": objects}))
results = st.builds(
    ToolResult,
    call_id=names,
    name=names,
    failed=st.booleans(),
    content=st.tuples(
        st.lists(st.builds(Text, some_words), max_size=1),
        st.lists(st.just(Image(media_type="image/png", data="aGk=")) | documents | opaques, max_size=2),
    ).map(lambda two: (*two[0], *two[1])),
)


def turn(role: str, blocks: st.SearchStrategy[Sequence[Block]]) -> st.SearchStrategy[Turn]:
    return st.builds(Turn, role=st.just(role), blocks=blocks.map(tuple))


spoken: st.SearchStrategy[Sequence[Block]] = st.lists(
    texts | thoughts | images | documents | opaques, min_size=1, max_size=4
)
answered: st.SearchStrategy[Sequence[Block]] = st.tuples(
    st.lists(results, min_size=1, max_size=2), spoken
).map(lambda two: [*two[0], *two[1]])
exchange = st.tuples(
    turn("user", spoken | answered),
    turn("assistant", st.lists(texts | thoughts | calls | images, max_size=4)),
)
tools = st.builds(Tool, name=names, description=st.none() | words, schema=st.none() | objects)


def requests() -> st.SearchStrategy[Request]:
    return st.builds(
        Request,
        system=st.lists(texts, max_size=2).map(tuple),
        turns=st.lists(exchange, max_size=3).map(lambda pairs: sum(pairs, ())),
        tools=st.lists(tools, max_size=3).map(tuple),
        tool_choice=st.none()
        | st.builds(ToolChoice, mode=st.sampled_from(["auto", "none", "any"]))
        | st.builds(ToolChoice, mode=st.just("any"), only=st.lists(names, min_size=1, max_size=2).map(tuple)),
        max_tokens=st.none() | st.integers(1, 10**6),
        temperature=st.none() | st.floats(0, 2),
        top_k=st.none() | st.integers(1, 100),
        stop=st.lists(words, max_size=2).map(tuple),
        output=st.none() | st.builds(OutputFormat, schema=st.none() | objects),
    )


counts = st.integers(0, 10**9)
usages = st.builds(
    lambda total, read, visible, reasoning: measure(
        input_total=total + (read or 0), cache_read=read, output_visible=visible, output_reasoning=reasoning
    )[0],
    counts,
    st.none() | counts,
    counts,
    st.none() | counts,
)


def canonical(blocks: Sequence[Block], *, streamed: bool) -> tuple[Block, ...]:
    """Without what this wire cannot tell apart: plain text after plain text, and unsigned empty text.

    In a stream a seal comes after the text is gone, so only a text without words is read back with one.
    """
    kept: list[Block] = []
    for block in blocks:
        if isinstance(block, Text | Thinking):
            neighbour = (
                bool(kept) and type(kept[-1]) is type(block) and getattr(kept[-1], "seal", None) is None
            )
            if block.seal is None and (neighbour or not block.text):
                continue
            if streamed and block.text and block.seal:
                continue
        kept.append(block)
    return tuple(kept)


@st.composite
def drawn_answers(draw: st.DrawFn, *, streamed: bool) -> Answer:
    drawn = draw(st.lists(texts | thoughts | calls | images | documents | opaques, max_size=6))
    blocks = canonical(drawn, streamed=streamed)
    called = any(isinstance(block, ToolCall) for block in blocks)
    normal: FinishReason = "tool_calls" if called else "stop"
    others: list[FinishReason] = ["length", "continue", "refusal", "error"]
    finish = draw(st.sampled_from([normal, *others]))
    origin = draw(st.none() | st.builds(Origin, model=some_words, response_id=st.none() | names))
    return Answer(Turn("assistant", blocks, origin=origin), finish, draw(st.none() | usages))


def answers() -> st.SearchStrategy[Answer]:
    return drawn_answers(streamed=False)


def streamed_answers() -> st.SearchStrategy[Answer]:
    return drawn_answers(streamed=True)


RICH_REQUEST: JsonObject = {
    "contents": [
        {
            "role": "user",
            "parts": [{"text": "a"}, {"inlineData": {"mimeType": "text/plain", "data": "aGk="}}],
        },
        {
            "role": "model",
            "parts": [{"text": "b", "thought": True, "thoughtSignature": SIGNED}, call("f", {"a": 1})],
        },
        {
            "role": "user",
            "parts": [
                result("f", {"a": {}}, parts=[{"fileData": {"mimeType": "image/png", "fileUri": "u"}}]),
                {"text": "c"},
            ],
        },
    ],
    "systemInstruction": {"role": "user", "parts": [{"text": "a"}, {"x": 1}]},
    "tools": [
        {
            "functionDeclarations": [
                {"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": {}}}}
            ],
            "codeExecution": {},
        }
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
    "generationConfig": {
        "topK": 1,
        "responseMimeType": "application/json",
        "responseSchema": {"type": "STRING"},
    },
}
RICH_ANSWER: JsonObject = chunk(
    {"text": "a", "thought": True},
    {"text": "b", "thoughtSignature": SIGNED},
    call("f", {"a": 1}, willContinue=True, partialArgs=[{"jsonPath": "$.a", "stringValue": "x"}]),
    {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
    finish="STOP",
    usage={
        "promptTokenCount": 1,
        "candidatesTokenCount": 2,
        "totalTokenCount": 3,
        "thoughtsTokenCount": 0,
    },
    promptFeedback={"blockReason": "SAFETY"},
    createTime="t",
)
RICH_STREAM: list[Any] = [
    chunk({"text": "Pla", "thought": True}, usage={"promptTokenCount": 5, "thoughtsTokenCount": 3}),
    chunk({"text": "nned Ø", "thought": True}, usage={"promptTokenCount": 5, "thoughtsTokenCount": 9}),
    chunk({"text": "", "thought": True, "thoughtSignature": SIGNED}),
    chunk({"text": 'It is\r\n "{🌧 '}),
    chunk({"text": " "}),
    chunk({"text": "indeed"}, {**call("f", {"a": 1}, id="c"), "thoughtSignature": SIGNED}),
    chunk(call("g", id="d", willContinue=True)),
    chunk(
        {
            "functionCall": {
                "partialArgs": [{"jsonPath": "$.city", "stringValue": "Ås"}],
                "willContinue": True,
            }
        }
    ),
    chunk({"functionCall": {}}),
    chunk({"inlineData": {"mimeType": "image/png", "data": "aGk="}}, {"executableCode": {"code": "1"}}),
    chunk(
        {"text": "", "thoughtSignature": SIGNED},
        finish="STOP",
        usage={"candidatesTokenCount": 4, "totalTokenCount": 18, "thoughtsTokenCount": 9},
        createTime="t",
    ),
]
FRAMINGS = {"events": lambda frames: sse(*frames), "array": lambda frames: array(*frames)}
ERROR = {"error": {"code": 503, "message": "Ø", "status": "UNAVAILABLE"}}
STEPS = [
    *(chunk({"text": letter}) for letter in "Øslo"),
    chunk(call("f", {"a": 1}, id="c")),
    *(chunk({"text": letter}) for letter in "øl"),
    chunk({"text": "Hm", "thought": True}),
    *(chunk({"text": letter}) for letter in "ok"),
    chunk(finish="STOP"),
]
"""Texts of the same form, with something else between them."""
STREAMS = {
    "rich": sse(*RICH_STREAM),
    "array": array(*RICH_STREAM),
    "line feeds": sse(*RICH_STREAM).replace(b"\r\n", b"\n"),
    "one chunk": sse(RICH_ANSWER),
    "steps": sse(*STEPS),
    "steps in an array": array(*STEPS),
    "error": sse(*RICH_STREAM[:4], ERROR, *RICH_STREAM[4:]),
    "error in an array": array(*RICH_STREAM[:4], ERROR),
    "cut": sse(*RICH_STREAM)[:-400],
    "cut array": array(*RICH_STREAM)[:-400],
    "not json": sse(*RICH_STREAM[:4]) + b"data: {\r\n\r\n" + sse(*RICH_STREAM[4:]),
    "after the end": sse(*RICH_STREAM, *RICH_STREAM[:3]),
}
ALLOWED_NOTES: frozenset[str] = frozenset()
ALWAYS_STARTS = False
