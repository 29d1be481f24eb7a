"""A refusal, read beside the request that it is about: what the provider itself says of our controls."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, NamedTuple

from thinkwire.errors import Failure
from thinkwire.jsonvalue import JsonObject
from thinkwire.notes import Note, NoteCode
from thinkwire.reasoning.client_text import ClientText
from thinkwire.reasoning.plan import Plan
from thinkwire.request import Request

LONGEST_EVIDENCE = 500
"""Characters of a refusal that are read and remembered."""


class SentRequest(NamedTuple):
    """A request that was refused, and the plan that wrote its reasoning controls."""

    plan: Plan
    request: Request
    """What the body says, in neutral words."""
    body: JsonObject


_SEAL_WORDS = (
    "signature",
    "encrypted content",
    "required following item",
    "required 'reasoning' item",
    "not persisted",
    "thought_signature",
    "blocks in the latest assistant message cannot be modified",
)


def is_seal_rejection(failure: Failure, message: str | None = None) -> bool:
    """Whether a refusal is about sealed thinking that was given back; `message` without the client's text."""
    words = (failure.message if message is None else message).lower()
    return failure.code == "invalid_encrypted_content" or any(word in words for word in _SEAL_WORDS)


_PATH = re.compile(r"[\w.\[\]-]+", re.ASCII)
_TELLING = re.compile(r"think|reason|thought|effort", re.IGNORECASE)
_EFFORTS = ("effort", "reasoning_effort", "thinkingLevel", "think")
_BUDGETS = ("budget_tokens", "thinkingBudget", "thinking_budget", "reasoning.max_tokens")
_SWITCHES = (
    *("thinking.type", "enable_thinking", "reasoning.enabled", "think", "thinkingLevel"),
    *("thinkingBudget", "includeThoughts"),
)


class Refusal:
    """A refusal beside the request that it is about."""

    def __init__(self, failure: Failure, sent: SentRequest) -> None:
        self.failure = failure
        self.plan, self.request, self.body = sent
        self.client = ClientText(sent.body, sent.request.extras, sent.plan.patch)

    @cached_property
    def text(self) -> str:
        """The provider's own words: the refusal without what the client said."""
        return self.client.hide(self.failure.message[:LONGEST_EVIDENCE], self._all_names, bare_path)

    @cached_property
    def own_text(self) -> str:
        """The same without slices of the client's texts, which takes longer to find out."""
        return self.client.hide_slices(self.text)

    @property
    def param(self) -> str | None:
        """The path that the provider names in a field of its own."""
        param = self.failure.param
        return param if param is not None and _PATH.fullmatch(param) else None

    @cached_property
    def controls(self) -> dict[str, Any]:
        """What the plan wrote, by dotted path."""
        return {path: value for path, value in _leaves(self.plan.patch) if path != "include"}

    @property
    def effort(self) -> str | None:
        """The word that was sent for how much to think."""
        found = (value for path, value in self.controls.items() if _last(path) in _EFFORTS)
        return next((value for value in found if isinstance(value, str)), None)

    @property
    def budget(self) -> int | None:
        found = (value for path, value in self.controls.items() if path.endswith(_BUDGETS))
        return next((value for value in found if type(value) is int), None)

    @property
    def has_switch(self) -> bool:
        return self.effort is not None or any(path.endswith(_SWITCHES) for path in self.controls)

    @property
    def names_effort(self) -> bool:
        """Whether the provider names the field of the effort in a field of its own."""
        efforts = [path for path in self.controls if _last(path) in _EFFORTS]
        names = {bare_path(name) for path in efforts for name in (path, _last(path), path.replace(".", ""))}
        return self.param is not None and bare_path(self.param) in names & self.own_names

    @cached_property
    def _all_names(self) -> frozenset[str]:
        names: set[str] = set()
        for path in self.controls:
            steps = path.split(".")
            names |= {bare_path(".".join(steps[: at + 1])) for at in range(len(steps))}
            if _TELLING.search(steps[-1]):
                names.add(bare_path(steps[-1]))
            kind = self.controls.get(f"{steps[0]}.type")
            if steps[-1] == "effort":
                names.add(bare_path("".join(steps)))
            if len(steps) == 2 and kind is not None:
                names.add(bare_path(f"{steps[0]}.{kind}.{steps[1]}"))
        return frozenset(names)

    @cached_property
    def own_names(self) -> frozenset[str]:
        """How a provider may call what the plan wrote; no name that the client brought as well."""
        return self._all_names - set(map(bare_path, self.client.own_strings))

    def note(self, code: NoteCode, done: str) -> Note:
        return Note(code, f"refused: {self.failure.message[:200]}; {done}")


def bare_path(path: str) -> str:
    """A path without what vendors spell differently: `reasoning_effort`, `reasoningEffort`."""
    return re.sub(r"[^a-z0-9.]", "", path.lower().removeprefix("body."))


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _leaves(value: JsonObject, prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, inner in value.items():
        path = f"{prefix}{key}"
        found += _leaves(inner, f"{path}.") if isinstance(inner, dict) else [(path, inner)]
    return found
