"""Directives say exactly what the model does."""

from __future__ import annotations

import pytest

from thinkwire.messages import Text, ToolCall, ToolResult, Turn
from thinkwire.sim.model.actions import Call, Cut, Fail, Say, Stall, Think
from thinkwire.sim.model.directives import Shell, parse
from thinkwire.sim.model.script import story_of


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("no directive", []),
        ("before [[think:a]] between [[say:b]] after", [[Think("a"), Say("b")]]),
        ("[[say:two\nlines]]", [[Say("two\nlines")]]),
        ("[[call:f {}]] [[say:x]]", [[Call("f", "{}")], [Say("x")]]),
        ("[[call:f]]", [[Call("f", "{}")]]),
        ('[[call:f {"a": [[1], [2]]}]]', [[Call("f", '{"a": [[1], [2]]}')]]),
        ('[[call:f {"a": "]]"}]] [[say:x]]', [[Call("f", '{"a": "]]"}')], [Say("x")]]),
        ('[[call:f {"broken]]', [[Call("f", '{"broken')]]),
        ("[[call:f {}]] & [[call:g {}]]", [[Call("f", "{}"), Call("g", "{}")]]),
        ("[[call:f {}]] [[call:g {}]]", [[Call("f", "{}")], [Call("g", "{}")]]),
        (
            "[[call:f {}]] & [[shell:ls]] [[think:t]]",
            [[Call("f", "{}"), Shell("ls")], [Think("t")]],
        ),
        ("[[shell:echo [x]]]", [[Shell("echo [x")]]),
        ("[[fail:429]] [[fail:503 x2]]", [[Fail(429), Fail(503, 2)]]),
        ("[[cut]] [[stall:0.5]] [[stall:5]]", [[Cut(), Stall(0.5), Stall(5.0)]]),
        ("[[SAY:loud]] [[nonsense:x]]", [[Say("loud")]]),
        ("[[redact:r]]", [[Think("r", redacted=True)]]),
    ],
)
def test_steps_of_a_text(text: str, steps: list[object]) -> None:
    assert parse(text) == steps


def user(*texts: str) -> Turn:
    return Turn("user", tuple(Text(text) for text in texts))


CALLED = Turn("assistant", (ToolCall("c1", "f", "{}"),))
RESULT = Turn("user", (ToolResult("c1", (Text("done"),)),))


@pytest.mark.parametrize(
    ("turns", "text", "step"),
    [
        ([user("first"), Turn("assistant", (Text("a"),)), user("second")], "second", 0),
        ([user("go"), CALLED, RESULT], "go", 1),
        ([user("go"), CALLED, RESULT, CALLED, RESULT], "go", 2),
        ([user("go"), Turn("assistant", (Text("prefilled"),))], "go", 0),
        ([user("<system-reminder>[[say:no]]</system-reminder>", "go")], "go", 0),
        (
            [
                user("go"),
                CALLED,
                Turn("user", (*RESULT.blocks, Text("<system-reminder>x</system-reminder>"))),
            ],
            "go",
            1,
        ),
        ([user("<environment_context>\n<cwd>/</cwd>\n</environment_context>"), user("go")], "go", 0),
        ([user("<user_query>\ngo\n</user_query>")], "go", 0),
        ([user("go"), CALLED, Turn("user", (*RESULT.blocks, Text("now this")))], "now this", 0),
        ([], "", 0),
    ],
)
def test_the_last_real_words_of_the_user(turns: list[Turn], text: str, step: int) -> None:
    story = story_of(turns)
    assert (story.text, story.step) == (text, step)
