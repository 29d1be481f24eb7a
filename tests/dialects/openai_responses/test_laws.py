"""What is written is what is read, and nothing that is sent to us makes us fall over."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests import strategies
from tests.dialects.openai_responses.wire import (
    RICH_STREAM,
    call,
    message,
    native,
    raw_reasoning,
    reasoning,
    response,
    sse,
)
from thinkwire.dialects.openai_responses import OPENAI_RESPONSES
from thinkwire.errors import MalformedInput
from thinkwire.events import Answer, Event, Failed, Finished, FinishReason, Noted, Started, collect, events_of
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

D = OPENAI_RESPONSES
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
requests = st.builds(
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


@given(requests)
def test_a_request_is_read_as_it_was_written(request: Request) -> None:
    encoded = D.encode_request(request)
    assert encoded.notes == ()
    assert D.decode_request(json.loads(json.dumps(encoded.body))) == request


@given(answers())
def test_an_answer_is_read_as_it_was_written(answer: Answer) -> None:
    encoded = D.encode_response(answer)
    assert encoded.notes == ()
    assert _silent(D.decode_response(json.loads(json.dumps(encoded.body)))) == answer


@given(answers())
def test_a_streamed_answer_is_read_as_it_was_written(answer: Answer) -> None:
    encoder, decoder = D.stream_encoder(), D.stream_decoder()
    body = b"".join([*(encoder.feed(event) for event in events_of(answer)), encoder.close()])
    assert encoder.notes == []
    assert _silent(collect([*decoder.feed(body), *decoder.close()])) == answer


def _silent(answer: Answer) -> Answer:
    """The answer without notes on its usage, which need not add up."""
    assert {note.code for note in answer.notes} <= {"usage.impossible"}
    return Answer(answer.turn, answer.finish, answer.usage, (), answer.failure, answer.extras)


@given(st.data())
def test_cuts_between_bytes_do_not_matter(data: st.DataObject) -> None:
    body = sse(RICH_STREAM)
    whole = D.stream_decoder()
    expected = [*whole.feed(body), *whole.close()]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=12)))
    decoder = D.stream_decoder()
    told: list[Event] = []
    for start, stop in zip([0, *cuts], [*cuts, len(body)], strict=True):
        told += decoder.feed(body[start:stop])
    assert [*told, *decoder.close()] == expected


REQUEST = {
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
RESPONSE = response(
    reasoning("a", "b", encrypted_content="gAAA"),
    raw_reasoning("c"),
    message("Hi"),
    call("{}"),
    usage={"input_tokens": 1, "input_tokens_details": {"cached_tokens": 1}, "output_tokens": 2},
    error=None,
    incomplete_details=None,
)
odd: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        3.5,
        10**30,
        "",
        "x",
        "message",
        "reasoning",
        [],
        {},
        [None],
        [{}],
        ["x"],
        {"type": "x"},
    ]
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        found += _places(inner, (*path, step))
    return found


@st.composite
def spoiled(draw: st.DrawFn, value: Any) -> Any:
    """The value with a few of its parts replaced or gone."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        places = _places(value)
        if not places:
            break
        *way, last = draw(st.sampled_from(places))
        inner = value
        for step in way:
            inner = inner[step]
        if isinstance(inner, dict) and draw(st.booleans()):
            del inner[last]
        else:
            inner[last] = copy.deepcopy(draw(odd))
    return value


@given(spoiled(REQUEST))
def test_a_spoiled_request_is_read_or_refused(body: Any) -> None:
    try:
        request = D.decode_request(body)
    except MalformedInput:
        return
    assert D.decode_request(D.encode_request(request).body) is not None


@given(spoiled(RESPONSE))
def test_a_spoiled_response_is_read_or_refused(body: Any) -> None:
    try:
        answer = D.decode_response(body)
    except MalformedInput:
        return
    assert isinstance(D.encode_response(answer).body["output"], list)


@given(spoiled(RICH_STREAM), st.integers(0, 40))
def test_a_spoiled_stream_has_one_beginning_and_one_end(wire: list[Any], lost: int) -> None:
    decoder = D.stream_decoder()
    told = [*decoder.feed(sse(wire[:lost] + wire[lost + 1 :])), *decoder.close()]
    assert [event for event in told if isinstance(event, Started)] == told[:1]
    last = [event for event in told if not isinstance(event, Noted)][-1]
    assert isinstance(last, Finished | Failed)
    assert sum(isinstance(event, Finished | Failed) for event in told) == 1
    answer = collect(told)
    if isinstance(last, Finished):
        assert not any(getattr(block, "interrupted", False) for block in answer.turn.blocks)


def test_nesting_without_end_is_a_failure_and_nothing_worse() -> None:
    deep = "[" * 10_000 + "]" * 10_000
    for place in ('{"type":"response.output_item.done","item":%s}', '{"error":%s}', "%s"):
        decoder = D.stream_decoder()
        told = [*decoder.feed(sse([place % deep])), *decoder.close()]
        assert isinstance(told[-1], Failed)
