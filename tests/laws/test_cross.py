"""Between dialects: what the target cannot say is a Note, never a silence."""

from __future__ import annotations

from itertools import permutations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import strategies
from tests.laws import inventory
from thinkwire import dialects
from thinkwire.dialects import NAMES
from thinkwire.events import Answer, collect, events_of
from thinkwire.messages import Image, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.request import Request, Tool, ToolChoice

PAIRS = list(permutations(NAMES, 2))
SEALS = {
    "anthropic": Seal("anthropic.signature", "c2lnbmF0dXJl"),
    "openai-chat": Seal(
        "openrouter.details",
        '[{"type":"reasoning.text","text":"Two cities, two calls.","signature":"c2ln","index":0}]',
    ),
    "openai-responses": Seal("openai.encrypted", "Z0FBQUFB"),
    "gemini": Seal("gemini.thought", "Q3NRQg=="),
}
FORMS = {"openai-responses": "summary", "gemini": "summary"}
CALLS = (
    ToolCall("call_oslo", "get_weather", '{"city":"Oslo"}'),
    ToolCall("call_bergen", "get_weather", '{"city":"Bergen"}'),
)
WEATHER = ("12 °C", "9 °C")
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
PICTURE = Image(media_type="image/png", data="iVBORw0KGgo=")


def thought_by(dialect: str) -> tuple[Thinking | ToolCall, ...]:
    """The thinking and the calls of a turn, sealed as this dialect seals them."""
    seal = SEALS[dialect]
    form = FORMS.get(dialect, "full")
    if dialect == "gemini":
        thinking = Thinking("Two cities, two calls.", form="summary")
        return (thinking, msgspec.structs.replace(CALLS[0], seal=seal), CALLS[1])
    field = "reasoning_details" if dialect == "openai-chat" else None
    return (Thinking("Two cities, two calls.", form=form, field=field, seal=seal), *CALLS)  # type: ignore[arg-type]


def results_for(dialect: str) -> tuple[ToolResult, ...]:
    """What the tools gave back; only one wire says their name again."""
    name = "get_weather" if dialect == "gemini" else None
    return tuple(ToolResult(call.id, (Text(said),), name) for call, said in zip(CALLS, WEATHER, strict=True))


def conversation_with(dialect: str) -> Request:
    return Request(
        model="" if dialect == "gemini" else "some-model",
        system=(Text("Be brief."),),
        turns=(
            Turn("user", (Text("What is the weather there?"), PICTURE)),
            Turn("assistant", thought_by(dialect)),
            Turn("user", results_for(dialect)),
            Turn("assistant", (Text("Cold."),)),
            Turn("user", (Text("And tomorrow?"),)),
        ),
        tools=(Tool("get_weather", "The weather of a city.", SCHEMA),),
        tool_choice=ToolChoice("auto"),
        max_tokens=1000,
        temperature=0.5,
    )


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_tool_loop_with_thinking_and_an_image_converts(source: str, target: str) -> None:
    native = dialects.get(source).encode_request(conversation_with(source)).body
    neutral = dialects.get(source).decode_request(native)
    encoded = dialects.get(target).encode_request(neutral)
    arrived = dialects.get(target).decode_request(encoded.body)

    lost = inventory.silent_losses(
        inventory.of_request(neutral), inventory.of_request(arrived), encoded.notes
    )
    assert lost == []
    said = {note.code for note in encoded.notes}
    assert said & {"thinking.dropped", "seal.dropped"}, "the source's seal means nothing to the target"
    seal = SEALS[source].data
    assert seal not in msgspec.json.encode(encoded.body).decode()
    for turn_in, turn_out in zip(neutral.turns, arrived.turns, strict=True):
        assert turn_out.role == turn_in.role
        assert turn_out.text == turn_in.text
        assert [(c.id, c.name, c.arguments) for c in turn_out.tool_calls] == [
            (c.id, c.name, c.arguments) for c in turn_in.tool_calls
        ]
    assert PICTURE in arrived.turns[0].blocks
    assert [block.content for block in arrived.turns[2].blocks if isinstance(block, ToolResult)] == [
        (Text("12 °C"),),
        (Text("9 °C"),),
    ]
    assert arrived.system == neutral.system
    (tool,) = arrived.tools
    assert isinstance(tool, Tool)
    assert tool.schema == SCHEMA
    assert arrived.max_tokens == 1000


@pytest.mark.parametrize("name", NAMES)
def test_the_same_tool_loop_in_its_own_dialect_loses_nothing(name: str) -> None:
    dialect = dialects.get(name)
    request = conversation_with(name)
    encoded = dialect.encode_request(request)
    assert encoded.notes == ()
    assert dialect.decode_request(encoded.body) == request


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_answer_converts_and_shows_its_thinking(source: str, target: str, streamed: bool) -> None:
    turn = Turn("assistant", (*thought_by(source)[:1], Text("Let me look."), *thought_by(source)[1:]))
    answer = Answer(turn, "tool_calls")
    if streamed:
        encoder, decoder = dialects.get(target).stream_encoder(), dialects.get(target).stream_decoder()
        wire = b"".join([*(encoder.feed(event) for event in events_of(answer)), encoder.close()])
        arrived = collect([*decoder.feed(wire), *decoder.close()])
        notes = encoder.notes
    else:
        encoded = dialects.get(target).encode_response(answer)
        arrived, notes = dialects.get(target).decode_response(encoded.body), list(encoded.notes)
    assert arrived.failure is None
    assert arrived.turn.thinking == turn.thinking
    assert arrived.turn.text == turn.text
    assert [(c.id, c.name, c.arguments) for c in arrived.turn.tool_calls] == [
        (c.id, c.name, c.arguments) for c in turn.tool_calls
    ]
    assert arrived.finish == "tool_calls"
    assert {"seal.dropped"} <= {note.code for note in notes}
    assert inventory.silent_losses(inventory.of_answer(answer), inventory.of_answer(arrived), notes) == []


