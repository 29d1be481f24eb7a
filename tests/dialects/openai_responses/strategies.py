"""Hypothesis strategies and samples for the Responses dialect: what its wire carries without loss."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from tests import strategies
from tests.dialects.openai_responses.wire import (
    CREATED,
    RICH_STREAM,
    added,
    call,
    completed,
    message,
    native,
    raw_reasoning,
    reasoning,
    response,
    sse,
    text_delta,
)
from thinkwire.events import Answer, FinishReason
from thinkwire.jsonvalue import JsonObject, dump
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
from thinkwire.wire.sse import frame

words, some_words, names = strategies.words, strategies.some_words, strategies.names
objects = st.dictionaries(names, strategies.json_values, max_size=3)
ids = st.from_regex(r"[a-zA-Z0-9_-]{1,12}", fullmatch=True)

encrypted = st.builds(Seal, st.just("openai.encrypted"), some_words)
item_ids = ids.map(lambda found: f"rs_{found}")


def with_id(thinking: Thinking) -> st.SearchStrategy[Thinking]:
    """The same, with the item id that thinking from the wire brings along."""
    return item_ids.map(
        lambda found: Thinking(thinking.text, form=thinking.form, seal=thinking.seal, extras=native(id=found))
    )


sealed = st.builds(Thinking, some_words, form=st.just("summary"), seal=encrypted) | st.builds(
    Thinking, form=st.just("hidden"), seal=encrypted
)
stored = item_ids.map(lambda found: Thinking(form="hidden", seal=Seal("openai.item", found))) | st.builds(
    lambda text, found: Thinking(
        text, form="summary", seal=Seal("openai.item", found), extras=native(id=found)
    ),
    some_words,
    item_ids,
)
raw = st.builds(Thinking, some_words, seal=st.none() | encrypted).flatmap(with_id)
parted = st.lists(some_words, min_size=2, max_size=4).map(
    lambda parts: Thinking(
        "\n\n".join(parts),
        form="summary",
        seal=Seal("openai.encrypted", "gAAA"),
        extras=native(parts=[len(part) for part in parts], id="rs_parted"),
    )
)
thoughts = sealed | sealed.flatmap(with_id) | stored | raw | parted
texts = st.builds(
    Text, words, refusal=st.booleans(), extras=st.just({}) | ids.map(lambda found: native(id=f"msg_{found}"))
)
calls = st.builds(ToolCall, id=ids, name=names, arguments=words)
native_items = names.map(lambda name: Opaque("openai_responses", {"type": f"{name}_call", "id": f"x_{name}"}))
model_blocks = st.lists(texts | thoughts | calls | native_items, max_size=5).map(tuple)
images = st.builds(Image, st.just("image/png"), data=st.just("aGk=")) | st.builds(
    Image, url=st.just("https://example.org/a.png"), extras=st.just(native(detail="low"))
)
documents = st.builds(Document, st.just("application/pdf"), data=st.just("aGk="), name=st.none() | names)
contents = st.builds(Text, words) | images | documents
results = st.builds(
    ToolResult,
    ids,
    st.lists(contents, max_size=3).map(tuple).filter(lambda content: content != (Text(""),)),
)
asked = st.lists(contents, min_size=1, max_size=3).map(tuple)
questions = st.builds(Turn, st.just("user"), asked) | st.builds(
    lambda first, rest: Turn("user", (*first, *rest)),
    st.lists(results, min_size=1, max_size=2),
    asked | st.just(()),
)
systems = st.builds(Turn, st.just("system"), st.builds(Text, words).map(lambda text: (text,)))


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    for _ in range(draw(st.integers(0, 3))):
        turns.append(draw(questions | systems))
        if blocks := draw(model_blocks):
            turns.append(Turn("assistant", blocks))
    return _apart(turns)


def _apart(turns: list[Turn]) -> tuple[Turn, ...]:
    """Without a user's turn right after results alone, which the wire cannot tell from the same turn."""
    kept: list[Turn] = []
    for turn in turns:
        last = kept[-1] if kept else None
        if last is None or last.role != turn.role or not isinstance(last.blocks[-1], ToolResult):
            kept.append(turn)
    return tuple(kept)


tools = st.builds(Tool, names, st.none() | words, st.none() | objects, st.none() | st.booleans())


