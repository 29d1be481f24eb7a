"""A conversation's session as it should be now: its agent's word, its own, and the tools that there are."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from thinkwire.catalog import Facts
from thinkwire.client.learned_facts import EVERYONE, web_scope
from thinkwire.client.prepare import ResolvedModel, resolve_model
from thinkwire.config import load_settings, working_folder
from thinkwire.config.paths import make_folder
from thinkwire.errors import ConfigError, MalformedInput, ThinkwireError
from thinkwire.notes import Note
from thinkwire.request import Request
from thinkwire.session.default_model import first_model
from thinkwire.session.tools import Spec, Toolbox, builtin_tools
from thinkwire.settings import Layer, Settings, checked_layer
from thinkwire.store import AgentRow, ConversationRow
from thinkwire.web.auth.permissions import allowed_specs, is_owners_tool, narrowed, why_not_offered
from thinkwire.web.mcp_servers import PATIENCE, names_servers
from thinkwire.web.runs.branch_writer import ExplainingSession
from thinkwire.web.state import AppState
from thinkwire.web.thinking import ThinkingChoice, settings_of

THINKING = "thinking"
NO_TOOLS: dict[str, list[str]] = {"tools.enabled": []}


class ComposedSession(msgspec.Struct, frozen=True):
    """A session that is ready to talk, and what there is to say about how it came to be."""

    talk: ExplainingSession
    notes: tuple[Note, ...] = ()


def tools_for(web: AppState, owner: str, *, is_owner: bool) -> tuple[Spec, ...]:
    """Return the workspace tools of a requester; with accounts, files in a folder of one's own."""
    folder = web.options.workspace
    if not web.options.auth:
        place = folder or working_folder()
        return allowed_specs(web, _tools(place), is_owner=is_owner) if place is not None else ()
    if folder is None:
        return ()
    own = Path(folder) / owner
    make_folder(own)
    return allowed_specs(web, _tools(own), is_owner=False)


async def tools_named(
    web: AppState, owner: str, patterns: Iterable[str], patience: float = PATIENCE, *, is_owner: bool
) -> tuple[Spec, ...]:
    """The tools of an owner among which these are; MCP servers are opened only where they are meant."""
    own = tools_for(web, owner, is_owner=is_owner)
    if not names_servers(patterns):
        return own
    return (*own, *await web.servers.tools(patience, only_shared=not is_owner))


@lru_cache(maxsize=1024)
def _tools(folder: Path) -> tuple[Spec, ...]:
    """Made once for a folder: describing them takes longer than most requests."""
    return builtin_tools(folder)


def located(web: AppState, model: str) -> ResolvedModel:
    """The service and the facts of a model; ConfigError when nobody has it."""
    return resolve_model(web.client.asking(Request(), model=model, scope=EVERYONE), time.time())


async def compose(
    web: AppState, row: ConversationRow, *, is_owner: bool = False, patience: float = 0.0
) -> ComposedSession:
    """The session of a conversation; whoever needs its tools waits for those that are not there yet.

    Anyone but the local owner gets it without what only the local owner may switch on.
    """
    agent = await web.store.agent(row.agent_id) if row.agent_id else None
    settings = composed_settings(web, row, agent)
    settings, ignored = (settings, ()) if is_owner else narrowed(web, settings)
    patterns = settings.get("tools.enabled") or ()
    specs = await tools_named(web, row.owner, patterns, patience, is_owner=is_owner)
    settings, notes = _with_known_tools(web, settings, specs, is_owner=is_owner)
    talk = web.talk(row.id, is_owner=is_owner)
    if talk.busy:
        talk = web.new_talk(row.id)
    if talk.toolbox.specs != specs:
        talk.toolbox = Toolbox(specs)
    talk.settings = settings
    talk.keeper = web.store
    talk.learning_scope = web_scope(row.owner)
    return ComposedSession(talk, (*ignored, *notes))


def composed_settings(web: AppState, row: ConversationRow, agent: AgentRow | None) -> Settings:
    """What is configured here, then the agent, then the conversation; there is always a model."""
    settings = load_settings().with_layer(Layer("model", NO_TOOLS))
    name = row.model or (agent.model if agent else None) or settings.get("model")
    facts = known_facts(web, name)
    if agent is not None:
        settings = settings.with_layer(Layer("agent", _agent_values(agent, facts)))
    settings = settings.with_layer(_own_layer(row, facts))
    if settings.get("model") is None:
        settings = settings.set("session", "model", first_model(web.client))
    return settings


def known_facts(web: AppState, model: str | None) -> Facts | None:
    """What is known about a model; nothing, too, where nobody has it."""
    try:
        found = located(web, model).found if model else None
    except ThinkwireError:
        return None
    return found.facts if found else None


def checked_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """A conversation's own settings: those of `thinkwire config`, and `thinking` as an agent has it."""
    rest = {key: value for key, value in values.items() if key != THINKING}
    checked_layer("session", rest)
    if THINKING in values:
        rest[THINKING] = msgspec.to_builtins(wanted_of(values[THINKING]))
    return rest


def wanted_of(value: Any) -> ThinkingChoice:
    try:
        return msgspec.convert(value, ThinkingChoice)
    except msgspec.ValidationError as error:
        raise MalformedInput(str(error), path=THINKING) from None


def _own_layer(row: ConversationRow, facts: Facts | None) -> Layer:
    own = {key: value for key, value in row.settings.items() if key != THINKING}
    if row.settings.get(THINKING):
        own |= settings_of(wanted_of(row.settings[THINKING]), facts)
    return checked_layer("session", own | ({"model": row.model} if row.model else {}))


def _agent_values(agent: AgentRow, facts: Facts | None) -> dict[str, Any]:
    values: dict[str, Any] = {"tools.enabled": tuple(agent.tools)}
    if agent.instructions:
        values["system"] = agent.instructions
    if agent.model:
        values["model"] = agent.model
    return values | settings_of(wanted_of(agent.thinking), facts)


def _with_known_tools(
    web: AppState, settings: Settings, specs: tuple[Spec, ...], *, is_owner: bool
) -> tuple[Settings, tuple[Note, ...]]:
    """A tool that is not there any more does not keep a conversation from going on."""
    enabled = settings.get("tools.enabled")
    box = Toolbox(specs)
    known: list[str] = []
    notes: list[Note] = []
    for pattern in enabled or ():
        try:
            box.only([pattern])
            known.append(pattern)
        except ConfigError:
            refused = not is_owner and is_owners_tool(web, pattern)
            why = why_not_offered(web, pattern) if refused else _why_not(web, pattern)
            notes.append(Note("setting.ignored", why))
    if notes:
        settings = settings.set("session", "tools.enabled", known)
    return settings, tuple(notes)


def _why_not(web: AppState, tool: str) -> str:
    """Why a tool is not there. What is wrong with a server is for whoever runs it."""
    server = web.servers.server_of(tool)
    if server is None:
        return f"the tool {tool} is not offered here"
    status = next(status for status in web.servers.status if status.name == server)
    why = f": {status.error}" if status.error and not web.options.auth else ""
    return f"the tool {tool} is not there; its MCP server {server} is {status.state}{why}"
