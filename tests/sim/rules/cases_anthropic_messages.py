"""What Anthropic refuses of the conversation, and what it just so takes."""

from __future__ import annotations

from tests.sim.rules.ask import (
    OTHER_ACCOUNT,
    Case,
    Json,
    assistant,
    messages_api,
    of,
    seal,
    text,
    tool_result,
    tool_use,
    user,
)
from tests.sim.rules.cases_anthropic import ADAPTIVE, BINDING_BETA, BOUND, BUDGET, DROP, ON
from thinkwire.sim.seal_binding import prefix_of

m = messages_api


def thinking(words: str = "Hm.", model: str = ADAPTIVE, *, prefix: str = "", account: str = "") -> Json:
    known = {"account": account} if account else {}
    signature = seal("anthropic.signature", model, words or "Hm.", prefix=prefix, **known)
    return {"type": "thinking", "thinking": words, "signature": signature}


def redacted(model: str = ADAPTIVE) -> Json:
    return {"type": "redacted_thinking", "data": seal("anthropic.redacted", model, "Hm.")}


def altered(block: Json, field: str) -> Json:
    data = block[field]
    return {**block, field: data[:30] + ("A" if data[30] != "A" else "B") + data[31:]}


def loop(*blocks: Json) -> list[Json]:
    return [user("Look"), assistant(*blocks, tool_use()), user(tool_result())]


def bound(first: str, second: str = "") -> list[Json]:
    """A conversation whose thinking is bound to `second`, or to what it really begins with."""
    body = {"messages": [user(second or first)]}
    block = thinking("Hm.", BOUND, prefix=prefix_of(body, 1))
    return [user(first), assistant(block, text("Well.")), user("And?")]


system = {"role": "system", "content": "Be brief."}
CONVERSATION = [
    Case(
        "bad_role",
        m(BUDGET, user("Hello"), {"role": "tool", "content": "seen"}),
        m(BUDGET, user("Hello"), assistant("Hi"), user("Go on")),
        'messages: Unexpected role "tool".',
    ),
    Case(
        "system_turn_refused",
        m(BUDGET, user("Hello"), system),
        m(ADAPTIVE, user("Hello"), system),
        "role 'system' is not supported on this model",
    ),
    Case(
        "system_turn_misplaced",
        m(ADAPTIVE, user("Hello"), system, user("Go on")),
        m(ADAPTIVE, user("Hello"), system, assistant("Hi"), user("Go on")),
        "messages.1: a `system` message must follow a `user` message",
    ),
    Case(
        "first_message_not_user",
        m(BUDGET, assistant("Hi"), user("Hello")),
        m(BUDGET, user("Hello")),
        'messages: first message must use the "user" role',
    ),
    Case(
        "unknown_message_field",
        m(BUDGET, user("Hello"), assistant("Hi", reasoning_content="Hm."), user("Go on")),
        m(BUDGET, user({**text("Hello"), "cache_control": {"type": "ephemeral"}})),
        "messages.1.reasoning_content: Extra inputs are not permitted",
    ),
    Case(
        "unknown_message_field",
        m(ADAPTIVE, user("A"), assistant({**thinking(), "cache_control": {}}, text("B")), user("C")),
        m(ADAPTIVE, user("A"), assistant(thinking(), {**text("B"), "cache_control": {}}), user("C")),
        "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
    ),
    Case(
        "empty_message",
        m(BUDGET, user("Hello"), {"role": "assistant", "content": []}, user("Go on")),
        m(BUDGET, user("Hello"), assistant("Hi"), user("Go on")),
        "messages.1: all messages must have non-empty content",
    ),
    Case(
        "empty_text",
        m(BUDGET, user(text("Hello"), text(""))),
        m(BUDGET, user(text("Hello"), text("."))),
        "messages: text content blocks must be non-empty",
    ),
    Case(
        "empty_text",
        m(BUDGET, system=[text(" \n")]),
        m(BUDGET, system=[text("Be brief.")]),
        "system: text content blocks must contain non-whitespace text",
    ),
    Case(
        "prefill",
        m(ADAPTIVE, user("Hello"), assistant("Well")),
        m(BUDGET, user("Hello"), assistant("Well")),
        "This model does not support assistant message prefill. "
        "The conversation must end with a user message.",
    ),
    Case(
        "prefill",
        m(BUDGET, user("Hello"), assistant("Well"), thinking=ON),
        m(
            BUDGET,
            user("Hello"),
            assistant({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}),
            thinking=ON,
        ),
        "must end with a user message",
    ),
    Case(
        "tool_id_charset",
        m(
            ADAPTIVE,
            user("Look"),
            assistant({**tool_use(), "id": "a.b"}),
            user({**tool_result(), "tool_use_id": "a.b"}),
        ),
        m(ADAPTIVE, *loop()),
        "messages.1.content.0.tool_use.id: String should match pattern",
    ),
]


