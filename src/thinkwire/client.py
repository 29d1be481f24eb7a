"""The client: plans, replays, sends, retries, recovers, and yields events."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from importlib import import_module
from typing import Any, TypeAlias

import msgspec

from thinkwire.access import find_key, known_providers, missing_key
from thinkwire.asking import Asking, Prepared, prepare
from thinkwire.catalog import Catalog
from thinkwire.errors import Failure, MalformedInput, ProviderError, protocol_failure
from thinkwire.events import Answer, Collector, Event, Failed, Finished, Noted, Started, events_of
from thinkwire.http import Http, Reply, Timeouts
from thinkwire.jsonvalue import dump, parse_object
from thinkwire.lessons import LessonBook, default_book
from thinkwire.messages import Conversation, Text, Turn
from thinkwire.notes import Note
from thinkwire.providers import Provider
from thinkwire.reasoning import Intent
from thinkwire.reasoning.recovery import learn
from thinkwire.replay import ReplaySettings
from thinkwire.request import Request, Tool
from thinkwire.usage import Usage

Said: TypeAlias = str | Conversation | Sequence[Turn]
"""A question, or a conversation so far."""

RETRIED = ("rate_limit", "overloaded", "timed_out", "connection_lost")
LONGEST_WAIT = 60.0


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
    ) -> None:
        """`keys` and `bases` are by provider name; a base replaces the provider's own address.

        `providers` are by name; without them, those of the package and of `providers.toml` in the
        configuration folder. `lessons` is where refusals are remembered: the user's state folder, a book of
        your own, or nowhere. With `sim`, or THINKWIRE_SIM=1 in the environment, every provider is simulated
        inside this process.
        """
        self._keys = dict(keys or {})
        self._bases = dict(bases or {})
        self._sim = os.environ.get("THINKWIRE_SIM") == "1" if sim is None else sim
        self._catalog = catalog
        self._providers = known_providers() if providers is None else dict(providers)
        self._http = Http(timeouts)
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
        **request: Any,
    ) -> AsyncGenerator[Event, None]:
        """The answer as it comes. `model` may carry a level (`NAME/high`); others are `Request` fields.

        `deadline` is in seconds, for everything together: waiting, retries and the answer.
        """
        if self._sim and not self._bases:
            self._simulate()
        asking = Asking(
            request=_request(said, tools, request),
            model=model,
            thinking=thinking,
            replay=replay or ReplaySettings(),
            streamed=streamed,
            catalog=self._catalog,
            lessons=self._lessons,
            providers=self._providers,
            bases=self._bases,
            until=None if deadline is None else asyncio.get_running_loop().time() + deadline,
        )
        collector = Collector()
        async with aclosing(self._answer(asking)) as events:
            async for event in events:
                collector.add(event)
                if isinstance(event, Failed):
                    error = event.failure.as_error()
                    error.partial = collector.answer()
                    raise error
                yield event

    def _simulate(self) -> None:
        # By name: the simulators are a face, above the client, and only this switch reaches up to them.
        address = import_module("thinkwire.sim.embedded").address()
        self._bases = {name: f"{address}/{name}" for name in self._providers}
        self._keys = dict.fromkeys(self._bases, "simulated")

    async def _answer(self, asking: Asking) -> AsyncGenerator[Event, None]:
        """One request, tried again where that can help and nothing has been told yet."""
        notes: list[Note] = []
        tries = 0
        while True:
            prepared = prepare(asking, time.time())
            attempt = _Attempt()
            async with aclosing(attempt.told(self._try(prepared, notes, asking.until))) as events:
                async for event in events:
                    yield event
            if attempt.failure is None:
                return
            failure = msgspec.structs.replace(attempt.failure, provider=prepared.provider.name)
            recovered = None if attempt.began else self._recovery(asking, prepared, failure, notes)
            if recovered is not None:
                asking = recovered
            elif not attempt.began and tries < self._retries and await _worth_waiting(failure, tries, asking):
                tries += 1
            else:
                yield Failed(failure, attempt.usage)
                return

    async def _try(
        self, prepared: Prepared, notes: list[Note], until: float | None
    ) -> AsyncGenerator[Event, None]:
        headers = {"content-type": "application/json", **prepared.headers, **self._auth(prepared.provider)}
        async with self._http.post(prepared.url, headers, dump(prepared.body), until=until) as reply:
            if reply.status >= 400:
                failure = prepared.dialect.decode_error(reply.status, reply.headers, await reply.read())
                yield Failed(failure)
                return
            async with aclosing(_events(prepared, reply)) as events:
                async for event in events:
                    if isinstance(event, Started):
                        yield msgspec.structs.replace(event, origin=prepared.origin(event.id, time.time()))
                        for note in (*notes, *prepared.notes):
                            yield Noted(note)
                    else:
                        yield event

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
        if prepared.carries_seals and _about_seals(failure):
            notes.append(
                Note("thinking.stripped", f"refused: {failure.message[:200]}; asked again without it")
            )
            without = msgspec.structs.replace(asking.replay, strip="all", seals=False)
            return msgspec.structs.replace(asking, replay=without, recovered=True)
        return None

    def _auth(self, provider: Provider) -> dict[str, str]:
        key = self._keys.get(provider.name) or find_key(provider)
        if provider.auth == "none" and key is None:
            return {}
        if not key:
            raise missing_key(provider)
        if provider.auth in ("bearer", "none"):
            return {"authorization": f"Bearer {key}"}
        return {provider.auth: key}


class _Attempt:
    """One try. Its beginning is held back until something is told, so that it can still be taken back."""

    def __init__(self) -> None:
        self.began = False
        self.failure: Failure | None = None
        self.usage: Usage | None = None

    async def told(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """The events from the first that says something; a failure ends them and is remembered."""
        held: list[Event] = []
        try:
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, Failed):
                        self.failure, self.usage = event.failure, event.usage
                        return
                    held.append(event)
                    if not self.began and isinstance(event, Noted | Started):
                        continue
                    self.began = True
                    for early in held:
                        yield early
                    held.clear()
        except ProviderError as error:
            self.failure = error.failure


async def _events(prepared: Prepared, reply: Reply) -> AsyncGenerator[Event, None]:
    """The answer in a reply, streamed or whole."""
    if not prepared.streamed:
        for event in _whole(prepared, await reply.read()):
            yield event
        return
    decoder = prepared.decoder()
    async for chunk in reply.chunks():
        for event in decoder.feed(chunk):
            yield event
            if isinstance(event, Finished):
                await reply.drain()
                return
            if isinstance(event, Failed):
                return
    for event in decoder.close():
        yield event


def _whole(prepared: Prepared, body: bytes) -> Iterable[Event]:
    try:
        return events_of(prepared.dialect.decode_response(parse_object(body)))
    except MalformedInput as error:
        return [Failed(protocol_failure(f"the answer cannot be read: {error}"))]


def _request(said: Said, tools: Sequence[Tool], fields: dict[str, Any]) -> Request:
    if isinstance(said, str):
        said = Conversation(turns=(Turn("user", (Text(said),)),))
    elif not isinstance(said, Conversation):
        said = Conversation(turns=tuple(said))
    system = fields.pop("system", None) or said.system
    if isinstance(system, str):
        system = (Text(system),)
    return Request(turns=said.turns, system=tuple(system), tools=tuple(tools), **fields)


_SEAL_WORDS = (
    "signature",
    "encrypted content",
    "required following item",
    "required 'reasoning' item",
    "not persisted",
    "thought_signature",
)


def _about_seals(failure: Failure) -> bool:
    words = failure.message.lower()
    return failure.code == "invalid_encrypted_content" or any(word in words for word in _SEAL_WORDS)


async def _worth_waiting(failure: Failure, tries: int, asking: Asking) -> bool:
    """Waits before another try; not for what waiting cannot mend, and not past the deadline."""
    if failure.kind not in RETRIED:
        return False
    wait = _wait(failure, tries)
    if asking.until is not None and asyncio.get_running_loop().time() + wait >= asking.until:
        return False
    await asyncio.sleep(wait)
    return True


def _wait(failure: Failure, attempt: int) -> float:
    """What the provider asked for, else a random part of a doubling time."""
    if failure.retry_after is not None:
        return min(failure.retry_after, LONGEST_WAIT)
    return random.uniform(0, min(8.0, 0.5 * 2**attempt))


def ask(said: Said, *, model: str, **options: Any) -> Answer:
    """One question, one answer, without async: `ask("Why?", model="claude-opus-5-5/high").turn.text`."""

    async def once() -> Answer:
        async with Client() as client:
            return await client.complete(said, model=model, **options)

    return asyncio.run(once())
