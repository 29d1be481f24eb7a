"""Notes: every clamp, drop or substitution, as a value with a stable code."""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

NoteCode = Literal[
    "thinking.dropped",  # the target cannot carry this thinking, or would refuse it
    "seal.dropped",  # another maker's seal; the readable part, if any, went through
    "block.dropped",  # a block that the target has no form for
    "block.degraded",  # a block that went through in a weaker form
    "field.dropped",  # request fields that only the source dialect knows
    "field.changed",  # a value was changed to what the target accepts
    "system.moved",  # system text went to another place in the conversation
    "tool_call.id_generated",  # the provider gave no id
    "tool_call.arguments_invalid",  # arguments are not a JSON object
    "tool_result.name_unknown",  # the target needs the tool's name and nobody said it
    "usage.impossible",  # negative, contradictory or unreadable token counts
    "finish.unknown",  # a finish reason that we do not know
    "choices.dropped",  # more than one candidate; the first is kept
    "stream.after_end",  # bytes after the end of the answer were ignored
    "stream.irregular",  # the stream broke an order rule of its dialect and was read anyway
    "reasoning.adjusted",  # the model got the nearest that it accepts
    "reasoning.minimum",  # thinking cannot be turned off; the model got its least
    "reasoning.unsupported",  # the model has no such control; nothing was sent
    "reasoning.native_wins",  # a native parameter was set by hand; nothing was translated
    "reasoning.unknown_model",  # no row for this model; the newest rule of its family was used
    "reasoning.unknown_host",  # nobody knows this provider; no reasoning field was sent
    "reasoning.dynamic_budget",  # a long conversation made the budget smaller
    "reasoning.learned",  # the provider refused; asked again by what that taught
    "max_tokens.raised",  # room for the thinking budget
    "sampling.dropped",  # the model refuses sampling parameters
    "tool_choice.degraded",  # the model refuses a forced tool call
    "prefill.closed",  # the model refuses to continue an assistant's words
    "route.changed",  # another API of the same provider was taken
    "thinking.dormant",  # another origin's thinking stays in the conversation and is not sent
    "thinking.carried",  # another origin's thinking goes along as plain text, because it was asked for
    "thinking.stripped",  # thinking is left out because the settings say so
    "replay.refusable",  # the settings leave out thinking that the provider will ask for
    "replay.thinking_off",  # a tool loop begun without this model's thinking goes on without it
    "seal.placeholder",  # the vendor's documented stand-in for a signature that cannot be there
    "tool_result.added",  # a call without a result got one that says so
    "tool_result.dropped",  # a result without its call
    "turn.dropped",  # nothing that can be sent was left of a turn
    "text.repaired",  # characters that no JSON can carry were replaced
    "cache.lost",  # the provider will read this conversation anew, because something before its end changed
    "prefix.broken",  # thinking that is bound to what stood before it cannot go back
    "context.compacted",  # earlier turns are given as a summary; the turns themselves are kept
    "context.full",  # the conversation outgrows the model's window and could not be made smaller
    "answer.continued",  # an answer without words was asked for again
    "answer.lost_to_thinking",  # the output limit was used up by thinking
    "tool.refused",  # a tool call was not allowed
    "tool.truncated",  # a tool's result was cut to its limit
    "seal.forged",  # a seal that came back is not one that was given out; it is not sent
    "thinking.restored",  # thinking that the client dropped was put back
    "model.mapped",  # another model answers than the one that was named, as configured
    "fallback.used",  # the model that was named failed; the configured next one answers
    "setting.ignored",  # a setting means nothing for this model or route
    "import.skipped",  # something in an imported transcript has no place here
]

NOTE_CODES: tuple[str, ...] = get_args(NoteCode)


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something was changed, dropped or guessed: `message` for people, `code` and `detail` for programs."""

    code: NoteCode
    message: str
    path: str | None = None
    detail: dict[str, Any] = {}
