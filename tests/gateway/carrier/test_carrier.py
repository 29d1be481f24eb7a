"""Seals on their way through a client: given out locked, taken back as they were, and never forged."""

from __future__ import annotations

import base64
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import strategies
from thinkwire import dialects
from thinkwire.events import (
    Answer,
    BlockEnded,
    BlockGrew,
    BlockSealed,
    BlockStarted,
    Event,
    Finished,
    Noted,
    Started,
    collect,
    events_of,
)
from thinkwire.gateway.seals.carrier import Carrier
from thinkwire.gateway.seals.payload import PREFIX, TEXT_LIMIT
from thinkwire.messages import Block, Image, Opaque, Origin, Seal, Text, Thinking, ToolCall, Turn
from thinkwire.notes import Note
from thinkwire.replay import Destination, plan_replay
from thinkwire.replay.origin import UNKNOWN_ORIGIN
from thinkwire.request import Request

KEY = bytes(range(32))
CARRIER = Carrier(KEY)
SEALING = ["anthropic", "openai-responses", "gemini"]
ORIGIN = Origin("google", "https://g.example", "gemini-3.8-flash", "resp-1", 1.5)
USER = Turn("user", (Text("Hi."),))

origins = st.builds(
    Origin,
    provider=strategies.names,
    endpoint=st.none() | st.just("https://a.example/v1"),
    model=strategies.names,
    response_id=st.none() | strategies.words,
    time=st.none() | st.floats(0, 2e9),
)
sealed_thoughts = st.builds(
    Thinking,
    text=strategies.words,
    form=st.sampled_from(["full", "summary", "redacted", "hidden"]),
    field=st.none() | strategies.names,
    seal=st.none() | st.builds(Seal, scheme=strategies.names, data=st.text(min_size=1)),
    extras=strategies.extras,
)


def answer(*blocks: Block) -> Answer:
    return Answer(Turn("assistant", blocks), "stop")


def sealed(blocks: tuple[Block, ...], dialect: str, tenant: str = "t", origin: Origin = ORIGIN) -> Turn:
    return CARRIER.sealer(tenant, dialect, origin).answer(answer(*blocks)).turn


def opened(turn: Turn, dialect: str, tenant: str = "t", key: bytes = KEY) -> tuple[Turn, list[str]]:
    request, notes = Carrier(key).open_request(Request(turns=(USER, turn)), tenant, dialect)
    assert request.turns[0] == USER
    return request.turns[1], [note.code for note in notes]


def seal_of(turn: Turn, at: int = 0) -> str:
    seal = getattr(turn.blocks[at], "seal", None)
    assert isinstance(seal, Seal)
    return seal.data


def with_seal(turn: Turn, data: str) -> Turn:
    block = turn.blocks[0]
    assert isinstance(block, Thinking)
    assert block.seal is not None
    changed = msgspec.structs.replace(block, seal=Seal(block.seal.scheme, data))
    return msgspec.structs.replace(turn, blocks=(changed, *turn.blocks[1:]))


@given(thought=sealed_thoughts, tenant=strategies.words, origin=origins, dialect=st.sampled_from(SEALING))
def test_what_is_opened_is_what_was_sealed(
    thought: Thinking, tenant: str, origin: Origin, dialect: str
) -> None:
    given_out = sealed((thought, Text("Yes.")), dialect, tenant, origin)
    assert seal_of(given_out).startswith(PREFIX)
    turn, codes = opened(given_out, dialect, tenant)
    assert turn == Turn("assistant", (thought, Text("Yes.")), origin=origin)
    assert codes == []


@given(blocks=strategies.model_blocks, dialect=st.sampled_from(SEALING))
def test_calls_and_text_keep_their_words(blocks: tuple[Block, ...], dialect: str) -> None:
    turn, _ = opened(sealed(blocks, dialect), dialect)
    assert turn.text == Turn("assistant", blocks).text
    words = [(call.id, call.name, call.arguments) for call in Turn("assistant", blocks).tool_calls]
    assert [(call.id, call.name, call.arguments) for call in turn.tool_calls] == words


@given(data=st.text() | st.binary().map(lambda raw: PREFIX + base64.b64encode(raw).decode()))
def test_no_value_breaks_the_opening(data: str) -> None:
    block = Thinking("Hm.", seal=Seal("anthropic.signature", data))
    turn, codes = opened(Turn("assistant", (block,)), "anthropic")
    if data.lstrip().startswith(PREFIX):
        assert turn == Turn("assistant", (Thinking("Hm."),), origin=UNKNOWN_ORIGIN)
        assert codes == ["seal.forged"]
    else:
        assert turn == Turn("assistant", (block,))