TOOLS = [
    Case(
        "tool_use_without_result",
        m(ADAPTIVE, user("Look"), assistant(tool_use(1), tool_use(2)), user(tool_result(1))),
        m(
            ADAPTIVE,
            user("Look"),
            assistant(tool_use(1), tool_use(2)),
            user(tool_result(2), tool_result(1)),
        ),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_2.",
    ),
    Case(
        "tool_use_without_result",
        m(ADAPTIVE, user("Look"), assistant(tool_use())),
        m(ADAPTIVE, user("Look"), assistant(tool_use()), user(tool_result())),
        "toolu_1",
    ),
    Case(
        "results_not_first",
        m(ADAPTIVE, user("Look"), assistant(tool_use()), user(text("Here:"), tool_result())),
        m(ADAPTIVE, user("Look"), assistant(tool_use()), user(tool_result(), text("There."))),
        "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
    ),
    Case(
        "results_not_first",
        m(ADAPTIVE, user("Look"), assistant(tool_use()), user("Here:"), user(tool_result())),
        m(ADAPTIVE, user("Look"), assistant(tool_use()), user(tool_result()), user("There.")),
        "toolu_1",
    ),
    Case(
        "orphan_tool_result",
        m(ADAPTIVE, user(tool_result())),
        m(ADAPTIVE, *loop()),
        "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1.",
    ),
]


unsigned = {"type": "thinking", "thinking": "Hm."}
THOUGHTS = [
    Case(
        "signature_missing",
        m(ADAPTIVE, *loop(unsigned)),
        m(ADAPTIVE, *loop(thinking())),
        "messages.1.content.0.thinking.signature: Field required",
    ),
    Case(
        "signature_invalid",
        m(ADAPTIVE, *loop(altered(thinking(), "signature"))),
        m(ADAPTIVE, *loop(thinking())),
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    Case(
        "signature_invalid",
        m(ADAPTIVE, *loop({**unsigned, "signature": seal("gemini.thought", "gemini-3-pro", "Hm.")})),
        m(ADAPTIVE, *loop(redacted())),
        "Invalid `signature` in `thinking` block",
    ),
    Case(
        "signature_invalid",
        m(ADAPTIVE, *loop(altered(redacted(), "data"))),
        m(ADAPTIVE, *loop(redacted(), thinking())),
        "Invalid `data` in `redacted_thinking` block",
    ),
    Case(
        "thinking_modified",
        m(ADAPTIVE, *loop({**thinking(), "thinking": "Hm!"})),
        m(ADAPTIVE, *loop({**thinking(), "thinking": ""})),
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message "
        "cannot be modified.",
    ),
    Case(
        "prefix_changed",
        m(BOUND, *bound("Hello", "Hello!")),
        m(BOUND, *bound("Hello")),
        "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a",
    ),
    Case(
        "prefix_changed",
        m(BOUND, *bound("Hello", "Hello!")),
        m(BOUND, *bound("Hello", "Hello!"), thinking=DROP, headers=BINDING_BETA),
        "prefix_mismatch_behavior",
    ),
    Case(
        "prefix_changed",
        m(BOUND, user("A"), assistant(thinking("Hm.", BOUND, prefix="x"), text("B")), user("C")),
        m(
            BOUND,
            user("A"),
            assistant(thinking("Hm.", BOUND, prefix="x", account=OTHER_ACCOUNT), text("B")),
            user("C"),
        ),
        "bound to a different conversation",
    ),
    Case(
        "tool_loop_without_thinking",
        m(BUDGET, *loop(), thinking=ON),
        m(BUDGET, *loop(thinking("Hm.", BUDGET)), thinking=ON),
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. "
        "When `thinking` is enabled, a final `assistant` message must start with a thinking block",
    ),
    Case(
        "tool_loop_without_thinking",
        m(BUDGET, *loop(), assistant(tool_use(2)), user(tool_result(2)), thinking=ON),
        m(
            BUDGET,
            *loop(thinking("Hm.", BUDGET)),
            assistant(tool_use(2)),
            user(tool_result(2)),
            thinking=ON,
        ),
        "messages.1.content.0.type",
    ),
    Case(
        "tool_loop_without_thinking",
        m(BUDGET, *loop(), thinking=ON),
        m(BUDGET, *loop(), assistant("Done."), user("And now?"), thinking=ON),
        "found `tool_use`",
    ),
]

CASES = of("anthropic", CONVERSATION + TOOLS + THOUGHTS)
