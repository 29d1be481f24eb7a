"""What is known about a model: how it thinks, how it is told to, and what it refuses."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

Mechanism = Literal["effort", "level", "budget", "adaptive", "toggle", "toggle+budget", "always", "none"]
"""How thinking is controlled: by a word, by a number of tokens, by a switch, or not at all."""

Shape = Literal[
    "anthropic",  # thinking{type, budget_tokens, display} and output_config.effort
    "reasoning_effort",  # reasoning_effort
    "responses",  # reasoning{effort, summary}
    "gemini",  # generationConfig.thinkingConfig
    "openrouter",  # reasoning{effort | max_tokens | enabled, exclude}
    "thinking_type",  # thinking{type}, and reasoning_effort where the model takes one
    "enable_thinking",  # enable_thinking, thinking_budget, or reasoning_effort
    "template_kwargs",  # chat_template_kwargs{enable_thinking}
    "reasoning_enabled",  # reasoning{enabled}
    "think",  # think
]
"""How the control is spelled on the wire."""

Off = Literal["disabled", "between_tools", "none", "zero", "false"]
"""The word that turns thinking off; a model without one cannot be turned off."""

Visible = Literal["full", "summary", "omitted", "none"]
"""What of the thinking comes back: all of it, a summary, nothing unless asked for, or nothing at all."""

Replay = Literal["never", "optional", "tool_loop", "always", "bound_prefix"]
"""Which earlier thinking the model must be given back."""

Refusal = Literal[
    "sampling",  # temperature, top_p, top_k, whatever their value
    "sampling_when_thinking",
    "penalties",  # presence and frequency penalty
    "stop",  # stop sequences
    "forced_tools",  # tool_choice that forces a call
    "forced_tools_when_thinking",
    "prefill",  # a conversation that ends with the assistant
    "prefill_when_thinking",
    "tools_on_chat_when_thinking",  # function tools beside an effort on Chat Completions
    "streaming_off_when_thinking",  # an answer that is not streamed
    "system_turns",  # system messages inside the conversation
]

Day: TypeAlias = datetime.date
_Tokens: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000_000)]
_Price: TypeAlias = Annotated[float, Meta(ge=0, le=1_000_000)]


class Budget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Token budgets: levels spread from `min` to `max`; a budget in tokens may go up to `limit`."""

    min: int
    max: int
    limit: int | None = None
    """Where the vendor's hard limit is not `max`; None means that it is."""
    dynamic: bool = False
    """-1 lets the model decide."""


class Facts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One model at one provider. Fields that nobody knows are None."""

    provider: str
    maker: str
    id: str
    dialect: str
    api: str | None = None
    """The name of the API where a vendor has several, as people know it."""
    shape: Shape
    mechanism: Mechanism
    efforts: tuple[str, ...] = ()
    """Accepted words, weakest first, without the one that turns thinking off."""
    names: dict[str, str] = {}
    """Our level → the model's word, where it does not go by the word itself."""
    thresholds: tuple[tuple[int, str], ...] = ()
    """Budget → level for models that take words: (below this many tokens, this level), else high."""
    budget: Budget | None = None
    off: Off | None = None
    off_effort: str | None = None
    """The strongest effort that may go along while thinking is off."""
    on: Literal["enabled", "adaptive"] = "enabled"
    """The word that turns thinking on, for `thinking_type`."""
    default: str | None = None
    """What the model does when it is told nothing: `off`, `on`, `dynamic`, or one of its words."""
    visible: Visible = "none"
    replay: Replay = "optional"
    refuses: tuple[Refusal, ...] = ()
    temperature: tuple[float, float] | None = None
    """The least and the highest that it takes, where that is not the usual range."""
    betas: tuple[str, ...] = ()
    """Values of the vendor's beta header that thinking between tool calls needs."""
    always_send: dict[str, object] = {}
    """Fields that go along whenever thinking is on, e.g. to get it in a field of its own."""
    options: tuple[str, ...] = ()
    """Further words about thinking that this server of the chat wire knows, as dotted paths; `OPTIONS` in
    `reasoning/native_params.py` lists those that only some know."""
    context: _Tokens | None = None
    max_output: _Tokens | None = None
    released: Day | None = None
    retires: Day | None = None
    """The day on which it was or will be shut down."""
    price_input: _Price | None = None
    price_output: _Price | None = None
    """US dollars for a million tokens."""
    source: str
    checked: Day
    remark: str | None = None

    def __hash__(self) -> int:
        """By what names a row; the tables inside it have no hash of their own."""
        return hash((self.provider, self.id))

    @property
    def can_think(self) -> bool:
        return self.mechanism != "none"

    @property
    def can_be_off(self) -> bool:
        return self.off is not None or not self.can_think

    @property
    def budget_limit(self) -> int | None:
        """The largest budget that the vendor takes."""
        if self.budget is None:
            return None
        return self.budget.limit or self.budget.max
