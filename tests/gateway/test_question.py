"""A question alone is understood as the one before was; only its words are its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkwire import dialects
from thinkwire.client.engine import Client
from thinkwire.client.prepare import CallSpec, prepare_request
from thinkwire.errors import MalformedInput
from thinkwire.gateway.config.gateway_config import GatewayConfig
from thinkwire.gateway.http.routes import Route
from thinkwire.gateway.ingress.anthropic_clients import BILLING
from thinkwire.gateway.ledger.restore import lacking, references
from thinkwire.gateway.pipeline import passthrough
from thinkwire.gateway.pipeline.question import Question, like_before, recall, spoken
from thinkwire.gateway.pipeline.translate import ClientRequest, asking_for, normalise_request
from thinkwire.gateway.pipeline.upstream import ModelRouter, resolve_upstream
from thinkwire.gateway.seals.carrier import Carrier
from thinkwire.reasoning.plan import Plan
from thinkwire.replay.ways import Ways
from thinkwire.replay.words import words_of
from thinkwire.request import Request

SCOPE = "tenant:one"
CLIENT = Client(
    keys=dict.fromkeys(("anthropic", "openai", "deepseek", "google", "xai"), "k"),
    learned_facts=False,
    sim=False,
)
MEANT = {
    name: resolve_upstream(CLIENT, name)
    for name in ("claude-opus-5", "gpt-4.1", "deepseek/deepseek-v4-pro", "google/gemini-3.5-flash")
}
PLACES = {name: Route("generate", name) for name in ("anthropic", "openai-chat", "openai-responses")}
WORDS = st.sampled_from(
    ["Why?", " ", "<think>So</think>", f"{BILLING} x", "thwi" + "A" * 80, "\n"]
) | st.text(min_size=1)
SYSTEMS = st.sampled_from([None, "", "Brief.", f"{BILLING} x", "s" * 5_000])
COMMON: dict[str, Any] = {
    "max_tokens": st.sampled_from([1, 1000, 10**7]),
    "temperature": st.sampled_from([0, 1, 1.0]),
    "stream": st.booleans(),
    "metadata": st.just({"user_id": "u"}),
}
BESIDE = {
    "anthropic": st.fixed_dictionaries(
        {},
        optional=COMMON
        | {
            "system": SYSTEMS | st.just([{"type": "text", "text": "Brief."}]),
            "thinking": st.sampled_from([{"type": "enabled", "budget_tokens": 2000}, {"type": "disabled"}]),
            "output_config": st.just({"effort": "low"}),
            "anthropic_version": st.just("x"),
            "tools": st.just([{"name": "look", "input_schema": {"type": "object"}}]),
        },
    ),
    "openai-chat": st.fixed_dictionaries(
        {},
        optional=COMMON
        | {
            "reasoning_effort": st.sampled_from(["low", "none"]),
            "stream_options": st.just({"include_usage": True}),
            "max_completion_tokens": st.just(100),
            "stop": st.sampled_from(["x", ["x"]]),
            "response_format": st.just({"type": "json_object"}),
            "system": st.just("not of this wire"),
        },
    ),
    "openai-responses": st.fixed_dictionaries(
        {},
        optional={
            "max_output_tokens": st.sampled_from([16, 1000, 10**7]),
            "temperature": st.sampled_from([0, 1, 1.0]),
            "stream": st.booleans(),
            "store": st.booleans(),
            "instructions": SYSTEMS | st.just([{"role": "developer", "content": "Brief."}]),
            "reasoning": st.sampled_from([{"effort": "low"}, {"effort": "none"}, {"summary": "auto"}]),
            "include": st.just(["reasoning.encrypted_content"]),
            "text": st.just({"format": {"type": "json_object"}}),
            "tools": st.just([{"type": "function", "name": "look", "parameters": {"type": "object"}}]),
            "system": st.just("not of this wire"),
        },
    ),
}
BEFORE: st.SearchStrategy[list[dict[str, Any]]] = st.sampled_from(
    [
        [],
        [{"role": "system", "content": "Brief."}],
        [{"role": "developer", "content": "Brief.", "name": "x"}],
        [{"role": "system", "content": ""}],
        [{"role": "system", "content": [{"type": "text", "text": "Brief."}]}],
        [{"role": "user", "content": "Hello."}],
        [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello."}],
    ]
)


Known = tuple[ClientRequest, CallSpec]


def bodies(
    dialect: str, beside: dict[str, Any], before: list[dict[str, Any]], *, bare: bool = False
) -> Callable[[str], dict[str, Any]]:
    """Requests that differ in the words alone; `bare` ones are a string where the wire takes one."""
    field = "input" if dialect == "openai-responses" else "messages"

    def saying(words: str) -> dict[str, Any]:
        turns = [*before, {"role": "user", "content": words}]
        return {"model": "m", **beside, field: words if bare and field == "input" else turns}

    return saying


def in_general(body: dict[str, Any], dialect: str, model: str) -> Known:
    decoded = dialects.get(dialect).decode_request(body)
    understood = normalise_request(decoded, PLACES[dialect], MEANT[model].located.destination)
    return understood, asking_for(MEANT[model], understood, SCOPE)


def like(ways: Ways[Question], body: dict[str, Any], dialect: str, model: str) -> Known | None:
    known = like_before(ways, body, PLACES[dialect], MEANT[model], scope=SCOPE)
    if known is None:
        return None
    understood, asking = known
    assert asking.texts == words_of(asking.request)
    return understood, msgspec.structs.replace(asking, way=b"", texts=None)


def told(ask: Callable[..., Known | None], *about: Any) -> Known | str | None:
    """What is understood, or what is said to be wrong."""
    try:
        return ask(*about)
    except MalformedInput as error:
        return str(error)


@given(data=st.data(), dialect=st.sampled_from(sorted(PLACES)), model=st.sampled_from(sorted(MEANT)))
def test_it_is_understood_as_if_it_were_the_first(data: st.DataObject, dialect: str, model: str) -> None:
    ways: Ways[Question] = Ways()
    beside: dict[str, Any] = data.draw(BESIDE[dialect])
    saying = bodies(dialect, beside, data.draw(BEFORE), bare=data.draw(st.booleans()))
    for _ in range(4):
        body = saying(data.draw(WORDS))
        got = told(like, ways, body, dialect, model)
        assert got is None or got == told(in_general, body, dialect, model)
        if isinstance(got, tuple):
            request = got[0].request
            assert Carrier(bytes(32)).open_request(request, "me", dialect) == (request, ())
            assert lacking(request.turns) == []
            assert references(request.turns) == set()


@pytest.mark.parametrize(
    ("dialect", "before", "bare"),
    [
        ("anthropic", [], False),
        ("openai-chat", [], False),
        ("openai-chat", [{"role": "system", "content": "Brief."}], False),
        ("openai-responses", [], False),
        ("openai-responses", [], True),
    ],
)
def test_the_second_is_already(dialect: str, before: list[dict[str, Any]], bare: bool) -> None:
    ways: Ways[Question] = Ways()
    saying = bodies(dialect, {"temperature": 1}, before, bare=bare)
    model = "deepseek/deepseek-v4-pro"
    known = [like(ways, saying(text), dialect, model) for text in ("One", "Two", "Three")]
    assert known[0] is None
    assert [got and got[1].request.turns[0].text for got in known] == [None, "Two", "Three"]


@given(data=st.data(), dialect=st.sampled_from(sorted(PLACES)), model=st.sampled_from(sorted(MEANT)))
def test_it_goes_out_as_if_it_were_the_first(data: st.DataObject, dialect: str, model: str) -> None:
    ways: Ways[Question] = Ways()
    saying = bodies(dialect, data.draw(BESIDE[dialect]), [], bare=data.draw(st.booleans()))
    for _ in range(4):
        known = like_before(ways, saying(data.draw(WORDS)), PLACES[dialect], MEANT[model], scope=SCOPE)
        if known is not None:
            assert known[1].way
            assert prepare_request(known[1], 0) == prepare_request(
                msgspec.structs.replace(known[1], moulds=None), 0
            )


def test_wires_and_models_are_kept_apart() -> None:
    ways: Ways[Question] = Ways()
    for dialect, model, _ in ((d, m, n) for n in range(3) for d in PLACES for m in MEANT):
        body = bodies(dialect, {"temperature": 1}, [])("Why?")
        got = like(ways, body, dialect, model)
        assert got is None or got == in_general(body, dialect, model)
    assert len(ways._known) == len(PLACES) * len(MEANT)


@pytest.mark.parametrize("dialect", PLACES)
@pytest.mark.parametrize(
    "asked",
    [
        None,
        [],
        "",
        [None],
        ["Why?"],
        [{"role": "user", "content": ""}],
        [{"role": "user", "content": None}],
        [{"role": "user", "content": [{"type": "text", "text": "Why?"}]}],
        [{"role": "user", "content": "Why?", "name": "Ada"}],
        [{"role": "assistant", "content": "So."}],
        [{"role": ["user"], "content": "Why?"}],
        [{"role": "user", "content": "Why?"}] * 2,
        [{"role": ["system"], "content": "Brief."}, {"role": "user", "content": "Why?"}],
    ],
)
def test_whatever_is_more_or_less_than_a_question_is_read_anew(dialect: str, asked: Any) -> None:
    ways: Ways[Question] = Ways()
    body = {"model": "m", "messages": asked, "input": asked}
    assert [like(ways, body, dialect, "gpt-4.1") for _ in range(3)] == [None] * 3


@pytest.mark.parametrize("more", ["previous_response_id", "conversation", "prompt"])
def test_what_stands_for_something_kept_elsewhere_is_read_anew(more: str) -> None:
    ways: Ways[Question] = Ways()
    body = {"model": "m", "input": "Why?", more: "x"}
    model = "deepseek/deepseek-v4-pro"
    place, meant = PLACES["openai-responses"], MEANT[model]
    assert [like_before(ways, body, place, meant, scope=SCOPE) for _ in range(3)] == [None] * 3


@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat"])
def test_a_string_is_a_question_only_where_the_wire_takes_one(dialect: str) -> None:
    ways: Ways[Question] = Ways()
    body = {"model": "m", "messages": "Why?", "input": "Why?"}
    assert [like(ways, body, dialect, "gpt-4.1") for _ in range(3)] == [None] * 3


def test_what_is_wrong_with_it_is_said_each_time() -> None:
    ways: Ways[Question] = Ways()
    body = {"model": "m", "max_tokens": "many", "messages": [{"role": "user", "content": "Why?"}]}
    assert like(ways, body, "anthropic", "gpt-4.1") is None
    for _ in range(2):
        with pytest.raises(MalformedInput, match="max_tokens"):
            like(ways, body, "anthropic", "gpt-4.1")


@given(data=st.data(), dialect=st.sampled_from(sorted(PLACES)))
def test_what_goes_through_is_planned_as_if_it_were_the_first(data: st.DataObject, dialect: str) -> None:
    ways: Ways[tuple[Request, Plan]] = Ways()
    meant = MEANT["claude-opus-5" if dialect == "anthropic" else "gpt-4.1"]
    saying = bodies(dialect, data.draw(BESIDE[dialect]), data.draw(BEFORE), bare=data.draw(st.booleans()))
    for _ in range(3):
        body = saying(data.draw(WORDS))
        recalled = recall(ways, body, (PLACES[dialect], meant), passthrough._read_and_planned)
        if recalled is not None:
            words, (common, plan) = recalled
            turns = spoken(words)
            request = passthrough._read(dialect, body)
            assert msgspec.structs.replace(common, turns=turns) == request
            assert plan == passthrough._plan(request, meant.located)
            assert not passthrough._lacks_thinking(turns)


def test_a_model_stays_the_same_for_as_long_as_nothing_about_it_changes() -> None:
    now = 0.0
    client = Client(keys={"xai": "k"}, learned_facts=False, sim=False)
    directory = ModelRouter(client, GatewayConfig(), clock=lambda: now)
    first = directory.find("xai/grok-4.6")
    now += 10
    assert directory.find("xai/grok-4.6") is first
    moved = msgspec.structs.replace(client.providers["xai"], base_url="https://example.org")
    client.know({"xai": moved})
    assert directory.find("xai/grok-4.6") is first, "within a moment"
    now += 10
    assert directory.find("xai/grok-4.6").located.provider == moved
