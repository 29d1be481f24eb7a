"""The agent that editors talk to: the Agent Client Protocol over standard input and output.

Thinking goes out as thought chunks; the level is a session option of the category `thought_level`, the model
one of the category `model`. Every session is a conversation that is kept like any other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, cast

import acp
import msgspec
from acp import helpers, schema
from acp.exceptions import RequestError
from acp.interfaces import Client as Editor

from thinkwire._version import __version__
from thinkwire.errors import ConfigError, MissingKey, ProviderError, ThinkwireError
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Block, ToolCall
from thinkwire.session import Run, Session, TurnEnded
from thinkwire.session.commands import COMMANDS, After, Choose, is_command, run_command
from thinkwire.session.formatting import what_failed, what_to_do
from thinkwire.session.tools import Spec
from thinkwire.settings import thinking_shown
from thinkwire.store import RowNotFound
from thinkwire.store.cancellation import run_to_completion
from thinkwire.store.ids import new_id
from thinkwire.terminal.acp.options import LEVEL, MODEL, config_options
from thinkwire.terminal.acp.updates import AcpUpdates, retold, said_blocks, tool_start
from thinkwire.terminal.chat.conversations import ConversationManager, Options

_NOT_HERE = ("new", "resume", "retry", "copy", "export", "theme", "quit")
"""Commands that are the editor's own business."""
_STOPS: dict[str, Literal["end_turn", "cancelled", "refusal"]] = {
    "complete": "end_turn",
    "lost": "end_turn",
    "interrupted": "cancelled",
}


class AcpSession:
    """One session of an editor: a desk, and the run that is going on."""

    def __init__(self, desk: ConversationManager, session_id: str) -> None:
        self.desk = desk
        self.id = session_id
        self.run: Run | None = None
        self.later: list[str] = []
        """Commands that count once the model has answered."""

    @property
    def session(self) -> Session:
        return self.desk.session


