"""Real clients on models of other vendors: they think where they can be seen to, and their tools run.

Every run is a process of its own, against `thinkwire serve`. Behind it are simulators that refuse what the
vendors refuse, and no refusal is allowed.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.agents import AGENTS, LATER, claude_code_in_a_house
from tests.e2e.conftest import CELL
from tests.e2e.libraries import LIBRARIES
from tests.e2e.programs import CHAT, GEMINI, MESSAGES, RESPONSES, Program, Ran, Run, cache, is_installed, run
from tests.e2e.world import MAPPED, Seen, World, served
from tests.support import MISSING

CACHE = cache()
if CACHE is None:
    pytest.skip(f"{MISSING}clients (make test-clients)", allow_module_level=True)

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PROGRAMS = [*AGENTS, *LIBRARIES]
FOREIGN = {
    MESSAGES: [
        "openai/gpt-5.6-terra",
        "google/gemini-3.8-flash",
        "deepseek/deepseek-v4-pro",
        "moonshot/kimi-k3",
    ],
    RESPONSES: [
        "anthropic/claude-opus-5-5",
        "google/gemini-3.8-flash",
        "deepseek/deepseek-v4-pro",
        "zai/glm-5.3",
    ],
    CHAT: [
        "anthropic/claude-opus-5-5",
        "google/gemini-3.8-flash",
        "openai/gpt-5.6-terra",
        "minimax/MiniMax-M3",
    ],
    GEMINI: [
        "anthropic/claude-sonnet-4-5",
        "openai/gpt-5.6-terra",
        "moonshot/kimi-k3",
        "mistral/magistral-medium-latest",
    ],
}
"""For each wire, models whose own vendors speak another one, or another accent of it."""

THOUGHT, ANSWER = "PONDER-7319", "SUNNY-7319"
CALLS = {
    "shell": ("[[shell:echo CAPTURE-'OK'-7319]]", "CAPTURE-OK-7319"),
    "slow shell": ("[[shell:echo CAPTURE-'OK'-7319; sleep 0.5]]", "CAPTURE-OK-7319"),
    "code": (
        "[[call:exec {"
        """"input": "text((await tools.exec_command({cmd: `echo CAPTURE-'OK'-7319`})).output)"}]]""",
        "CAPTURE-OK-7319",
    ),
    "get_weather": ('[[call:get_weather {"city":"Oslo"}]]', "tool-ran-7319"),
    LATER: (f'[[call:{LATER} {{"city":"Oslo"}}]]', "tool-ran-7319"),
}
"""How the model is told to call, and what the tool says then; the prompt does not say it."""


class Case(NamedTuple):
    """A client, the wire that it speaks, and the model that it asks for."""

    program: Program
    wire: str
    model: str

    def __str__(self) -> str:
        return f"{self.program.folder}-{self.wire}-{self.model.replace('/', '-')}"

    @property
    def has_tools(self) -> bool:
        return bool(self.program.tool) and self.wire not in self.program.choosy

    @property
    def tool(self) -> str:
        """To this model Codex offers no shell, but a tool that takes code and can call one."""
        return "code" if self.model == "gpt-6.1-sol" else self.program.tool

    @property
    def thinking(self) -> str:
        return f"[[think:{THOUGHT} is a number.]] [[say:{ANSWER}]]"

    @property
    def looping(self) -> str:
        """Two rounds of tools, and thinking before each of them and before the answer."""
        call, _ = CALLS[self.tool]
        think = f"[[think:{THOUGHT} is a number.]]"
        return f"{think} {call} {think} {call} {think} [[say:{ANSWER}]]"


CASES = [
    Case(program, wire, model) for program in PROGRAMS for wire in program.wires for model in FOREIGN[wire]
]


def ask(case: Case, prompt: str, home: Path, url: str) -> Ran:
    assert CACHE is not None
    if not is_installed(case.program, CACHE):
        pytest.skip(f"{MISSING}clients ({case.program.folder}: make test-clients)")
    asked = Run(CACHE / case.program.folder, home, url, case.model, case.wire, prompt)
    return run(case.program, asked)


def said(word: str, text: str) -> bool:
    """Whether the word is there otherwise than in a prompt that is shown again."""
    return text.count(word) > sum(text.count(f"[[{how}:{word}") for how in ("say", "think"))


def check(case: Case, ran: Ran, seen: list[Seen], model: str) -> None:
    """Nothing was refused, the right provider was asked, and what it thought and said came out."""
    assert [(one.path, one.status, one.rule, one.answer) for one in seen if one.status != 200] == []
    assert ran.code == 0, ran
    assert said(ANSWER, ran.final), ran
    asked = [one for one in seen if one.provider == model.partition("/")[0]]
    assert any(THOUGHT in one.answer for one in asked), [one.path for one in seen]
    if case.wire in case.program.shows:
        assert said(THOUGHT, ran.out + ran.err), ran


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_thinking_turn(case: Case, gateway: World, tmp_path: Path, record_property: object) -> None:
    note(record_property, case, "thinking")
    with gateway.watch() as seen:
        ran = ask(case, case.thinking, tmp_path, gateway.url)
    check(case, ran, seen, case.model)


@pytest.mark.parametrize("case", [case for case in CASES if case.has_tools], ids=str)
def test_a_tool_loop(case: Case, gateway: World, tmp_path: Path, record_property: object) -> None:
    note(record_property, case, "tools")
    with gateway.watch() as seen:
        ran = ask(case, case.looping, tmp_path, gateway.url)
    check(case, ran, seen, case.model)
    check_loop(case, seen)


def check_loop(case: Case, seen: list[Seen]) -> None:
    """The model got the results of both rounds, from tools that the client ran."""
    _, result = CALLS[case.tool]
    assert max(one.asked.count(result) for one in seen) >= 2


SEARCHING = [
    Case(program._replace(build=claude_code_in_a_house, tool=LATER), MESSAGES, model)
    for program in AGENTS
    if program.name == "claude-code"
    for model in FOREIGN[MESSAGES]
]


@pytest.mark.parametrize("case", SEARCHING, ids=str)
def test_a_tool_that_the_client_loads_when_it_was_searched_for(
    case: Case, gateway: World, tmp_path: Path
) -> None:
    """Claude Code tells of what it found by a block that only Anthropic knows."""
    search = f'[[think:I search.]] [[call:ToolSearch {{"query":"select:{LATER}"}}]]'
    with gateway.watch() as seen:
        ran = ask(case, f"{search} {case.looping}", tmp_path, gateway.url)
    check(case, ran, seen, case.model)
    check_loop(case, seen)
    first, *rest = [one for one in seen if "ToolSearch" in one.asked]
    assert not offers(first, LATER)
    assert all(offers(one, LATER) for one in rest)
    assert not any("tool_reference" in one.asked or "defer_loading" in one.asked for one in seen)
    assert f"The tool {LATER} is loaded and can be called now." in rest[0].asked


def offers(seen: Seen, name: str) -> bool:
    """Whether a tool of this name is in the request, in whichever form the provider takes tools."""
    return f'"name":"{name}","' in seen.asked.replace('": ', '":').replace(', "', ',"')


OWN_NAMES = [
    Case(program, wire, model)
    for program in PROGRAMS
    for name, wire, model in (
        ("claude-code-2.1.325", MESSAGES, "claude-opus-5-5"),
        ("claude-code-2.1.325", MESSAGES, "claude-sonnet-4-5"),
        ("claude-code-2.1.325", MESSAGES, "haiku"),
        ("codex-0.166.0", RESPONSES, "gpt-5.5"),
        ("codex-0.166.0", RESPONSES, "gpt-6.1-sol"),
        ("gemini-cli-0.61.0", GEMINI, "gemini-2.5-pro"),
        ("gemini-cli-0.61.0", GEMINI, "auto"),
        ("opencode-1.18.33", MESSAGES, "claude-sonnet-4-5"),
        ("cline-3.0.65", GEMINI, "gemini-3.8-flash"),
    )
    if program.folder == name
]


@pytest.mark.parametrize("case", OWN_NAMES, ids=str)
def test_a_clients_own_model_names_lead_elsewhere(
    case: Case, gateway: World, tmp_path: Path, record_property: object
) -> None:
    """What a client sends depends on the model that it believes to talk to."""
    note(record_property, case, "tools")
    names = {MESSAGES: "claude-*", RESPONSES: "gpt-*", GEMINI: "gemini-*"}[case.wire]
    with gateway.watch() as seen:
        ran = ask(case, case.looping, tmp_path, gateway.url)
    check(case, ran, seen, MAPPED[names])
    check_loop(case, seen)


@pytest.mark.parametrize(
    "case",
    [
        Case(program, program.wires[0], "deepseek/deepseek-v4-pro/high")
        for program in PROGRAMS
        if program.name in ("claude-code", "codex", "gemini-cli", "ai")
    ],
    ids=str,
)
def test_a_first_try_needs_no_key_and_no_configuration(case: Case, tmp_path: Path) -> None:
    (tmp_path / "gateway").mkdir()
    (tmp_path / "home").mkdir()
    with served(tmp_path / "gateway", "--sim") as url:
        ran = ask(case, case.looping, tmp_path / "home", url)
    assert ran.code == 0, ran
    assert said(ANSWER, ran.final), ran


def note(record_property: object, case: Case, tried: str) -> None:
    assert callable(record_property)
    record_property(CELL, f"{case.program.folder}|{case.wire}|{case.model}|{tried}")
