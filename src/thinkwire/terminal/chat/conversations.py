"""The desk: conversations of one person at one place, begun, left, and gone back to."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from thinkwire.client.engine import Client
from thinkwire.config import load_settings
from thinkwire.errors import ConfigError, MalformedInput, MissingKey, ThinkwireError
from thinkwire.jsonvalue import JsonObject, parse_object
from thinkwire.pricing import price_of
from thinkwire.session import Session
from thinkwire.session.default_model import first_model
from thinkwire.session.formatting import one_line
from thinkwire.session.persistence import ConversationStore
from thinkwire.session.tools import Ask, McpServers, Spec, Toolbox, builtin_tools, read_servers
from thinkwire.session.write_behind import WriteBehindStore
from thinkwire.settings import Settings, parse_assignments
from thinkwire.store import ConversationRow, RowNotFound, open_store
from thinkwire.store.ids import new_id

if TYPE_CHECKING:
    from thinkwire.store import Store

_TITLE = 60
_MOST = 50
_PATIENCE = 8.0
"""Seconds to wait in silence for a provider that is busy; more is shown, and the user decides."""
_NOT_BROUGHT_BACK = ("tools.", "terminal.")
"""Settings that a conversation does not bring back: what may run is decided anew, and so are looks."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How a chat is begun."""

    model: str | None = None
    effort: str | None = None
    thinking_budget: int | None = None
    system: str | None = None
    profile: str | None = None
    settings: tuple[str, ...] = ()
    folder: Path = msgspec.field(default_factory=Path.cwd)
    tools: bool = True
    mcp: Path | None = None
    yes: bool = False
    save: bool = True
    sim: bool = False
    going_on: str | None = None
    """A conversation's id, or empty for the newest one."""
    hide_thinking: bool = False
    theme: str | None = None

    def session_values(self) -> dict[str, Any]:
        """What was asked for on the command line, as settings of the session."""
        given = {
            "model": self.model,
            "reasoning.effort": self.effort,
            "reasoning.maxTokens": self.thinking_budget,
            "system": self.system,
            "tools.approve": "allow" if self.yes else None,
            "reasoning.includeInResponse": False if self.hide_thinking else None,
            "terminal.theme": self.theme,
        }
        values = {key: value for key, value in given.items() if value is not None}
        return parse_assignments(self.settings) | values


class Earlier(msgspec.Struct, frozen=True):
    """An earlier conversation, as a list shows it."""

    id: str
    title: str
    when: float
    model: str
    words: str = ""
    """Where the words that were looked for stand."""


