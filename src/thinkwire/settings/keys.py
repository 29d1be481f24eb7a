"""Every setting there is: its values, its default, and what it is for. Data; the checks are in `values`."""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

from thinkwire.catalog.facts import Shape
from thinkwire.errors import ConfigError
from thinkwire.reasoning.levels import LEVELS

Kind = Literal["text", "name", "field", "choice", "level", "integer", "number", "list", "map"]

LARGEST = 1_000_000_000
"""No count of tokens is larger; a number that is was meant otherwise."""


class SettingKey(msgspec.Struct, frozen=True, kw_only=True):
    """One setting. `default` None means unset: nothing is said about it."""

    key: str
    kind: Kind
    default: Any = None
    allowed: tuple[Any, ...] = ()
    """The values of a choice, as they are written in TOML."""
    least: float = 0
    most: float = LARGEST
    help: str
    example: str

    @property
    def allows(self) -> str:
        """The allowed values, in words."""
        match self.kind:
            case "choice" | "level":
                words = [_word(value) for value in self.allowed]
                return f"{', '.join(words[:-1])} or {words[-1]}"
            case "integer":
                return f"a whole number from {self.least:,.0f} to {self.most:,.0f}"
            case "number":
                return f"a number from {self.least:g} to {self.most:g}"
        return _IN_WORDS[self.kind]


_IN_WORDS = {
    "text": "any text",
    "name": "a name on one line, of at most 200 characters",
    "field": "the name of a field: letters, digits, `_`, `-`, `.`; not one that messages have already",
    "list": "a list of names, as `one, two`",
    "map": "levels and the server's words for them, as `low=brief, high=deep`",
}


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_SWITCH = (True, False)

_TABLE = (
    SettingKey(
        key="model",
        kind="name",
        help="Who answers: MODEL or PROVIDER/MODEL, with /LEVEL if you like.",
        example="claude-opus-5/high",
    ),
    SettingKey(key="system", kind="text", help="Instructions for the model.", example="Be brief."),
    SettingKey(key="temperature", kind="number", most=2, help="How freely words are chosen.", example="0.7"),
    SettingKey(
        key="maxTokens",
        kind="integer",
        least=1,
        help="The most that an answer may have, its thinking included.",
        example="16000",
    ),
    SettingKey(
        key="reasoning.enabled",
        kind="choice",
        default=True,
        allowed=_SWITCH,
        help="Whether to think at all; false asks for no thinking and shows none.",
        example="false",
    ),
    SettingKey(
        key="reasoning.effort",
        kind="level",
        allowed=LEVELS,
        help="How hard to think.",
        example="high",
    ),
    SettingKey(
        key="reasoning.maxTokens",
        kind="integer",
        least=-1,
        help="A thinking budget in tokens; 0 is off, -1 lets the model decide.",
        example="16000",
    ),
    SettingKey(
        key="reasoning.dynamicBudget",
        kind="choice",
        default=False,
        allowed=_SWITCH,
        help="Whether long conversations get smaller budgets.",
        example="true",
    ),
    SettingKey(
        key="reasoning.summary",
        kind="choice",
        allowed=("auto", "concise", "detailed"),
        help="The kind of summary, where a vendor shows only summaries.",
        example="detailed",
    ),
    SettingKey(
        key="reasoning.includeInContext",
        kind="choice",
        default="auto",
        allowed=("auto", *_SWITCH),
        help="Whether earlier thinking goes back to the model; auto does what the model needs.",
        example="true",
    ),
    SettingKey(
        key="reasoning.stripFromContext",
        kind="choice",
        default="none",
        allowed=("all", "allButLast", "none"),
        help="Which earlier thinking is left out before anything else is decided.",
        example="allButLast",
    ),
    SettingKey(
        key="reasoning.carry",
        kind="choice",
        default="none",
        allowed=("none", "text"),
        help="What another model's thinking becomes: it stays here, or goes along as text.",
        example="text",
    ),
    SettingKey(
        key="reasoning.includeInResponse",
        kind="choice",
        default=True,
        allowed=_SWITCH,
        help="Whether thinking is shown.",
        example="false",
    ),
    SettingKey(
        key="reasoning.format",
        kind="choice",
        default="field",
        allowed=("native", "field"),
        help="Where readable thinking goes back on chat wires: where it came from, or in the field.",
        example="native",
    ),
    SettingKey(
        key="reasoning.fieldName",
        kind="field",
        help="That field's name, for a server that is not known.",
        example="reasoning_content",
    ),
    SettingKey(
        key="reasoning.wireFormat",
        kind="choice",
        allowed=get_args(Shape),
        help="How a server that is not known is told to think.",
        example="template_kwargs",
    ),
    SettingKey(
        key="reasoning.effortMap",
        kind="map",
        help="Such a server's own words for our levels.",
        example="low=brief, high=deep",
    ),
    SettingKey(
        key="context.limit",
        kind="integer",
        least=1,
        help="How many tokens a conversation may have; unset is the model's own limit.",
        example="120000",
    ),
    SettingKey(
        key="context.compressAt",
        kind="number",
        default=0.85,
        least=0.01,
        most=1,
        help="The part of the limit at which earlier turns are summed up.",
        example="0.7",
    ),
    SettingKey(
        key="tools.enabled",
        kind="list",
        help="The tools that the model may call.",
        example="read_file, search_text",
    ),
    SettingKey(
        key="tools.approve",
        kind="choice",
        default="ask",
        allowed=("ask", "allow", "deny"),
        help="What happens when the model calls a tool.",
        example="deny",
    ),
    SettingKey(
        key="tools.allow",
        kind="list",
        default=(),
        help="Patterns of tools that need no asking.",
        example="read_file, list_*",
    ),
    SettingKey(
        key="terminal.theme",
        kind="choice",
        allowed=("dark", "light", "high-contrast"),
        help="How the chat in the terminal looks; unset is what the terminal tells about itself.",
        example="light",
    ),
)

KEYS: dict[str, SettingKey] = {setting.key: setting for setting in _TABLE}


def setting_of(key: str) -> SettingKey:
    """The setting of this name; ConfigError suggests the nearest."""
    found = KEYS.get(key)
    if found is None:
        raise ConfigError(f"there is no setting {clipped(key)!r}{_suggestion(key)}")
    return found


def clipped(text: str, length: int = 60) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _suggestion(key: str) -> str:
    import difflib

    asked = key[:100].strip().lower()
    plain = {name.lower(): name for name in KEYS}
    tails = [name for low, name in plain.items() if asked and low.endswith(f".{asked}")]
    heads = [name for low, name in plain.items() if len(asked) > 2 and asked in low]
    near = tails or heads or [plain[low] for low in difflib.get_close_matches(asked, plain, n=1, cutoff=0.6)]
    return f"; did you mean {near[0]}?" if near else "; `thinkwire config show` lists them all"