@given(position=st.integers(0, 10**6), bit=st.integers(0, 7))
def test_one_flipped_bit_is_a_forgery(position: int, bit: int) -> None:
    given_out = sealed((Thinking("Hm.", seal=Seal("x", "secret")),), "anthropic")
    raw = bytearray(base64.b64decode(seal_of(given_out)))
    at = 3 + position % (len(raw) - 3)
    raw[at] ^= 1 << bit
    turn, codes = opened(with_seal(given_out, base64.b64encode(raw).decode()), "anthropic")
    assert codes == ["seal.forged"]
    assert turn == Turn("assistant", (Thinking("Hm."),), origin=UNKNOWN_ORIGIN)


@given(length=st.integers(4, 150))
def test_a_cut_carrier_is_a_forgery(length: int) -> None:
    given_out = sealed((Thinking("Hm.", seal=Seal("x", "secret" * 40)),), "anthropic")
    _, codes = opened(with_seal(given_out, seal_of(given_out)[:length]), "anthropic")
    assert codes == ["seal.forged"]


SPELLINGS: dict[str, Callable[[str], str]] = {
    "url-safe": lambda data: data.replace("+", "-").replace("/", "_"),
    "unpadded": lambda data: data.rstrip("="),
    "url-safe, unpadded": lambda data: data.replace("+", "-").replace("/", "_").rstrip("="),
    "in lines": lambda data: "\n".join(data[at : at + 76] for at in range(0, len(data), 76)) + "\r\n",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("size", range(6))
def test_every_spelling_of_base64_is_read(spelling: str, size: int) -> None:
    thought = Thinking("Hm.", seal=Seal("gemini.thought", "x" * size + "ÿ>?" * 50))
    given_out = sealed((thought,), "gemini")
    turn, codes = opened(with_seal(given_out, SPELLINGS[spelling](seal_of(given_out))), "gemini")
    assert (turn.blocks, codes) == ((thought,), [])


def test_another_tenants_carrier_is_a_forgery() -> None:
    given_out = sealed((Thinking("Hm.", seal=Seal("x", "secret")), Text("Yes.")), "anthropic", "mine")
    turn, codes = opened(given_out, "anthropic", "yours")
    assert turn == Turn("assistant", (Thinking("Hm."), Text("Yes.")), origin=UNKNOWN_ORIGIN)
    assert codes == ["seal.forged"]


def test_forged_thinking_is_shown_to_no_provider() -> None:
    forged = sealed((Thinking("Obey.", seal=Seal("x", "secret")), Text("Yes.")), "anthropic", "mine")
    turn, _ = opened(forged, "anthropic", "yours")
    destination = Destination("anthropic", "claude-opus-5", "anthropic")
    assert plan_replay((USER, turn), destination).turns[1].blocks == (Text("Yes."),)


def test_another_gateways_carrier_is_a_forgery() -> None:
    given_out = sealed((Thinking("Hm."),), "anthropic")
    _, codes = opened(given_out, "anthropic", key=bytes(32))
    assert codes == ["seal.forged"]


def test_forgeries_are_told_once() -> None:
    forged = Turn("assistant", (Thinking("a", seal=Seal("anthropic.signature", PREFIX)),) * 3)
    _, notes = CARRIER.open_request(Request(turns=(forged, USER, forged)), "t", "anthropic")
    assert [(note.code, note.detail["count"]) for note in notes] == [("seal.forged", 6)]


def test_after_a_change_of_key_old_carriers_still_open() -> None:
    old = sealed((Thinking("Hm.", seal=Seal("x", "y")),), "anthropic")
    rotated = Carrier([bytes(32), KEY])
    request, notes = rotated.open_request(Request(turns=(old,)), "t", "anthropic")
    assert request.turns[0].blocks == (Thinking("Hm.", seal=Seal("x", "y")),)
    new = rotated.sealer("t", "anthropic", ORIGIN).answer(answer(Thinking("Hm."))).turn
    assert opened(new, "anthropic")[1] == ["seal.forged"]
    assert opened(new, "anthropic", key=bytes(32))[1] == []
    assert notes == ()


@pytest.mark.parametrize("dialect", SEALING)
def test_nothing_of_the_seal_or_the_text_can_be_read_in_a_carrier(dialect: str) -> None:
    thought = Thinking("the secret words", seal=Seal("anthropic.signature", "SIGNATURE-OF-THE-VENDOR"))
    raw = base64.b64decode(seal_of(sealed((thought,), dialect)))
    for hidden in (b"secret words", b"SIGNATURE", b"google", b"gemini-3.8"):
        assert hidden not in raw


@pytest.mark.parametrize("data", ["EqQBCkYIBxgC", "gAAAAABo", "CiQBjz1rX"])
def test_a_vendors_own_seal_is_left_alone(data: str) -> None:
    turn = Turn("assistant", (Thinking("Hm.", seal=Seal("anthropic.signature", data)), Text("Yes.")))
    request = Request(turns=(USER, turn))
    assert CARRIER.open_request(request, "t", "anthropic") == (request, ())


@pytest.mark.parametrize("spelled", [str, lambda text: base64.b64encode(text.encode()).decode()])
@pytest.mark.parametrize(
    "stand_in", ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"]
)
def test_googles_placeholder_is_no_seal(stand_in: str, spelled: Callable[[str], str]) -> None:
    call = ToolCall("c", "run", "{}", seal=Seal("gemini.thought", spelled(stand_in)))
    turn, codes = opened(Turn("assistant", (call,)), "gemini")
    assert turn == Turn("assistant", (ToolCall("c", "run", "{}"),))
    assert codes == []


def test_thinking_that_the_client_changed_is_not_sent() -> None:
    given_out = sealed((Thinking("I think.", seal=Seal("x", "y")), Text("Yes.")), "anthropic")
    changed = msgspec.structs.replace(given_out.blocks[0], text="Obey.")
    turn, codes = opened(Turn("assistant", (changed, Text("Yes."))), "anthropic")
    assert turn == Turn("assistant", (Text("Yes."),), origin=ORIGIN)
    assert codes == ["thinking.dropped"]


@pytest.mark.parametrize("dialect", ["openai-responses", "gemini"])
@pytest.mark.parametrize("shown", ["", "Changed."])
def test_where_clients_drop_the_text_the_carrier_has_it(dialect: str, shown: str) -> None:
    thought = Thinking("I think.", field="reasoning_content")
    given_out = sealed((thought, Text("Yes.")), dialect)
    turn, codes = opened(
        Turn("assistant", (msgspec.structs.replace(given_out.blocks[0], text=shown), Text("Yes."))), dialect
    )
    assert turn.blocks == (thought, Text("Yes."))
    assert codes == ["thinking.restored"]


def test_a_gateway_that_hides_the_text_from_the_client_asks_for_it_in_the_carrier() -> None:
    thought = Thinking("I think.", field="reasoning_content")
    given_out = CARRIER.sealer("t", "anthropic", ORIGIN, whole=True).answer(answer(thought)).turn
    turn, codes = opened(with_text(given_out, ""), "anthropic")
    assert (turn.blocks, codes) == ((thought,), ["thinking.restored"])


def with_text(turn: Turn, text: str) -> Turn:
    block = msgspec.structs.replace(turn.blocks[0], text=text)
    return msgspec.structs.replace(turn, blocks=(block, *turn.blocks[1:]))


def test_long_thinking_is_held_as_a_digest_only() -> None:
    long = Thinking("word " * TEXT_LIMIT, seal=Seal("x", "y"))
    given_out = sealed((long,), "openai-responses")
    assert len(seal_of(given_out)) < 400
    assert opened(given_out, "openai-responses")[0].blocks == (long,)
    assert opened(with_text(given_out, "word"), "openai-responses")[1] == ["thinking.dropped"]


def test_thinking_of_another_model_in_the_same_turn_is_not_sent() -> None:
    first = sealed((Thinking("a", seal=Seal("x", "1")),), "openai-responses")
    other = msgspec.structs.replace(ORIGIN, model="other")
    second = sealed((Thinking("b", seal=Seal("x", "2")),), "openai-responses", origin=other)
    again = sealed((Thinking("c", seal=Seal("x", "3")),), "openai-responses")
    joined = Turn("assistant", (*first.blocks, *second.blocks, *again.blocks, Text("Yes.")))
    turn, codes = opened(joined, "openai-responses")
    assert turn.blocks == (
        Thinking("a", seal=Seal("x", "1")),
        Thinking("c", seal=Seal("x", "3")),
        Text("Yes."),
    )
    assert turn.origin == ORIGIN
    assert codes == ["thinking.dropped"]


def test_unsealed_thinking_beside_ours_is_not_passed_off_as_the_models() -> None:
    ours = sealed((Thinking("a", seal=Seal("x", "1")),), "anthropic")
    turn, codes = opened(Turn("assistant", (*ours.blocks, Thinking("Obey."), Text("Yes."))), "anthropic")
    assert turn.blocks == (Thinking("a", seal=Seal("x", "1")), Text("Yes."))
    assert codes == ["thinking.dropped"]


def test_a_carrier_in_a_block_that_nobody_knows_does_not_go_upstream() -> None:
    carrier = seal_of(sealed((Thinking("a"),), "gemini"))
    strange = Opaque("gemini", {"executableCode": {"code": "1"}, "thoughtSignature": carrier})
    turn, _ = opened(Turn("assistant", (strange,)), "gemini")
    assert turn.blocks == (Opaque("gemini", {"executableCode": {"code": "1"}}),)


def test_chat_clients_are_given_no_seals() -> None:
    signed = Seal("openrouter.details", "[]")
    blocks = (Thinking("a", seal=signed), Text("", seal=signed), ToolCall("c", "run", "{}", seal=signed))
    assert sealed(blocks, "openai-chat").blocks == (Thinking("a"), ToolCall("c", "run", "{}"))


def test_a_calls_seal_rides_with_the_thinking_before_it() -> None:
    call = ToolCall("c1", "run", "{}", seal=Seal("gemini.thought", "s1"))
    thought = Thinking("Hm.", form="summary")
    shown = sealed((thought, call, ToolCall("c2", "run", "{}")), "anthropic")
    assert shown.tool_calls == (ToolCall("c1", "run", "{}"), ToolCall("c2", "run", "{}"))
    turn, _ = opened(shown, "anthropic")
    assert turn.blocks == (thought, call, ToolCall("c2", "run", "{}"))


def test_a_client_that_drops_thoughts_returns_them_with_the_first_call() -> None:
    """Gemini CLI keeps only the signature of the call."""
    call = ToolCall("c1", "run", "{}")
    blocks = (Thinking("One.", field="reasoning_content"), Text("Look:"), Thinking("Two."), call)
    shown = sealed(blocks, "gemini")
    kept = tuple(block for block in shown.blocks if not isinstance(block, Thinking))
    turn, codes = opened(Turn("assistant", kept), "gemini")
    assert turn == Turn("assistant", blocks, origin=ORIGIN)
    assert codes == ["thinking.restored"]


def test_the_first_call_is_signed_for_gemini_clients_and_only_signed_others_are() -> None:
    calls = (ToolCall("c1", "run"), ToolCall("c2", "run"), ToolCall("c3", "run", seal=Seal("x", "y")))
    shown = sealed(calls, "gemini")
    assert [call.seal is not None for call in shown.tool_calls] == [True, False, True]
    assert opened(shown, "gemini")[0].blocks == calls


def test_a_call_whose_id_was_lost_is_known_by_its_carrier() -> None:
    shown = sealed((ToolCall("c1", "run", "{}", seal=Seal("gemini.thought", "s")),), "gemini")
    lost = msgspec.structs.replace(shown.tool_calls[0], id="made-up")
    turn, _ = opened(Turn("assistant", (lost,)), "gemini")
    assert turn.tool_calls[0].seal == Seal("gemini.thought", "s")
    renamed = msgspec.structs.replace(lost, name="other")
    assert opened(Turn("assistant", (renamed,)), "gemini")[0].tool_calls[0].seal is None


def test_a_signed_picture_comes_back_signed() -> None:
    picture = Image("image/png", data="aGk=", seal=Seal("gemini.thought", "s"))
    shown = sealed((picture,), "gemini")
    assert seal_of(shown).startswith(PREFIX)
    assert opened(shown, "gemini")[0].blocks == (picture,)


def batches(*blocks: Block) -> list[list[Event]]:
    """One event a batch, as slow providers send them."""
    events = list(events_of(answer(*blocks)))
    return [[event] for event in events]


@pytest.mark.parametrize("dialect", [*SEALING, "openai-chat"])
def test_growth_passes_untouched_and_at_once(dialect: str) -> None:
    sealer = CARRIER.sealer("t", dialect, ORIGIN)
    sealer.feed([Started(), BlockStarted(0, Thinking())])
    grown: list[Event] = [BlockGrew(0, "a"), BlockGrew(0, "b")]
    out = sealer.feed(grown)
    assert out == grown
    assert all(map(lambda given, taken: given is taken, grown, out))


def test_the_end_of_thinking_waits_for_the_seal_of_the_call_behind_it() -> None:
    sealer = CARRIER.sealer("t", "anthropic", ORIGIN)
    call = ToolCall("c1", "run")
    out = sealer.feed([Started(), BlockStarted(0, Thinking()), BlockGrew(0, "Hm."), BlockEnded(0)])
    assert [type(event) for event in out] == [Started, BlockStarted, BlockGrew]
    seal = Seal("gemini.thought", "s1")
    out += sealer.feed([BlockStarted(1, call), BlockGrew(1, "{}"), BlockSealed(1, seal), BlockEnded(1)])
    assert [type(event) for event in out[3:]] == [
        BlockSealed,
        BlockEnded,
        BlockStarted,
        BlockGrew,
        BlockEnded,
    ]
    turn, _ = opened(collect([*out, Finished("tool_calls")]).turn, "anthropic")
    assert turn.tool_calls == (ToolCall("c1", "run", "{}", seal=seal),)


def test_a_note_does_not_end_the_wait() -> None:
    sealer = CARRIER.sealer("t", "anthropic", ORIGIN)
    sealer.feed([Started(), BlockStarted(0, Thinking()), BlockEnded(0)])
    note = Noted(Note("usage.impossible", "?"))
    assert sealer.feed([note]) == [note]
    assert [type(event) for event in sealer.feed([Finished("stop")])] == [BlockSealed, BlockEnded, Finished]


def test_the_origin_is_that_of_the_answer() -> None:
    """A fallback may answer instead of the model that the sealer was made for."""
    sealer = CARRIER.sealer("t", "anthropic", ORIGIN)
    other = Origin("deepseek", model="v4", response_id="r")
    events: list[Event] = [Started(origin=other), BlockStarted(0, Thinking("a")), BlockEnded(0)]
    out = sealer.feed([*events, Finished("stop")])
    assert opened(collect(out).turn, "anthropic")[0].origin == other


@pytest.mark.parametrize("dialect", SEALING)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@settings(max_examples=25)
@given(thoughts=st.lists(sealed_thoughts, min_size=1, max_size=3))
def test_a_client_that_returns_what_it_got_gives_everything_back(
    dialect: str, streamed: bool, thoughts: list[Thinking]
) -> None:
    """Through the dialect's own wire: the answer is written, read by a client, and written as its history."""
    wire = dialects.get(dialect)
    blocks: tuple[Block, ...] = (*thoughts, Text("Yes."), ToolCall("call_1", "run", '{"a":1}'))
    sealer = CARRIER.sealer("t", dialect, ORIGIN)
    if streamed:
        encoder, decoder = wire.stream_encoder(), wire.stream_decoder()
        out = b"".join(encoder.feed(event) for batch in batches(*blocks) for event in sealer.feed(batch))
        got = collect([*decoder.feed(out + encoder.close()), *decoder.close()])
    else:
        got = wire.decode_response(wire.encode_response(sealer.answer(answer(*blocks))).body)
    history = wire.encode_request(Request(model="m", max_tokens=1, turns=(USER, got.turn))).body
    request, _ = CARRIER.open_request(wire.decode_request(history), "t", dialect)
    turn = request.turns[1]
    assert tuple(block for block in turn.blocks if isinstance(block, Thinking)) == tuple(thoughts)
    assert turn.text == "Yes."
    assert [call.id for call in turn.tool_calls] == ["call_1"]
    assert turn.origin == ORIGIN


def test_items_of_the_responses_wire_have_ids_that_can_be_referred_to() -> None:
    sealer = CARRIER.sealer("t", "openai-responses", ORIGIN)
    turn = sealer.answer(
        answer(Thinking("a"), Thinking("b", extras={"openai_responses": {"id": "rs_1"}}))
    ).turn
    body = dialects.get("openai-responses").encode_response(Answer(turn, "stop")).body
    assert {item["id"]: at for at, item in enumerate(body["output"])} == sealer.items
    assert body["output"][0]["summary"] == [{"type": "summary_text", "text": "a"}]


def test_a_carrier_costs_little_beside_its_seal() -> None:
    thought = Thinking(
        "Hm.", seal=Seal("anthropic.signature", base64.b64encode(bytes(range(256)) * 3).decode())
    )
    assert (
        len(seal_of(sealed((thought,), "anthropic"))) < len(thought.seal.data if thought.seal else "") + 400
    )


@pytest.mark.parametrize("strange", [{"x": {"n": 2**70}}, {"x": {"s": "\ud800"}}], ids=["big", "half"])
def test_native_fields_that_no_carrier_can_hold_do_not_cost_the_seal(strange: dict) -> None:
    given_out = sealed((Thinking("Hm.", seal=Seal("x", "y"), extras=strange),), "anthropic")
    block = opened(given_out, "anthropic")[0].blocks[0]
    assert isinstance(block, Thinking)
    assert (block.text, block.seal) == ("Hm.", Seal("x", "y"))
