"""Google Gemini: what generateContent refuses. Names are read in both of the spellings that the API takes."""

from __future__ import annotations

import base64
import re
from itertools import pairwise
from typing import Any, NamedTuple

from thinkwire.catalog import Facts
from thinkwire.sim.rules.rule import RuleInput
from thinkwire.sim.rules.shared import (
    BIG_THREE,
    Book,
    JsonObject,
    Said,
    as_object,
    names,
    number,
    numbered,
    objects,
    unknown,
    word,
)
from thinkwire.sim.seal_binding import call_print

book = Book("gemini", "gemini", kind="INVALID_ARGUMENT", at="google")

DUMMIES = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
"""What the vendor itself tells people to send for calls that it did not make."""

_TOP = names(
    """
    model contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent labels
    serviceTier store continuationToken modelArmorConfig
    """
)
_THINKING = names("thinkingLevel thinkingBudget includeThoughts")
_DATA = names(
    """
    text inlineData fileData functionCall functionResponse executableCode codeExecutionResult toolCall
    toolResponse
    """
)
_CALL_TURN = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response "
    "turn."
)
_COUNT = (
    "Please ensure that the number of function response parts is equal to the number of function call parts "
    "of the function call turn."
)
_RESPONSE_TURN = (
    "Please ensure that function response turn comes immediately after a function call turn. And the number "
    "of function response parts should be equal to number of function call parts of the function call turn."
)
_HUMP = re.compile(r"_([a-z])")
_GENERATION = re.compile(r"\d+")


def _camel(name: str) -> str:
    return _HUMP.sub(lambda hump: hump[1].upper(), name)


def _get(obj: JsonObject, name: str) -> Any:
    """A field in either spelling."""
    return next((value for key, value in obj.items() if _camel(key) == name and value is not None), None)


class Turn(NamedTuple):
    """One content, or several of one role that follow each other."""

    role: object
    parts: list[JsonObject]
    place: int

    def of(self, name: str) -> list[JsonObject]:
        return [as_object(_get(part, name)) for part in self.parts if _get(part, name) is not None]


def _contents(asked: RuleInput) -> list[tuple[int, JsonObject]]:
    return numbered(asked.body.get("contents"))


def _turns(asked: RuleInput) -> list[Turn]:
    turns: list[Turn] = []
    for place, content in _contents(asked):
        role = content.get("role") or "user"
        if not turns or turns[-1].role != role:
            turns.append(Turn(role, [], place))
        turns[-1].parts.extend(objects(content.get("parts")))
    return turns


def _settings(asked: RuleInput) -> JsonObject:
    return as_object(_get(asked.body, "generationConfig"))


def _thinking(asked: RuleInput) -> JsonObject:
    return as_object(_get(_settings(asked), "thinkingConfig"))


@book.rule("Names that the API does not know are refused.", f"{BIG_THREE}C1.1, C2; SDK 3.1.0 types")
def unknown_name(asked: RuleInput) -> Said:
    field = unknown(map(_camel, asked.body), _TOP)
    if field:
        return f'Invalid JSON payload received. Unknown name "{field}": Cannot find field.'
    field = unknown(map(_camel, _thinking(asked)), _THINKING)
    if not field:
        return None
    place = "'generation_config.thinking_config'"
    return f'Invalid JSON payload received. Unknown name "{field}" at {place}: Cannot find field.'


@book.rule("There are two roles.", f"{BIG_THREE}C2")
def bad_role(asked: RuleInput) -> Said:
    roles = [content.get("role") for _, content in _contents(asked)]
    bad = any(role not in (None, "", "user", "model") for role in roles)
    return "Please use a valid role: user, model." if bad else None


@book.rule("A content has parts.", f"{BIG_THREE}C2")
def no_parts(asked: RuleInput) -> Said:
    for place, content in _contents(asked):
        if not content.get("parts"):
            return f"* GenerateContentRequest.contents[{place}].parts: contents.parts must not be empty.\n"
    return None


@book.rule("A part holds something.", f"{BIG_THREE}C2")
def empty_part(asked: RuleInput) -> Said:
    for place, content in _contents(asked):
        for number_of_part, part in numbered(content.get("parts")):
            if all(_get(part, name) is None for name in _DATA):
                where = f"* GenerateContentRequest.contents[{place}].parts[{number_of_part}].data"
                return f"{where}: required oneof field 'data' must have one initialized field\n"
    return None


