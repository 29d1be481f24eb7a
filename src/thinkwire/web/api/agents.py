"""Agents: made, changed, deleted and brought back."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from thinkwire.session.tools import Toolbox
from thinkwire.store import AgentRow
from thinkwire.web import schemas as shapes
from thinkwire.web.api import ownership as owned
from thinkwire.web.api.models import facts_of
from thinkwire.web.api.session_factory import tools_named, wanted_of
from thinkwire.web.auth.permissions import check_tools
from thinkwire.web.request import ApiRequest
from thinkwire.web.thinking import ThinkingChoice, checked


async def list_agents(call: ApiRequest) -> list[shapes.Agent]:
    return [_shown(row) for row in await call.web.store.agents(call.owner)]


async def create(call: ApiRequest) -> shapes.Agent:
    body = call.body
    await _check(call, body.model, body.thinking, body.tools)
    row = await call.web.store.create_agent(
        body.name.strip() or body.name,
        body.instructions,
        body.model,
        thinking=msgspec.to_builtins(body.thinking),
        tools=body.tools,
        owner=call.owner,
    )
    return _shown(row)


async def read(call: ApiRequest) -> shapes.Agent:
    return _shown(await owned.agent(call))


async def change(call: ApiRequest) -> shapes.Agent:
    row = await owned.agent(call)
    changes: dict[str, Any] = {
        name: value for name, value in msgspec.structs.asdict(call.body).items() if value is not UNSET
    }
    wanted = changes.get("thinking", wanted_of(row.thinking))
    known = [name for name in changes.get("tools", ()) if name not in row.tools]
    await _check(call, changes.get("model", row.model), wanted, known)
    if "thinking" in changes:
        changes["thinking"] = msgspec.to_builtins(wanted)
    if not changes:
        return _shown(row)
    return _shown(await call.web.store.update_agent(row.id, **changes))


async def delete(call: ApiRequest) -> shapes.Done:
    row = await owned.agent(call)
    await call.web.store.delete_agent(row.id)
    return shapes.Done()


async def restore(call: ApiRequest) -> shapes.Agent:
    row = await owned.agent(call, deleted=True)
    await call.web.store.restore_agent(row.id)
    return _shown(await call.web.store.agent(row.id))


async def _check(call: ApiRequest, model: str | None, wanted: ThinkingChoice, tools: list[str]) -> None:
    """What cannot be is refused when it is saved, not when the agent is first asked."""
    checked(wanted, facts_of(call.web, model))
    check_tools(call.web, tools, is_owner=call.is_owner)
    Toolbox(await tools_named(call.web, call.owner, tools, is_owner=call.is_owner)).only(tools)


def _shown(row: AgentRow) -> shapes.Agent:
    return shapes.Agent(
        id=row.id,
        name=row.name,
        instructions=row.instructions,
        model=row.model,
        thinking=wanted_of(row.thinking),
        tools=row.tools,
        created=row.created,
        updated=row.updated,
    )
