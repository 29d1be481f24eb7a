"""What real clients ask besides: an object about the user's words, and commands by the list."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.sim.support import api, ask
from thinkwire.sim.app import Simulator

APP = Simulator(rules=())
CHAT = api("deepseek", "openai-chat")
OBJECT = {"type": "json_schema", "json_schema": {"name": "route", "schema": {"type": "object"}}}


def body(text: str, **more: Any) -> dict[str, Any]:
    return CHAT.body(text) | more


def test_a_question_on_the_side_gets_its_object_and_not_the_script() -> None:
    said = ask(APP, CHAT, body("[[think:Hm.]] [[shell:ls]] [[say:Done.]]", response_format=OBJECT)).turn
    assert isinstance(json.loads(said.text), dict)
    assert said.tool_calls == ()


@pytest.mark.parametrize("text", ['{"choice": "flash"}', "[1]"])
def test_a_script_that_says_an_object_is_played(text: str) -> None:
    assert ask(APP, CHAT, body(f"[[say:{text} ]]", response_format=OBJECT)).turn.text.strip() == text


def test_a_tool_that_takes_several_commands_gets_a_list_of_one() -> None:
    commands = {"type": "object", "properties": {"commands": {"type": "array", "items": {"type": "string"}}}}
    tool = {"type": "function", "function": {"name": "run_commands", "parameters": commands}}
    (made,) = ask(APP, CHAT, body("[[shell:ls -la]]", tools=[tool])).turn.tool_calls
    assert json.loads(made.arguments) == {"commands": ["ls -la"]}
