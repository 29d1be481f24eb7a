"""What would be sent, and why: the whole way of a request to a model, without sending it."""

from __future__ import annotations

from typing import Any

import msgspec

from thinkwire.notes import Note
from thinkwire.providers.encoding import encode_for
from thinkwire.reasoning.feedback import feedback
from thinkwire.reasoning.intent import Intent
from thinkwire.reasoning.plan import Plan
from thinkwire.reasoning.resolve import ConversationState, resolve
from thinkwire.reasoning.target import Target
from thinkwire.request import Request


class Explanation(msgspec.Struct, frozen=True):
    """A plan with the body it makes."""

    plan: Plan
    dialect: str
    endpoint: str | None
    headers: dict[str, str]
    body: dict[str, Any]
    untouched: dict[str, Any]
    """The same request before its reasoning was planned, in the same dialect."""
    notes: tuple[Note, ...]
    feedback: list[str]


def explain(
    target: Target, intent: Intent, request: Request, circumstances: ConversationState | None = None
) -> Explanation:
    """The body that a model would get, with everything that was changed on the way."""
    given = msgspec.structs.replace(request, model=target.model)
    plan, request = resolve(intent, target.found, given, circumstances)
    provider = target.provider
    dialect = plan.dialect or (provider.routes[0].dialect if provider else "openai-chat")
    encoded = encode_for(provider, dialect, request, plan.facts)
    return Explanation(
        plan=plan,
        dialect=dialect,
        endpoint=provider.endpoint(dialect, target.model, stream=bool(request.stream)) if provider else None,
        headers={**(provider.headers if provider else {}), **plan.headers},
        body=merged(encoded.body, plan.patch),
        untouched=encode_for(provider, dialect, given, plan.facts).body,
        notes=(*plan.notes, *encoded.notes),
        feedback=feedback(plan),
    )


def merged(body: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """The body with the patch laid over it: objects are merged, lists joined, everything else replaced."""
    if not patch:
        return body
    result = dict(body)
    for key, value in patch.items():
        present = result.get(key)
        if present is None:
            result[key] = value
        elif isinstance(present, dict) and isinstance(value, dict):
            result[key] = merged(present, value)
        elif isinstance(present, list) and isinstance(value, list):
            result[key] = [*present, *(item for item in value if item not in present)]
        else:
            result[key] = value
    return result


def difference(before: Any, after: Any, path: str = "") -> list[dict[str, Any]]:
    """Field by field, what is not the same: path, value before, value after; None where there was none."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            change
            for key in (*before, *(key for key in after if key not in before))
            for change in difference(before.get(key), after.get(key), f"{path}.{key}" if path else key)
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [
            change
            for index, pair in enumerate(zip(before, after, strict=True))
            for change in difference(*pair, f"{path}[{index}]")
        ]
    return [] if before == after else [{"path": path, "before": before, "after": after}]
