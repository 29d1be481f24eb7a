"""What OpenAI refuses on the Responses API, and what it just so takes."""

from __future__ import annotations

from tests.sim.rules.ask import (
    OTHER_ACCOUNT,
    Case,
    Json,
    assistant,
    function_call,
    of,
    output,
    reasoning,
    responses,
    seal,
    user,
)
from thinkwire.sim.rules.item_ids import follower_id, reasoning_id

MODEL, ALWAYS = "gpt-5.6-sol", "gpt-5"
THOUGHT = reasoning_id("a thought")
FOLLOWER = follower_id("fc", THOUGHT, 1)
SAID = {"type": "message", "role": "assistant", "status": "completed", "content": []}


def encrypted(model: str = MODEL, **fields: str) -> str:
    return seal("openai.encrypted", model, "Hm.", **fields)


def loop(item: Json, call: Json | None = None) -> list[Json]:
    return [user("Look"), item, call or function_call(), output()]


r = responses
PARAMETERS = [
    Case("unknown_parameter", r(MODEL, thinking={}), r(MODEL, user="me"), "Unknown parameter: 'thinking'."),
    Case(
        "effort_unsupported",
        r("gpt-5-chat-latest", reasoning={"effort": "low"}),
        r("gpt-5-chat-latest"),
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    ),
    Case(
        "effort_unknown",
        r(MODEL, reasoning={"effort": "hard"}),
        r(MODEL, reasoning={"effort": "max"}),
        "Invalid value: 'hard'. Supported values are: 'none', 'minimal',",
        also=("effort_not_offered",),
    ),
    Case(
        "effort_not_offered",
        r(ALWAYS, reasoning={"effort": "none"}),
        r(MODEL, reasoning={"effort": "none"}),
        "Unsupported value: 'reasoning.effort' does not support 'none' with this model. "
        "Supported values are: 'minimal', 'low', 'medium', and 'high'.",
    ),
    Case(
        "max_output_tokens_too_small",
        r(MODEL, max_output_tokens=15),
        r(MODEL, max_output_tokens=16),
        "Invalid 'max_output_tokens': integer below minimum value. "
        "Expected a value >= 16, but got 15 instead.",
    ),
    Case(
        "sampling_refused",
        r(MODEL, temperature=0.2),
        r(MODEL, temperature=0.2, reasoning={"effort": "none"}),
        "Unsupported parameter: 'temperature' is not supported with this model.",
    ),
    Case("sampling_refused", r(ALWAYS, top_p=0.5), r(ALWAYS, top_p=1), "'top_p' is not supported"),
    Case(
        "unknown_message_field",
        r(MODEL, user("Hello"), assistant("Hi", reasoning_content="Hm."), user("Go on")),
        r(MODEL, user("Hello"), assistant("Hi"), user("Go on")),
        "Unknown parameter: 'input[1].reasoning_content'.",
    ),
]


long = "c" * 65
IDS = [
    Case(
        "id_too_long",
        r(MODEL, function_call(long), output(long)),
        r(MODEL, function_call(long[:64]), output(long[:64])),
        "Invalid 'input[0].call_id': string too long. Expected a string with maximum length 64, "
        "but got a string with length 65 instead.",
    ),
    Case(
        "id_charset",
        r(MODEL, function_call(id="fc_a.b"), output()),
        r(MODEL, function_call(id="fc_a-b"), output()),
        "Invalid 'input[0].id': 'fc_a.b'. Expected an ID that contains letters, numbers,",
    ),
    Case(
        "id_prefix",
        r(MODEL, function_call(id="toolu_1"), output()),
        r(MODEL, function_call(id="fc_1"), output()),
        "Invalid 'input[0].id': 'toolu_1'. Expected an ID that begins with 'fc'.",
    ),
    Case(
        "duplicate_id",
        r(MODEL, {**SAID, "id": "msg_1"}, {**SAID, "id": "msg_1"}),
        r(MODEL, {**SAID, "id": "msg_1"}, {**SAID, "id": "msg_2"}),
        "Duplicate item found with id msg_1.",
    ),
]


kept = reasoning(id=THOUGHT, encrypted_content=encrypted())
follower = function_call(id=FOLLOWER)
foreign = seal("anthropic.signature", "claude-opus-5", "Hm.")
ITEMS = [
    Case(
        "orphan_output",
        r(MODEL, user("Look"), output()),
        r(MODEL, output(), previous_response_id="resp_1"),
        "No tool call found for function call output with call_id call_1.",
    ),
    Case(
        "call_without_output",
        r(MODEL, user("Look"), function_call(), user("Well?")),
        r(MODEL, user("Look"), function_call(), user("Well?"), output()),
        "No tool output found for function call call_1.",
    ),
    Case(
        "item_not_stored",
        r(MODEL, *loop(reasoning(id="rs_1")), store=False),
        r(MODEL, *loop(reasoning(id="rs_1")), store=True),
        "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. "
        "Try again with `store` set to true, or remove this item from your input.",
    ),
    Case(
        "encrypted_content_unverified",
        r(MODEL, *loop(reasoning(encrypted_content="gAAAAABoxC3j"))),
        r(MODEL, *loop(reasoning(encrypted_content=encrypted()))),
        "The encrypted content gAAA... could not be verified. "
        "Reason: Encrypted content could not be decrypted or parsed.",
    ),
    Case(
        "encrypted_content_unverified",
        r(MODEL, *loop(reasoning(encrypted_content=encrypted("gpt-6-luna")))),
        r(MODEL, *loop(reasoning(encrypted_content=encrypted("gpt-5.6-terra")))),
        "could not be verified",
    ),
    Case(
        "encrypted_content_unverified",
        r(MODEL, *loop(reasoning(encrypted_content=encrypted(account=OTHER_ACCOUNT)))),
        r(MODEL, *loop(reasoning(encrypted_content=encrypted()))),
        "organization",
    ),
    Case(
        "encrypted_content_unverified",
        r(MODEL, *loop(reasoning(encrypted_content=foreign))),
        r(MODEL, *loop(reasoning())),
        "could not be verified",
    ),
    Case(
        "reasoning_without_follower",
        r(MODEL, user("A"), kept, assistant("B"), user("C")),
        r(MODEL, user("A"), kept, {**SAID, "id": "msg_1"}, user("C")),
        f"Item '{THOUGHT}' of type 'reasoning' was provided without its required following item.",
    ),
    Case(
        "reasoning_without_follower",
        r(MODEL, user("A"), kept, user("C")),
        r(MODEL, user("A"), reasoning(encrypted_content=encrypted()), assistant("B"), user("C")),
        "without its required following item",
    ),
    Case(
        "item_without_reasoning",
        r(MODEL, user("Look"), follower, output()),
        r(MODEL, *loop(kept, follower)),
        f"Item '{FOLLOWER}' of type 'function_call' was provided without its required 'reasoning' item: "
        f"'{THOUGHT}'.",
    ),
    Case(
        "item_without_reasoning",
        r(MODEL, user("Look"), follower, output()),
        r(MODEL, user("Look"), function_call(id="fc_1"), output()),
        THOUGHT,
    ),
]

CASES = of("openai", PARAMETERS + IDS + ITEMS)
