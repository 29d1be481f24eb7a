"""What the web app is made of, shared by all its requests."""

from __future__ import annotations

import asyncio
import datetime
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import msgspec

from thinkwire.catalog import default_catalog
from thinkwire.client.engine import Client
from thinkwire.pricing import price_of
from thinkwire.store import Store
from thinkwire.web.auth.start_token import StartToken
from thinkwire.web.auth.throttle import GuessLimit, Throttle
from thinkwire.web.change_feed import ChangeFeed
from thinkwire.web.mcp_servers import configured_servers
from thinkwire.web.runs.branch_writer import ExplainingSession
from thinkwire.web.runs.registry import RunRegistry

if TYPE_CHECKING:
    from thinkwire.web.runs.redis_bus import RedisBus

_T = TypeVar("_T")

MOST_TALKS = 500
"""Conversations whose session is remembered: what was allowed always, and what was learnt about counting."""


PATIENCE = 8.0
"""Seconds that a provider may ask to wait; a longer wait is shown, with a countdown."""


class Options(msgspec.Struct, frozen=True):
    """How the app is served."""

    simulated: bool = False
    auth: bool = False
    start_token: StartToken | None = None
    """None takes the one of the environment, or makes one."""
    why_off: Callable[[], str | None] = lambda: None
    """Why the app may not be used at the moment; None when it may."""
    workspace: Path | None = None
    """The folder that tools work in; with accounts, everyone has a folder of their own in it."""
    check_every: float = 5.0
    """Seconds between two looks at whether a stream's reader may still read."""
    news_patience: float = 20.0
    """Seconds for which a reader waits for news."""


class Remembered(Generic[_T]):
    """The newest values by key, each good for as long as its stamp is the same."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[str, tuple[Any, _T]] = OrderedDict()

    def get(self, key: str, stamp: Any) -> _T | None:
        found = self._values.get(key)
        return found[1] if found is not None and found[0] == stamp else None

    def put(self, key: str, stamp: Any, value: _T) -> _T:
        self._values.pop(key, None)
        self._values[key] = (stamp, value)
        if len(self._values) > self._most:
            self._values.popitem(last=False)
        return value


class Shared(NamedTuple):
    """What a process keeps for itself when it is alone, and shares through Redis when it is not."""

    runs: RunRegistry
    news: ChangeFeed
    throttle: Throttle
    board: RedisBus | None = None


class AppState:
    """The store, the client, and what is shared with other processes, if there are any."""

    def __init__(self, client: Client, store: Store, shared: Shared, options: Options) -> None:
        self.client = client
        self.start_token = options.start_token or StartToken.from_environment()
        self.guesses = GuessLimit()
        self.store = store
        self.runs = shared.runs
        self.news = shared.news
        self.throttle = shared.throttle
        self._board = shared.board
        self.options = options
        self.servers = configured_servers(auth=options.auth)
        self.counted: Remembered[Any] = Remembered(MOST_TALKS)
        """What was counted of a conversation, until something about it changes."""
        self._talks: OrderedDict[tuple[str, bool], ExplainingSession] = OrderedDict()
        self._tasks: set[asyncio.Task[Any]] = set()

    def talk(self, conversation_id: str, *, is_owner: bool) -> ExplainingSession:
        """Return the session of a conversation, the same one as before where possible.

        The local owner has one apart: what may be done in it, others may not do.
        """
        key = (conversation_id, is_owner)
        talk = self._talks.pop(key, None) or self.new_talk(conversation_id)
        self._talks[key] = talk
        if len(self._talks) > MOST_TALKS:
            self._forget_one()
        return talk

    def new_talk(self, conversation_id: str) -> ExplainingSession:
        return ExplainingSession(
            self.client, conversation_id=conversation_id, pricing=price_of, patience=PATIENCE
        )

    async def open(self) -> None:
        """Before the first request. Price data takes the better part of a second: no answer waits for it."""
        await self.runs.open()
        await self.news.open()
        facts = next(iter(default_catalog()))
        self.background(asyncio.to_thread(price_of, facts, datetime.date.today()))

    def background(self, work: Coroutine[Any, Any, Any]) -> None:
        """Runs something that nobody waits for."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        await self.runs.aclose()
        await self.news.aclose()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.servers.aclose()
        if self._board is not None:
            await self._board.aclose()

    def _forget_one(self) -> None:
        idle = next((key for key, talk in self._talks.items() if not talk.busy), None)
        if idle is not None:
            del self._talks[idle]
