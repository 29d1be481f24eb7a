"""What may be run: patterns, effects, questions, and what "always" covers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.session.tools.running import text_of
from thinkwire.errors import ConfigError
from thinkwire.messages import ToolCall
from thinkwire.session.tools import (
    Ask,
    Outcome,
    Policy,
    Spec,
    Toolbox,
    ToolContext,
    builtin_tools,
    decide,
    tool,
)
from thinkwire.session.tools.approval import OPERATORS


def spec(name: str, effect: Literal["read", "write", "run"], subject: str | None = None) -> Spec:
    def anything(command: str = "", path: str = "") -> str:
        return "done"

    return tool(name=name, effect=effect, subject=subject)(anything)


RUN = spec("run_command", "run", "command")
WRITE = spec("write_file", "write", "path")
READ = spec("read_file", "read", "path")
MCP = spec("mcp__github__delete_repo", "run")

DECISIONS = [
    (Policy(), READ, "a", "allow"),
    (Policy(), WRITE, "a", "ask"),
    (Policy(), RUN, "ls", "ask"),
    (Policy("deny"), READ, "a", "allow"),
    (Policy("deny"), RUN, "ls", "deny"),
    (Policy("allow"), RUN, "ls; rm x", "allow"),
    (Policy(deny=("read_file(.env*)",)), READ, ".env.local", "deny"),
    (Policy(allow=("write_file(docs/*)",)), WRITE, "docs/a/b.md", "allow"),
    (Policy(allow=("write_file(docs/*)",)), WRITE, "src/docs/a.md", "ask"),
    (Policy(allow=("write_file(docs/*)",)), WRITE, None, "ask"),
    (Policy(allow=("run_command(git status*)",)), RUN, "git status --short", "allow"),
    (Policy(allow=("run_command(git status*)",)), RUN, "git stash", "ask"),
    (Policy(allow=("run_command(git *)",)), RUN, 'git commit -m "a b"', "allow"),
    (Policy(allow=("run_command",)), RUN, "a; b", "allow"),
    (Policy(allow=("mcp__github__*",)), MCP, None, "allow"),
    (Policy(allow=("mcp__git__*",)), MCP, None, "ask"),
    (Policy(allow=("*",), deny=("mcp__*",)), MCP, None, "deny"),
    (Policy("allow", deny=("run_command(rm *)",)), RUN, "rm -rf x", "deny"),
    (Policy("allow", deny=("run_command(rm *)",)), RUN, "ls && rm -rf x", "deny"),
    (Policy("allow", deny=("run_command(rm *)",)), RUN, "echo $(rm -rf x)", "deny"),
    (Policy("allow", deny=("run_command(rm *)",)), RUN, "echo rm", "allow"),
    (Policy("allow", deny=("write_file(x)",)), WRITE, None, "deny"),
    (Policy(allow=("run_command(a[bc])",)), RUN, "ab", "ask"),
]


@pytest.mark.parametrize(("policy", "tool", "subject", "expected"), DECISIONS)
def test_decisions(policy: Policy, tool: Spec, subject: str | None, expected: str) -> None:
    assert decide(policy, tool, subject) == expected


TRICKS = [
    *("git x; rm -rf .", "git x && rm y", "git x || rm y", "git x | sh", "git x & rm y", "git `rm y`"),
    *("git $(rm y)", "git x > /etc/y", "git x < y", "git x\nrm y", "git x\rrm y", "git ${IFS}", "git {a,b}"),
    *("git x \\\n rm", "git !rm", "git <(rm y)", "git x\0rm"),
]


@pytest.mark.parametrize("command", TRICKS)
def test_a_command_with_an_operator_matches_no_pattern(command: str) -> None:
    for pattern in ("run_command(git *)", "run_command(*)", f"run_command({command})"):
        assert decide(Policy(allow=(pattern,)), RUN, command) == "ask"


@given(st.text())
def test_only_plain_commands_are_ever_allowed_by_a_pattern(command: str) -> None:
    if decide(Policy(allow=("run_command(*)",)), RUN, command) == "allow":
        assert not OPERATORS.search(command)


@pytest.mark.parametrize("pattern", ["", "a b", "run_command(x", "(x)", "a)"])
def test_a_wrong_pattern_is_a_config_error(pattern: str) -> None:
    with pytest.raises(ConfigError, match="approval pattern"):
        Policy(allow=(pattern,))


class User:
    """Answers questions in order, and remembers them."""

    def __init__(self, *answers: bool | Literal["always"]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.at_once = 0

    async def __call__(self, call: ToolCall, spec: Spec) -> bool | Literal["always"]:
        assert self.at_once == 0, "one question at a time"
        self.at_once += 1
        await asyncio.sleep(0)
        self.at_once -= 1
        self.asked.append(call.arguments)
        return self.answers.pop(0)


async def command(box: Toolbox, ask: Ask | None, words: str, policy: Policy | None = None) -> Outcome:
    call = ToolCall("c", "run_command", json.dumps({"command": words}))
    return await box.run(call, ToolContext(policy=policy or Policy(), ask=ask))


@pytest.mark.anyio
async def test_a_refusal_is_told_to_the_model_and_noted() -> None:
    outcome = await command(Toolbox([RUN]), User(False), "ls")
    assert (outcome.result.failed, text_of(outcome)) == (True, "The user refused this call.")
    assert [note.code for note in outcome.notes] == ["tool.refused"]


@pytest.mark.anyio
async def test_a_denial_asks_nobody() -> None:
    user = User()
    outcome = await command(Toolbox([RUN]), user, "ls", Policy("deny"))
    assert outcome.result.failed
    assert [note.code for note in outcome.notes] == ["tool.refused"]
    assert user.asked == []


@pytest.mark.anyio
async def test_without_anybody_to_ask_nothing_is_run() -> None:
    outcome = await command(Toolbox([RUN]), None, "ls")
    assert outcome.result.failed
    assert "nobody to ask" in text_of(outcome)


@pytest.mark.anyio
async def test_a_face_that_breaks_means_no() -> None:
    async def broken(call: ToolCall, spec: Spec) -> bool:
        raise OSError("terminal is gone")

    outcome = await command(Toolbox([RUN]), broken, "ls")
    assert outcome.result.failed
    assert [note.code for note in outcome.notes] == ["tool.refused"]


@pytest.mark.anyio
async def test_always_covers_the_same_command_only() -> None:
    box, user = Toolbox([RUN]), User("always", False)
    assert text_of(await command(box, user, "make a | tee b")) == "done"
    assert text_of(await command(box, user, "make a | tee b")) == "done"
    assert (await command(box, user, "make a")).result.failed
    assert len(user.asked) == 2


@pytest.mark.anyio
async def test_always_covers_a_writing_tool_as_a_whole() -> None:
    box, user = Toolbox([WRITE]), User("always")
    ctx = ToolContext(ask=user)
    for path in ("a", "b"):
        outcome = await box.run(ToolCall("c", "write_file", json.dumps({"path": path})), ctx)
        assert not outcome.result.failed
    assert len(user.asked) == 1


@pytest.mark.anyio
async def test_a_denial_is_stronger_than_always() -> None:
    box = Toolbox([RUN])
    await command(box, User("always"), "ls")
    assert (await command(box, User(), "ls", Policy(deny=("run_command(ls)",)))).result.failed


@pytest.mark.anyio
async def test_questions_of_parallel_calls_come_one_by_one_and_share_their_answer() -> None:
    box, user = Toolbox([RUN]), User("always")
    outcomes = await asyncio.gather(*(command(box, user, "ls") for _ in range(5)))
    assert {text_of(outcome) for outcome in outcomes} == {"done"}
    assert len(user.asked) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["docs/../src/a", "./src/a", "docs/link/a", "docs/sub/../../src/a"])
async def test_patterns_see_where_a_path_leads(path: str, tmp_path: Path) -> None:
    (tmp_path / "docs" / "sub").mkdir(parents=True)
    (tmp_path / "src").mkdir()
    (tmp_path / "docs" / "link").symlink_to("../src")
    call = ToolCall("c", "write_file", json.dumps({"path": path, "content": "x"}))
    ctx = ToolContext(policy=Policy("deny", allow=("write_file(docs/*)",)))
    assert (await Toolbox(builtin_tools(tmp_path)).run(call, ctx)).result.failed
    assert list((tmp_path / "src").iterdir()) == []


@pytest.mark.anyio
async def test_a_denied_file_is_denied_through_a_link_too(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("hush")
    (tmp_path / "open.txt").symlink_to("secret.txt")
    call = ToolCall("c", "read_file", '{"path": "open.txt"}')
    ctx = ToolContext(policy=Policy(deny=("read_file(secret*)",)))
    assert "hush" not in text_of(await Toolbox(builtin_tools(tmp_path)).run(call, ctx))
