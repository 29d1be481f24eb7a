"""Ground truth: what a real vendor took, its rules take; what it refused for their reasons, they refuse."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from tests.grouping import for_each
from tests.recordings.loader import DIALECTS, folder
from tests.sim.rules.ask import ACCOUNT
from thinkwire.catalog import default_catalog
from thinkwire.sim.rules.rule import Refusal, RuleInput
from thinkwire.sim.rules.table import first_refusal, rules_for
from thinkwire.sim.seals import Sealed, SimSealer

SERVICES = {"openai-responses": "openai", "openai-chat": "openai", "gemini": "google"}
"""Recordings name these services otherwise; all others by the name that we use."""
SCHEMES = {"anthropic": "anthropic.signature", "gemini": "gemini.thought"}
SCRUBBED = re.compile(r"call_REDACTED_(\d)")
"""Ids that the recorders replaced; the vendor saw one of its own."""

REFUSED = {
    "test_deepseek_responses_rejects_interleaved_function_calls__1": "deepseek.stranded_call",
    "mistral-ministral-3b-2512-GenStream-Tools-WebSearch__1": "mistral.tool_type",
    "test_openai_responses_thinking_with_modified_history__2": "openai.reasoning_without_follower",
    "openai-gpt_5_chat_latest-reasoning_basic__1": "openai.effort_unsupported",
    "Intl-qwen3.8-max_thinking-GenStream-Tools-SquareRoot-1__1": "qwen.forced_tools",
    "xai-grok_code_fast_1-reasoning_basic__1": "xai.effort_unsupported",
}
"""The recorded refusals that are about these rules; others are about keys, unknown models and lengths."""


class Whatever(str):
    """Text that is equal to any other: nobody but the vendor knows what its seals hold."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = str.__hash__


class Trusting(SimSealer):
    """Takes every seal for one of this request's own: real ones cannot be opened here."""

    def __init__(self, dialect: str, model: str) -> None:
        super().__init__()
        scheme = Whatever(SCHEMES.get(dialect, "openai.encrypted"))
        self._sealed = Sealed(scheme, model, ACCOUNT, "", Whatever())

    def open(self, data: str) -> Sealed | None:
        return self._sealed


def recorded(accepted: bool) -> list[ParameterSet]:
    base = folder()
    if base is None:
        return [pytest.param(None, None, id="none", marks=pytest.mark.needs("recordings"))]
    found = []
    for path in sorted(base.glob("*/*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        name = str(path.relative_to(base).with_suffix(""))
        asked = _asked(data)
        wanted = data["response"]["status"] == 200 if accepted else name.endswith(tuple(REFUSED))
        if asked is not None and wanted:
            found.append(pytest.param(asked, data["response"], id=name))
    return found


def _asked(data: dict[str, Any]) -> RuleInput | None:
    """The request as the simulated vendor would see it; None for other vendors and models."""
    request, dialect = data["request"], DIALECTS.get(data["dialect"])
    provider = SERVICES.get(data["provider"], data["provider"])
    if request is None or dialect is None or not rules_for(provider, dialect):
        return None
    body = json.loads(SCRUBBED.sub(r"redacted\1", json.dumps(request["body"])))
    in_path = re.search(r"models/([^:/]+)", request["path"] or "")
    model = body.get("model") or (in_path[1] if in_path else "")
    found = default_catalog().find(provider, model)
    if found is None:
        return None
    headers = {name.lower(): value for name, value in (request["headers"] or {}).items()}
    return RuleInput(provider, dialect, model, found.facts, body, headers, Trusting(dialect, model), ACCOUNT)


def provider_of(asked: RuleInput, answer: dict[str, Any]) -> str:
    return asked.provider


@for_each("asked, answer", recorded(accepted=True), group=provider_of)
def test_takes_what_the_vendor_took(asked: RuleInput, answer: dict[str, Any]) -> None:
    found = first_refusal(asked)
    assert found is None, f"the vendor answered {answer['status']}"


@pytest.mark.parametrize(("asked", "answer"), recorded(accepted=False))
def test_refuses_what_the_vendor_refused(
    asked: RuleInput, answer: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    found = first_refusal(asked)
    assert found is not None
    rule, refusal = found
    assert rule.id in [name for end, name in REFUSED.items() if request.node.callspec.id.endswith(end)]
    assert (rule.status, refusal) == (answer["status"], _words(answer["body"]))


def _words(body: Any) -> Refusal:
    """What the recorded body says, as a refusal."""
    if "detail" in body:
        first = body["detail"][0]
        return Refusal(first["msg"], first["type"], ".".join(map(str, first["loc"])))
    if isinstance(body["error"], str):
        return Refusal(body["error"], body["code"])
    error = body["error"]
    return Refusal(error["message"], error["code"], error["param"])


@pytest.mark.needs("recordings")
def test_enough_was_recorded_to_mean_something() -> None:
    taken = [param.values[0] for param in recorded(accepted=True)]
    providers = {asked.provider for asked in taken if isinstance(asked, RuleInput)}
    assert len(taken) > 250
    assert len(recorded(accepted=False)) == len(REFUSED)
    assert providers >= {"anthropic", "openai", "google", "openrouter", "xai", "deepseek", "mistral", "groq"}
