"""A turn that is one text is written at once; the general way would write the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkwire import dialects
from thinkwire.dialects import NAMES, Encoded
from thinkwire.dialects.anthropic import render_blocks as writing
from thinkwire.dialects.gemini import turns as contents
from thinkwire.dialects.openai_chat import render_assistant as write_assistant
from thinkwire.dialects.openai_chat import render_messages as write_messages
from thinkwire.dialects.openai_responses import input_items as history
from thinkwire.dialects.shared import plain_words
from thinkwire.messages import Block, Image, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.providers import Provider, default_providers
from thinkwire.providers.encoding import encode_for
from thinkwire.request import Request

WRITERS = (writing, contents, write_assistant, write_messages, history)
WORDS = st.sampled_from(["", " ", "Why?", "Ø\n"]).map(Text)
ODD = st.sampled_from(
    [
        Text("No.", refusal=True),
        Text("Sealed.", seal=Seal("gemini.thought", "c2ln")),
        Text("Cached.", extras={"anthropic": {"cache_control": {"type": "ephemeral"}}}),
        Text("Marked.", extras={"openai_chat": {"name": "x"}}),
        Text("", extras={"openai_responses": {"id": "msg_1"}}),
    ]
)
RESULTS = st.builds(ToolResult, st.just("call_1"), st.lists(WORDS | ODD, max_size=2).map(tuple))
EXTRAS = st.sampled_from([{}, {}, {"openai_chat": {"name": "Ada"}}, {"gemini": {"role": None}}])
USERS = st.builds(
    Turn, st.just("user"), st.lists(WORDS | ODD | RESULTS, max_size=2).map(tuple), extras=EXTRAS
)
SPOKEN = WORDS | ODD | st.sampled_from([Thinking("Hm."), ToolCall("call_1", "f", '{"a":1}')])
MODELS = st.builds(Turn, st.just("assistant"), st.lists(SPOKEN, max_size=2).map(tuple), extras=EXTRAS)
SYSTEMS = st.builds(Turn, st.just("system"), st.lists(WORDS | ODD, max_size=2).map(tuple))
REQUESTS = st.builds(
    Request,
    model=st.just("m"),
    turns=st.lists(USERS | MODELS | SYSTEMS, max_size=4).map(tuple),
    system=st.lists(WORDS | ODD, max_size=2).map(tuple),
)
CHAT = [provider for provider in default_providers().values() if provider.route("openai-chat")]


def in_general(request: Request, dialect: str) -> Encoded:
    with pytest.MonkeyPatch.context() as patch:
        for module in WRITERS:
            patch.setattr(module, "plain_words", lambda blocks, dialect: None)
        return dialects.get(dialect).encode_request(request)


@pytest.mark.parametrize("dialect", NAMES)
@given(request=REQUESTS)
def test_both_ways_write_the_same(dialect: str, request: Request) -> None:
    assert dialects.get(dialect).encode_request(request) == in_general(request, dialect)


@given(request=REQUESTS, provider=st.sampled_from(CHAT))
def test_they_do_in_every_accent(request: Request, provider: Provider) -> None:
    quick = encode_for(provider, "openai-chat", request)
    with pytest.MonkeyPatch.context() as patch:
        for module in WRITERS:
            patch.setattr(module, "plain_words", lambda blocks, dialect: None)
        assert quick == encode_for(provider, "openai-chat", request)


def test_only_a_bare_text_is_plain() -> None:
    assert plain_words((Text("Why?"),), "anthropic") == "Why?"
    assert plain_words((Text("", extras={"gemini": {"x": 1}}),), "anthropic") == ""
    odd: list[tuple[Block, ...]] = [
        (),
        (Text("a"), Text("b")),
        (Thinking("Hm."),),
        (Image(url="https://example.org/a.png"),),
        (Text("No.", refusal=True),),
        (Text("a", seal=Seal("gemini.thought", "c2ln")),),
        (Text("a", extras={"anthropic": {"citations": []}}),),
    ]
    assert [plain_words(blocks, "anthropic") for blocks in odd] == [None] * len(odd)