def requests() -> st.SearchStrategy[Request]:
    return st.builds(
        Request,
        model=names,
        turns=conversations(),
        system=st.just(()) | st.builds(Text, words).map(lambda text: (text,)),
        tools=st.lists(tools | st.just(Opaque("openai_responses", {"type": "web_search"})), max_size=2).map(
            tuple
        ),
        tool_choice=st.none()
        | st.builds(ToolChoice, st.sampled_from(["auto", "any"]), st.lists(names, max_size=2).map(tuple))
        | st.just(ToolChoice("none")),
        parallel_tool_calls=st.none() | st.booleans(),
        max_tokens=st.none() | st.integers(16, 10**6),
        temperature=st.none() | st.floats(0, 2),
        top_p=st.none() | st.floats(0, 1),
        output=st.none()
        | st.builds(OutputFormat, st.none())
        | st.builds(OutputFormat, objects, st.none() | names),
        stream=st.none() | st.booleans(),
        extras=st.just({}) | objects.map(lambda fields: native(reasoning=fields, store=False)),
    )


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    count = st.none() | st.integers(0, 10**6)
    usage, _ = measure(
        input_total=draw(count),
        cache_read=draw(count),
        cache_write=draw(count),
        output_total=draw(count),
        output_reasoning=draw(count),
    )
    return usage


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    blocks: tuple[Block, ...] = draw(model_blocks)
    usual: FinishReason = "stop"
    if any(isinstance(block, Text) and block.refusal for block in blocks):
        usual = "refusal"
    if any(isinstance(block, ToolCall) for block in blocks):
        usual = "tool_calls"
    ends: list[FinishReason] = [usual, "length", "refusal", "cancelled"]
    return Answer(
        Turn("assistant", blocks, origin=Origin(model=draw(names), response_id=draw(ids))),
        finish=draw(st.sampled_from(ends)),
        usage=draw(st.none() | usages()),
        extras=draw(st.just({}) | st.just(native(created_at=7, service_tier="flex"))),
    )


def streamed_answers() -> st.SearchStrategy[Answer]:
    return answers()


RICH_REQUEST: JsonObject = {
    "model": "m",
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,aGk="}]},
        reasoning("a", "b", encrypted_content="gAAA"),
        raw_reasoning("c"),
        message("Hi"),
        call("{}"),
        {
            "type": "function_call_output",
            "call_id": "call_1",
            "output": [{"type": "input_text", "text": "x"}],
        },
    ],
    "tools": [{"type": "function", "name": "f", "parameters": {}}],
    "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
    "text": {"format": {"type": "json_schema", "name": "n", "schema": {}}},
}
RICH_ANSWER: JsonObject = response(
    reasoning("a", "b", encrypted_content="gAAA"),
    raw_reasoning("c"),
    message("Hi"),
    call("{}"),
    usage={"input_tokens": 1, "input_tokens_details": {"cached_tokens": 1}, "output_tokens": 2},
    error=None,
    incomplete_details=None,
)


def unnamed(frames: Iterable[Any]) -> bytes:
    """A stream whose events have their name in their data only."""
    return b"".join(b"data: %b\n\n" % dump(event) for event in frames)


def names_only(frames: Iterable[Any]) -> bytes:
    """A stream whose events do not have their name in their data."""
    return b"".join(
        frame(dump({key: value for key, value in event.items() if key != "type"}), event["type"])
        for event in frames
    )


FRAMINGS = {"named": sse, "unnamed": unnamed}
ERROR = {"type": "error", "code": "server_error", "message": "Ø"}
STEPS = [
    CREATED,
    added(0, type="message", id="msg_a", role="assistant", content=[]),
    *(text_delta(letter) for letter in "Øslo"),
    added(1, type="message", id="msg_b", role="assistant", content=[]),
    *(text_delta(letter, 1, "msg_b") for letter in "øl"),
    *(text_delta(letter) for letter in "ok"),
    completed(message("Øslook"), message("øl", "msg_b")),
]
"""Texts of the same form, with something else between them."""
STREAMS = {
    "rich": sse(RICH_STREAM),
    "unnamed": sse(RICH_STREAM, named=False),
    "crlf": sse(RICH_STREAM).replace(b"\n", b"\r\n"),
    "crlf, names only": names_only(RICH_STREAM).replace(b"\n", b"\r\n"),
    "names only": names_only(RICH_STREAM),
    "steps": sse(STEPS),
    "error": sse([*RICH_STREAM[:6], ERROR, *RICH_STREAM[6:]]),
    "cut": sse(RICH_STREAM)[:-700],
    "not json": sse([*RICH_STREAM[:6], "{", *RICH_STREAM[6:]]),
    "after the end": sse([*RICH_STREAM, *RICH_STREAM[:6]]),
}
ALLOWED_NOTES = frozenset({"usage.impossible"})
"""What the counts of a drawn usage bring about, which need not add up."""
ALWAYS_STARTS = True
