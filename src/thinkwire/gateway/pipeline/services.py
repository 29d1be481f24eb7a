"""What a gateway is made of, opened and closed together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import msgspec

from thinkwire.client.engine import Client
from thinkwire.config.paths import make_folder, state_folder
from thinkwire.gateway.auth.key_cache import KeyCache
from thinkwire.gateway.auth.keys import KeyFile
from thinkwire.gateway.auth.limits import Limits, open_counter
from thinkwire.gateway.config.gateway_config import GatewayConfig, LedgerSettings
from thinkwire.gateway.http.keepalive import Round
from thinkwire.gateway.http.security import require_keys
from thinkwire.gateway.ledger import Ledger, open_ledger
from thinkwire.gateway.ledger.matching import prefix_of, worth_keeping
from thinkwire.gateway.pipeline.context import RequestContext
from thinkwire.gateway.pipeline.question import Question
from thinkwire.gateway.pipeline.upstream import ModelRouter
from thinkwire.gateway.responses.store import ResponseStore, open_responses
from thinkwire.gateway.seals.carrier import Carrier
from thinkwire.gateway.telemetry.checks import RedisCheck, check_database_file, check_folder
from thinkwire.gateway.telemetry.logs import gathering, log_request
from thinkwire.gateway.telemetry.readiness import Readiness
from thinkwire.gateway.telemetry.record import RequestRecord
from thinkwire.messages import Turn
from thinkwire.reasoning.plan import Plan
from thinkwire.replay.ways import Ways
from thinkwire.request import Request
from thinkwire.transport.aiohttp_transport import Timeouts


class Services(msgspec.Struct):
    """Everything that serves requests. The configuration may be replaced while it runs."""

    config: GatewayConfig
    client: Client
    directory: ModelRouter
    carrier: Carrier
    keys: KeyCache
    limits: Limits
    ledger: Ledger | None = None
    responses: ResponseStore | None = None
    metrics: Any = None
    observers: tuple[Callable[[RequestRecord], None], ...] = ()
    questions: Ways[Question] = msgspec.field(default_factory=Ways)
    """What was understood of requests that only ask something."""
    passings: Ways[tuple[Request, Plan]] = msgspec.field(default_factory=Ways)
    """What was decided for those that go through as they are."""
    readiness: Readiness = msgspec.field(default_factory=Readiness)
    """What `/readyz` checks."""
    rounds: Round = msgspec.field(default_factory=lambda: Round(0.0))
    """Who looks whether streams are silent."""
    auth: bool = False
    """Whether the server has accounts; then the gateway needs access keys too."""

    def __post_init__(self) -> None:
        self._require_keys()

    def _require_keys(self) -> None:
        self.keys.required = self.auth or bool(self.config.server.allowed_hosts)

    def round(self, config: GatewayConfig) -> Round:
        """The one for new streams: another when they may be silent for another time than those before."""
        if self.rounds.seconds != config.server.keepalive_seconds:
            self.rounds = Round(config.server.keepalive_seconds)
        return self.rounds

    def keeps(self, turn: Turn) -> bool:
        """Whether an answer has something in it that clients drop, and somebody remembers it."""
        return self.ledger is not None and worth_keeping(turn) is not None

    async def remember(
        self,
        call: RequestContext,
        turn: Turn,
        *,
        after: Request | None = None,
        items: Mapping[str, int] | None = None,
    ) -> None:
        """Keeps an answer for clients that drop its thinking; only of use where `keeps` says so."""
        if self.ledger is not None:
            upstream = f"{call.provider}/{call.model}"
            asked = after or Request()
            prefix = prefix_of(asked) if after else b""
            await self.ledger.remember(
                call.tenant.id, upstream, turn, after=asked.turns, items=items, prefix=prefix
            )

    def configure(self, config: GatewayConfig) -> None:
        """Takes another configuration, from the next request on."""
        self.config = config
        self._require_keys()
        self.limits.config = config
        self.client.know(config.providers())
        self.directory.configure(config)


@asynccontextmanager
async def open_services(
    config: GatewayConfig, *, client: Client | None = None, auth: bool = False
) -> AsyncIterator[Services]:
    """A gateway's parts as its configuration asks for them; closed at the end, the last first."""
    async with AsyncExitStack() as stack:
        stack.enter_context(gathering())
        file = KeyFile()
        require_keys(config, file.read())
        keys = KeyCache(file, loopback=config.server.is_loopback)
        stack.callback(keys.close)
        if client is None:
            client = await stack.enter_async_context(new_client(config))
        metrics, observers = _observers(config)
        on_running = metrics.running if metrics is not None else _unheard
        limits = Limits(config, open_counter(config), on_running=on_running)
        stack.push_async_callback(limits.aclose)
        ledger, responses = None, None
        if config.ledger.enabled:
            ledger = await stack.enter_async_context(await _open_ledger(config.ledger))
            responses = await stack.enter_async_context(await _open_responses(config.ledger))
        readiness = await _open_readiness(config, stack)
        for name, store in (("ledger", ledger), ("responses", responses)):
            if store is not None:
                readiness.add(name, store.ping)
        yield Services(
            config=config,
            client=client,
            directory=ModelRouter(client, config),
            carrier=Carrier(),
            keys=keys,
            limits=limits,
            ledger=ledger,
            responses=responses,
            metrics=metrics,
            observers=observers,
            readiness=readiness,
            auth=auth,
        )


