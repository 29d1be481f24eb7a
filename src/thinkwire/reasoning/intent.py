"""What somebody asked for, in no vendor's words."""

from __future__ import annotations

import msgspec

from thinkwire.reasoning.levels import Level


class Intent(msgspec.Struct, frozen=True, omit_defaults=True):
    """How hard to think. Everything is optional; what is None was not said."""

    level: Level | None = None
    budget: int | None = None
    """Tokens; 0 is off, -1 lets the model decide."""
    on: bool | None = None
    """Thinking on or off, without a word on how much."""
    between_tools: bool = False
    """Think only between tool calls."""
    show: bool | None = None
    """Whether the thinking should come back readable."""
    summary: str | None = None
    """The kind of summary, where a vendor has kinds: `auto`, `concise`, `detailed`."""
    said: str = ""
    """The words in which it was asked."""

    @property
    def says_anything(self) -> bool:
        return self.level is not None or self.budget is not None or self.on is not None or self.between_tools