class ConversationManager:
    """One conversation lies on the desk at a time. The store is opened aside; nothing waits for it."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.settings = _settings(options)
        self.client = Client(sim=options.sim or None)
        self.toolbox = Toolbox(builtin_tools(options.folder) if options.tools else ())
        self.mcp: McpServers | None = None
        self.lacks_key: MissingKey | None = None
        """Why no model could be chosen."""
        self._ask: Ask | None = None
        self._store: asyncio.Task[Store] | None = None
        self._old: list[WriteBehindStore] = []
        self._known: set[str] = set()
        self._choose_model()
        self.session = self._session(None, "")

    async def aclose(self) -> None:
        """Everything that was said is written when this returns."""
        for behind in (*self._old, self.session.keeper):
            if isinstance(behind, WriteBehindStore):
                await behind.aclose()
        if self._store is not None:
            (store,) = await asyncio.gather(self._store, return_exceptions=True)
            if not isinstance(store, BaseException):
                await store.aclose()
        if self.mcp is not None:
            await self.mcp.close()
        await self.client.aclose()

    # Beginning

    def open(self, ask: Ask | None = None) -> None:
        """Begins to open the store, and puts an empty conversation on the desk."""
        self._ask = ask
        if self.options.save and self._store is None:
            self._store = asyncio.create_task(_opened_aside())
        self.begin()

    def begin(self) -> Session:
        """A new conversation, with the settings of the one before."""
        keeper, conversation_id = None, ""
        if self._store is not None:
            conversation_id = new_id()
            opening = asyncio.shield(self._store)
            keeper = WriteBehindStore(
                opening, conversation_id, lent=True, model=self.session.settings.get("model")
            )
        return self._put(keeper, conversation_id, self.session.settings)

    async def go_on(self, conversation_id: str) -> Session:
        """An earlier conversation, with the model and the settings that it was left with."""
        store = await self._opened()
        row = await store.conversation(conversation_id)
        settings = _restored(self.session.settings, row)
        self._known.add(row.id)
        return self._put(store, row.id, settings)

    async def go_on_with(self, words: str) -> Session | list[Earlier]:
        """The conversation of this id, or the only one that has these words; else those to choose from."""
        if words:
            try:
                return await self.go_on(words)
            except RowNotFound:
                pass
        found = await self.find(words)
        if words and len(found) == 1:
            return await self.go_on(found[0].id)
        return found

    async def go_on_as_asked(self) -> Session:
        """The conversation that the options name; whatever else they say counts over how it was left."""
        wanted = self.options.going_on or ""
        if not wanted:
            found = await self.find("")
            if not found:
                raise ConfigError("there is no conversation to go on with yet")
            wanted = found[0].id
        session = await self.go_on(wanted)
        for key, value in self.options.session_values().items():
            session.set(key, value)
        return session

    async def find(self, words: str = "") -> list[Earlier]:
        """Earlier conversations, the newest first, or where these words are."""
        store = await self._opened()
        if not words.strip():
            rows = await store.conversations(limit=_MOST)
            return [_earlier(row) for row in rows if row.id != self.session.conversation_id]
        found: dict[str, Earlier] = {}
        for hit in await store.search(words, limit=_MOST, thinking=True):
            if hit.conversation_id not in (*found, self.session.conversation_id):
                row = await store.conversation(hit.conversation_id)
                found[row.id] = _earlier(row, hit.snippet)
        return list(found.values())

    # While it goes on

    async def settle(self) -> None:
        """After a turn: the store knows the model, the settings and a title."""
        session = self.session
        if self._store is None or self.trouble is not None:
            return
        store = await self._opened()
        mine = session.settings.layer("session").values
        values = {key: value for key, value in mine.items() if not key.startswith(_NOT_BROUGHT_BACK)}
        values.pop("model", None)
        await store.update(session.conversation_id, model=session.model, settings=values)
        if session.conversation_id not in self._known:
            self._known.add(session.conversation_id)
            turns = (await session.conversation()).turns
            await store.rename(session.conversation_id, one_line(turns[0].text, _TITLE) if turns else None)

    @property
    def trouble(self) -> ThinkwireError | None:
        """Why the conversation is not kept, if it should be and is not."""
        keeper = self.session.keeper
        return keeper.trouble if isinstance(keeper, WriteBehindStore) else None

    async def simulate(self) -> None:
        """From now on the strict simulators answer: no key, no network."""
        old, self.client = self.client, Client(sim=True)
        self.session.client = self.client
        await old.aclose()
        self.lacks_key = None
        if self.session.settings.get("model") is None:
            self.session.use_model(first_model(self.client))

    async def serve_tools(self, table: JsonObject | None = None) -> list[str]:
        """Opens MCP servers, of a table or of the options; what could not be opened, in words."""
        table = table or self._mcp_table()
        if not table:
            return []
        self.mcp = await McpServers(read_servers(table)).__aenter__()
        specs: tuple[Spec, ...] = (*self.toolbox.specs, *self.mcp.tools)
        self.toolbox = self.session.toolbox = Toolbox(specs)
        return [f"MCP server {status.name}: {status.error}" for status in self.mcp.status if status.error]

    # Inside

    def _mcp_table(self) -> JsonObject:
        if self.options.mcp is None:
            return {}
        try:
            return parse_object(self.options.mcp.read_bytes())
        except OSError as error:
            raise MalformedInput(f"cannot read {self.options.mcp}: {error.strerror}") from None

    def _choose_model(self) -> None:
        if self.settings.get("model") is not None or self.options.going_on is not None:
            return
        try:
            self.settings = self.settings.set("session", "model", first_model(self.client))
        except MissingKey as error:
            self.lacks_key = error

    def _put(self, keeper: ConversationStore | None, conversation_id: str, settings: Settings) -> Session:
        if isinstance(self.session.keeper, WriteBehindStore):
            self._old.append(self.session.keeper)
        calibration = self.session.calibration
        self.session = self._session(keeper, conversation_id, settings)
        self.session.calibration = calibration
        return self.session

    def _session(
        self, keeper: ConversationStore | None, conversation_id: str, settings: Settings | None = None
    ) -> Session:
        return Session(
            self.client,
            settings or self.settings,
            keeper=keeper,
            conversation_id=conversation_id,
            toolbox=self.toolbox,
            ask=self._ask,
            pricing=price_of,
            patience=_PATIENCE,
        )

    async def _opened(self) -> Store:
        if self._store is None:
            raise ConfigError("nothing is kept here (--no-save), so there is nothing to go back to")
        return await asyncio.shield(self._store)


def _settings(options: Options) -> Settings:
    settings = load_settings(cwd=options.folder, profile=options.profile)
    for key, value in options.session_values().items():
        settings = settings.set("session", key, value)
    return settings


def _restored(settings: Settings, row: ConversationRow) -> Settings:
    """Settings that this version does not know any more are left out."""
    said = {"model": row.model} if row.model else {}
    for key, value in (row.settings | said).items():
        try:
            settings = settings.set("session", key, value)
        except ConfigError:
            continue
    return settings


def _earlier(row: ConversationRow, words: str = "") -> Earlier:
    title = row.title or one_line(row.preview, _TITLE) or "(nothing was said)"
    return Earlier(row.id, title, row.updated, row.model or "", words or one_line(row.preview, 80))


async def _opened_aside() -> Store:
    await asyncio.to_thread(_load)
    return await open_store()


def _load() -> None:
    """Loads the database packages in a thread; without them, opening says which."""
    try:
        __import__("thinkwire.store.store")
    except ModuleNotFoundError:
        return
