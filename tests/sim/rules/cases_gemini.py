"""What Gemini refuses, and what it just so takes."""

from __future__ import annotations

import base64

from tests.sim.rules.ask import (
    Case,
    Json,
    content,
    gemini,
    model_call,
    of,
    response,
    seal,
    thinking_config,
    thought_signature,
)

LEVEL, NO_PREFILL, BUDGET, SWITCHABLE, PLAIN = (
    "gemini-3.5-flash",
    "gemini-3.8-flash",
    "gemini-2.5-pro",
    "gemini-2.5-flash",
    "gemini-2.0-flash",
)
DUMMY = "skip_thought_signature_validator"


def user(*parts: Json) -> Json:
    return content("user", *(parts or ({"text": "Look"},)))


def model(*parts: Json) -> Json:
    return content("model", *(parts or ({"text": "Well."},)))


def loop(signature: str | None, *more: Json) -> list[Json]:
    return [
        user(),
        model(model_call(signature=signature), *more),
        user(response(), *(response() for _ in more)),
    ]


g, t = gemini, thinking_config
SETTINGS = [
    Case(
        "unknown_name",
        g(LEVEL, thinkingConfig={"thinkingLevel": "LOW"}),
        g(LEVEL, safety_settings=[]),
        'Invalid JSON payload received. Unknown name "thinkingConfig": Cannot find field.',
    ),
    Case(
        "unknown_name",
        g(LEVEL, **t(effort="low")),
        g(LEVEL, **t(thinking_level="low")),
        "Unknown name \"effort\" at 'generation_config.thinking_config'",
    ),
    Case(
        "thinking_unsupported",
        g(PLAIN, **t(includeThoughts=True)),
        g(PLAIN, generationConfig={}),
        "Thinking is not enabled for this model",
    ),
    Case(
        "level_and_budget",
        g(LEVEL, **t(thinkingLevel="LOW", thinkingBudget=1024)),
        g(LEVEL, **t(thinkingBudget=1024)),
        "You can only set only one of thinking budget and thinking level.",
    ),
    Case(
        "level_on_budget_model",
        g(BUDGET, **t(thinkingLevel="LOW")),
        g(LEVEL, **t(thinkingLevel="low")),
        "Thinking level is not supported for this model.",
    ),
    Case(
        "level_not_offered",
        g(NO_PREFILL, **t(thinkingLevel="MINIMAL")),
        g(LEVEL, **t(thinkingLevel="MINIMAL")),
        "Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.",
    ),
    Case(
        "budget_zero",
        g(LEVEL, **t(thinkingBudget=0)),
        g(SWITCHABLE, **t(thinkingBudget=0)),
        "Budget 0 is invalid. This model only works in thinking mode.",
    ),
    Case(
        "budget_out_of_range",
        g(BUDGET, **t(thinkingBudget=127)),
        g(BUDGET, **t(thinkingBudget=128)),
        "The thinking budget 127 is invalid. Please choose a value between 128 and 32768.",
    ),
    Case(
        "budget_out_of_range",
        g(BUDGET, **t(thinking_budget=-2)),
        g(BUDGET, **t(thinking_budget=-1)),
        "The thinking budget -2 is invalid.",
    ),
    Case(
        "sampling_refused",
        g(LEVEL, facts={"refuses": ("sampling",)}, generationConfig={"temperature": 1}),
        g(LEVEL, generationConfig={"temperature": 1}),
        "temperature is not supported for this model.",
    ),
    Case(
        "several_candidates",
        g(LEVEL, generationConfig={"candidateCount": 2}),
        g(BUDGET, generationConfig={"candidateCount": 2}),
        "Multiple candidates is not enabled for this model",
    ),
]