def new_client(config: GatewayConfig, *, sim: bool | None = None) -> Client:
    """The client of a gateway: clients behind it try again by themselves, so it seldom does."""
    server = config.server
    timeouts = Timeouts(
        connect=server.connect_seconds, first_byte=server.first_byte_seconds, idle=server.idle_seconds
    )
    return Client(
        providers=config.providers(),
        timeouts=timeouts,
        retries=1,
        sim=sim,
        connections=server.max_streams,
        max_response_bytes=server.max_response,
    )


def _unheard(count: int) -> None:
    pass


def _observers(config: GatewayConfig) -> tuple[Any, tuple[Callable[[RequestRecord], None], ...]]:
    observers: list[Callable[[RequestRecord], None]] = [log_request]
    metrics = None
    if config.metrics.enabled:
        from thinkwire.gateway.telemetry.metrics import Metrics

        metrics = Metrics(providers=config.providers())
        observers.append(metrics.observe)
    if config.tracing.enabled:
        from thinkwire.gateway.telemetry.tracing import open_tracing

        tracing = open_tracing(config)
        if tracing is not None:
            observers.append(tracing.observe)
    return metrics, tuple(observers)


async def _open_readiness(config: GatewayConfig, stack: AsyncExitStack) -> Readiness:
    """The checks of what every gateway uses: its folder, and where it counts."""
    readiness = Readiness()
    folder = state_folder()
    with suppress(OSError):  # the check tells it
        make_folder(folder)
    readiness.add("disk", partial(check_folder, folder))
    if config.limits.url:
        redis = RedisCheck(config.limits.url)
        stack.push_async_callback(redis.aclose)
        readiness.add("limits", redis)
    else:
        readiness.add("limits", partial(check_database_file, folder / "spending.db", "spending"))
    stack.push_async_callback(readiness.aclose)
    return readiness


async def _open_ledger(settings: LedgerSettings) -> Ledger:
    ttl, size = settings.ttl_seconds, settings.max_bytes
    return await open_ledger(settings.url, ttl=ttl, max_bytes=size, resilient=True)


async def _open_responses(settings: LedgerSettings) -> ResponseStore:
    """Beside the ledger where that is shared, else in a file of its own."""
    shared = settings.url if urlsplit(settings.url or "").scheme not in ("", "sqlite") else None
    return await open_responses(shared, resilient=True)
