"""Short ways for what nearly every request is: they say what the long way says."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import strategies
from thinkwire import dialects
from thinkwire.dialects.anthropic import request as anthropic_request
from thinkwire.dialects.openai_chat import finish
from thinkwire.dialects.openai_chat import parse_messages as read_messages
from thinkwire.dialects.openai_chat import usage as chat_usage
from thinkwire.dialects.openai_chat.constants import keep
from thinkwire.dialects.openai_chat.reasoning import PLAIN, Thoughts, read_message
from thinkwire.errors import MalformedInput
from thinkwire.gateway.common.secret_box import SecretBox, spelled
from thinkwire.gateway.ingress import anthropic_clients as messages
from thinkwire.gateway.ingress import untrusted_thinking as thoughts
from thinkwire.gateway.ingress.response_tools import Known, Offer, flat_name
from thinkwire.gateway.ledger.restore import lacking, references
from thinkwire.gateway.pipeline import passthrough
from thinkwire.gateway.seals import carrier
from thinkwire.gateway.seals import payload as carried
from thinkwire.messages import Opaque, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.request import Request, Tool

USER: dict[str, Any] = {"role": "user", "content": "Why?"}
TOOL: dict[str, Any] = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}
BODIES: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        {"model": "m", "max_tokens": 9, "messages": [USER], "stream": False},
        {"model": "m", "max_tokens": 9, "messages": [USER, USER], "system": "Be brief.", "tools": [TOOL]},
        {"messages": [USER], "stop_sequences": ["x"], "temperature": 1, "top_p": 0.5, "top_k": 3},
    ],
    "openai-chat": [
        {"model": "m", "max_tokens": 9, "messages": [USER], "stream": False},
        {"model": "m", "max_completion_tokens": 9, "messages": [USER], "seed": 1, "user": "u"},
        {"messages": [{"role": "system", "content": "Be brief."}, USER], "parallel_tool_calls": False},
    ],
    "openai-responses": [
        {"model": "m", "input": "Why?", "stream": False, "store": False},
        {"model": "m", "input": [USER], "max_output_tokens": 9, "temperature": 1.0, "top_p": 0.5},
    ],
}
UNSAID = {
    "anthropic": ("tool_choice", "output_config", "output_format"),
    "openai-chat": ("tool_choice", "response_format", "stop", "tools", "max_completion_tokens"),
    "openai-responses": ("instructions", "tool_choice", "text", "tools", "parallel_tool_calls"),
}
"""Fields that mean nothing when they are null, and that few requests have."""


@pytest.mark.parametrize(
    ("dialect", "body"), [(dialect, body) for dialect, bodies in BODIES.items() for body in bodies]
)
def test_a_field_that_is_null_is_a_field_that_is_not_there(dialect: str, body: dict[str, Any]) -> None:
    decode = dialects.get(dialect).decode_request
    for name in UNSAID[dialect]:
        assert decode(dict.fromkeys([name]) | body) == decode(body), name


@pytest.mark.parametrize("field", PLAIN)
def test_one_field_of_reasoning_is_read_as_several_are(field: str) -> None:
    message = {"role": "assistant", "content": "So.", field: "Hm."}
    several = Thoughts()
    text = several.take(several.read(message))
    expected = Thinking(
        text, several.form, several.field, several.seal(verbatim=True), extras=several.extras()
    )
    assert read_message(message, ()) == (expected, {})


def test_a_plain_result_is_read_as_one_with_more_to_say() -> None:
    def results(**more: Any) -> Any:
        message = {"role": "tool", "tool_call_id": "c", "content": "12 °C", **more}
        turns = dialects.get("openai-chat").decode_request({"messages": [message]}).turns
        return turns[0].blocks[0]

    plain = results()
    assert plain == ToolResult("c", (Text("12 °C"),))
    assert results(note=1) == ToolResult("c", (Text("12 °C"),), extras=keep({"note": 1}))


MARKED = "thwi" + "A" * 80
BLOCKS = (
    *(
        Text("a"),
        Thinking("a"),
        ToolCall("c", "look"),
        ToolResult("c", (Text("a"),)),
        Opaque("gemini", {"a": 1}),
    ),
    *(Text("a", seal=Seal("gemini.thought", "x")), Thinking("a", seal=Seal("anthropic.signature", "x"))),
    *(
        Text("a", seal=Seal("gemini.thought", MARKED)),
        Thinking("a", seal=Seal("anthropic.signature", MARKED)),
    ),
    ToolCall("c", "look", seal=Seal("gemini.thought", "skip_thought_signature_validator")),
    *(
        Opaque("anthropic", {"data": MARKED}),
        Opaque("openai_responses", {"type": "item_reference", "id": "rs"}),
    ),
    ToolResult("c", (Opaque("anthropic", {"type": "tool_reference", "tool_name": "look"}),)),
)
some_turns = st.lists(
    st.builds(
        Turn,
        role=st.sampled_from(["user", "assistant"]),
        blocks=st.lists(st.sampled_from(BLOCKS) | strategies.images | strategies.documents, max_size=4).map(
            tuple
        ),
        origin=st.none() | strategies.origins,
    ),
    max_size=4,
).map(tuple)


@given(turns=some_turns)
def test_what_a_request_brings_is_seen_at_a_glance(turns: tuple[Turn, ...]) -> None:
    """The loops that most requests end in find just what the steps behind them would find."""
    model_turns = [turn for turn in turns if turn.role == "assistant"]
    blocks = [block for turn in turns for block in turn.blocks]
    said = [block for turn in model_turns for block in turn.blocks]
    assert carrier._holds_marks(turns) == any(map(carrier._is_marked, blocks))
    assert thoughts._bring_thoughts(turns) == any(
        isinstance(block, Thinking) or getattr(block, "seal", None) is not None for block in said
    )
    assert messages._has_references(turns) == any(
        isinstance(block, ToolResult) and any(isinstance(item, Opaque) for item in block.content)
        for block in blocks
    )
    assert references(turns) == {"rs" for block in blocks if isinstance(block, Opaque) and "id" in block.data}
    assert {turns[index].role for index in lacking(turns)} <= {"assistant"}
    assert all(
        index in lacking(turns) for index, turn in enumerate(turns) if turn in model_turns and not turn.origin
    )


@given(turns=some_turns)
def test_turns_lack_thinking_if_one_calls_and_nothing_tells_why(turns: tuple[Turn, ...]) -> None:
    lacking = []
    for turn in turns:
        sealed = any(call.seal is not None for call in turn.tool_calls)
        thinks = any(isinstance(block, Thinking) for block in turn.blocks)
        said_by_a_model = turn.role == "assistant" and bool(turn.tool_calls)
        lacking.append(said_by_a_model and not sealed and not thinks)
        assert passthrough._lacks_thinking((turn,)) == lacking[-1]
    assert passthrough._lacks_thinking(turns) == any(lacking)


@given(
    names=st.lists(
        st.tuples(st.sampled_from(["look", "a.b", "x" * 70]), st.sampled_from([None, "files"])), max_size=5
    ),
    kind=st.sampled_from(["function", "custom"]),
)
def test_a_tool_is_known_by_the_first_name_that_it_was_offered_by(
    names: list[tuple[str, str | None]], kind: str
) -> None:
    offer = Offer()
    for name, namespace in names:
        offer.add([Tool(name)], namespace)
        offer.add([Opaque("openai_responses", {"type": "custom", "name": name})], namespace)
    for name, namespace in (*names, ("other", None)):
        wanted = Known(kind, name, namespace)
        listed = [flat for flat, known in offer.known.items() if known == wanted]
        assert offer.name_of(kind, name, namespace) == [*listed, flat_name(name, namespace)][0]


def test_names_in_the_ledger_stay_what_they_were() -> None:
    """What is kept under a name must be found again, whichever way the name is made."""
    box = SecretBox([bytes(range(32)), bytes(range(1, 33))], "ledger")
    short, more = spelled("tenant", "call", "call_abc", "ls"), spelled(b"after", b"place")
    kept = ["5962f2c0f283632030f7ee269b81930c", "0331661d87635d45accea0f819b8fbb3"]
    assert [name.hex() for name in box.names("tenant", "call", "call_abc", "ls", b"after", b"place")] == kept
    assert [name.hex() for name in box.names_of(short, more)[1]] == kept
    assert box.names_of(short, more)[0] == box.names("tenant", "call", "call_abc", "ls")
    assert box.names_of(short) == (box.names_of(short, more)[0], [])


def test_a_request_that_says_nothing_stays_the_same_object() -> None:
    request = Request(turns=(Turn("user", (Text("Why?"),)),))
    opened, notes = carrier.Carrier(bytes(32)).open_request(request, "tenant", "anthropic")
    assert opened is request
    assert notes == ()


@given(data=st.binary(max_size=40), url=st.booleans(), padded=st.booleans(), broken=st.integers(0, 60))
def test_a_carrier_may_come_back_in_any_base64(data: bytes, url: bool, padded: bool, broken: int) -> None:
    encoded = (urlsafe_b64encode(data) if url else b64encode(data)).decode()
    spelled = encoded if padded else encoded.rstrip("=")
    assert carried._unspelled(spelled) == data
    assert carried._unspelled(f"{spelled[:broken]}\n {spelled[broken:]}") == data
    assert carried._unspelled(f"{spelled[:broken]}?{spelled[broken:]}") is None


MESSAGES = st.lists(
    st.dictionaries(
        st.sampled_from(["role", "content", "name"]),
        st.sampled_from(
            ["user", "assistant", "system", "", "So.", None, ["user"], [{"type": "text", "text": "a"}]]
        ),
        max_size=3,
    )
    | st.builds(
        lambda role, said: {"role": role, "content": said}, st.sampled_from(["user", "tool"]), st.text()
    )
    | st.sampled_from([None, "Why?", {"role": "tool", "tool_call_id": "c", "content": "12 °C"}]),
    max_size=3,
)


def read_or_refused(dialect: str, messages: list[Any]) -> Any:
    try:
        return dialects.get(dialect).decode_request({"messages": messages})
    except MalformedInput as error:
        return str(error)


@pytest.mark.parametrize(
    ("dialect", "short"),
    [("anthropic", (anthropic_request, "_plain_turn")), ("openai-chat", (read_messages, "_plain_words"))],
)
@given(messages=MESSAGES)
def test_a_message_that_is_a_string_is_read_as_any_other(
    dialect: str, short: tuple[Any, str], messages: list[Any]
) -> None:
    at_once = read_or_refused(dialect, messages)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*short, lambda message: None)
        assert at_once == read_or_refused(dialect, messages)


@given(text=st.text())
def test_a_text_of_an_answer_is_read_as_one_with_more_to_say(text: str) -> None:
    block = {"type": "text", "text": text}
    decode = dialects.get("anthropic").decode_response
    body = {"type": "message", "id": "msg_1", "model": "m", "stop_reason": "end_turn", "stop_sequence": None}
    plain = decode(body | {"content": [block]})
    assert plain.turn.blocks == (Text(text),)
    assert plain == decode(body | {"content": [block | {"citations": None}]})


@given(
    counts=st.fixed_dictionaries(
        {
            name: st.integers(-1, 3) | st.sampled_from([None, True, 2.0, "2"])
            for name in ("prompt_tokens", "completion_tokens", "total_tokens")
        }
    )
)
def test_three_counts_are_read_as_more_are(counts: dict[str, Any]) -> None:
    assert chat_usage.read(counts) == chat_usage.read(counts | {"prompt_tokens_details": None})


@pytest.mark.parametrize("calls", [False, True])
def test_openais_own_words_for_an_end_are_never_kept(calls: bool) -> None:
    assert {"stop", "length", "tool_calls"} <= finish.OWN
    for word in finish.OWN:
        reason, note = finish.read(word, calls=calls, refused=False)
        assert note is None
        assert not finish.worth_keeping(word, reason, refused=False)