called = model(model_call(), model_call())
CONTENTS = [
    Case(
        "bad_role",
        g(LEVEL, content("assistant", {"text": "Hi"})),
        g(LEVEL, user()),
        "valid role: user, model.",
    ),
    Case(
        "no_parts",
        g(LEVEL, user(), content("model"), user()),
        g(LEVEL, user(), model(), user()),
        "contents.parts must not be empty",
    ),
    Case("empty_part", g(LEVEL, user({})), g(LEVEL, user({"text": "."})), "required oneof field 'data'"),
    Case(
        "empty_text",
        g(LEVEL, user(), model({"text": ""}), user()),
        g(LEVEL, user(), model({"text": "", "thoughtSignature": "c2ln"}), user()),
        "it must have a text parameter",
    ),
    Case(
        "empty_text",
        g(LEVEL, user(), model({"text": ""}), user()),
        g(LEVEL, *loop(thought_signature(LEVEL)), model({"text": "Well."}, {"text": ""}), user()),
        "it must have a text parameter",
    ),
    Case(
        "ends_with_model",
        g(NO_PREFILL, user(), model()),
        g(LEVEL, user(), model()),
        "Requests ending with a model turn are not supported.",
    ),
    Case(
        "call_out_of_order",
        g(BUDGET, model(model_call()), user(response())),
        g(BUDGET, *loop(None)),
        "Please ensure that function call turn comes immediately after a user turn",
    ),
    Case(
        "response_out_of_order",
        g(BUDGET, user(response())),
        g(BUDGET, *loop(None)),
        "Please ensure that function response turn comes immediately after a function call turn.",
    ),
    Case(
        "response_count",
        g(BUDGET, user(), called, user(response())),
        g(BUDGET, user(), called, user(response(), response())),
        "the number of function response parts is equal to the number of function call parts",
    ),
    Case(
        "response_count",
        g(LEVEL, user(), called, user()),
        g(BUDGET, user(), called, user()),
        "the number of function response parts",
    ),
    Case(
        "response_without_name",
        g(BUDGET, user(), model(model_call()), user({"functionResponse": {"response": {}}})),
        g(BUDGET, *loop(None)),
        "function_response.name: Name cannot be empty.",
    ),
]


own = thought_signature(LEVEL)
flipped = own[:30] + ("A" if own[30] != "A" else "B") + own[31:]
encoded = base64.b64encode(DUMMY.encode()).decode()
last = [model(model_call("sit", thought_signature(LEVEL, "sit"))), user(response("sit"))]
SIGNATURES = [
    Case(
        "signature_missing",
        g(LEVEL, *loop(None)),
        g(LEVEL, *loop(own)),
        "Function call is missing a thought_signature in functionCall parts. This is required for "
        "tools to work correctly, and missing thought_signature may lead to degraded model performance.",
    ),
    Case(
        "signature_missing",
        g(LEVEL, *loop(None)),
        g(BUDGET, *loop(None)),
        "`default_api:look` , position 2",
    ),
    Case(
        "signature_missing",
        g(LEVEL, *loop(None), *last),
        g(LEVEL, *loop(own, model_call("sit")), *last),
        "missing a thought_signature",
    ),
    Case("signature_missing", g(LEVEL, *loop(None)), g(LEVEL, *loop(None), model(), user()), "missing"),
    Case(
        "signature_corrupted",
        g(LEVEL, *loop(flipped)),
        g(LEVEL, *loop(own)),
        "Corrupted thought signature.",
    ),
    Case(
        "signature_corrupted",
        g(LEVEL, *loop(seal("anthropic.signature", "claude-opus-5", "Hm."))),
        g(LEVEL, *loop(DUMMY)),
        "Corrupted thought signature.",
        also=("signature_moved",),
    ),
    Case(
        "signature_corrupted",
        g(LEVEL, *loop(thought_signature("gemini-4-carbon"))),
        g(LEVEL, *loop(thought_signature("gemini-3.1-pro-preview"))),
        "Corrupted thought signature.",
    ),
    Case(
        "signature_corrupted",
        g(LEVEL, *loop("skip")),
        g(LEVEL, *loop(encoded)),
        "Corrupted thought signature.",
    ),
    Case(
        "signature_moved",
        g(LEVEL, *loop(thought_signature(LEVEL, "sit"))),
        g(LEVEL, *loop("context_engineering_is_the_way_to_go")),
        "Thought signature is not valid",
    ),
    Case(
        "signature_moved",
        g(LEVEL, *loop(thought_signature(LEVEL, "look", {"at": 2}))),
        g(LEVEL, *loop(own)),
        "Thought signature is not valid",
    ),
]


CASES = of("gemini", SETTINGS + CONTENTS + SIGNATURES)
