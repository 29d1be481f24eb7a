"""The estimator: close on every kind of text, lawful, and quick."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.context.samples import CHINESE, CODE, EXACT, JSON, PROSE
from tests.strategies import conversations, texts, turns, words
from thinkwire.context import count, estimate_text
from thinkwire.context.families import family_of, image_rule, seal_rule, table
from thinkwire.context.media import document_tokens, image_tokens, picture_size
from thinkwire.messages import Conversation, Document, Image, Seal, Text, Thinking, ToolCall, ToolResult, Turn
from thinkwire.replay.origin import READERS
from thinkwire.request import Tool

MODELS = ("claude-opus-5-5", "claude-sonnet-4-5", "gpt-5.2", "gpt-6", "gemini-3-pro", "grok-4.3", "new-model")
models = st.sampled_from(MODELS)

ODD = [
    pytest.param(text, id=name)
    for name, text in {
        "letters": "a",
        "blanks": " \n",
        "spaces": " " * 1_000_000,
        "alternating": "A1_",
        "line": "=",
        "emoji": "🎉",
    }.items()
]


@pytest.mark.parametrize(("text", "exact"), EXACT)
def test_text_is_estimated_within_a_sixth(text: str, exact: int) -> None:
    assert estimate_text(text) == pytest.approx(exact, rel=1 / 6)


@given(words)
def test_only_the_empty_text_has_no_tokens(text: str) -> None:
    assert (estimate_text(text) == 0) == (text == "")


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_text_costs_about_what_its_halves_cost(first: str, second: str) -> None:
    assert abs(estimate_text(first + second) - estimate_text(first) - estimate_text(second)) <= 4


@given(st.text(max_size=300))
def test_no_text_has_more_tokens_than_twice_its_bytes(text: str) -> None:
    assert estimate_text(text) <= 2 * len(text.encode("utf-8", "surrogatepass"))


@settings(max_examples=25)
@given(st.lists(turns, max_size=4), turns, models)
def test_another_turn_never_lowers_the_count_of_everything(
    before: list[Turn], turn: Turn, model: str
) -> None:
    less = count(before, model=model, everything=True).kinds
    more = count([*before, turn], model=model, everything=True).kinds
    assert all(more[kind] >= less[kind] for kind in less)
    assert sum(more.values()) > sum(less.values())


@settings(max_examples=25)
@given(conversations, st.lists(texts, max_size=2), models)
def test_the_count_is_the_sum_of_its_kinds_and_none_is_negative(
    conversation: Conversation, more: list[Text], model: str
) -> None:
    counted = count(conversation.turns, model=model, system=(*conversation.system, *more))
    assert min(counted.kinds.values()) >= 0
    assert counted.total == sum(counted.kinds.values())
    assert counted.by == "estimator"


@settings(max_examples=25)
@given(st.lists(turns, max_size=3), st.lists(turns, max_size=3), models)
def test_counts_of_parts_add_up_but_for_rounding(first: list[Turn], second: list[Turn], model: str) -> None:
    start = count([], model=model).total
    parts = sum(count(part, model=model, everything=True).total for part in (first, second)) - start
    assert abs(count(first + second, model=model, everything=True).total - parts) <= 9


def test_each_kind_is_counted_on_its_own() -> None:
    blocks = (
        Thinking("deep thought " * 20),
        Text(PROSE),
        ToolCall("1", "look", '{"at":"the sea"}', seal=Seal("gemini.thought", "x" * 580)),
    )
    result = ToolResult("1", (Text("blue and wide"), Image(url="https://example.org/sea.png")))
    counted = count(
        [Turn("user", (Text("hi"),)), Turn("assistant", blocks), Turn("user", (result,))],
        model="gemini-3-pro",
        system=(Text("Be brief."),),
        tools=(Tool("look", "Looks.", {"type": "object", "properties": {"at": {"type": "string"}}}),),
    )
    assert all(counted.kinds.values())
    assert counted.sealed == 100
    assert counted.media == image_rule("frames").default


@pytest.mark.parametrize("text", [PROSE, CODE, JSON, CHINESE, *ODD])
def test_a_long_text_costs_what_its_parts_do(text: str) -> None:
    """A pattern that backtracked would not come to an end here; speed itself is for benchmarks."""
    piece = text * (10_000 // len(text) + 1)
    times = 100
    assert estimate_text(piece * times) == pytest.approx(estimate_text(piece) * times, rel=0.02)


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("claude-3-7-sonnet-20250219", "claude"),
        ("claude-sonnet-4-20250514", "claude"),
        ("claude-sonnet-4-5-20250929", "claude-forgetting"),
        ("anthropic/claude-haiku-4.5", "claude-forgetting"),
        ("claude-opus-4-5", "claude-keeping"),
        ("claude-sonnet-4-6", "claude-keeping"),
        ("claude-opus-4-7", "claude-large"),
        ("us.anthropic.claude-opus-5-5", "claude-large"),
        ("gpt-5.2-codex", "openai"),
        ("openai.gpt-5.6-luna", "openai-keeping"),
        ("openai/gpt-oss-120b", "gpt-oss"),
        ("models/gemini-2.5-pro", "gemini"),
        ("Qwen/Qwen3.5-397B-A17B-FP8", "qwen"),
        ("magistral-medium", "mistral"),
        ("nobody-knows-1", "other"),
    ],
)
def test_models_are_found_by_name_with_or_without_a_seller(name: str, family: str) -> None:
    assert family_of(name).name == family


def test_every_rule_says_where_it_comes_from_and_names_what_exists() -> None:
    sources = [family.source for family in table().family]
    sources += [rule.source for rule in table().seal] + [image.source for image in table().image]
    assert all(sources)
    assert {family.image for family in table().family} <= {rule.name for rule in table().image}
    assert {scheme for schemes in READERS.values() for scheme in schemes} == {r.scheme for r in table().seal}
    assert len({family.name for family in table().family}) == len(table().family)


@pytest.mark.parametrize(
    ("model", "text_is_billed"), [("claude-opus-5-5", True), ("claude-sonnet-4-5", False), ("gpt-5.2", False)]
)
def test_thinking_of_earlier_exchanges_counts_where_the_vendor_keeps_it(
    model: str, text_is_billed: bool
) -> None:
    scheme = "openai.encrypted" if model.startswith("gpt") else "anthropic.signature"
    thought = Thinking("so much to think about " * 30, seal=Seal(scheme, "s" * 4000))
    asked, answered = Turn("user", (Text("hi"),)), Turn("assistant", (thought, Text("hello")))
    counted = count([asked, answered, asked], model=model)
    assert bool(counted.thinking + counted.sealed) is text_is_billed


def test_a_summary_beside_encrypted_thinking_is_not_billed() -> None:
    call = ToolCall("1", "look")
    thought = Thinking("a summary " * 50, "summary", seal=Seal("openai.encrypted", "s" * 7300))
    turns = [
        Turn("user", (Text("hi"),)),
        Turn("assistant", (thought, call)),
        Turn("user", (ToolResult("1"),)),
    ]
    counted = count(turns, model="gpt-5.2")
    assert (counted.thinking, counted.sealed) == (0, 1000)


def test_a_signature_counts_only_for_what_its_text_does_not_show() -> None:
    turns = [Turn("assistant", (Thinking("word " * 400, seal=Seal("anthropic.signature", "s" * 1450)),))]
    shown = count(turns, model="claude-opus-5-5")
    omitted = count(
        [Turn("assistant", (Thinking(seal=Seal("anthropic.signature", "s" * 1450)),))], model="claude"
    )
    assert shown.sealed == 0
    assert shown.thinking > 0
    assert (omitted.thinking, omitted.sealed) == (0, 200)


def test_a_claude_that_is_not_to_think_reads_no_earlier_thinking() -> None:
    turns = [Turn("assistant", (Thinking("word " * 400, seal=Seal("anthropic.signature", "s" * 1450)),))]
    assert count(turns, model="claude-opus-5-5", thinking=False).thinking == 0


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height)


def jpeg(width: int, height: int) -> bytes:
    head = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08"
    return head + struct.pack(">HH", height, width) + b"\3"


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (png(640, 480), (640, 480)),
        (jpeg(800, 600), (800, 600)),
        (b"GIF89a" + struct.pack("<HH", 32, 16), (32, 16)),
        (b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + b"\x3f\0\0\x1f\0\0", (64, 32)),
        (b"\xff\xd8\xff", None),
        (b"not a picture", None),
        (b"", None),
    ],
)
def test_sizes_of_pictures_are_read_from_their_first_bytes(data: bytes, size: tuple[int, int] | None) -> None:
    assert picture_size(data) == size


@given(
    st.binary(max_size=80),
    st.sampled_from([b"", b"\xff\xd8", b"GIF89a", b"RIFF0000WEBP", b"\x89PNG\r\n\x1a\n"]),
)
def test_no_bytes_break_the_reading_of_sizes(data: bytes, head: bytes) -> None:
    size = picture_size(head + data)
    assert size is None or min(size) > 0


@pytest.mark.parametrize(
    ("rule", "size", "tokens"),
    [
        ("pixels", (750, 750), 751),
        ("pixels", (4000, 4000), 1600),
        ("tiles", (1024, 1024), 765),
        ("frames", (768, 768), 258),
    ],
)
def test_pictures_are_counted_by_the_vendors_rule(rule: str, size: tuple[int, int], tokens: int) -> None:
    data = base64.b64encode(png(*size)).decode()
    assert image_tokens(Image("image/png", data), image_rule(rule)) == tokens


def test_a_document_is_counted_by_its_pages_or_its_words() -> None:
    rule = image_rule("pixels")
    pages = base64.b64encode(b"%PDF-1.7 /Type /Page ... /Type/Page ... /Type /Pages").decode()
    assert document_tokens(Document("application/pdf", pages), rule) == 2 * rule.page
    assert document_tokens(Document(text=PROSE), rule) == pytest.approx(estimate_text(PROSE), abs=1)
    assert document_tokens(Document(url="https://example.org/a.pdf"), rule) == rule.page


def test_a_seal_of_an_unknown_scheme_costs_nothing_and_breaks_nothing() -> None:
    assert seal_rule("somebody.new") is None
    turns = [Turn("assistant", (Thinking(seal=Seal("somebody.new", "x" * 5000)),))]
    assert count(turns, model="new-model").sealed == 0