@book.rule(
    "Text may be empty where it carries a signature, or stands beside other parts as the API itself puts it.",
    f"{BIG_THREE}C2, D1; recording of a streamed call that ends with an empty text",
)
def empty_text(asked: RuleInput) -> Said:
    for _, content in _contents(asked):
        parts = objects(content.get("parts"))
        if parts and all(part.get("text") == "" and _signature(part) is None for part in parts):
            return "Unable to submit request because it must have a text parameter. Add a text parameter."
    return None


@book.model_rule("A model that does not think takes no thinking settings.", f"{BIG_THREE}C1.2, C2")
def thinking_unsupported(asked: RuleInput, facts: Facts) -> Said:
    return "Thinking is not enabled for this model" if _thinking(asked) and not facts.can_think else None


@book.rule("A level and a budget exclude each other.", f"{BIG_THREE}C2")
def level_and_budget(asked: RuleInput) -> Said:
    thinking = _thinking(asked)
    if _get(thinking, "thinkingLevel") is None or _get(thinking, "thinkingBudget") is None:
        return None
    return "You can only set only one of thinking budget and thinking level."


@book.model_rule("Models that think by budget know no levels.", f"{BIG_THREE}C2")
def level_on_budget_model(asked: RuleInput, facts: Facts) -> Said:
    if _get(_thinking(asked), "thinkingLevel") is None or facts.mechanism in ("level", "none"):
        return None
    return "Thinking level is not supported for this model."


@book.model_rule("Each model takes its own levels.", f"{BIG_THREE}C1.2, C2")
def level_not_offered(asked: RuleInput, facts: Facts) -> Said:
    level = _get(_thinking(asked), "thinkingLevel")
    if level is None or facts.mechanism != "level":
        return None
    name = str(level).upper()
    if name in (*facts.efforts, "THINKING_LEVEL_UNSPECIFIED"):
        return None
    return f"Thinking level {name} is not supported for this model. Please retry with other thinking level."


@book.model_rule("A budget of 0 is refused by models that always think.", f"{BIG_THREE}C1.2, C2")
def budget_zero(asked: RuleInput, facts: Facts) -> Said:
    if _get(_thinking(asked), "thinkingBudget") != 0 or facts.can_be_off:
        return None
    return "Budget 0 is invalid. This model only works in thinking mode."


@book.model_rule(
    "A budget lies in the model's range. Models that think by level take any, as recorded.",
    f"{BIG_THREE}C1.1, C1.2, C2; recording of a budget at a level model",
)
def budget_out_of_range(asked: RuleInput, facts: Facts) -> Said:
    budget, allowed = number(_get(_thinking(asked), "thinkingBudget")), facts.budget
    if budget is None or allowed is None or (budget == -1 and allowed.dynamic):
        return None
    most = facts.budget_limit or allowed.max
    if (budget == 0 and facts.off == "zero") or allowed.min <= budget <= most:
        return None
    return f"The thinking budget {budget} is invalid. Please choose a value between {allowed.min} and {most}."


@book.model_rule("Where sampling is refused, so it is said.", f"{BIG_THREE}C1.3; wording not captured")
def sampling_refused(asked: RuleInput, facts: Facts) -> Said:
    if "sampling" not in facts.refuses:
        return None
    fields = (field for field in ("temperature", "topP", "topK") if _get(_settings(asked), field) is not None)
    return next((f"{field} is not supported for this model." for field in fields), None)


@book.model_rule("One candidate from Gemini 3 on.", f"{BIG_THREE}C1.3; public issue threads")
def several_candidates(asked: RuleInput, facts: Facts) -> Said:
    count = number(_get(_settings(asked), "candidateCount"))
    if count is None or count <= 1 or facts.mechanism != "level":
        return None
    return "Multiple candidates is not enabled for this model"


@book.model_rule("From 3.6 on, the conversation may not end with the model.", f"{BIG_THREE}C1.3, C2")
def ends_with_model(asked: RuleInput, facts: Facts) -> Said:
    turns = _turns(asked)
    if "prefill" not in facts.refuses or not turns or turns[-1].role != "model":
        return None
    return "Requests ending with a model turn are not supported."


@book.rule("Calls follow the user's words or results.", f"{BIG_THREE}C2")
def call_out_of_order(asked: RuleInput) -> Said:
    for before, turn in zip([None, *_turns(asked)], _turns(asked), strict=False):
        if turn.of("functionCall") and (before is None or turn.role != "model"):
            return _CALL_TURN
    return None


