"""May this call be run? Patterns answer first, then what the tool can do, then the default.

A pattern is a tool's name, or a name and what the call is about in brackets: `read_file`,
`write_file(docs/*)`, `run_command(git status*)`, `mcp__github__*`. `*` stands for anything, nothing else is
special. Denials win. A command with a shell operator in it matches no allowing pattern in brackets, so that
`run_command(git *)` lets no `git log; rm -rf .` through; for denials each of its parts is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Literal, TypeAlias

import msgspec

from thinkwire.errors import ConfigError
from thinkwire.messages import ToolCall
from thinkwire.session.tools.tool import Spec

Approval = Literal["allow", "ask", "deny"]

Ask: TypeAlias = Callable[[ToolCall, Spec], Awaitable[bool | Literal["always"]]]
"""How a face asks its user; `"always"` is remembered by the toolbox."""

OPERATORS = re.compile(r"[;&|<>$`(){}\\!\x00-\x08\x0a-\x1f\x7f]")
_PATTERN = re.compile(r"(?P<name>[A-Za-z0-9_*-]+)(?:\((?P<subject>.*)\))?", re.DOTALL)


class Policy(msgspec.Struct, frozen=True, omit_defaults=True):
    """`default` is for tools that write or run; tools that only read need no approval unless denied."""

    default: Approval = "ask"
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for pattern in (*self.allow, *self.deny):
            _compiled(pattern)


def decide(policy: Policy, spec: Spec, subject: str | None = None) -> Approval:
    """What the policy says to a call of this tool about this subject."""
    if any(_denies(pattern, spec, subject) for pattern in policy.deny):
        return "deny"
    if any(_allows(pattern, spec, subject) for pattern in policy.allow):
        return "allow"
    return "allow" if spec.effect == "read" else policy.default


def matches_name(pattern: str, name: str) -> bool:
    """Whether a pattern without brackets means this tool."""
    names, subjects = _compiled(pattern)
    return subjects is None and names.fullmatch(name) is not None


def _allows(pattern: str, spec: Spec, subject: str | None) -> bool:
    names, subjects = _compiled(pattern)
    if not names.fullmatch(spec.name):
        return False
    if subjects is None:
        return True
    if subject is None or (spec.effect == "run" and OPERATORS.search(subject)):
        return False
    return subjects.fullmatch(subject) is not None


def _denies(pattern: str, spec: Spec, subject: str | None) -> bool:
    names, subjects = _compiled(pattern)
    if not names.fullmatch(spec.name):
        return False
    if subjects is None:
        return True
    if subject is None:
        # Arguments that do not say what they are about cannot show that they are harmless.
        return True
    parts = [subject]
    if spec.effect == "run":
        parts += [part.strip() for part in OPERATORS.split(subject)]
    return any(subjects.fullmatch(part) for part in parts)


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    parsed = _PATTERN.fullmatch(pattern)
    if parsed is None:
        raise ConfigError(
            f"{pattern!r} is no approval pattern; write `tool` or `tool(subject)`, with * for anything"
        )
    subject = parsed["subject"]
    return _wild(parsed["name"]), None if subject is None else _wild(subject)


def _wild(text: str) -> re.Pattern[str]:
    # Runs of stars are one star: `**…` would let a long subject take exponential time.
    literal = (re.escape(part) for part in re.split(r"\*+", text))
    return re.compile(".*".join(literal), re.DOTALL)
