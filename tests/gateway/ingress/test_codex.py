"""Codex on other vendors: free-form tools, namespaces, tools inside the conversation, and their way back."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gateway.ingress.asked import CLAUDE, DEEPSEEK, GEMINI, GPT, GROK, codes, normal
from thinkwire import dialects
from thinkwire.errors import BadRequest, Failure
from thinkwire.events import BlockEnded, BlockGrew, BlockStarted, Event, Failed, Finished, Started, collect
from thinkwire.gateway.ingress import Normalised
from thinkwire.gateway.ingress.response_tools import flat_name
from thinkwire.messages import Opaque, Text, ToolCall, ToolResult
from thinkwire.reasoning.parse_controls import read_intent
from thinkwire.request import Tool, ToolChoice

GRAMMAR = 'start: "*** Begin Patch" LF hunk+ "*** End Patch"'
PATCH = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Edits files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": GRAMMAR},
}
RUN = {"type": "function", "name": "exec_command", "parameters": {"type": "object", "properties": {}}}
SPAWN = RUN | {"name": "spawn"}
AGENTS = {"type": "namespace", "name": "agents", "description": "Other agents.", "tools": [SPAWN]}
SEARCH = {
    "type": "tool_search",
    "execution": "client",
    "description": "Finds tools.",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
}
USER = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]}
FOREIGN = [CLAUDE, GEMINI, DEEPSEEK, GROK]


def asked(model: str, *tools: Any, items: tuple[Any, ...] = (USER,), **more: Any) -> Normalised:
    return normal("openai-responses", {"input": list(items), "tools": list(tools), **more}, model)


def names(normalised: Normalised) -> list[str]:
    assert all(isinstance(tool, Tool) for tool in normalised.request.tools)
    return [tool.name for tool in normalised.request.tools if isinstance(tool, Tool)]


def called(name: str, *pieces: str, over: bool = True) -> list[Event]:
    """An answer that calls one tool."""
    grown: list[Event] = [BlockGrew(0, piece) for piece in pieces]
    end: list[Event] = [BlockEnded(0)] if over else []
    return [Started("r"), BlockStarted(0, ToolCall("call_1", name)), *grown, *end, Finished("tool_calls")]


def told(normalised: Normalised, events: list[Event]) -> list[dict[str, Any]]:
    """The items that the client gets."""
    answer = collect(normalised.restore(list(events)))
    output: list[dict[str, Any]] = dialects.get("openai-responses").encode_response(answer).body["output"]
    return output


@pytest.mark.parametrize("model", FOREIGN)
def test_a_free_form_tool_is_offered_as_a_function_of_one_text(model: str) -> None:
    done = asked(model, PATCH)
    (tool,) = done.request.tools
    assert isinstance(tool, Tool)
    assert tool.name == "apply_patch"
    assert tool.schema == {
        "type": "object",
        "properties": {"input": {"type": "string"}},
        "required": ["input"],
    }
    assert tool.description is not None
    assert GRAMMAR in tool.description
    assert codes(done) == []


@pytest.mark.parametrize("model", FOREIGN)
def test_its_call_comes_back_as_the_free_form_call_that_the_client_knows(model: str) -> None:
    items = told(asked(model, PATCH), called("apply_patch", '{"in', 'put":"*** Begin', ' Patch\\n"}'))
    (item,) = items
    assert item | {"id": ""} == {
        "type": "custom_tool_call",
        "id": "",
        "status": "completed",
        "call_id": "call_1",
        "name": "apply_patch",
        "input": "*** Begin Patch\n",
    }
    assert item["id"].startswith("ctc_")


@given(text=st.text(), cuts=st.lists(st.integers(0, 300), max_size=4), data=st.data())
def test_whatever_is_written_into_a_free_form_call_survives_the_way_there_and_back(
    text: str, cuts: list[int], data: st.DataObject
) -> None:
    text = text.encode("utf-8", "replace").decode()
    arguments = json.dumps({"input": text}, ensure_ascii=data.draw(st.booleans()))
    edges = [0, *sorted(min(cut, len(arguments)) for cut in cuts), len(arguments)]
    pieces = [arguments[start:end] for start, end in pairwise(edges)]
    done = asked(CLAUDE, PATCH)
    events = called("apply_patch", *pieces)
    whole = told(done, events)
    one_by_one = collect(out for event in events for out in done.restore([event]))
    assert whole[0]["input"] == text
    assert one_by_one == collect(done.restore(events))
    back = asked(CLAUDE, PATCH, items=(USER, whole[0]))
    (call,) = back.request.turns[-1].tool_calls
    assert (call.id, call.name, json.loads(call.arguments)) == ("call_1", "apply_patch", {"input": text})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("*** Begin Patch", "*** Begin Patch"),
        ('{"patch":"P"}', "P"),
        ('{"input":7}', '{"input":7}'),
        ('{"a":"x","b":"y"}', '{"a":"x","b":"y"}'),
        ("", ""),
        ('["P"]', '["P"]'),
    ],
)
def test_a_model_that_calls_it_in_its_own_way_is_understood(arguments: str, text: str) -> None:
    assert told(asked(GEMINI, PATCH), called("apply_patch", arguments))[0]["input"] == text


def test_a_call_that_was_cut_off_is_told_as_incomplete_and_a_failure_tells_none() -> None:
    done = asked(CLAUDE, PATCH)
    cut = told(done, [*called("apply_patch", '{"input":"ab', over=False)])
    assert [item["status"] for item in cut] == ["incomplete"]
    events = [*called("apply_patch", "{", over=False)[:-1], Failed(Failure("connection_lost", "gone"))]
    assert collect(done.restore(events)).turn.blocks == ()


def test_another_answer_starts_with_nothing_of_the_one_before() -> None:
    done = asked(CLAUDE, PATCH)
    done.restore(called("apply_patch", '{"input":"old', over=False)[:-1])
    assert told(done, called("apply_patch", '{"input":"new"}'))[0]["input"] == "new"


def test_growth_of_other_blocks_passes_untouched() -> None:
    done = asked(CLAUDE, PATCH)
    batch: list[Event] = [BlockGrew(0, "a"), BlockGrew(0, "b")]
    assert done.restore(batch) is batch


@pytest.mark.parametrize("model", FOREIGN)
def test_a_namespace_is_a_prefix_there_and_a_namespace_again_here(model: str) -> None:
    done = asked(model, RUN, AGENTS)
    assert names(done) == ["exec_command", "agents__spawn"]
    (item,) = told(done, called("agents__spawn", "{}"))
    assert (item["type"], item["name"], item["namespace"]) == ("function_call", "spawn", "agents")
    back = asked(model, RUN, AGENTS, items=(USER, item))
    assert [call.name for call in back.request.turns[-1].tool_calls] == ["agents__spawn"]
    (plain,) = told(done, called("exec_command", "{}"))
    assert "namespace" not in plain


def test_the_namespace_of_functions_is_no_namespace() -> None:
    done = asked(CLAUDE, {"type": "namespace", "name": "functions", "tools": [PATCH | {"name": "exec"}, RUN]})
    assert names(done) == ["exec", "exec_command"]
    (item,) = told(done, called("exec", '{"input":"1"}'))
    assert (item["type"], item["name"], item.get("namespace")) == ("custom_tool_call", "exec", None)


def test_tools_of_one_name_are_told_apart() -> None:
    done = asked(CLAUDE, RUN | {"name": "apply_patch"}, PATCH)
    first, second = names(done)
    assert first == "apply_patch" != second
    assert told(done, called(first, "{}"))[0]["type"] == "function_call"
    assert told(done, called(second, '{"input":"x"}'))[0]["type"] == "custom_tool_call"


@given(st.text(min_size=1), st.none() | st.text(min_size=1))
def test_a_flat_name_is_taken_by_every_vendor_and_is_always_the_same(
    name: str, namespace: str | None
) -> None:
    flat = flat_name(name, namespace)
    assert flat == flat_name(name, namespace)
    assert 1 <= len(flat) <= 64
    assert flat.isascii()
    assert flat.replace("_", "").replace("-", "").isalnum() or set(flat) <= set("_-")


def test_long_names_stay_different() -> None:
    assert flat_name("a" * 90, "n") != flat_name("a" * 91, "n")
    assert len({flat_name("x", space) for space in ("a.b", "a:b", "a_b")}) == 3


@pytest.mark.parametrize("model", FOREIGN)
def test_tools_that_are_given_inside_the_conversation_are_tools(model: str) -> None:
    item = {"type": "additional_tools", "role": "developer", "tools": [AGENTS, PATCH]}
    done = asked(model, items=(item, USER))
    assert names(done) == ["agents__spawn", "apply_patch"]
    assert [turn.text for turn in done.request.turns] == ["Go."]


@pytest.mark.parametrize("model", FOREIGN)
def test_a_search_that_the_client_makes_is_a_function_and_what_it_finds_can_be_called(model: str) -> None:
    done = asked(model, SEARCH)
    (call,) = told(done, called("tool_search", '{"query":"fetch"}'))
    assert (call["type"], call["execution"], call["arguments"]) == (
        "tool_search_call",
        "client",
        {"query": "fetch"},
    )
    found = {"type": "tool_search_output", "call_id": "call_1", "execution": "client", "tools": [AGENTS, RUN]}
    back = asked(model, SEARCH, items=(USER, call, found))
    assert names(back) == ["tool_search", "agents__spawn", "exec_command"]
    (result,) = back.request.turns[-1].blocks
    assert isinstance(result, ToolResult)
    assert result.content == (Text("Loaded, and can be called now: agents, exec_command."),)


@pytest.mark.parametrize("model", FOREIGN)
def test_tools_that_only_the_vendor_runs_are_left_out_and_that_is_said(model: str) -> None:
    search = {"type": "tool_search", "execution": "server"}
    away = {"type": "shell", "environment": {"type": "container_auto"}}
    done = asked(model, {"type": "web_search", "external_web_access": True}, search, away, RUN)
    assert names(done) == ["exec_command"]
    assert codes(done) == ["block.dropped"]
    assert "web_search, tool_search, shell" in done.notes[0].message


LOCAL: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    (
        {"type": "local_shell"},
        '{"command":"ls -a","timeout_ms":5}',
        {"action": {"type": "exec", "command": ["bash", "-lc", "ls -a"], "env": {}, "timeout_ms": 5}},
    ),
    ({"type": "local_shell"}, "{}", {"action": {"type": "exec", "command": [], "env": {}}}),
    ({"type": "shell"}, '{"commands":["ls"]}', {"action": {"commands": ["ls"]}}),
    (
        {"type": "apply_patch"},
        '{"type":"delete_file","path":"a"}',
        {"operation": {"type": "delete_file", "path": "a"}},
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "fields"), LOCAL)
def test_tools_that_run_on_the_users_machine_stay_callable(
    tool: dict[str, Any], arguments: str, fields: dict[str, Any]
) -> None:
    done = asked(DEEPSEEK, tool)
    (item,) = told(done, called(tool["type"], arguments))
    assert {key: item[key] for key in fields} == fields
    assert (item["type"], item["call_id"]) == (f"{tool['type']}_call", "call_1")
    back = asked(DEEPSEEK, tool, items=(USER, item))
    (call,) = back.request.turns[-1].tool_calls
    assert call.name == tool["type"]


RESULTS: list[tuple[dict[str, Any], tuple[str, ...], bool]] = [
    ({"type": "custom_tool_call_output", "call_id": "c", "output": "done"}, ("done",), False),
    (
        {
            "type": "custom_tool_call_output",
            "call_id": "c",
            "output": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}],
        },
        ("a", "b"),
        False,
    ),
    ({"type": "local_shell_call_output", "id": "c", "output": '{"exit":0}'}, ('{"exit":0}',), False),
    ({"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no"}, ("no",), True),
    (
        {
            "type": "shell_call_output",
            "call_id": "c",
            "output": [{"stdout": "hi", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}],
        },
        ("hi\n(exit code 1)",),
        False,
    ),
    ({"type": "tool_search_output", "call_id": "c", "tools": []}, ("Nothing was found.",), False),
]


@pytest.mark.parametrize(("item", "texts", "failed"), RESULTS)
def test_results_of_such_tools_are_results(
    item: dict[str, Any], texts: tuple[str, ...], failed: bool
) -> None:
    (turn,) = asked(CLAUDE, items=(item,)).request.turns
    (result,) = turn.blocks
    assert isinstance(result, ToolResult)
    assert (result.call_id, result.failed) == ("c", failed)
    assert tuple(part.text for part in result.content if isinstance(part, Text)) == texts


CHOICES: list[tuple[Any, ToolChoice | None]] = [
    ({"type": "custom", "name": "apply_patch"}, ToolChoice("any", ("apply_patch",))),
    ({"type": "function", "name": "spawn"}, ToolChoice("any", ("agents__spawn",))),
    ("required", ToolChoice("any")),
    (
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "custom", "name": "apply_patch"}]},
        ToolChoice("auto", ("apply_patch",)),
    ),
    ({"type": "web_search"}, None),
]


@pytest.mark.parametrize(("choice", "wanted"), CHOICES)
def test_a_choice_among_tools_names_what_they_are_called_now(choice: Any, wanted: ToolChoice | None) -> None:
    done = asked(CLAUDE, PATCH, AGENTS, tool_choice=choice)
    assert done.request.tool_choice == wanted


def test_the_effort_that_the_conversation_set_last_counts() -> None:
    update = {"type": "configuration_update", "reasoning": {"effort": "high"}}
    done = asked(DEEPSEEK, items=(USER, update), reasoning={"effort": "low", "context": "all_turns"})
    intent, _ = read_intent(done.request)
    assert intent.level == "high"
    assert [turn.text for turn in done.request.turns] == ["Go."]


def test_developers_words_go_where_claude_takes_system_text() -> None:
    def developer(text: str) -> dict[str, Any]:
        return {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": text}]}

    model = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hm."}]}
    items = (developer("a"), developer("b"), USER, developer("c"), USER, model, developer("d"), model, USER)
    done = asked(CLAUDE, items=items)
    assert [text.text for text in done.request.system] == ["a", "b", "d"]
    roles = [turn.role for turn in done.request.turns]
    assert roles == ["user", "user", "system", "assistant", "assistant", "user"]
    assert "system.moved" in codes(done)
    assert [turn.role for turn in asked(DEEPSEEK, items=items).request.turns].count("system") == 4


@pytest.mark.parametrize("field", ["previous_response_id", "conversation", "prompt"])
def test_what_is_only_named_and_not_kept_here_is_refused_instead_of_forgotten(field: str) -> None:
    with pytest.raises(BadRequest) as refused:
        normal("openai-responses", {"input": "?", field: "it_1"}, CLAUDE)
    failure = refused.value.failure
    assert failure.param == field
    assert "it_1" in failure.message
    home = normal("openai-responses", {"input": "?", field: "it_1"}, GPT)
    assert home.request.extras["openai_responses"][field] == "it_1"


def test_another_vendor_on_the_same_wire_gets_nothing_that_is_openais_alone() -> None:
    more = {"client_metadata": {"session_id": "s"}, "reasoning": {"effort": "low", "context": "all_turns"}}
    reference = {"type": "item_reference", "id": "rs_1"}
    done = asked(GROK, PATCH, items=(USER, reference), store=False, **more)
    body = dialects.get("openai-responses").encode_request(done.request).body
    assert "client_metadata" not in body
    assert body["reasoning"] == {"effort": "low"}
    assert [item.get("type") for item in body["input"]] == ["message"]
    assert [tool["type"] for tool in body["tools"]] == ["function"]
    assert codes(done) == ["block.dropped", "field.dropped"]


def test_openai_itself_gets_everything_as_it_came() -> None:
    body = {
        "model": "gpt-5.6-terra",
        "input": [{"type": "additional_tools", "role": "developer", "tools": [AGENTS]}, USER],
        "tools": [PATCH, SEARCH, {"type": "web_search"}],
        "tool_choice": {"type": "custom", "name": "apply_patch"},
        "client_metadata": {"a": "b"},
    }
    done = normal("openai-responses", body, GPT)
    assert done.request == dialects.get("openai-responses").decode_request(body)
    assert codes(done) == []
    events = called("apply_patch", "{}")
    assert done.restore(events) is events


def test_calls_of_other_answers_are_left_alone() -> None:
    opaque = Opaque("openai_responses", {"type": "web_search_call", "id": "ws_1"})
    events: list[Event] = [BlockStarted(0, opaque), BlockEnded(0), BlockStarted(1, Text("x")), BlockEnded(1)]
    assert asked(CLAUDE, PATCH).restore(list(events)) == events
