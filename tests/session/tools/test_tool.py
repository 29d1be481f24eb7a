"""Functions as tools: their schemas, their arguments, and everything that can go wrong with a call."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkwire.errors import ConfigError
from thinkwire.messages import Image, Text, ToolCall
from thinkwire.request import Tool
from thinkwire.session.tools import Outcome, Output, Policy, Spec, Toolbox, ToolContext, ToolFailed, tool

pytestmark = pytest.mark.anyio
FREE = ToolContext(policy=Policy(default="allow"))
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


class Point(msgspec.Struct):
    x: int
    y: int = 0


class Tree(msgspec.Struct):
    children: list[Tree] = []


def plain(word: str) -> None: ...
def numbers(count: int, ratio: float = 0.5, loud: bool = False) -> None: ...
def lists(words: list[str], table: dict[str, int]) -> None: ...
def choice(mode: Literal["fast", "slow"] = "fast", size: Literal[1, 2] | None = None) -> None: ...
def maybe(name: str | None = None) -> None: ...
def struct(point: Point, *, many: list[Point] = []) -> None: ...  # noqa: B006
def described(
    path: Annotated[str, "Where to look."], top: Annotated[int, msgspec.Meta(ge=1)] = 1
) -> None: ...
def titled(title: str, ref: str = "x") -> None: ...
def nothing() -> None: ...


POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
    "required": ["x"],
}
SCHEMAS: dict[Callable[..., Any], tuple[dict[str, Any], list[str]]] = {
    plain: ({"word": {"type": "string"}}, ["word"]),
    numbers: (
        {
            "count": {"type": "integer"},
            "ratio": {"type": "number", "default": 0.5},
            "loud": {"type": "boolean", "default": False},
        },
        ["count"],
    ),
    lists: (
        {
            "words": {"type": "array", "items": {"type": "string"}},
            "table": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
        ["words", "table"],
    ),
    choice: (
        {
            "mode": {"type": "string", "enum": ["fast", "slow"], "default": "fast"},
            "size": {"anyOf": [{"type": "integer", "enum": [1, 2]}, {"type": "null"}], "default": None},
        },
        [],
    ),
    maybe: ({"name": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}}, []),
    struct: ({"point": POINT, "many": {"type": "array", "items": POINT}}, ["point"]),
    described: (
        {
            "path": {"type": "string", "description": "Where to look."},
            "top": {"type": "integer", "minimum": 1, "default": 1},
        },
        ["path"],
    ),
    titled: ({"title": {"type": "string"}, "ref": {"type": "string", "default": "x"}}, ["title"]),
    nothing: ({}, []),
}


@pytest.mark.parametrize("function", SCHEMAS, ids=lambda function: function.__name__)
def test_the_schema_comes_from_the_hints(function: Callable[..., Any]) -> None:
    properties, required = SCHEMAS[function]
    assert tool(function).schema == {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def test_the_definition_is_a_requests_tool() -> None:
    @tool(effect="read")
    def look(where: str) -> str:
        """Look somewhere.

        Twice, if need be.
        """
        return where

    definition = Toolbox([look]).definitions()[0]
    assert isinstance(definition, Tool)
    assert definition.description == "Look somewhere.\n\nTwice, if need be."
    assert (definition.name, definition.schema) == ("look", look.schema)


def no_hint(word) -> None: ...  # type: ignore[no-untyped-def]
def star(*words: str) -> None: ...
def keywords(**words: str) -> None: ...
def positional(word: str, /) -> None: ...
def recursive(tree: Tree) -> None: ...
def strange(thing: threading.Thread) -> None: ...
def missing(thing: NotThere) -> None: ...  # type: ignore[name-defined] # noqa: F821


@pytest.mark.parametrize("function", [no_hint, star, keywords, positional, recursive, strange, missing])
def test_what_no_schema_can_say_is_refused_at_once(function: Callable[..., Any]) -> None:
    with pytest.raises(ConfigError, match=function.__name__):
        tool(function)


@pytest.mark.parametrize("name", ["", "a b", "ä", "x" * 65, "a.b"])
def test_a_name_that_a_provider_would_refuse_is_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        tool(name=name or "-.-")(plain)


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="plain"):
        Toolbox([tool(plain), tool(plain)])


def test_only_takes_names_and_patterns() -> None:
    box = Toolbox([tool(plain), tool(numbers), tool(nothing)])
    assert [spec.name for spec in box.only(["n*"]).specs] == ["numbers", "nothing"]
    with pytest.raises(ConfigError, match="Did you mean numbers"):
        box.only(["number"])


async def outcome(spec: Spec, arguments: str = "{}", ctx: ToolContext = FREE) -> Outcome:
    return await Toolbox([spec]).run(ToolCall("c1", spec.name, arguments), ctx)


def text_of(outcome: Outcome) -> str:
    return "".join(block.text for block in outcome.result.content if isinstance(block, Text))


@tool
def add(a: int, b: int = 1, points: list[Point] = []) -> int:  # noqa: B006
    """Add."""
    points.append(Point(a))
    return a + b + len(points)


@tool
async def later(a: int) -> dict[str, int]:
    """Add, but later."""
    await asyncio.sleep(0)
    return {"sum": a + 1}


async def test_a_call_is_answered_under_its_id() -> None:
    got = await outcome(add, '{"a": 2}')
    assert (got.result.call_id, got.result.name, got.result.failed) == ("c1", "add", False)
    assert text_of(got) == "4"
    assert text_of(await outcome(add, '{"a": 2}')) == "4", "a mutable default belongs to one call"
    assert text_of(await outcome(later, '{"a": 2}')) == '{"sum":3}'


WRONG = {
    '{"a": "2"}': "Wrong arguments: Expected `int`, got `str` (at a).",
    "{}": "Wrong arguments: Object missing required field `a`.",
    '{"a": 1, "c": 2}': "Wrong arguments: Object contains unknown field `c`.",
    '{"a": 1, "points": [{"y": 1}]}': "Wrong arguments: Object missing required field `x` (at points[0]).",
    "[1]": "not a JSON object",
    '{"a": 1': "not a JSON object",
    "[" * 100_000: "not a JSON object",
    "null": "not a JSON object",
}


@pytest.mark.parametrize("arguments", WRONG, ids=lambda text: text[:20])
async def test_wrong_arguments_tell_the_model_what_is_wrong(arguments: str) -> None:
    got = await outcome(add, arguments)
    assert got.result.failed
    assert WRONG[arguments] in text_of(got)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.just("a"), inner, max_size=4),
    max_leaves=12,
)


@given(arguments=JSON.map(lambda value: msgspec.json.encode(value).decode()) | st.text())
def test_no_arguments_make_a_call_raise(arguments: str) -> None:
    async def both() -> tuple[Outcome, Outcome]:
        return await outcome(add, arguments), await outcome(later, arguments)

    for got in asyncio.run(both()):
        msgspec.json.encode(got.result)
        assert got.result.content


async def test_an_unknown_tool_is_told_with_its_nearest_name() -> None:
    got = await Toolbox([add, later]).run(ToolCall("c", "adds", "{}"), FREE)
    assert got.result.failed
    assert "Did you mean add?" in text_of(got)
    got = await Toolbox([add, later]).run(ToolCall("c", "zzz", "{}"), FREE)
    assert "The tools are: add, later." in text_of(got)


async def test_an_interrupted_call_is_not_run() -> None:
    ran: list[int] = []

    @tool
    def note(a: int = 0) -> None:
        ran.append(a)

    got = await Toolbox([note]).run(ToolCall("c", "note", "{}", interrupted=True), FREE)
    assert got.result.failed
    assert "cut off" in text_of(got)
    assert ran == []


def raising(error: BaseException) -> tuple[Spec, Spec]:
    def fail() -> None:
        raise error

    async def fail_later() -> None:
        raise error

    return tool(fail), tool(name="fail")(fail_later)


@pytest.mark.parametrize("index", [0, 1], ids=["sync", "async"])
@pytest.mark.parametrize(
    "error",
    [
        ValueError("no such colour"),
        SystemExit(3),
        StopIteration(),
        TimeoutError("of its own"),
        RecursionError("deep"),
        asyncio.CancelledError(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_tools_fault_is_a_failed_result_without_a_traceback(error: BaseException, index: int) -> None:
    got = await outcome(raising(error)[index])
    assert got.result.failed
    assert text_of(got).startswith("fail ")
    assert str(error) in text_of(got) or isinstance(error, SystemExit)
    assert "Traceback" not in text_of(got)
    assert "\n" not in text_of(got)


async def test_a_tool_can_fail_in_its_own_words() -> None:
    got = await outcome(raising(ToolFailed("The shop is closed; try tomorrow."))[0])
    assert (got.result.failed, text_of(got)) == (True, "The shop is closed; try tomorrow.")


async def test_no_error_repeats_a_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-planted-secret")
    monkeypatch.setenv("MY_SERVICE_TOKEN", "planted-token")
    got = await outcome(raising(ValueError("401 for sk-planted-secret and planted-token"))[0])
    assert "planted" not in text_of(got)
    assert "[ANTHROPIC_API_KEY]" in text_of(got)


async def test_a_slow_tool_is_stopped() -> None:
    stopped = asyncio.Event()

    @tool
    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            stopped.set()

    got = await outcome(slow, ctx=ToolContext(policy=Policy("allow"), timeout=0.05))
    assert text_of(got) == "slow took longer than 0.05 seconds and was stopped."
    assert stopped.is_set()


async def test_a_slow_function_is_given_up() -> None:
    release = threading.Event()

    @tool(timeout=0.05)
    def slow() -> None:
        release.wait(30)

    got = await outcome(slow)
    release.set()
    assert got.result.failed
    assert "longer than 0.05 seconds" in text_of(got)


async def test_only_cancellation_comes_through() -> None:
    running, stopped = asyncio.Event(), asyncio.Event()

    @tool
    async def slow() -> None:
        running.set()
        try:
            await asyncio.sleep(60)
        finally:
            stopped.set()

    task = asyncio.create_task(outcome(slow))
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stopped.is_set()


def returning(value: Any) -> Spec:
    async def give() -> Any:
        return value

    return tool(give)


RETURNED = {
    "text": ("hello", (Text("hello"),)),
    "nothing": (None, (Text("(no output)"),)),
    "empty": ("", (Text("(no output)"),)),
    "number": (3, (Text("3"),)),
    "struct": (Point(1), (Text('{"x":1,"y":0}'),)),
    "list": ([1, "a"], (Text('[1,"a"]'),)),
    "not JSON": ({"t": Exception("odd")}, (Text('{"t":"odd"}'),)),
    "picture": (PNG, (Image(media_type="image/png", data=base64.b64encode(PNG).decode()),)),
    "bytes of text": (b"abc", (Text("abc"),)),
    "blocks": ((Text("a"), Image(url="http://x/y.png")), (Text("a"), Image(url="http://x/y.png"))),
}


@pytest.mark.parametrize("case", RETURNED)
async def test_what_is_returned_becomes_blocks(case: str) -> None:
    value, blocks = RETURNED[case]
    got = await outcome(returning(value))
    assert (got.result.content, got.result.failed, got.notes) == (blocks, False, ())


async def test_other_bytes_are_a_failure() -> None:
    got = await outcome(returning(b"\x00\xff\xfe"))
    assert got.result.failed
    assert "3 bytes" in text_of(got)


async def test_long_text_is_cut_in_the_middle_and_said() -> None:
    got = await outcome(returning("first " + "é" * 100_000 + " last"))
    text = text_of(got)
    assert text.startswith("first é")
    assert text.endswith("é last")
    assert "bytes left out" in text
    assert 60_000 < len(text.encode()) <= 64 * 1024
    (note,) = got.notes
    assert (note.code, note.detail["bytes"]) == ("tool.truncated", 200_011)


@given(blocks=st.lists(st.text(max_size=300), max_size=5), limit=st.integers(0, 400))
def test_no_result_is_larger_than_the_limit(blocks: list[str], limit: int) -> None:
    ctx = ToolContext(policy=Policy("allow"), text_limit=limit)
    got = asyncio.run(outcome(returning(Output(tuple(Text(text) for text in blocks))), ctx=ctx))
    marker = 60
    assert len(text_of(got).encode()) <= limit + marker
    cut = sum(len(text.encode()) for text in blocks) > limit
    assert [note.code for note in got.notes] == ["tool.truncated"] * cut
    if not cut:
        assert text_of(got) == ("".join(blocks) or "(no output)")


async def test_a_huge_picture_is_left_out_and_said() -> None:
    got = await outcome(returning(PNG + bytes(4_000_000)))
    assert "left out" in text_of(got)
    assert [note.code for note in got.notes] == ["tool.truncated"]


async def test_characters_that_no_json_can_carry_are_replaced_and_said() -> None:
    got = await outcome(returning("a\ud800b"))
    assert text_of(got) == "a\ufffdb"
    assert [note.code for note in got.notes] == ["text.repaired"]
