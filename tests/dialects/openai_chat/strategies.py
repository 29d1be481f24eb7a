"""Hypothesis strategies and samples for the Chat Completions dialect: what its wire carries without loss."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from tests import strategies
from tests.dialects.openai_chat.support import (
    DONE,
    ENCRYPTED,
    RICH_STREAM,
    SIGNED,
    body,
    chunk,
    sse,
    stop,
)
from thinkwire.events import Answer, FinishReason
from thinkwire.jsonvalue import JsonObject, dump, dump_text
from thinkwire.messages import (
    Block,
    Document,
    Image,
    Opaque,
    Origin,
    Seal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)
from thinkwire.request import OutputFormat, Request, Tool, ToolChoice
from thinkwire.usage import Usage, measure

some_words, names = strategies.some_words, strategies.names
objects = st.dictionaries(names, strategies.json_values, max_size=3)
plain_words = some_words.filter(
    lambda text: text.strip("\r\n ") == text and "<" not in text and "[" not in text
)
"""Words that no tag rule touches."""


def native(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """No extras, or some native fields."""
    return st.just({}) | st.fixed_dictionaries({}, optional=fields).map(
        lambda said: {"openai_chat": said} if said else {}
    )


marked = native(cache_control=st.just({"type": "ephemeral"}))
signatures = st.builds(Seal, st.just("gemini.thought"), some_words)


def signed(at: str | None) -> dict[str, Any]:
    place = {"extra_content": {"google": {"thought": True}}}
    return {"openai_chat": place | ({"_at": at} if at else {})}


texts = st.builds(Text, plain_words)
calls = st.builds(ToolCall, names, names, objects.map(dump_text)) | st.builds(
    ToolCall, names, names, objects.map(dump_text), seal=signatures, extras=st.just(signed(None))
)
customs = st.builds(
    lambda name, text: Opaque(
        "openai_chat", {"id": "c", "type": "custom", "custom": {"name": name, "input": text}}
    ),
    names,
    some_words,
)
entries = st.fixed_dictionaries(
    {"type": st.just("reasoning.text"), "text": some_words, "index": st.integers(0, 9)},
    optional={"signature": some_words, "format": st.just("anthropic-claude-v1")},
)
summaries = st.fixed_dictionaries({"type": st.just("reasoning.summary"), "summary": some_words})


def sealed(given: list[dict[str, Any]], field: str | None) -> Thinking:
    text = "".join(entry.get("text", entry.get("summary", "")) for entry in given)
    form: Any = "summary" if given[0]["type"] == "reasoning.summary" else "full"
    if not text:
        field, form = None, "hidden"
    seal = Seal("openrouter.details", dump_text(given))
    return Thinking(text, form=form, field=field or "reasoning_details", seal=seal)


plain_fields = st.sampled_from(["reasoning_content", "reasoning", "reasoning_text", "thinking"])
thoughts = st.one_of(
    st.builds(Thinking, some_words, field=plain_fields),
    st.builds(
        Thinking,
        some_words,
        field=st.just("reasoning_text"),
        seal=st.builds(Seal, st.just("copilot.opaque"), some_words),
    ),
    st.builds(sealed, st.lists(entries, min_size=1, max_size=2), st.none() | plain_fields),
    st.builds(lambda entry: sealed([entry, ENCRYPTED], "reasoning"), summaries),
    st.just(sealed([ENCRYPTED], None)),
    st.builds(Thinking, plain_words, field=st.sampled_from(["tag:think", "tag:mm:think", "tag:THINK"])),
    st.builds(Thinking, plain_words, field=st.just("content"), extras=native(closed=st.just(True))),
)


def said(thinking: Thinking | None, text: Text | None, more: list[Block]) -> tuple[Block, ...]:
    return (*((thinking,) if thinking else ()), *((text,) if text else ()), *more)


spoken = st.builds(
    said, st.none() | thoughts, st.none() | texts, st.lists(calls | customs, max_size=2)
).filter(bool)
refused = st.builds(lambda text: (Text(text, refusal=True),), some_words)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    blocks = draw(spoken | refused)
    called = any(not isinstance(block, Text | Thinking) for block in blocks)
    declined = any(isinstance(block, Text) and block.refusal for block in blocks)
    usual: FinishReason = "tool_calls" if called else "refusal" if declined else "stop"
    usage: Usage | None = None
    if draw(st.booleans()):
        usage, _ = measure(
            input_total=draw(st.integers(100, 999)),
            cache_read=draw(st.none() | st.integers(0, 50)),
            cache_write=draw(st.none() | st.integers(0, 50)),
            output_total=draw(st.integers(100, 999)),
            output_reasoning=draw(st.none() | st.integers(0, 99)),
        )
    return Answer(
        Turn("assistant", blocks, origin=Origin(model=draw(names), response_id=draw(names))),
        draw(st.sampled_from([usual, "length", "error"])),
        usage,
        extras=draw(native(provider=some_words, created=st.integers(1, 9), _choice=st.just({"seed": 1}))),
    )


results = st.builds(
    ToolResult,
    names,
    st.lists(st.builds(Text, some_words, extras=marked), max_size=2).map(tuple),
    extras=native(metadata=objects),
)
media = (
    st.builds(Image, st.just("image/png"), st.just("aGk="), extras=marked)
    | st.builds(Image, url=st.just("https://example.org/a.png"))
    | st.builds(Document, st.just("application/pdf"), st.just("aGk="), name=st.none() | names)
    | st.builds(Document, file_id=names, extras=marked)
)
opaques = objects.map(lambda fields: Opaque("openai_chat", fields | {"type": "zz"}))
users = st.lists(st.builds(Text, some_words, extras=marked) | media | opaques, max_size=3).map(tuple)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    turns: list[Turn] = []
    for _ in range(draw(st.integers(0, 3))):
        answered = draw(st.lists(results, max_size=2)) if turns else []
        asked = draw(users)
        extras = draw(native(name=names)) if asked or not answered else {}
        turns.append(Turn("user", (*answered, *asked), extras=extras))
        turns.append(Turn("assistant", draw(spoken | refused), extras=draw(native(prefix=st.booleans()))))
        if draw(st.booleans()):
            turns.append(
                Turn("system", (Text(draw(some_words)),), extras=draw(native(role=st.just("developer"))))
            )
    schema = st.none() | st.just({"type": "object"})
    return Request(
        model=draw(names),
        system=tuple(draw(st.lists(st.builds(Text, some_words, extras=marked), max_size=2))),
        turns=tuple(turns),
        tools=tuple(
            draw(st.lists(st.builds(Tool, names, st.none() | some_words, schema, extras=marked), max_size=2))
        ),
        tool_choice=draw(
            st.none()
            | st.builds(ToolChoice, st.sampled_from(["auto", "none", "any"]))
            | st.builds(
                ToolChoice,
                st.sampled_from(["auto", "any"]),
                st.lists(names, min_size=1, max_size=2).map(tuple),
            )
        ),
        max_tokens=draw(st.none() | st.integers(1, 9)),
        top_k=draw(st.none() | st.integers(1, 9)),
        stop=tuple(draw(st.lists(some_words, max_size=2))),
        output=draw(st.none() | st.just(OutputFormat()) | st.builds(OutputFormat, st.just({"a": 1}), names)),
        extras=draw(native(reasoning_effort=some_words, thinking=objects)),
    )


def streamed_answers() -> st.SearchStrategy[Answer]:
    return answers()


CALLED = {
    "id": "c1",
    "type": "function",
    "function": {"name": "f", "arguments": "{}"},
    "extra_content": {"google": {}},
}
RICH_REQUEST: JsonObject = {
    "model": "m",
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "a"}]},
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}],
        },
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}],
            "reasoning": "a",
            "reasoning_details": [SIGNED, ENCRYPTED],
            "reasoning_opaque": "x",
            "tool_calls": [CALLED],
            "function_call": {"name": "f"},
            "refusal": "b",
            "extra_content": {"google": {"thought_signature": "s"}},
        },
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "file", "file": {"file_data": "aGk="}}]},
        {
            "role": "user",
            "content": [{"type": "document_url", "document_url": "u"}, {"type": "refusal", "refusal": "x"}],
        },
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}, {"type": "zz"}],
    "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [CALLED]}},
    "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}},
    "stop": ["a"],
    "max_tokens": 5,
    "max_completion_tokens": 6,
}
RICH_ANSWER: JsonObject = body(
    RICH_REQUEST["messages"][2],
    usage={"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 1}},
    error=None,
)


def events(frames: Iterable[Any]) -> bytes:
    """A stream as most servers write it. A frame that is a string goes out as it is, not as JSON."""
    return sse(*frames, DONE)


def lines(frames: Iterable[Any]) -> bytes:
    """A stream in lines, without an end mark."""
    return b"".join(dump(frame) + b"\n" for frame in frames)


FRAMINGS = {"events": events, "lines": lines}
TAGGED_STREAM = [
    chunk({"content": piece}) for piece in ("\n<th", "ink>\nHm", "\n\n</think", ">\n\nØ ", "<think>")
]
OLLAMA = b"\n".join(
    dump(line)
    for line in (
        {"model": "m", "message": {"content": "", "thinking": "Hmø"}, "done": False},
        {"model": "m", "message": {"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}},
        {"model": "m", "message": {"content": ""}, "done": True, "done_reason": "stop", "eval_count": 3},
    )
)
STEPS = [
    *(chunk({"content": letter}) for letter in "Øslo"),
    chunk({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{}"}}]}),
    *(chunk({"content": letter}) for letter in "øl"),
    chunk({"reasoning": "Hm"}),
    *(chunk({"content": letter}) for letter in "ok"),
    stop(),
]
"""Texts of the same form, with something else between them."""
STREAMS = {
    "rich": sse(*RICH_STREAM, DONE),
    "steps": sse(*STEPS, DONE),
    "tags": sse(*TAGGED_STREAM, stop(), DONE),
    "crlf": sse(*RICH_STREAM, DONE).replace(b"\n", b"\r\n"),
    "ollama": OLLAMA,
    "error": sse(*RICH_STREAM[:4], {"error": {"message": "Ø"}}, DONE),
    "cut": sse(*RICH_STREAM)[:-700],
    "not json": sse(RICH_STREAM[0], "{", RICH_STREAM[1], DONE),
    "after the end": sse(chunk({"content": "Ø"}), stop(), DONE, RICH_STREAM[0], RICH_STREAM[1]),
}
ALLOWED_NOTES: frozenset[str] = frozenset()
ALWAYS_STARTS = True