@book.rule("Results follow their calls.", f"{BIG_THREE}C2; public issue threads")
def response_out_of_order(asked: RuleInput) -> Said:
    for before, turn in zip([None, *_turns(asked)], _turns(asked), strict=False):
        if turn.of("functionResponse") and not (before and before.of("functionCall")):
            return _RESPONSE_TURN
    return None


@book.rule(
    "There are as many results as calls. Before Gemini 3 a call may go without any, as recorded.",
    f"{BIG_THREE}C2, C5; recording of a call that the user's text follows",
)
def response_count(asked: RuleInput) -> Said:
    strict = asked.facts is None or asked.facts.mechanism == "level"
    for turn, following in pairwise(_turns(asked)):
        calls, results = turn.of("functionCall"), following.of("functionResponse")
        if calls and len(calls) != len(results) and (results or strict):
            return _COUNT
    return None


@book.rule("A result names its function.", f"{BIG_THREE}C1.3, C5; public issue threads")
def response_without_name(asked: RuleInput) -> Said:
    for turn in _turns(asked):
        if any(not response.get("name") for response in turn.of("functionResponse")):
            where = f"* GenerateContentRequest.contents[{turn.place}].parts[0].function_response.name"
            return f"{where}: Name cannot be empty.\n"
    return None


@book.model_rule(
    "From Gemini 3 on, the first call of every step of the current turn comes back with its signature.",
    f"{BIG_THREE}C2, C4",
)
def signature_missing(asked: RuleInput, facts: Facts) -> Said:
    for turn in _current(asked, facts):
        first = next((part for part in turn.parts if _get(part, "functionCall") is not None), {})
        if first and _signature(first) is None:
            name = as_object(_get(first, "functionCall")).get("name")
            return (
                "Function call is missing a thought_signature in functionCall parts. This is required for "
                "tools to work correctly, and missing thought_signature may lead to degraded model "
                f"performance. Additional data, function call `default_api:{name}` , position "
                f"{turn.place + 1}. Please refer to "
                "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
            )
    return None


@book.model_rule(
    "A signature on a call of the current turn is the vendor's own, unaltered, of the same generation; "
    "the documented placeholders pass.",
    f"{BIG_THREE}C2, C4",
)
def signature_corrupted(asked: RuleInput, facts: Facts) -> Said:
    for data, _ in _signed_calls(asked, facts):
        sealed = asked.sealer.open(data)
        if (
            sealed is None
            or sealed.scheme != "gemini.thought"
            or not _same_generation(sealed.model, asked.model)
        ):
            return "Corrupted thought signature."
    return None


@book.model_rule("A signature comes back on the very call that it came with.", f"{BIG_THREE}C2, C4")
def signature_moved(asked: RuleInput, facts: Facts) -> Said:
    for data, call in _signed_calls(asked, facts):
        sealed = asked.sealer.open(data)
        if sealed and sealed.thought != call_print(str(call.get("name")), call.get("args")):
            return "Thought signature is not valid"
    return None


def _current(asked: RuleInput, facts: Facts) -> list[Turn]:
    """The model's steps since the user last said something, at models that check signatures."""
    if facts.mechanism != "level" or facts.replay != "tool_loop":
        return []
    turns = _turns(asked)
    said = [
        place for place, turn in enumerate(turns) if turn.role == "user" and not turn.of("functionResponse")
    ]
    return [turn for turn in turns[said[-1] if said else 0 :] if turn.role == "model"]


def _signed_calls(asked: RuleInput, facts: Facts) -> list[tuple[str, JsonObject]]:
    """Signatures on calls of the current turn, with their calls; placeholders are left out."""
    return [
        (data, as_object(_get(part, "functionCall")))
        for turn in _current(asked, facts)
        for part in turn.parts
        if _get(part, "functionCall") is not None
        and (data := _signature(part)) is not None
        and not _is_dummy(data)
    ]


def _signature(part: JsonObject) -> str | None:
    return word(_get(part, "thoughtSignature")) or None


def _is_dummy(data: str) -> bool:
    """Plain, or in base64 of either alphabet."""
    return data.rstrip("=") in _PLACEHOLDERS


_PLACEHOLDERS = frozenset(DUMMIES).union(
    encode(dummy.encode()).decode().rstrip("=")
    for dummy in DUMMIES
    for encode in (base64.b64encode, base64.urlsafe_b64encode)
)


def _same_generation(one: str, other: str) -> bool:
    """Whether two ids name the same generation; one that does not tell is taken to."""
    first, second = _GENERATION.search(one), _GENERATION.search(other)
    return first is None or second is None or first[0] == second[0]
