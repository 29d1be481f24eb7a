"""The client: plans, replays, sends, retries, recovers, and yields events."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from importlib import import_module
from typing import Any, TypeAlias

from thinkwire.catalog import Catalog
from thinkwire.client.attempt import (
    Attempt,
    Batch,
    ResponseSink,
    RetryState,
    StreamPump,
    read_answer,
    read_batches,
    read_refusal,
    wait_before_retry,
)
from thinkwire.client.credentials import find_key, known_providers, missing_key
from thinkwire.client.learned_facts import LearnedFact, LearnedFactsFile, default_learned_facts
from thinkwire.client.prepare import CallSpec, Mould, PreparedRequest, prepare_request
from thinkwire.client.recover import is_whole_for_stream, learned_by, plan_recovery, remember
from thinkwire.client.routing import asks_for_thinking, choose_route
from thinkwire.config.paths import CHECK_INTERVAL
from thinkwire.errors import ProviderError
from thinkwire.events import Answer, Collector, Event, Failed, events_of
from thinkwire.jsonvalue import parse_object
from thinkwire.messages import Conversation, Text, Turn
from thinkwire.providers import Provider
from thinkwire.reasoning import Intent, parse_name
from thinkwire.reasoning.resolve import ConversationState
from thinkwire.replay import ReplaySettings
from thinkwire.replay.ways import Ways
from thinkwire.request import Request, Tool
from thinkwire.settings.overrides import ModelOverrides
from thinkwire.transport.aiohttp_transport import Response, Timeouts, open_transport
from thinkwire.transport.response_body import MAX_RESPONSE_BYTES
from thinkwire.transport.sink import BodySink

Prompt: TypeAlias = str | Conversation | Sequence[Turn]
"""A question, or a conversation so far."""

_AS_USUAL = ReplaySettings()


class Client:
    """Sends requests to providers. Keys are given or found by `client.credentials`, and never shown."""

    def __init__(
        self,
        *,
        keys: Mapping[str, str] | None = None,
        bases: Mapping[str, str] | None = None,
        catalog: Catalog | None = None,
        timeouts: Timeouts | None = None,
        retries: int = 2,
        learned_facts: LearnedFactsFile | bool = True,
        providers: Mapping[str, Provider] | None = None,
        sim: bool | None = None,
        connections: int = 100,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
    ) -> None:
        """`keys` and `bases` are by provider name; a base replaces the provider's own address.

        `providers` are by name; without them, those of the package and of `providers.toml` in the
        configuration folder. `learned_facts` is where what refusals teach is remembered: a file in the state
        folder, one of your own, or nowhere. With `sim`, or THINKWIRE_SIM=1 in the environment, every provider
        is simulated inside this process. `connections` are open at once at most; further calls wait. An
        answer that is not streamed may have `max_response_bytes`, decompressed.
        """
        self._keys = dict(keys or {})
        self._bases = dict(bases or {})
        self._sim = os.environ.get("THINKWIRE_SIM") == "1" if sim is None else sim
        self._catalog = catalog
        self._providers = known_providers() if providers is None else dict(providers)
        self._http = open_transport(timeouts, connections=connections, max_response=max_response_bytes)
        self._found: dict[str, tuple[float, str | None]] = {}
        self._retries = retries
        self._moulds: Ways[Mould] = Ways()
        self.learned_facts = default_learned_facts() if learned_facts is True else learned_facts or None

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._http.aclose()

    async def complete(self, said: Prompt, *, model: str, **options: Any) -> Answer:
        """The whole answer; options as for `stream`. A failure is raised, with what arrived as `partial`."""
        collector = Collector()
        async for event in self.stream(said, model=model, **options):
            collector.add(event)
        return collector.answer()

    async def stream(
        self,
        said: Prompt,
        *,
        model: str,
        tools: Sequence[Tool] = (),
        thinking: Intent | None = None,
        replay: ReplaySettings | None = None,
        streamed: bool = True,
        deadline: float | None = None,
        overrides: ModelOverrides | None = None,
        circumstances: ConversationState | None = None,
        **request: Any,
    ) -> AsyncGenerator[Event, None]:
        """The answer as it comes. `model` may carry a level (`NAME/high`); others are `Request` fields.

        `deadline` is in seconds, for everything together: waiting, retries and the answer. `overrides` and
        `circumstances` are what settings say about the model and what is known about the conversation.
        """
        asking = self.asking(
            _request(said, tools, request),
            model=model,
            thinking=thinking,
            replay=replay or ReplaySettings(),
            streamed=streamed,
            overrides=overrides,
            circumstances=circumstances,
            deadline=deadline,
        )
        collector = Collector()
        async with aclosing(self.answer(asking)) as batches:
            async for batch in batches:
                for event in batch:
                    collector.add(event)
                    if type(event) is Failed:
                        error = event.failure.as_error()
                        error.partial = collector.answer()
                        raise error
                    yield event

    def asking(self, request: Request, *, model: str, deadline: float | None = None, **how: Any) -> CallSpec:
        """A request with everything of this client that decides how it is sent; `how` are Asking's fields."""
        if self._sim and not self._bases:
            self._simulate()
        how = {"thinking": None, "replay": _AS_USUAL} | how
        named = parse_name(model)
        routed = choose_route(
            named.name,
            asks_for_thinking(how["thinking"] or named.intent, named.name, self._catalog),
            lambda provider: provider.name in self._bases or self._key(provider) is not None,
            self._providers,
        )
        return CallSpec(
            request=request,
            model=model if routed.name == named.name else routed.name,
            thinking=how.pop("thinking") or (named.intent if routed.name != named.name else None),
            catalog=self._catalog,
            learned_facts=self.learned_facts,
            providers=self._providers,
            bases=self._bases,
            simulated=self._sim,
            until=None if deadline is None else asyncio.get_running_loop().time() + deadline,
            routed=routed.notes,
            moulds=self._moulds,
            **how,
        )

    @property
    def providers(self) -> Mapping[str, Provider]:
        return self._providers

    def know(self, providers: Mapping[str, Provider]) -> None:
        """Replaces the services that are known, from the next request on."""
        self._providers = dict(providers)
        self._found.clear()

    @property
    def simulated(self) -> bool:
        """Whether the strict simulators answer instead of providers."""
        return self._sim

    def has_key(self, provider: Provider) -> bool:
        """Whether a service can be asked: it has a key, or needs none."""
        return self._sim or provider.auth == "none" or self._key(provider) is not None

    def _simulate(self) -> None:
        # By name: the simulators are a face, above the client, and only this switch reaches up to them.
        address = import_module("thinkwire.sim.embedded").address()
        self._bases = {name: f"{address}/{name}" for name in self._providers}
        self._keys = dict.fromkeys(self._bases, "simulated")

    async def answer(
        self, asking: CallSpec, *, watch: Callable[[PreparedRequest], None] | None = None
    ) -> AsyncGenerator[Batch, None]:
        """The answer in batches; a failure is the last event instead of an exception.

        Tried again where that can help and nothing has been told yet. `watch` sees what goes out.
        """
        tries = RetryState(asking)
        while True:
            attempt = self._attempt(tries, watch)
            try:
                async with aclosing(self._try(attempt, tries)) as batches:
                    async for batch in batches:
                        yield batch
            finally:
                if tries.learned is not None:
                    self._remember(tries.learned, tries, attempt)
            if attempt.failure is None:
                return
            if not await self._again(tries, attempt):
                yield [Failed(attempt.provider_failure, attempt.usage)]
                return

    async def tell(
        self,
        asking: CallSpec,
        hearer: ResponseSink,
        *,
        watch: Callable[[PreparedRequest], None] | None = None,
    ) -> None:
        """As `answer`, but every batch goes to `hearer` in the moment in which it comes, without a task
        having to wake for it.
        """
        tries = RetryState(asking)
        while True:
            attempt = self._attempt(tries, watch)
            try:
                await self._pour(attempt, tries, hearer)
            except ProviderError as error:
                attempt.failed(error.failure)
            finally:
                if tries.learned is not None:
                    self._remember(tries.learned, tries, attempt)
            if attempt.failure is None:
                return
            if not await self._again(tries, attempt):
                hearer.hear([Failed(attempt.provider_failure, attempt.usage)])
                return

    def _attempt(self, tries: RetryState, watch: Callable[[PreparedRequest], None] | None) -> Attempt:
        prepared = prepare_request(tries.asking, time.time())
        if watch is not None:
            watch(prepared)
        return Attempt(prepared, tries.notes)

    def _remember(self, fact: LearnedFact, tries: RetryState, attempt: Attempt) -> None:
        """Keeps what a refusal taught, once the request that was corrected by it is answered."""
        if attempt.began:
            remember(self.learned_facts, fact)
            tries.learned = None

    async def _again(self, tries: RetryState, attempt: Attempt) -> bool:
        """Whether another try may do better, and then what it asks; waits where waiting helps."""
        if attempt.began:
            return False
        failure = attempt.provider_failure
        recovered = plan_recovery(tries.asking, attempt.prepared, failure)
        if recovered is not None and recovered.recovery is not None:
            tries.asking, tries.reuse = recovered, False
            tries.notes.append(recovered.recovery.note)
            tries.learned = learned_by(recovered, attempt.prepared, failure)
            return True
        if tries.count >= self._retries or not await wait_before_retry(failure, tries.count, tries.asking):
            return False
        tries.add()
        return True

    async def _pour(self, attempt: Attempt, tries: RetryState, hearer: ResponseSink) -> None:
        prepared = attempt.prepared
        pouring = StreamPump(attempt, hearer) if prepared.streamed else None
        reply = await self.ask(prepared, prepared.data, until=tries.asking.until, sink=pouring, tries=tries)
        try:
            if reply.status >= 400:
                attempt.failed(await read_refusal(prepared, reply))
            elif pouring is not None:
                if not attempt.over:
                    await reply.pour(pouring)
                pouring.close()
                if attempt.failure is None:
                    await hearer.finish()
                    await reply.drain()
            elif told := attempt.heard_whole(read_answer(prepared, await reply.read())):
                if is_whole_for_stream(tries.asking):
                    hearer.hear(list(events_of(told)))
                    await hearer.finish()
                else:
                    hearer.hear_whole(told)
        finally:
            reply.close()

    async def count_tokens(self, asking: CallSpec) -> int | None:
        """The vendor's own count of a request's input; None where the vendor has none to give."""
        counting = prepare_request(asking, time.time()).counting()
        if counting is None:
            return None
        async with self.send(counting, counting.data, until=asking.until) as reply:
            body = await reply.read()
            if reply.status >= 400:
                raise counting.dialect.decode_error(reply.status, reply.headers, body).as_error()
        told = parse_object(body)
        tokens = told.get("input_tokens", told.get("totalTokens"))
        return tokens if isinstance(tokens, int) else None

    async def _try(self, attempt: Attempt, tries: RetryState) -> AsyncGenerator[Batch, None]:
        prepared = attempt.prepared
        try:
            async with self.send(prepared, prepared.data, until=tries.asking.until, tries=tries) as reply:
                if reply.status >= 400:
                    attempt.failed(await read_refusal(prepared, reply))
                    return
                async with aclosing(read_batches(attempt, reply)) as batches:
                    async for batch in batches:
                        yield batch
        except ProviderError as error:
            attempt.failed(error.failure)

    def ask(
        self,
        prepared: PreparedRequest,
        body: bytes,
        *,
        headers: Mapping[str, str] = {},
        until: float | None = None,
        sink: BodySink | None = None,
        tries: RetryState | None = None,
    ) -> Awaitable[Response]:
        """The bare reply to a prepared request, with the key of its provider; nothing is tried again.
        The caller closes it. `sink` may get the beginning of an answer before the reply is here. `tries`
        count a request that was sent twice because its idle connection was closed; later ones get a new one.
        """
        provider = prepared.provider
        key = self._key(provider)
        told = {"content-type": "application/json", **headers, **prepared.headers, **_auth(provider, key)}
        how: dict[str, Any] = {} if tries is None else {"reuse": tries.reuse, "on_resend": tries.add}
        return self._http.ask(prepared.url, told, body, until=until, secret=key, sink=sink, **how)

    @asynccontextmanager
    async def send(self, prepared: PreparedRequest, body: bytes, **how: Any) -> AsyncIterator[Response]:
        """As `ask`, closed at the end of the block."""
        reply = await self.ask(prepared, body, **how)
        try:
            yield reply
        finally:
            reply.close()

    def _key(self, provider: Provider) -> str | None:
        return self._keys.get(provider.name) or self._found_key(provider)

    def _found_key(self, provider: Provider) -> str | None:
        """One that was found counts for a moment; files and keyrings are not asked for every request."""
        now = time.monotonic()
        due, key = self._found.get(provider.name, (now, None))
        if now >= due:
            key = find_key(provider)
            if key:
                self._found[provider.name] = (now + CHECK_INTERVAL, key)
        return key


def _auth(provider: Provider, key: str | None) -> dict[str, str]:
    if provider.auth == "none" and key is None:
        return {}
    if not key:
        raise missing_key(provider)
    if provider.auth in ("bearer", "none"):
        return {"authorization": f"Bearer {key}"}
    return {provider.auth: key}


def _request(said: Prompt, tools: Sequence[Tool], fields: dict[str, Any]) -> Request:
    if isinstance(said, str):
        said = Conversation(turns=(Turn("user", (Text(said),)),))
    elif not isinstance(said, Conversation):
        said = Conversation(turns=tuple(said))
    system = fields.pop("system", None) or said.system
    if isinstance(system, str):
        system = (Text(system),)
    return Request(turns=said.turns, system=tuple(system), tools=tuple(tools), **fields)


def ask(said: Prompt, *, model: str, **options: Any) -> Answer:
    """One question, one answer, without async: `ask("Why?", model="claude-opus-5-5/high").turn.text`."""

    async def once() -> Answer:
        async with Client() as client:
            return await client.complete(said, model=model, **options)

    return asyncio.run(once())
