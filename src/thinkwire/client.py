"""The client: plans, replays, sends, retries, recovers, and yields events."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from importlib import import_module
from typing import Any, TypeAlias

import msgspec

from thinkwire.access import find_key, known_providers, missing_key
from thinkwire.asking import Asking, Prepared, prepare
from thinkwire.catalog import Catalog
from thinkwire.errors import Failure
from thinkwire.events import Answer, Collector, Event, Failed, Noted, Started
from thinkwire.http import AnyReply, Timeouts, open_http
from thinkwire.jsonvalue import dump, parse_object
from thinkwire.lessons import LessonBook, default_book
from thinkwire.messages import Conversation, Text, Turn
from thinkwire.notes import Note
from thinkwire.providers import Provider
from thinkwire.reasoning import Intent, parse_name
from thinkwire.reasoning.recovery import learn
from thinkwire.reasoning.resolve import Circumstances
from thinkwire.replay import ReplaySettings
from thinkwire.request import Request, Tool
from thinkwire.routing import choose_route, wants_thinking
from thinkwire.sending import Attempt, Batch, about_seals, read_batches, worth_waiting
from thinkwire.settings.overrides import ModelOverrides

Said: TypeAlias = str | Conversation | Sequence[Turn]
"""A question, or a conversation so far."""


class Client:
    """Talks to providers. Keys are given, or found by `thinkwire.access`; they are never shown."""

    def __init__(
        self,
        *,
        keys: Mapping[str, str] | None = None,
        bases: Mapping[str, str] | None = None,
        catalog: Catalog | None = None,
        timeouts: Timeouts | None = None,
        retries: int = 2,
        lessons: LessonBook | bool = True,
        providers: Mapping[str, Provider] | None = None,
        sim: bool | None = None,
        connections: int = 100,
    ) -> None:
        """`keys` and `bases` are by provider name; a base replaces the provider's own address.

        `providers` are by name; without them, those of the package and of `providers.toml` in the
        configuration folder. `lessons` is where refusals are remembered: the user's state folder, a book of
        your own, or nowhere. With `sim`, or THINKWIRE_SIM=1 in the environment, every provider is simulated
        inside this process. `connections` are open at once at most; further calls wait.
        """
        self._keys = dict(keys or {})
        self._bases = dict(bases or {})
        self._sim = os.environ.get("THINKWIRE_SIM") == "1" if sim is None else sim
        self._catalog = catalog
        self._providers = known_providers() if providers is None else dict(providers)
        self._http = open_http(timeouts, connections=connections)
        self._retries = retries
        self._lessons = default_book() if lessons is True else lessons or None

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._http.aclose()

    async def complete(self, said: Said, *, model: str, **options: Any) -> Answer:
        """The whole answer; options as for `stream`. A failure is raised, with what arrived as `partial`."""
        collector = Collector()
        async for event in self.stream(said, model=model, **options):
            collector.add(event)
        return collector.answer()

    async def stream(
        self,
        said: Said,
        *,
        model: str,
        tools: Sequence[Tool] = (),
        thinking: Intent | None = None,
        replay: ReplaySettings | None = None,
        streamed: bool = True,
        deadline: float | None = None,
        overrides: ModelOverrides | None = None,
        circumstances: Circumstances | None = None,
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

    def asking(self, request: Request, *, model: str, deadline: float | None = None, **how: Any) -> Asking:
        """A request with everything of this client that decides how it is sent; `how` are Asking's fields."""
        if self._sim and not self._bases:
            self._simulate()
        how = {"thinking": None, "replay": ReplaySettings()} | how
        named = parse_name(model)
        routed = choose_route(
            named.name,
            wants_thinking(how["thinking"] or named.intent, named.name, self._catalog),
            lambda provider: provider.name in self._bases or self._key(provider) is not None,
            self._providers,
        )
        return Asking(
            request=request,
            model=model if routed.name == named.name else routed.name,
            thinking=how.pop("thinking") or (named.intent if routed.name != named.name else None),
            catalog=self._catalog,
            lessons=self._lessons,
            providers=self._providers,
            bases=self._bases,
            until=None if deadline is None else asyncio.get_running_loop().time() + deadline,
            routed=routed.notes,
            **how,
        )

    @property
    def providers(self) -> Mapping[str, Provider]:
        return self._providers

    def know(self, providers: Mapping[str, Provider]) -> None:
        """Replaces the services that are known, from the next request on."""
        self._providers = dict(providers)

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
        self, asking: Asking, *, watch: Callable[[Prepared], None] | None = None
    ) -> AsyncGenerator[Batch, None]:
        """The answer in batches; a failure is the last event instead of an exception.

        Tried again where that can help and nothing has been told yet. `watch` sees what goes out.
        """
        notes: list[Note] = []
        tries = 0
        while True:
            prepared = prepare(asking, time.time())
            if watch is not None:
                watch(prepared)
            attempt = Attempt()
            async with aclosing(attempt.told(self._try(prepared, notes, asking.until))) as batches:
                async for batch in batches:
                    yield batch
            if attempt.failure is None:
                return
            failure = msgspec.structs.replace(attempt.failure, provider=prepared.provider.name)
            recovered = None if attempt.began else self._recovery(asking, prepared, failure, notes)
            if recovered is not None:
                asking = recovered
            elif not attempt.began and tries < self._retries and await worth_waiting(failure, tries, asking):
                tries += 1
            else:
                yield [Failed(failure, attempt.usage)]
                return

    async def count_tokens(self, asking: Asking) -> int | None:
        """The vendor's own count of a request's input; None where the vendor has none to give."""
        counting = prepare(asking, time.time()).counting()
        if counting is None:
            return None
        async with self.send(counting, dump(counting.body), until=asking.until) as reply:
            body = await reply.read()
            if reply.status >= 400:
                raise counting.dialect.decode_error(reply.status, reply.headers, body).as_error()
        told = parse_object(body)
        tokens = told.get("input_tokens", told.get("totalTokens"))
        return tokens if isinstance(tokens, int) else None

    async def _try(
        self, prepared: Prepared, notes: list[Note], until: float | None
    ) -> AsyncGenerator[Batch, None]:
        async with self.send(prepared, dump(prepared.body), until=until) as reply:
            if reply.status >= 400:
                failure = prepared.dialect.decode_error(reply.status, reply.headers, await reply.read())
                yield [Failed(failure)]
                return
            unsaid = [Noted(note) for note in (*notes, *prepared.notes)]
            async with aclosing(read_batches(prepared, reply)) as batches:
                async for batch in batches:
                    if batch and type(batch[0]) is Started:
                        started = batch[0]
                        origin = prepared.origin(started.id, time.time())
                        batch = [msgspec.structs.replace(started, origin=origin), *unsaid, *batch[1:]]
                    yield batch

    @asynccontextmanager
    async def send(
        self, prepared: Prepared, body: bytes, *, headers: Mapping[str, str] = {}, until: float | None = None
    ) -> AsyncIterator[AnyReply]:
        """The bare reply to a prepared request, with the key of its provider; nothing is tried again."""
        told = {"content-type": "application/json", **headers, **prepared.headers}
        told |= self._auth(prepared.provider)
        secret = self._key(prepared.provider)
        async with self._http.post(prepared.url, told, body, until=until, secret=secret) as reply:
            yield reply

    def _recovery(
        self, asking: Asking, prepared: Prepared, failure: Failure, notes: list[Note]
    ) -> Asking | None:
        """The one other way to ask that a refusal suggests; None when there is none, or it was taken."""
        if asking.recovered or failure.status is None or failure.status >= 500:
            return None
        lesson = learn(failure, prepared.plan, time.time())
        if lesson is not None:
            if self._lessons is not None:
                self._lessons.add(lesson)
            notes.append(
                Note("reasoning.learned", f"refused: {failure.message[:200]}; asked again otherwise")
            )
            return msgspec.structs.replace(asking, lesson=lesson, recovered=True)
        if prepared.carries_seals and about_seals(failure):
            notes.append(
                Note("thinking.stripped", f"refused: {failure.message[:200]}; asked again without it")
            )
            without = msgspec.structs.replace(asking.replay, strip="all", seals=False)
            return msgspec.structs.replace(asking, replay=without, recovered=True)
        return None

    def _auth(self, provider: Provider) -> dict[str, str]:
        key = self._key(provider)
        if provider.auth == "none" and key is None:
            return {}
        if not key:
            raise missing_key(provider)
        if provider.auth in ("bearer", "none"):
            return {"authorization": f"Bearer {key}"}
        return {provider.auth: key}

    def _key(self, provider: Provider) -> str | None:
        return self._keys.get(provider.name) or find_key(provider)


def _request(said: Said, tools: Sequence[Tool], fields: dict[str, Any]) -> Request:
    if isinstance(said, str):
        said = Conversation(turns=(Turn("user", (Text(said),)),))
    elif not isinstance(said, Conversation):
        said = Conversation(turns=tuple(said))
    system = fields.pop("system", None) or said.system
    if isinstance(system, str):
        system = (Text(system),)
    return Request(turns=said.turns, system=tuple(system), tools=tuple(tools), **fields)


def ask(said: Said, *, model: str, **options: Any) -> Answer:
    """One question, one answer, without async: `ask("Why?", model="claude-opus-5-5/high").turn.text`."""

    async def once() -> Answer:
        async with Client() as client:
            return await client.complete(said, model=model, **options)

    return asyncio.run(once())
