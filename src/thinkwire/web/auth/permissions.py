"""What only the local owner may switch on: calls without approval, commands, writing, private MCP servers.

The local owner holds the start token and asks from this machine, not through a proxy. With accounts there is
no local owner; then only the configuration on disk decides. The rules count when settings are written, and
again when a session is composed, because a row may have been written by the owner or by an older version.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from thinkwire.config import load_settings
from thinkwire.errors import ConfigError
from thinkwire.notes import Note
from thinkwire.session.tools import Spec
from thinkwire.session.tools.approval import matches_name
from thinkwire.settings import Layer, Settings
from thinkwire.web.errors import Problem
from thinkwire.web.state import AppState

ENABLED, APPROVE, ALLOW = "tools.enabled", "tools.approve", "tools.allow"
_STRICTNESS = ("deny", "ask", "allow")

_ASK_OWNER = (
    "only the owner of this machine may: open the address that `thinkwire serve` printed on the machine "
    "itself, not through a proxy, or set it with `thinkwire config`"
)
_ASK_OPERATOR = "with accounts only the server's own configuration may: ask whoever runs it"


def allowed_specs(web: AppState, specs: Iterable[Spec], *, is_owner: bool) -> tuple[Spec, ...]:
    """Return the workspace tools that a requester may have."""
    if is_owner:
        return tuple(specs)
    # With accounts everyone writes in a folder of their own; else it would be the owner's project.
    effects = ("read", "write") if web.options.auth else ("read",)
    return tuple(spec for spec in specs if spec.effect in effects)


def check_settings(web: AppState, values: Mapping[str, Any], *, is_owner: bool) -> None:
    """Refuse settings, checked already, that widen what tools may do, from anyone but the local owner."""
    if is_owner:
        return
    widened = _widened(values, load_settings())
    if widened:
        raise _refusal(web, f"{widened[0]} cannot be widened here")
    check_tools(web, values.get(ENABLED) or (), is_owner=is_owner)


def check_tools(web: AppState, patterns: Iterable[str], *, is_owner: bool) -> None:
    """Refuse tools that only the local owner may have."""
    for pattern in () if is_owner else patterns:
        if is_owners_tool(web, pattern):
            raise _refusal(web, f"the tool {pattern[:80]} cannot be switched on here")


def narrowed(web: AppState, settings: Settings) -> tuple[Settings, tuple[Note, ...]]:
    """Take back what a conversation's own settings widen beyond the configuration on disk."""
    notes: list[Note] = []
    for key in _widened(settings.layer("session").values, settings.with_layer(Layer("session"))):
        settings = settings.unset("session", key)
        notes.append(Note("setting.ignored", f"{key} is ignored for this answer: {_who_may(web)}"))
    return settings, tuple(notes)


def why_not_offered(web: AppState, tool: str) -> str:
    """Say why a tool is kept from a requester who is not the local owner."""
    return f"the tool {tool} is not offered here: {_who_may(web)}"


def is_owners_tool(web: AppState, pattern: str) -> bool:
    """Return whether a name or pattern means a tool that only the local owner may have."""
    if web.servers.is_private(pattern):
        return True
    # With accounts nobody can ever have these, so `*` is no way to them.
    if web.options.auth:
        return pattern == "run_command"
    return any(_matches(pattern, name) for name in ("run_command", "write_file", "edit_file"))


def _widened(values: Mapping[str, Any], configured: Settings) -> list[str]:
    """Return the approval settings that these values make laxer than the configuration."""
    found = []
    if APPROVE in values and _laxness(values[APPROVE]) > _laxness(configured.get(APPROVE)):
        found.append(APPROVE)
    allowed = configured.get(ALLOW) or ()
    if any(pattern not in allowed for pattern in values.get(ALLOW) or ()):
        found.append(ALLOW)
    return found


def _laxness(value: str) -> int:
    return _STRICTNESS.index(value)


def _matches(pattern: str, name: str) -> bool:
    try:
        return matches_name(pattern, name)
    except ConfigError:
        return False


def _refusal(web: AppState, what: str) -> Problem:
    return Problem(403, "not_owner", f"{what}; {_who_may(web)}")


def _who_may(web: AppState) -> str:
    return _ASK_OPERATOR if web.options.auth else _ASK_OWNER