class Agent:
    """What an editor can ask of us. Options are for all its sessions."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._seats: dict[str, AcpSession] = {}
        self._editor: Editor | None = None

    def on_connect(self, conn: Editor) -> None:
        self._editor = conn

    async def aclose(self) -> None:
        """Every run is over and everything that was said is kept."""
        for seat in list(self._seats.values()):
            await self._leave(seat)

    # Sessions

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(
            protocol_version=min(protocol_version, acp.PROTOCOL_VERSION),
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, embedded_context=True),
                mcp_capabilities=schema.McpCapabilities(http=True),
                session_capabilities=schema.SessionCapabilities(list=schema.SessionListCapabilities()),
            ),
            agent_info=schema.Implementation(name="thinkwire", title="thinkwire", version=__version__),
        )

    async def authenticate(self, method_id: str, **_: Any) -> None:
        """Keys are in the environment or in `keys.toml`; there is nothing to log in to."""
        return None

    async def new_session(
        self, cwd: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> schema.NewSessionResponse:
        desk = self._desk(cwd)
        desk.open()
        seat = AcpSession(desk, desk.session.conversation_id or new_id())
        await self._sit(seat, mcp_servers)
        return schema.NewSessionResponse(session_id=seat.id, config_options=config_options(seat.session))

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> schema.LoadSessionResponse:
        desk = self._desk(cwd)
        desk.open()
        try:
            session = await desk.go_on(session_id)
        except RowNotFound:
            await desk.aclose()
            raise RequestError.resource_not_found(session_id) from None
        except ThinkwireError as error:
            await desk.aclose()
            raise _refusal(error) from None
        await self._sit(AcpSession(desk, session_id), mcp_servers)
        for update in retold(await session.keeper.path(session.conversation_id)):
            await self._tell(session_id, update)
        return schema.LoadSessionResponse(config_options=config_options(session))

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> schema.ListSessionsResponse:
        desk = self._desk(cwd or str(self._options.folder))
        desk.open()
        try:
            found = await desk.find()
        except ThinkwireError as error:
            raise _refusal(error) from None
        finally:
            await desk.aclose()
        folder = str(desk.options.folder)
        sessions = [schema.SessionInfo(session_id=one.id, cwd=folder, title=one.title) for one in found]
        return schema.ListSessionsResponse(sessions=sessions)

    async def close_session(self, session_id: str, **_: Any) -> None:
        await self._leave(self._seat(session_id))

    # Talking

    async def prompt(self, session_id: str, prompt: Sequence[Any], **_: Any) -> schema.PromptResponse:
        seat = self._seat(session_id)
        try:
            text, blocks = said_blocks(prompt)
            if is_command(text) and not blocks and _name(text) in COMMANDS:
                return await self._command(seat, text)
            return await self._ask(seat, text, blocks)
        except ThinkwireError as error:
            raise _refusal(error) from None

    async def cancel(self, session_id: str, **_: Any) -> None:
        seat = self._seats.get(session_id)
        if seat is not None and seat.run is not None:
            await seat.run.interrupt()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> schema.SetSessionConfigOptionResponse:
        seat = self._seat(session_id)
        command = {LEVEL: "/effort", MODEL: "/model"}.get(config_id)
        if command is None or not isinstance(value, str):
            raise RequestError.invalid_params({"message": f"there is no option {config_id!r}"})
        reply = await run_command(seat.session, f"{command} {value}")
        if reply.failed:
            raise RequestError.invalid_params({"message": "\n".join(reply.lines)})
        if isinstance(reply.action, After):
            seat.later.append(reply.action.command)
        return schema.SetSessionConfigOptionResponse(config_options=config_options(seat.session))

    async def _ask(self, seat: AcpSession, text: str, blocks: Sequence[Block]) -> schema.PromptResponse:
        seat.run = run = seat.session.start(text or None, blocks)
        ended: TurnEnded | None = None
        specs = {spec.name: spec for spec in seat.session.offered.specs}
        telling = AcpUpdates(specs, thinking=thinking_shown(seat.session.settings))
        async for happening in run.follow():
            if isinstance(happening, TurnEnded):
                ended = happening
            for update in telling.updates(happening):
                await self._tell(seat.id, update)
        assert ended is not None
        await self._do_later(seat)
        with contextlib.suppress(ThinkwireError):
            await seat.desk.settle()
        await self._tell_usage(seat)
        if ended.failure is not None:
            told = f"{what_failed(ended.failure)}. {what_to_do(ended.failure)}"
            raise RequestError(-32603, told, {"kind": ended.failure.kind})
        return schema.PromptResponse(stop_reason=_STOPS[ended.ending], usage=_usage(ended))

    async def _command(self, seat: AcpSession, text: str) -> schema.PromptResponse:
        if _name(text) in _NOT_HERE:
            raise ConfigError(f"/{_name(text)} is the editor's own business")
        reply = await run_command(seat.session, text)
        told = list(reply.lines)
        if isinstance(reply.action, Choose):
            told += [f"{reply.action.prefix}{option.text}" for option in reply.action.options[:20]]
        if isinstance(reply.action, After):
            seat.later.append(reply.action.command)
        await self._tell(seat.id, acp.update_agent_message_text("```\n" + "\n".join(told) + "\n```\n"))
        await self._tell_options(seat)
        return schema.PromptResponse(stop_reason="end_turn")

    async def _do_later(self, seat: AcpSession) -> None:
        """What was asked for while the model was answering."""
        later, seat.later = seat.later, []
        for command in later:
            await run_command(seat.session, command)
        if later:
            await self._tell_options(seat)

    async def _approve(self, seat: AcpSession, call: ToolCall, spec: Spec) -> bool | Literal["always"]:
        options = [
            schema.PermissionOption(option_id="once", name="Yes", kind="allow_once"),
            schema.PermissionOption(option_id="always", name="Always", kind="allow_always"),
            schema.PermissionOption(option_id="no", name="No", kind="reject_once"),
        ]
        start = tool_start(call, spec)
        about = schema.ToolCallUpdate(
            tool_call_id=call.id, title=start.title, kind=start.kind, content=start.content
        )
        assert self._editor is not None
        answer = await self._editor.request_permission(session_id=seat.id, tool_call=about, options=options)
        chosen = getattr(answer.outcome, "option_id", None)
        return "always" if chosen == "always" else chosen == "once"

    async def _tell(self, session_id: str, update: Any) -> None:
        assert self._editor is not None
        await self._editor.session_update(session_id=session_id, update=update)

    async def _tell_options(self, seat: AcpSession) -> None:
        options = config_options(seat.session)
        update = schema.ConfigOptionUpdate(session_update="config_option_update", config_options=options)
        await self._tell(seat.id, update)

    async def _tell_usage(self, seat: AcpSession) -> None:
        effective = await seat.session.effective()
        if effective.limit is not None:
            update = schema.UsageUpdate(
                session_update="usage_update", used=effective.total, size=effective.limit
            )
            await self._tell(seat.id, update)

    # Seats

    def _desk(self, cwd: str) -> ConversationManager:
        try:
            desk = ConversationManager(msgspec.structs.replace(self._options, folder=Path(cwd)))
        except ThinkwireError as error:
            raise _refusal(error) from None
        if desk.lacks_key is not None:
            raise RequestError.auth_required({"message": str(desk.lacks_key)})
        return desk

    async def _sit(self, seat: AcpSession, servers: Sequence[Any] | None) -> None:
        async def ask(call: ToolCall, spec: Spec) -> bool | Literal["always"]:
            return await self._approve(seat, call, spec)

        if seat.id in self._seats:
            await self._leave(self._seats[seat.id])
        seat.session.ask = ask
        self._seats[seat.id] = seat
        try:
            await seat.desk.serve_tools(_mcp_table(servers or ()))
        except ThinkwireError as error:
            await self._leave(seat)
            raise _refusal(error) from None
        offered = [
            schema.AvailableCommand(name=command.name, description=command.help)
            for command in COMMANDS.values()
            if command.name not in _NOT_HERE
        ]
        await self._tell(seat.id, helpers.update_available_commands(offered))

    async def _leave(self, seat: AcpSession) -> None:
        self._seats.pop(seat.id, None)
        if seat.run is not None:
            await seat.run.interrupt()
        await seat.desk.aclose()

    def _seat(self, session_id: str) -> AcpSession:
        seat = self._seats.get(session_id)
        if seat is None:
            raise RequestError.resource_not_found(session_id)
        return seat

    async def set_session_mode(self, mode_id: str, session_id: str, **_: Any) -> None:
        raise RequestError.method_not_found("session/set_mode")

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        return None


def _mcp_table(servers: Sequence[Any]) -> JsonObject:
    """The editor's servers in the form that ours have."""
    table: JsonObject = {}
    for server in servers:
        if getattr(server, "command", None):
            env = {variable.name: variable.value for variable in server.env}
            table[server.name] = {"command": server.command, "args": server.args, "env": env}
        elif getattr(server, "url", None):
            table[server.name] = {
                "url": server.url,
                "headers": {one.name: one.value for one in server.headers},
            }
    return table


def _usage(ended: TurnEnded) -> schema.Usage | None:
    usage = ended.usage
    if usage is None or usage.input_total is None or usage.output_total is None:
        return None
    return schema.Usage(
        input_tokens=usage.input_total,
        output_tokens=usage.output_total,
        total_tokens=usage.input_total + usage.output_total,
        thought_tokens=usage.output_reasoning,
        cached_read_tokens=usage.cache_read,
        cached_write_tokens=usage.cache_write,
    )


def _name(text: str) -> str:
    return text[1:].split(maxsplit=1)[0].lower() if text[1:].strip() else ""


def _refusal(error: ThinkwireError) -> RequestError:
    if isinstance(error, MissingKey):
        return RequestError.auth_required({"message": str(error)})
    if isinstance(error, ProviderError):
        return RequestError(-32603, what_failed(error.failure), {"kind": error.failure.kind})
    return RequestError(-32602, str(error))


async def run_acp(options: Options) -> int:
    """Until the editor closes the line; the exit code."""
    agent = Agent(options)
    try:
        await acp.run_agent(cast(Any, agent))
    finally:
        await run_to_completion(agent.aclose())
    return 0