schemes = st.sampled_from(
    sorted({seal.scheme for seal in SEALS.values()} | {"anthropic.redacted", "copilot.opaque"})
)
seals = st.none() | st.builds(Seal, scheme=schemes, data=st.sampled_from(["c2VhbA==", "[]", "x"]))
thoughts = st.builds(
    Thinking,
    text=strategies.words,
    form=st.sampled_from(["full", "summary"]),
    seal=seals.filter(lambda seal: seal is None or seal.scheme != "anthropic.redacted"),
    interrupted=st.booleans(),
) | st.builds(Thinking, form=st.just("redacted"), seal=st.just(Seal("anthropic.redacted", "c2VhbA==")))
texts = st.builds(Text, text=strategies.words, seal=seals)
calls = st.builds(
    ToolCall,
    id=strategies.some_words,
    name=strategies.names,
    arguments=st.just('{"a":1}') | strategies.words,
    seal=seals,
)
assistant = st.builds(
    Turn,
    role=st.just("assistant"),
    blocks=st.lists(texts | thoughts | calls | strategies.opaques, max_size=4).map(tuple),
)
user_blocks = st.lists(texts | strategies.images | strategies.documents | strategies.opaques, max_size=3)
user = st.builds(
    Turn,
    role=st.just("user"),
    blocks=st.tuples(st.lists(strategies.results, max_size=2), user_blocks).map(
        lambda two: (*two[0], *two[1])
    ),
)
foreign = st.dictionaries(
    st.sampled_from(["anthropic", "openai_chat", "openai_responses", "gemini"]), st.just({"zz": 1})
)
requests = st.builds(
    Request,
    model=st.just("m"),
    system=st.lists(texts, max_size=2).map(tuple),
    turns=st.lists(assistant | user, max_size=4).map(tuple),
    tools=st.lists(st.builds(Tool, name=strategies.names, schema=st.just(SCHEMA)), max_size=2).map(tuple),
    tool_choice=st.none() | st.builds(ToolChoice, mode=st.sampled_from(["auto", "none", "any"])),
    parallel_tool_calls=st.none() | st.booleans(),
    max_tokens=st.none() | st.integers(1, 1000),
    temperature=st.none() | st.just(0.5),
    top_k=st.none() | st.just(40),
    seed=st.none() | st.just(7),
    presence_penalty=st.none() | st.just(0.5),
    stop=st.just(()) | st.just(("END",)),
    extras=foreign,
)


@pytest.mark.parametrize("name", NAMES)
@given(request=requests)
def test_nothing_in_a_request_is_lost_silently(name: str, request: Request) -> None:
    dialect = dialects.get(name)
    encoded = dialect.encode_request(request)
    arrived = dialect.decode_request(encoded.body)
    assert (
        inventory.silent_losses(inventory.of_request(request), inventory.of_request(arrived), encoded.notes)
        == []
    )


answers = st.builds(
    Answer,
    turn=assistant.map(lambda turn: msgspec.structs.replace(turn, blocks=tuple(map(_finished, turn.blocks)))),
    finish=st.just("stop"),
)


def _finished(block: object) -> object:
    return msgspec.structs.replace(block, interrupted=False) if isinstance(block, Thinking) else block


@pytest.mark.parametrize("name", NAMES)
@given(answer=answers)
def test_nothing_in_an_answer_is_lost_silently(name: str, answer: Answer) -> None:
    dialect = dialects.get(name)
    before = inventory.of_answer(answer)
    encoded = dialect.encode_response(answer)
    assert (
        inventory.silent_losses(
            before, inventory.of_answer(dialect.decode_response(encoded.body)), encoded.notes
        )
        == []
    )
    encoder, decoder = dialect.stream_encoder(), dialect.stream_decoder()
    wire = b"".join([*(encoder.feed(event) for event in events_of(answer)), encoder.close()])
    arrived = collect([*decoder.feed(wire), *decoder.close()])
    assert inventory.silent_losses(before, inventory.of_answer(arrived), encoder.notes) == []


def test_fields_that_only_the_source_knows_are_named() -> None:
    cached = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    body = {
        "model": "m",
        "metadata": {"user_id": "u"},
        "messages": [{"role": "user", "content": [cached, cached]}],
    }
    request = dialects.get("anthropic").decode_request(body)
    assert dialects.get("anthropic").encode_request(request).notes == ()
    notes = dialects.get("gemini").encode_request(request).notes
    assert [note.detail["fields"] for note in notes] == [["metadata"], ["cache_control"]]
    assert "2 times" in notes[1].message
