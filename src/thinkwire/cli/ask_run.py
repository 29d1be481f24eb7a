"""One question, from the command line to its last word."""

from __future__ import annotations

import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Literal

import click
import msgspec

from thinkwire.cli.ask import EXIT, LAST, NO_KEY
from thinkwire.cli.io import chunks, whole, write_json
from thinkwire.cli.printer import Printer, failed
from thinkwire.client.engine import Client
from thinkwire.config import load_settings
from thinkwire.config.paths import config_folder
from thinkwire.errors import ConfigError
from thinkwire.jsonvalue import parse_object
from thinkwire.messages import Block, ToolCall
from thinkwire.session import Session, SessionEvent, TurnEnded
from thinkwire.session.attachments import attached, attachment
from thinkwire.session.default_model import first_model
from thinkwire.session.formatting import tokens
from thinkwire.session.persistence import ConversationStore
from thinkwire.session.tools import Spec, Toolbox
from thinkwire.session.write_behind import WriteBehindStore
from thinkwire.settings import Settings, parse_assignments, thinking_shown
from thinkwire.store import open_store, open_to_begin
from thinkwire.store.ids import new_id

MCP = "mcp__"
"""How the names of MCP servers' tools begin."""


class Question(msgspec.Struct, frozen=True):
    """What was asked, and how."""

    text: str
    piped: bytes
    attach: tuple[Path, ...]
    model: str | None
    effort: str | None
    thinking_budget: int | None
    system: str | None
    profile: str | None
    settings: tuple[str, ...]
    tools: tuple[str, ...]
    mcp: str | None
    yes: bool
    going_on: str | None
    no_save: bool
    hide_thinking: bool
    as_json: bool
    sim: bool


async def answer(question: Question) -> int:
    """The exit code. Whatever arrived is kept, also when it is interrupted."""
    settings = _settings(question)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(sim=question.sim or None))
        if settings.get("model") is None and question.going_on is None:
            settings = settings.set("session", "model", first_model(client))
        keeper, conversation_id, settings = await _keeper(question, settings, stack)
        shows = thinking_shown(settings) and not question.hide_thinking
        printer = Printer(thinking=shows)
        session = Session(
            client,
            settings,
            keeper=keeper,
            conversation_id=conversation_id,
            toolbox=await _toolbox(question, stack),
            ask=_asker(printer) if not question.as_json else None,
        )
        ended = await _told(session, question, printer)
        if isinstance(keeper, WriteBehindStore):
            await keeper.written()
            if keeper.trouble is not None:
                click.secho(f"note: this conversation is not kept: {keeper.trouble}", err=True)
        return _code(ended)


def _settings(question: Question) -> Settings:
    asked: dict[str, Any] = parse_assignments(question.settings)
    given = {
        "model": question.model,
        "reasoning.effort": question.effort,
        "reasoning.maxTokens": question.thinking_budget,
        "system": question.system,
        "tools.approve": "allow" if question.yes else None,
    }
    asked |= {key: value for key, value in given.items() if value is not None}
    return load_settings(profile=question.profile, request=asked)


async def _keeper(
    question: Question, settings: Settings, stack: AsyncExitStack
) -> tuple[ConversationStore | None, str, Settings]:
    """Where the conversation is kept; one that goes on needs its store at once, a new one does not."""
    if question.going_on is None:
        if question.no_save:
            return None, "", settings
        conversation_id = new_id()
        behind = WriteBehindStore(open_to_begin(), conversation_id, model=settings.get("model"))
        stack.push_async_callback(behind.aclose)
        return behind, conversation_id, settings
    store = await open_store()
    stack.push_async_callback(store.aclose)
    if question.going_on == LAST:
        rows = await store.conversations(limit=1)
        if not rows:
            raise ConfigError("there is no conversation to go on with yet")
        row = rows[0]
    else:
        row = await store.conversation(question.going_on)
    if row.model and settings.origin("model") != "request":
        settings = settings.set("session", "model", row.model)
    return store, row.id, settings


async def _toolbox(question: Question, stack: AsyncExitStack) -> Toolbox | None:
    """The built-in tools and the MCP servers that were asked for."""
    specs: tuple[Spec, ...] = ()
    if any(not name.startswith(MCP) for name in question.tools):
        from thinkwire.session.tools.builtin import builtin_tools

        specs += builtin_tools(Path.cwd())
    if question.mcp or any(name.startswith(MCP) for name in question.tools):
        specs += await _mcp_tools(question.mcp, stack)
    patterns = [*question.tools, *([f"{MCP}*"] if question.mcp else [])]
    return Toolbox(specs).only(patterns) if patterns else None


async def _mcp_tools(file: str | None, stack: AsyncExitStack) -> tuple[Spec, ...]:
    """The tools of the servers in a file, `mcp.json` in the configuration folder unless one is named."""
    from thinkwire.session.tools.mcp import McpServers
    from thinkwire.session.tools.mcp_config import read_servers

    table = parse_object(whole(chunks(file or str(config_folder() / "mcp.json"))))
    servers = await stack.enter_async_context(McpServers(read_servers(table)))
    for status in servers.status:
        if status.error:
            click.secho(f"note: MCP server {status.name}: {status.error}", err=True)
    return servers.tools


def _asker(printer: Printer) -> Any:
    async def ask(call: ToolCall, spec: Spec) -> bool | Literal["always"]:
        from thinkwire.terminal.stdin import StdinLines

        printer.pause()
        try:
            with open(os.ctermid(), "r+b", buffering=0) as terminal:
                question = f"{call.name} {call.arguments}\nRun it? [y]es, [n]o, [a]lways: "
                terminal.write(question.encode())
                said = await StdinLines(terminal.fileno()).next() or ""
        except OSError:
            return False
        word = said.strip().lower()[:1]
        return "always" if word == "a" else word == "y"

    return ask


async def _told(session: Session, question: Question, printer: Printer) -> TurnEnded | None:
    blocks: list[Block] = [attachment(path) for path in question.attach]
    if question.piped:
        blocks.append(attached(question.piped, "stdin"))
    if question.as_json:
        begun = {"event": "conversation", "id": session.conversation_id or None, "model": session.model}
        write_json(begun | {"simulated": session.client.simulated})
    elif session.client.simulated:
        click.secho("simulated: no model is asked", err=True, fg="yellow")
    ended: TurnEnded | None = None
    if not question.as_json:
        printer.begin()
    try:
        async for happening in session.send(question.text or None, blocks):
            _tell(happening, question, printer)
            if isinstance(happening, TurnEnded):
                ended = happening
    finally:
        printer.end()
    if not question.as_json and ended is not None:
        _close(ended)
    return ended


def _tell(happening: SessionEvent, question: Question, printer: Printer) -> None:
    if question.as_json:
        write_json(happening)
    else:
        printer.show(happening)


def _close(ended: TurnEnded) -> None:
    if ended.failure is not None:
        click.secho(f"error: {failed(ended.failure)}", err=True, fg="red")
    elif ended.ending == "lost":
        click.secho("error: the model thought and gave no answer", err=True, fg="red")
    if sys.stderr.isatty():
        click.secho(f"{tokens(ended.usage)} tokens", err=True, dim=True)


def _code(ended: TurnEnded | None) -> int:
    if ended is None:
        return 1
    if ended.failure is not None and ended.failure.advice == "fix_key":
        return NO_KEY
    return EXIT[str(ended.ending)]
