"""What the rules share: how they are written down, and how a body that may hold anything is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from thinkwire.catalog import Facts
from thinkwire.sim.rules.rule import Refusal, Rule, RuleInput

JsonObject: TypeAlias = dict[str, Any]
Said: TypeAlias = Refusal | str | None
Check: TypeAlias = Callable[[RuleInput], Said]
ModelCheck: TypeAlias = Callable[[RuleInput, Facts], Said]

BIG_THREE = "big-three reference "
OTHERS = "other-providers reference "


class Book:
    """The rules of one vendor at one wire, in the order in which they are asked.

    A rule's id is the vendor and the name of its function.
    """

    def __init__(
        self, vendor: str, *dialects: str, kind: str = "invalid_request_error", at: str = ""
    ) -> None:
        self.rules: list[Rule] = []
        self._vendor = vendor
        self._providers = (at or vendor,)
        self._dialects = dialects
        self._kind = kind

    def rule(
        self, reason: str, source: str, *, status: int = 400, kind: str | None = None
    ) -> Callable[[Check], Check]:
        """Writes a function down as a rule."""

        def written(check: Check) -> Check:
            self.rules.append(
                Rule(
                    id=f"{self._vendor}.{check.__name__}",
                    providers=self._providers,
                    dialects=self._dialects,
                    reason=reason,
                    source=source,
                    check=check,
                    status=status,
                    kind=kind or self._kind,
                )
            )
            return check

        return written

    def model_rule(
        self, reason: str, source: str, *, status: int = 400, kind: str | None = None
    ) -> Callable[[ModelCheck], ModelCheck]:
        """The same for a rule that depends on the model; one that nobody knows passes."""

        def written(check: ModelCheck) -> ModelCheck:
            def checked(asked: RuleInput) -> Said:
                return None if asked.facts is None else check(asked, asked.facts)

            checked.__name__ = check.__name__
            self.rule(reason, source, status=status, kind=kind)(checked)
            return check

        return written


def names(text: str) -> frozenset[str]:
    """Words as a set."""
    return frozenset(text.split())


def as_object(value: object) -> JsonObject:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def numbered(value: object) -> list[tuple[int, JsonObject]]:
    """The objects of a JSON array with their places in it."""
    if not isinstance(value, list):
        return []
    return [(place, item) for place, item in enumerate(value) if isinstance(item, dict)]


def objects(value: object) -> list[JsonObject]:
    return [item for _, item in numbered(value)]


def number(value: object) -> float | None:
    """The value if it is a JSON number, which a boolean is not."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def word(value: object) -> str | None:
    return value if isinstance(value, str) else None


def listed(words: Sequence[str], mark: str = "'", last: str = "and") -> str:
    """`'a'`, `'a' and 'b'`, `'a', 'b', and 'c'`."""
    marked = [f"{mark}{item}{mark}" for item in words]
    if len(marked) < 3:
        return f" {last} ".join(marked)
    return f"{', '.join(marked[:-1])}, {last} {marked[-1]}"


def unknown(fields: Iterable[str], known: frozenset[str]) -> str | None:
    """The first field that is not known."""
    return next((field for field in fields if field not in known), None)


def accepted(facts: Facts) -> tuple[str, ...]:
    """The efforts that a model takes, the one that turns thinking off included."""
    return ("none", *facts.efforts) if facts.off == "none" else facts.efforts


def is_thinking(facts: Facts, told: bool | None) -> bool:
    """Whether the model thinks when it was told this, or nothing."""
    if not facts.can_think:
        return False
    if told is None:
        return facts.default not in (None, "off") or (facts.default is None and facts.off is None)
    return told or facts.off is None


def refused(facts: Facts, what: str, thinking: bool) -> bool:
    """Whether the model refuses a companion of its thinking: always, or while it thinks."""
    return what in facts.refuses or (thinking and f"{what}_when_thinking" in facts.refuses)


def forces_call(choice: object) -> bool:
    """Whether a Chat Completions `tool_choice` leaves the model no other way than a call."""
    if isinstance(choice, dict):
        allowed = as_object(choice.get("allowed_tools"))
        return choice.get("type") != "allowed_tools" or allowed.get("mode") == "required"
    return choice in ("required", "any")


def tool_calls(message: JsonObject) -> list[JsonObject]:
    return objects(message.get("tool_calls")) if message.get("role") == "assistant" else []


def call_ids(message: JsonObject) -> list[str]:
    return [str(call["id"]) for call in tool_calls(message) if call.get("id") is not None]


def unanswered_calls(body: JsonObject) -> list[str]:
    """Ids of Chat Completions tool calls that the tool messages right after them do not answer."""
    calls: list[str] = []
    answered: set[str] = set()
    for role, _, message in _chat(body):
        if role == "tool":
            answered.add(str(message.get("tool_call_id")))
            continue
        if missing := [call for call in calls if call not in answered]:
            return missing
        calls, answered = call_ids(message), set()
    return [call for call in calls if call not in answered]


def stray_results(body: JsonObject) -> list[int]:
    """Places of Chat Completions tool messages that answer no call of the assistant message before them."""
    strays: list[int] = []
    open_calls: set[str] = set()
    for role, place, message in _chat(body):
        if role != "tool":
            open_calls = set(call_ids(message))
        elif str(message.get("tool_call_id")) not in open_calls:
            strays.append(place)
    return strays


def _chat(body: JsonObject) -> list[tuple[object, int, JsonObject]]:
    return [(message.get("role"), place, message) for place, message in numbered(body.get("messages"))]
