"""OpenAI Responses: what is refused of the parameters, and of the items of the input."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from thinkwire.catalog import Facts
from thinkwire.sim.rules.item_ids import reasoning_of
from thinkwire.sim.rules.rule import Refusal, RuleInput
from thinkwire.sim.rules.shared import (
    BIG_THREE,
    Book,
    JsonObject,
    Said,
    accepted,
    as_object,
    is_thinking,
    listed,
    names,
    number,
    numbered,
    refused,
    unknown,
    word,
)
from thinkwire.sim.seal_binding import family_of

book = Book("openai", "openai-responses")

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_TOP = names(
    """
    access_programs background client_metadata context_management conversation image include input
    instructions max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls
    previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning
    safety_identifier service_tier
    store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user
    """
)
_MESSAGE = names("type role content id status phase")
_PREFIXES = {"function_call": "fc", "message": "msg", "reasoning": "rs"}
_CHARSET = re.compile(r"[A-Za-z0-9_-]*")
_LONGEST = 64
_KEEP = "Try again with `store` set to true, or remove this item from your input."


def _items(asked: RuleInput) -> list[tuple[int, JsonObject]]:
    return numbered(asked.body.get("input"))


def _kind(item: JsonObject) -> str:
    return str(item.get("type") or ("message" if "role" in item else ""))


def _reasoning(asked: RuleInput) -> JsonObject:
    return as_object(asked.body.get("reasoning"))


@book.rule("Parameters that the API does not know are refused.", f"{BIG_THREE}B1.1; SDK 3.49.0 types")
def unknown_parameter(asked: RuleInput) -> Said:
    field = unknown(asked.body, _TOP)
    return Refusal(f"Unknown parameter: '{field}'.", "unknown_parameter", field) if field else None


@book.model_rule("Models that do not reason take no effort.", "recording of gpt-5-chat-latest with an effort")
def effort_unsupported(asked: RuleInput, facts: Facts) -> Said:
    if _reasoning(asked).get("effort") is None or facts.efforts:
        return None
    path = "reasoning.effort"
    return Refusal(
        f"Unsupported parameter: '{path}' is not supported with this model.", "unsupported_parameter", path
    )


@book.rule("There are seven efforts.", f"{BIG_THREE}B1.1")
def effort_unknown(asked: RuleInput) -> Said:
    effort = _reasoning(asked).get("effort")
    if effort is None or effort in EFFORTS:
        return None
    return Refusal(
        f"Invalid value: '{effort}'. Supported values are: {listed(EFFORTS)}.",
        "invalid_value",
        "reasoning.effort",
    )


@book.model_rule("Each model takes its own efforts.", f"{BIG_THREE}B1.4, B2")
def effort_not_offered(asked: RuleInput, facts: Facts) -> Said:
    effort = _reasoning(asked).get("effort")
    if effort is None or not facts.efforts or effort in accepted(facts):
        return None
    path = "reasoning.effort"
    return Refusal(
        f"Unsupported value: '{path}' does not support '{effort}' with this model. "
        f"Supported values are: {listed(accepted(facts))}.",
        "unsupported_value",
        path,
    )


@book.rule("The ceiling is at least 16 tokens.", f"{BIG_THREE}B2")
def max_output_tokens_too_small(asked: RuleInput) -> Said:
    ceiling = number(asked.body.get("max_output_tokens"))
    if ceiling is None or ceiling >= 16:
        return None
    return Refusal(
        "Invalid 'max_output_tokens': integer below minimum value. "
        f"Expected a value >= 16, but got {ceiling} instead.",
        "integer_below_min_value",
        "max_output_tokens",
    )


@book.model_rule("Sampling is refused while the model reasons; the default is taken.", f"{BIG_THREE}B1.3, B2")
def sampling_refused(asked: RuleInput, facts: Facts) -> Said:
    effort = word(_reasoning(asked).get("effort"))
    if not refused(facts, "sampling", is_thinking(facts, effort != "none" if effort else None)):
        return None
    for field in ("temperature", "top_p", "top_logprobs"):
        value = number(asked.body.get(field))
        if value is not None and not (value == 1 and field != "top_logprobs"):
            return Refusal(
                f"Unsupported parameter: '{field}' is not supported with this model.",
                "unsupported_parameter",
                field,
            )
    return None


@book.rule("Messages have no fields of other vendors.", f"{BIG_THREE}B1.1; SDK 3.49.0 types")
def unknown_message_field(asked: RuleInput) -> Said:
    for place, item in _items(asked):
        field = unknown(item, _MESSAGE) if _kind(item) == "message" else None
        if field:
            path = f"input[{place}].{field}"
            return Refusal(f"Unknown parameter: '{path}'.", "unknown_parameter", path)
    return None


@book.rule("Ids are no longer than 64 characters.", f"{BIG_THREE}B2")
def id_too_long(asked: RuleInput) -> Said:
    for path, value in _ids(asked, "id", "call_id"):
        if len(value) > _LONGEST:
            return Refusal(
                f"Invalid '{path}': string too long. Expected a string with maximum length {_LONGEST}, "
                f"but got a string with length {len(value)} instead.",
                "string_above_max_length",
                path,
            )
    return None


@book.rule("Ids have letters, digits, `_` and `-`.", f"{BIG_THREE}B2")
def id_charset(asked: RuleInput) -> Said:
    for path, value in _ids(asked, "id"):
        if not _CHARSET.fullmatch(value):
            return Refusal(
                f"Invalid '{path}': '{value}'. Expected an ID that contains letters, numbers, underscores, "
                "or dashes, but this value contained additional characters.",
                "invalid_value",
                path,
            )
    return None


@book.rule("An item's id begins with the mark of its type.", f"{BIG_THREE}B2")
def id_prefix(asked: RuleInput) -> Said:
    for place, item in _items(asked):
        prefix, value = _PREFIXES.get(_kind(item)), word(item.get("id"))
        if prefix and value is not None and not value.startswith(prefix):
            path = f"input[{place}].id"
            return Refusal(
                f"Invalid '{path}': '{value}'. Expected an ID that begins with '{prefix}'.",
                "invalid_value",
                path,
            )
    return None


@book.rule("No item is there twice.", f"{BIG_THREE}B2")
def duplicate_id(asked: RuleInput) -> Said:
    seen: set[str] = set()
    for _, value in _ids(asked, "id"):
        if value in seen:
            return Refusal(
                f"Duplicate item found with id {value}. "
                "Remove duplicate items from your input and try again.",
                param="input",
            )
        seen.add(value)
    return None


@book.rule("A result answers a call of the input, or one that the server keeps.", f"{BIG_THREE}B2")
def orphan_output(asked: RuleInput) -> Said:
    if _continues(asked):
        return None
    calls = _call_ids(asked, "_call")
    for kind, call in _call_items(asked, "_call_output"):
        if call not in calls:
            what = kind.replace("_", " ")
            return Refusal(f"No tool call found for {what} with call_id {call}.", param="input")
    return None


@book.rule("A call is answered.", f"{BIG_THREE}B2")
def call_without_output(asked: RuleInput) -> Said:
    answered = _call_ids(asked, "_call_output")
    for kind, call in _call_items(asked, "_call"):
        if call not in answered:
            return Refusal(f"No tool output found for {kind.replace('_', ' ')} {call}.", param="input")
    return None


@book.rule(
    "What was not stored cannot be named by its id alone. Whether a stored one is known, the app says.",
    f"{BIG_THREE}B2, B5",
    status=404,
)
def item_not_stored(asked: RuleInput) -> Said:
    if asked.body.get("store") is not False:
        return None
    for _, item in _items(asked):
        by_id = _kind(item) == "item_reference" or (
            _kind(item) == "reasoning" and not item.get("encrypted_content")
        )
        if by_id and item.get("id") is not None:
            return Refusal(
                f"Item with id '{item['id']}' not found. "
                f"Items are not persisted when `store` is set to false. {_KEEP}",
                param="input",
            )
    return None


@book.rule(
    "Encrypted reasoning is the vendor's own, unaltered, of the same organization and model family.",
    f"{BIG_THREE}B2, B5",
)
def encrypted_content_unverified(asked: RuleInput) -> Said:
    for _, item in _items(asked):
        data = word(item.get("encrypted_content"))
        if _kind(item) != "reasoning" or not data:
            continue
        flaw = _flaw(asked, data)
        if flaw:
            message = f"The encrypted content {data[:4]}... could not be verified. Reason: {flaw}"
            return Refusal(message, "invalid_encrypted_content")
    return None


@book.rule(
    "A reasoning item with an id is followed by what it led to: a call, more reasoning, or a message with "
    "its id. A message without id is taken to be another one.",
    f"{BIG_THREE}B2, B5; recording of a changed history",
)
def reasoning_without_follower(asked: RuleInput) -> Said:
    items = [item for _, item in _items(asked)]
    for item, following in pairwise([*items, {}]):
        if (
            _kind(item) == "reasoning"
            and item.get("id") is not None
            and not _follows(following, str(item["id"]))
        ):
            return Refusal(
                f"Item '{item['id']}' of type 'reasoning' was provided without its required following item.",
                param="input",
            )
    return None


@book.rule(
    "An item with an id comes with the reasoning that led to it. The ids that the simulator makes tell it; "
    "any other id is taken to have had none, and a stored conversation to hold it.",
    f"{BIG_THREE}B2, B5",
)
def item_without_reasoning(asked: RuleInput) -> Said:
    if _continues(asked):
        return None
    there = {str(item.get("id")) for _, item in _items(asked)}
    for _, item in _items(asked):
        needed = reasoning_of(str(item.get("id") or ""))
        if needed and needed not in there:
            return Refusal(
                f"Item '{item['id']}' of type '{_kind(item)}' was provided without its required "
                f"'reasoning' item: '{needed}'.",
                param="input",
            )
    return None


def _ids(asked: RuleInput, *fields: str) -> Iterator[tuple[str, str]]:
    for place, item in _items(asked):
        for field in fields:
            value = item.get(field)
            if isinstance(value, str):
                yield f"input[{place}].{field}", value


def _call_items(asked: RuleInput, ending: str) -> Iterator[tuple[str, str]]:
    for _, item in _items(asked):
        if _kind(item).endswith(ending) and isinstance(item.get("call_id"), str):
            yield _kind(item), item["call_id"]


def _call_ids(asked: RuleInput, ending: str) -> set[str]:
    return {call for _, call in _call_items(asked, ending)}


def _continues(asked: RuleInput) -> bool:
    """Whether earlier items are on the server."""
    references = any(_kind(item) == "item_reference" for _, item in _items(asked))
    return references or bool(asked.body.get("previous_response_id") or asked.body.get("conversation"))


def _flaw(asked: RuleInput, data: str) -> str | None:
    sealed = asked.sealer.open(data)
    if sealed is None or sealed.scheme != "openai.encrypted":
        return "Encrypted content could not be decrypted or parsed."
    if sealed.account != asked.account:
        return "Encrypted content organization_id did not match the target organization."
    if family_of(sealed.model) != family_of(asked.model):
        return "Encrypted content could not be decrypted or parsed."
    return None


def _follows(item: JsonObject, reasoning: str) -> bool:
    kind, own = _kind(item), reasoning_of(str(item.get("id") or ""))
    if own is not None and own != reasoning:
        return False
    if kind == "message":
        return item.get("role") == "assistant" and item.get("id") is not None
    return kind in ("reasoning", "item_reference") or kind.endswith("_call")
