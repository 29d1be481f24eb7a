"""A request of words alone goes out as the last one did that was asked the same way, but for the words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkwire.catalog import default_catalog
from thinkwire.client import prepare as asked
from thinkwire.client.learned_facts import LOCAL_USER, LearnedFact, LearnedFactsFile
from thinkwire.client.prepare import CallSpec, prepare_request, resolve_model
from thinkwire.messages import Image, Origin, Seal, Text, Thinking, Turn
from thinkwire.notes import Note
from thinkwire.providers import default_providers
from thinkwire.reasoning import Intent, parse_name
from thinkwire.reasoning.recovery import Recovery
from thinkwire.reasoning.resolve import ConversationState
from thinkwire.replay import ReplaySettings
from thinkwire.replay.policy import is_plain_talk
from thinkwire.replay.ways import _MOST, Ways
from thinkwire.replay.words import form_of, with_holes, words_of
from thinkwire.request import OutputFormat, Request, Tool, ToolChoice

NOW = 1_790_000_000.0
GROK = "xai/grok-4.6"
BY_PROVIDER = {
    name: [
        model
        for facts in default_catalog()
        if facts.provider == name and parse_name(model := f"{name}/{facts.id}").intent is None
    ]
    for name in default_providers()
} | {"ollama": ["ollama/whatever"]}
MODELS = [model for models in BY_PROVIDER.values() for model in models]
TEXTS = st.sampled_from(["Why?", "Ø\n", '"', "<think>So</think>", "\x00\u2028", "a" * 300]) | st.text(
    min_size=1
).filter(lambda text: not text.isspace())
BESIDE = st.fixed_dictionaries(
    {},
    optional={
        "max_tokens": st.sampled_from([1, 100, 40_000]),
        "temperature": st.sampled_from([0, 1, 1.0, 1.9]),
        "top_p": st.sampled_from([1, 0.5]),
        "top_k": st.just(3),
        "stop": st.sampled_from([("END",), ("a", "b")]),
        "seed": st.just(7),
        "presence_penalty": st.just(0.5),
        "parallel_tool_calls": st.booleans(),
        "tool_choice": st.just(ToolChoice("any")),
        "output": st.sampled_from([OutputFormat(), OutputFormat({"type": "object"}, "x", True)]),
        "extras": st.sampled_from(
            [
                {"openai_chat": {"_as_written": {"max_tokens": 1}, "user": "u", "logprobs": True}},
                {"anthropic": {"metadata": {"user_id": "u"}, "thinking": {"type": "enabled"}}},
                {"openai_responses": {"store": True, "previous_response_id": "resp_1"}},
                {"gemini": {"model": "m", "systemInstruction": {"role": "user"}, "safetySettings": []}},
            ]
        ),
    },
)
INTENTS = st.sampled_from(
    [
        None,
        Intent(),
        Intent(level="none"),
        Intent(level="high"),
        Intent(budget=2_000),
        Intent(on=True, show=True),
    ]
)


def talk(words: list[str], system: int = 0, **beside: Any) -> Request:
    texts = [Text(text) for text in words]
    roles = ("user", "assistant") * len(words)
    turns = [Turn(role, (text,)) for role, text in zip(roles, texts[system:], strict=False)]  # type: ignore[arg-type]
    return Request("m", tuple(turns), tuple(texts[:system]), **beside)


def ready(model: str, **how: Any) -> CallSpec:
    asking = CallSpec(Request(), model, None, ReplaySettings(), moulds=Ways())
    asking = msgspec.structs.replace(asking, **how)
    return msgspec.structs.replace(asking, located=resolve_model(asking, NOW))


def in_general(asking: CallSpec, now: float = NOW) -> asked.PreparedRequest:
    return prepare_request(msgspec.structs.replace(asking, moulds=None), now)


def cast(asking: CallSpec, now: float = NOW) -> asked.PreparedRequest | None:
    assert asking.moulds is not None
    return asked._cast(asking, asking.moulds, now)


@given(data=st.data(), model=st.sampled_from(MODELS), beside=BESIDE, thinking=INTENTS, streamed=st.booleans())
def test_each_goes_out_as_if_it_were_the_first(
    data: st.DataObject, model: str, beside: dict[str, Any], thinking: Intent | None, streamed: bool
) -> None:
    sizes = data.draw(st.tuples(st.integers(0, 2), st.sampled_from([1, 3])))
    base = ready(model, thinking=thinking, streamed=streamed, routed=(Note("route.changed", "so"),))
    said = st.lists(TEXTS, min_size=sum(sizes), max_size=sum(sizes))
    for _ in range(4):
        asking = msgspec.structs.replace(base, request=talk(data.draw(said), sizes[0], **beside))
        assert prepare_request(asking, NOW) == in_general(asking)


@pytest.mark.parametrize("provider", [name for name, models in BY_PROVIDER.items() if models])
def test_the_second_is_cast_already(provider: str) -> None:
    for model in BY_PROVIDER[provider]:
        base = ready(model)
        for text, known in (("One", False), ("Two", True), ("Three", True)):
            asking = msgspec.structs.replace(base, request=talk(["Brief.", text], 1, max_tokens=9))
            got = cast(asking)
            assert (got is not None) is known, model
            assert got is None or got == in_general(asking)


def test_what_is_said_beside_the_words_counts_to_the_letter() -> None:
    base = ready("openai/gpt-4.1")
    for temperature in (1, 1.0, True, 0, 0.0, None) * 3:
        asking = msgspec.structs.replace(base, request=talk(["Why?"], temperature=temperature))
        assert prepare_request(asking, NOW).data == in_general(asking).data


def test_what_was_learned_meanwhile_counts_at_once(tmp_path: Path) -> None:
    file = LearnedFactsFile(tmp_path / "learned_facts.jsonl")
    asking = ready(GROK, thinking=Intent(level="high"), learned_facts=file, request=talk(["Why?"]))
    efforts = [prepare_request(asking, NOW).plan.effective.effort for _ in range(3)]
    change = {"efforts": ["low", "medium"]}
    file.add(LearnedFact(LOCAL_USER, "xai", "grok-4.6", change, "does not support value high", NOW))
    efforts += [prepare_request(asking, NOW + 1).plan.effective.effort for _ in range(3)]
    assert efforts == ["high"] * 3 + ["medium"] * 3
    told = ready(GROK, thinking=Intent(level="high"), request=talk(["Why?"]))
    assert cast(told) is None
    assert cast(told) is not None
    assert (
        cast(msgspec.structs.replace(told, recovery=Recovery(Note("reasoning.learned", "refused"), change)))
        is None
    )
    assert cast(msgspec.structs.replace(told, circumstances=ConversationState(200_000))) is None


def test_half_a_surrogate_pair_is_replaced_and_said_each_time() -> None:
    for model, codes in (("openai/gpt-4.1", ["text.repaired"]), ("anthropic/claude-opus-5", [])):
        base = ready(model)
        for text in ("a", "b", "c\ud800", "d", "e\ud800"):
            asking = msgspec.structs.replace(base, request=talk([text]))
            prepared = prepare_request(asking, NOW)
            assert [note.code for note in prepared.notes] == (codes if "\ud800" in text else [])
            assert text.replace("\ud800", "\ufffd").encode() in prepared.data


def test_only_so_much_is_remembered() -> None:
    base = ready("openai/gpt-4.1")
    moulds = base.moulds
    assert moulds is not None
    for limit in range(1_000):
        asking = msgspec.structs.replace(base, request=talk(["Why?"], max_tokens=limit))
        assert prepare_request(asking, NOW) == prepare_request(asking, NOW)
    assert 0 < len(moulds._known) <= _MOST
    before = len(moulds._known)
    long = msgspec.structs.replace(
        base, request=talk(["Why?"], extras={"openai_chat": {"user": "u" * 3_000}})
    )
    assert [cast(long) for _ in range(3)] == [None] * 3
    assert len(moulds._known) == before
    made = [known[1] for known in moulds._known.values() if known and known[1]]
    assert made
    assert b"Why?" not in msgspec.json.encode([(mould.prepared.request, mould.form) for mould in made])


def test_what_was_made_holds_for_its_owner_only() -> None:
    ways: Ways[str] = Ways()
    one, other = object(), object()
    assert [ways.is_worth_making(one, b"way") for _ in range(2)] == [False, True]
    ways.keep(one, b"way", "made")
    assert ways.find(one, b"way") == "made"
    assert ways.find(one, b"other way") is None
    assert ways.find(other, b"way") is None
    assert not ways.is_worth_making(one, b"way")
    assert ways.is_worth_making(other, b"way")
    ways.keep(other, b"way", "made anew")
    assert (ways.find(one, b"way"), ways.find(other, b"way")) == (None, "made anew")
    ways.keep(one, b"none", None)
    assert not ways.is_worth_making(one, b"none")
    assert not ways.is_worth_making(one, b"x" * 3_000)


BARE = Turn("user", (Text("Why?"),))
SO = Turn("assistant", (Text("So."),))
ODD = (
    Request(),
    Request(turns=(BARE, SO)),
    Request(turns=(BARE, BARE, BARE)),
    Request(turns=(SO,)),
    Request(turns=(Turn("system", (Text("Brief."),)),)),
    Request(turns=(Turn("user"),)),
    Request(turns=(Turn("user", (Text("a"), Text("b"))),)),
    Request(turns=(Turn("user", (Text(" \n"),)),)),
    Request(turns=(Turn("user", (Text("a", seal=Seal("gemini.thought", "x")),)),)),
    Request(turns=(Turn("user", (Text("a", refusal=True),)),)),
    Request(turns=(Turn("user", (Text("a", interrupted=True),)),)),
    Request(turns=(Turn("user", (Text("a", extras={"anthropic": {"cache_control": {}}}),)),)),
    Request(turns=(Turn("user", (Image(url="https://example.org/a.png"),)),)),
    Request(turns=(Turn("user", (Text("a"),), extras={"openai_chat": {"name": "Ada"}}),)),
    Request(turns=(BARE, Turn("assistant", (Text("So."),), origin=Origin("openai")), BARE)),
    Request(turns=(BARE, Turn("assistant", (Thinking("Hm."),)), BARE)),
    Request(turns=(BARE,), system=(Text(""),)),
    Request(turns=(BARE,), system=(Text("a", extras={"anthropic": {"cache_control": {}}}),)),
    Request(turns=(BARE,), tools=(Tool("look"),)),
    Request(turns=(BARE, SO) * 40 + (BARE,)),
)


@pytest.mark.parametrize("request_", ODD)
def test_whatever_is_more_than_words_is_written_anew(request_: Request) -> None:
    assert words_of(request_) is None


def test_words_alone_are_plain_talk() -> None:
    for request in (talk(["a"]), talk(["s", "a"], 1), talk(["s", "t", "a", "b", "c"], 2)):
        words = words_of(request)
        assert words == [text.text for text in request.system] + [turn.text for turn in request.turns]
        assert is_plain_talk(request.turns)
        blank, holes = with_holes(request)
        assert words_of(blank) == holes
        assert len(set(holes)) == len(holes)


def test_a_body_is_cut_only_where_its_words_stand_alone() -> None:
    _, (one, two) = with_holes(talk(["a", "b"], 1))
    encode = msgspec.json.encode
    for body, expected in (
        ({"a": one, "b": [two], "c": 1}, b'{"a":"x","b":["\\""],"c":1}'),
        ({"a": [two], "b": one}, b'{"a":["\\""],"b":"x"}'),
    ):
        form = form_of(encode(body), [one, two])
        assert form is not None
        assert form.filled(["x", '"']) == expected
    for odd in ({"a": one}, {"a": f"{one} {two}"}, {"a": one, "b": two, "c": two}, {"a": one, two: two}):
        assert form_of(encode(odd), [one, two]) is None
