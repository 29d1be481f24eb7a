"""Anthropic Messages: what is refused of the conversation: roles, empty text, tool results, and thinking."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from thinkwire.catalog import Facts
from thinkwire.sim.rules.anthropic import thinking_of, thinks
from thinkwire.sim.rules.rule import RuleInput
from thinkwire.sim.rules.shared import (
    BIG_THREE,
    Book,
    JsonObject,
    Said,
    as_object,
    numbered,
    objects,
    refused,
    unknown,
)
from thinkwire.sim.seal_binding import prefixes_of
from thinkwire.sim.seals import Sealed

book = Book("anthropic", "anthropic")

_MESSAGE = frozenset({"role", "content"})
_BLOCKS = {
    "text": frozenset({"type", "text", "cache_control", "citations"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
    "tool_use": frozenset({"type", "id", "name", "input", "cache_control", "caller", "toolset_name"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name"}),
}
_THOUGHTS = ("thinking", "redacted_thinking")
_SEALED = {
    "thinking": ("signature", "anthropic.signature"),
    "redacted_thinking": ("data", "anthropic.redacted"),
}
_TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_OTHER_PREFIX = (
    "The block is bound to a different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block". That setting requires the '
    "`thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header."
)
_START_WITH_THINKING = (
    "When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding "
    "the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from "
    "previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at "
    "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
)
_EACH_USE = "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
_EACH_RESULT = "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."


class Placed(NamedTuple):
    """A block and where it stands."""

    message: int
    place: int
    block: JsonObject

    @property
    def path(self) -> str:
        return f"messages.{self.message}.content.{self.place}"

    @property
    def kind(self) -> object:
        return self.block.get("type")


class Side(NamedTuple):
    """Messages of one role that follow each other, which the API takes as one."""

    role: object
    first: int
    blocks: list[Placed]

    def of(self, *kinds: str) -> list[Placed]:
        return [placed for placed in self.blocks if placed.kind in kinds]


def _messages(asked: RuleInput) -> list[tuple[int, JsonObject]]:
    return numbered(asked.body.get("messages"))


def _placed(message: int, content: object) -> list[Placed]:
    if isinstance(content, str):
        return [Placed(message, 0, {"type": "text", "text": content})]
    return [Placed(message, place, block) for place, block in numbered(content)]


def _all_blocks(asked: RuleInput) -> Iterator[Placed]:
    for index, message in _messages(asked):
        yield from _placed(index, message.get("content"))


def _sides(asked: RuleInput) -> list[Side]:
    """The conversation as the API sees it; system messages inside it stand apart."""
    sides: list[Side] = []
    for index, message in _messages(asked):
        role = message.get("role")
        if role == "system":
            continue
        if not sides or sides[-1].role != role:
            sides.append(Side(role, index, []))
        sides[-1].blocks.extend(_placed(index, message.get("content")))
    return sides


@book.rule("There are two roles, and a third on some models.", f"{BIG_THREE}A7; public issue threads")
def bad_role(asked: RuleInput) -> Said:
    for _, message in _messages(asked):
        if message.get("role") not in ("user", "assistant", "system"):
            return (
                f'messages: Unexpected role "{message.get("role")}". Allowed roles are "user" or "assistant".'
            )
    return None


@book.model_rule("Older models take no system message inside the conversation.", f"{BIG_THREE}A2, A7")
def system_turn_refused(asked: RuleInput, facts: Facts) -> Said:
    if "system_turns" not in facts.refuses:
        return None
    found = any(message.get("role") == "system" for _, message in _messages(asked))
    return "role 'system' is not supported on this model" if found else None


@book.rule(
    "A system message inside the conversation follows the user, and the assistant or nothing follows it.",
    f"{BIG_THREE}A7; wording not captured",
)
def system_turn_misplaced(asked: RuleInput) -> Said:
    roles = [message.get("role") for _, message in _messages(asked)]
    for index, role in enumerate(roles):
        if role != "system":
            continue
        if not index or roles[index - 1] != "user" or roles[index + 1 : index + 2] not in ([], ["assistant"]):
            return (
                f"messages.{index}: a `system` message must follow a `user` message and be the last message "
                "or precede an `assistant` message"
            )
    return None


@book.rule("The user begins.", f"{BIG_THREE}A7; public issue threads")
def first_message_not_user(asked: RuleInput) -> Said:
    sides = _sides(asked)
    if not sides or sides[0].role == "user":
        return None
    return 'messages: first message must use the "user" role'


@book.rule(
    "Fields that the API does not know are refused inside messages too.", f"{BIG_THREE}A2; SDK 2.8.0 types"
)
def unknown_message_field(asked: RuleInput) -> Said:
    for index, message in _messages(asked):
        known = _MESSAGE | {"output_config"} if message.get("role") == "system" else _MESSAGE
        field = unknown(message, known)
        if field:
            return f"messages.{index}.{field}: Extra inputs are not permitted"
    for placed in _all_blocks(asked):
        fields = _BLOCKS.get(str(placed.kind))
        field = unknown(placed.block, fields) if fields else None
        if field:
            return f"{placed.path}.{placed.kind}.{field}: Extra inputs are not permitted"
    return None


@book.rule("A message says something.", f"{BIG_THREE}D1; public issue threads")
def empty_message(asked: RuleInput) -> Said:
    messages = _messages(asked)
    for index, message in messages:
        last_assistant = message is messages[-1][1] and message.get("role") == "assistant"
        if message.get("role") == "system" or last_assistant or message.get("content") not in ("", []):
            continue
        return (
            f"messages.{index}: all messages must have non-empty content except for the optional final "
            "assistant message"
        )
    return None


@book.rule("Text is not empty, and not only blanks.", f"{BIG_THREE}A2")
def empty_text(asked: RuleInput) -> Said:
    system = [("system", block) for block in objects(asked.body.get("system"))]
    inside = [("messages", placed.block) for placed in _all_blocks(asked)]
    for where, block in system + inside:
        text = block.get("text")
        if block.get("type") != "text" or not isinstance(text, str) or text.strip():
            continue
        if not text:
            return f"{where}: text content blocks must be non-empty"
        return f"{where}: text content blocks must contain non-whitespace text"
    return None


@book.model_rule(
    "The answer may not be begun for the model, except that a paused turn of server tools goes on.",
    f"{BIG_THREE}A2, A3.2; recording of a paused turn",
)
def prefill(asked: RuleInput, facts: Facts) -> Said:
    messages = _messages(asked)
    if not messages or messages[-1][1].get("role") != "assistant":
        return None
    if not refused(facts, "prefill", thinks(asked, facts)):
        return None
    kinds = [str(placed.kind) for placed in _sides(asked)[-1].blocks]
    if any(
        kind == "tool_use" or kind == "server_tool_use" or kind.endswith("_tool_result") for kind in kinds
    ):
        return None
    message = "This model does not support assistant message prefill."
    return f"{message} The conversation must end with a user message."


@book.rule("Ids of tool calls have letters, digits, `_` and `-`.", f"{BIG_THREE}A5")
def tool_id_charset(asked: RuleInput) -> Said:
    for placed in _all_blocks(asked):
        field = {"tool_use": "id", "tool_result": "tool_use_id"}.get(str(placed.kind))
        value = placed.block.get(field) if field else None
        if isinstance(value, str) and not _TOOL_ID.fullmatch(value):
            return f"{placed.path}.{placed.kind}.{field}: String should match pattern '^[a-zA-Z0-9_-]+$'"
    return None


@book.rule("Results stand right after their calls, in the next message.", f"{BIG_THREE}A2, A5")
def tool_use_without_result(asked: RuleInput) -> Said:
    for side, following in pairwise([*_sides(asked), Side(None, 0, [])]):
        uses = [str(use.block.get("id")) for use in side.of("tool_use")]
        results = following.of("tool_result")
        answered = {str(result.block.get("tool_use_id")) for result in results}
        missing = [use for use in uses if use not in answered]
        if missing:
            return _unanswered(side, missing)
    return None


@book.rule("Results come before anything else that the user says.", f"{BIG_THREE}A2, A5")
def results_not_first(asked: RuleInput) -> Said:
    sides = _sides(asked)
    for side, following in pairwise(sides):
        kinds = [placed.kind for placed in following.blocks]
        last = len(kinds) - kinds[::-1].index("tool_result") if "tool_result" in kinds else 0
        if side.of("tool_use") and any(kind != "tool_result" for kind in kinds[:last]):
            return _unanswered(side, [str(use.block.get("id")) for use in side.of("tool_use")])
    return None


def _unanswered(side: Side, ids: list[str]) -> str:
    place = side.of("tool_use")[-1].message
    return (
        f"messages.{place}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(ids)}. {_EACH_USE}"
    )


@book.rule("A result answers a call of the message before it.", f"{BIG_THREE}A2, A5")
def orphan_tool_result(asked: RuleInput) -> Said:
    asked_for: set[str] = set()
    for side in _sides(asked):
        for result in side.of("tool_result"):
            if str(result.block.get("tool_use_id")) not in asked_for:
                return (
                    f"{result.path}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{result.block.get('tool_use_id')}. {_EACH_RESULT}"
                )
        asked_for = {str(use.block.get("id")) for use in side.of("tool_use")}
    return None


@book.rule("Thinking comes back with its signature.", f"{BIG_THREE}A2, A3.1")
def signature_missing(asked: RuleInput) -> Said:
    for placed in _all_blocks(asked):
        field = _SEALED[str(placed.kind)][0] if placed.kind in _THOUGHTS else None
        if field and not isinstance(placed.block.get(field), str):
            return f"{placed.path}.{placed.kind}.{field}: Field required"
    return None


@book.rule("A signature is one that the vendor made, unaltered.", f"{BIG_THREE}A2, A4")
def signature_invalid(asked: RuleInput) -> Said:
    for placed, sealed in _sealed(asked):
        field, scheme = _SEALED[str(placed.kind)]
        if sealed is None or sealed.scheme != scheme:
            return f"{placed.path}: Invalid `{field}` in `{placed.kind}` block"
    return None


@book.rule(
    "Thinking in the latest assistant message comes back as it was; without text it counts as omitted.",
    f"{BIG_THREE}A2, A4",
)
def thinking_modified(asked: RuleInput) -> Said:
    sides = [side for side in _sides(asked) if side.role == "assistant"]
    latest = {(placed.message, placed.place) for placed in sides[-1].blocks} if sides else set()
    for placed, sealed in _sealed(asked):
        text = placed.block.get("thinking")
        if sealed is None or not text or (placed.message, placed.place) not in latest:
            continue
        if text != sealed.thought:
            return (
                f"{placed.path}: `thinking` or `redacted_thinking` blocks in the latest assistant message "
                "cannot be modified. These blocks must remain as they were in the original response."
            )
    return None


@book.model_rule(
    "The newest models' thinking is bound to all that came before it. What another model or account thought "
    "is dropped without a word.",
    f"{BIG_THREE}A2, A4.1, A4.2",
)
def prefix_changed(asked: RuleInput, facts: Facts) -> Said:
    binding = as_object(thinking_of(asked).get("block_binding"))
    if facts.replay != "bound_prefix" or binding.get("prefix_mismatch_behavior") == "drop_block":
        return None
    bound = [
        (placed, sealed.prefix)
        for placed, sealed in _sealed(asked)
        if sealed is not None and sealed.prefix and sealed.account == asked.account
        if sealed.model in (asked.model, facts.id)
    ]
    prefixes = prefixes_of(asked.body, [placed.message for placed, _ in bound])
    for (placed, prefix), stands in zip(bound, prefixes, strict=True):
        if prefix != stands:
            field, _ = _SEALED[str(placed.kind)]
            return f"{placed.path}: Invalid `{field}` in `{placed.kind}` block. {_OTHER_PREFIX}"
    return None


@book.rule(
    "Thinking by budget: inside a tool loop, the turn starts with its thinking.",
    f"{BIG_THREE}A2, A4",
)
def tool_loop_without_thinking(asked: RuleInput) -> Said:
    if thinking_of(asked).get("type") != "enabled":
        return None
    sides = _sides(asked)
    if not sides or not sides[-1].of("tool_result"):
        return None
    starts = [place for place, side in enumerate(sides) if side.role == "user" and not side.of("tool_result")]
    turn = sides[starts[-1] + 1 if starts else 0 :]
    first = next((side for side in turn if side.role == "assistant"), None)
    if first is None or not first.of("tool_use") or first.blocks[0].kind in _THOUGHTS:
        return None
    found = first.blocks[0]
    return (
        f"{found.path}.type: Expected `thinking` or `redacted_thinking`, but found `{found.kind}`. "
        f"{_START_WITH_THINKING}"
    )


def _sealed(asked: RuleInput) -> Iterator[tuple[Placed, Sealed | None]]:
    """Every thinking block that has a seal, and what is in it."""
    for placed in _all_blocks(asked):
        if placed.kind in _THOUGHTS:
            data = placed.block.get(_SEALED[str(placed.kind)][0])
            if isinstance(data, str):
                yield placed, asked.sealer.open(data)
