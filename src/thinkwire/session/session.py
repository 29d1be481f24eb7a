"""A session: a conversation with its model, settings and tools. Terminal and web app are faces of it."""

from __future__ import annotations

import datetime
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import Any

import msgspec

from thinkwire.catalog import Facts
from thinkwire.client.engine import Client
from thinkwire.client.learned_facts import LOCAL_USER
from thinkwire.client.prepare import CallSpec, PreparedRequest, ResolvedModel, prepare_request, resolve_model
from thinkwire.context import (
    Calibration,
    Effective,
    Fingerprint,
    count,
    effective_tokens,
    predict,
    should_compress,
)
from thinkwire.errors import ConfigError, ProviderError
from thinkwire.events import Answer
from thinkwire.messages import Block, Conversation, Text, ToolCall, Turn
from thinkwire.notes import Note
from thinkwire.pricing import Price, cost_of
from thinkwire.reasoning import Intent, parse_name
from thinkwire.reasoning.plan import Plan
from thinkwire.reasoning.resolve import resolve
from thinkwire.request import Request
from thinkwire.session.compaction import SUMMARY_SHARE, find_cut, summary_turn
from thinkwire.session.events import Compacted, SessionEvent, SessionNote
from thinkwire.session.history import HistoryView, view
from thinkwire.session.loop import TurnLoop
from thinkwire.session.next_request import NextRequest, RetryHint
from thinkwire.session.persistence import ConversationStore, InMemoryStore
from thinkwire.session.run import Run
from thinkwire.session.summary import LEAST, summarised, titled
from thinkwire.session.tools import Ask, Outcome, Policy, Toolbox, ToolContext
from thinkwire.settings import Settings, conversation_state_of, intent_of, overrides_of, replay_of
from thinkwire.store.rows import MessageRow

Pricing = Callable[[Facts, datetime.date], Price]


class Busy(ConfigError):
    """A request is in flight; it can be interrupted, or waited for."""


class Session:
    """One conversation. `keeper` is a store, or nothing for a conversation that is gone with the process."""

    learning_scope = LOCAL_USER
    """For whom what providers' refusals teach counts."""

    def __init__(
        self,
        client: Client,
        settings: Settings | None = None,
        *,
        keeper: ConversationStore | None = None,
        conversation_id: str = "",
        toolbox: Toolbox | None = None,
        ask: Ask | None = None,
        pricing: Pricing | None = None,
        calibration: Calibration | None = None,
        patience: float | None = None,
    ) -> None:
        """A provider that asks to wait longer than `patience` seconds has failed, and says how long."""
        self.client = client
        self.settings = settings or Settings()
        self.keeper: ConversationStore = keeper or InMemoryStore()
        self.conversation_id = conversation_id
        self.toolbox = toolbox or Toolbox()
        self.ask = ask
        self.calibration = calibration or Calibration()
        self._pricing = pricing
        self._patience = patience
        self._fingerprint: Fingerprint | None = None
        self._run: Run | None = None
        self._said_full = False
        self._said_unopened = False

    # What is set

    @property
    def model(self) -> str:
        """The model as it was named, with its level if it has one."""
        name = self.settings.get("model")
        if not name:
            raise ConfigError("which model? Say -m MODEL, or `thinkwire config set model MODEL`")
        return str(name)

    @property
    def busy(self) -> bool:
        return self._run is not None and not self._run.done

    def use_model(self, name: str) -> ResolvedModel:
        """Another model from the next request on; also inside a tool loop whose results are in."""
        if self.busy:
            raise Busy("a request is in flight: interrupt it, or wait, before you change the model")
        settings = self.settings.set("session", "model", name)
        if parse_name(name).intent is not None:
            settings = settings.unset("session", "reasoning.effort").unset("session", "reasoning.maxTokens")
        located = self._located(settings)
        self.settings = settings
        return located

    def set(self, key: str, value: Any) -> None:
        """A setting of this session; what is in flight keeps the old one."""
        if key == "model":
            self.use_model(value)
        else:
            self.settings = self.settings.set("session", key, value)

    def unset(self, key: str) -> None:
        self.settings = self.settings.unset("session", key)

    # Talking

    def start(self, text: str | None, attachments: Sequence[Block] = ()) -> Run:
        """A run that goes on by itself. Without text, the conversation goes on from where it stands."""
        if self.busy:
            raise Busy("a request is in flight already")
        said = None
        if text is not None or attachments:
            said = Turn("user", (*attachments, *([Text(text)] if text else [])))
        self._run = Run(TurnLoop(self).run(said))
        return self._run

    async def send(self, text: str | None, attachments: Sequence[Block] = ()) -> AsyncIterator[SessionEvent]:
        """Everything that happens until the model has answered. Leaving early interrupts; nothing is lost."""
        run = self.start(text, attachments)
        try:
            async for happening in run.follow():
                yield happening
        finally:
            await run.interrupt()

    async def conversation(self) -> Conversation:
        """What was said, all of it, thinking and seals included."""
        path = await self.keeper.path(self.conversation_id)
        return Conversation(self._system(), tuple(kept.turn for kept in path if kept.kind == "turn"))

    # What will be sent

    def located(self) -> ResolvedModel:
        """Where the next request goes; ConfigError when nobody has the model."""
        return self._located()

    def plan(self, settings: Settings | None = None) -> Plan:
        """How the next request will be thought about, as far as model and settings (or these) decide it."""
        settings = settings or self.settings
        located = self._located(settings)
        request = Request(
            model=located.model,
            tools=self.offered.definitions(),
            max_tokens=settings.get("maxTokens"),
            temperature=settings.get("temperature"),
            stream=True,
        )
        return resolve(located.intent, located.found, request, conversation_state_of(settings))[0]

    async def preview(self) -> PreparedRequest:
        """The next request as it would go out now, with a word said if it is the user's turn.

        Looking leaves no trace.
        """
        located, shown = self._located(), await self.view()
        turns = shown.turns
        if not turns or turns[-1].role == "assistant":
            turns = (*turns, Turn("user", (Text("Hello"),)))
        return prepare_request(self._asking(turns, RetryHint(), self._effective(shown, located)), time.time())

    async def view(self) -> HistoryView:
        return view(await self.keeper.path(self.conversation_id))

    async def effective(self) -> Effective:
        """What the next request will really hold, before anything is said."""
        return self._effective(await self.view(), self._located())

    async def counted(self) -> int | None:
        """The vendor's own count of what the next request will hold; None where it gives none."""
        asked = self._asking((await self.view()).turns, RetryHint(), await self.effective())
        return await self.client.count_tokens(asked)

    async def asked(self, again: RetryHint | None = None) -> NextRequest:
        """The next request, decided but not sent."""
        again = again or RetryHint()
        located = self._located()
        path = await self.keeper.path(self.conversation_id)
        shown = view(path)
        facts = located.destination.facts
        turns, notes = shown.unbound() if facts and facts.replay == "bound_prefix" else (shown.turns, ())
        notes += self._unopened(path)
        if again.nudge:
            turns = (*turns, Turn("user", (Text(again.nudge),)))
        effective = self._effective(shown, located)
        asking = self._asking(turns, again, effective)
        prepared = prepare_request(asking, time.time())
        fingerprint = Fingerprint.of(
            model=prepared.model,
            provider=prepared.provider.name,
            dialect=prepared.dialect.name,
            system=prepared.request.system,
            tools=prepared.request.tools,
            plan_patch=prepared.plan.patch,
            turns=prepared.request.turns,
        )
        notes += predict(self._fingerprint, fingerprint, facts)
        self._fingerprint = fingerprint
        return NextRequest(asking, prepared, effective, notes)

    def _unopened(self, path: list[MessageRow]) -> tuple[Note, ...]:
        """Said once: seals that were encrypted with a key that is not here."""
        count = sum(kept.unopened for kept in path)
        if not count or self._said_unopened:
            return ()
        self._said_unopened = True
        message = f"{count} seals are encrypted with another THINKWIRE_STORE_KEY; they cannot go back"
        return (Note("seal.dropped", message),)

    def _asking(self, turns: tuple[Turn, ...], again: RetryHint, effective: Effective) -> CallSpec:
        settings = self.settings
        request = Request(
            turns=turns,
            system=self._system(),
            tools=self.offered.definitions(),
            max_tokens=again.max_tokens or settings.get("maxTokens"),
            temperature=settings.get("temperature"),
        )
        return self.client.asking(
            request,
            model=self.model,
            thinking=LEAST if again.least_thinking else self._intent(settings),
            replay=replay_of(settings),
            overrides=overrides_of(settings),
            circumstances=conversation_state_of(settings, effective.total),
            patience=self._patience,
            scope=self.learning_scope,
        )

    def _located(self, settings: Settings | None = None) -> ResolvedModel:
        settings = settings or self.settings
        model = settings.get("model") or self.model
        asking = self.client.asking(
            Request(),
            model=model,
            thinking=self._intent(settings),
            replay=replay_of(settings),
            overrides=overrides_of(settings),
            scope=self.learning_scope,
        )
        return resolve_model(asking, time.time())

    def _intent(self, settings: Settings) -> Intent:
        """How hard to think. It is asked to be readable even while it is hidden: it may be shown later."""
        return msgspec.structs.replace(intent_of(settings) or Intent(), show=True)

    def _effective(self, shown: HistoryView, located: ResolvedModel) -> Effective:
        return effective_tokens(
            Conversation(self._system(), shown.turns),
            replay_of(self.settings),
            located.destination,
            tools=self.offered.definitions(),
            limit=self.settings.get("context.limit"),
            calibration=self.calibration,
        )

    def _system(self) -> tuple[Text, ...]:
        words = self.settings.get("system")
        return (Text(words),) if words else ()

    @property
    def offered(self) -> Toolbox:
        """The tools that the model may call."""
        enabled = self.settings.get("tools.enabled")
        return self.toolbox if enabled is None else self.toolbox.only(enabled)

    @property
    def policy(self) -> Policy:
        """Which calls need the user's word."""
        return Policy(
            default=self.settings.get("tools.approve"), allow=tuple(self.settings.get("tools.allow") or ())
        )

    # Compaction

    async def compact_if_needed(self) -> AsyncGenerator[list[SessionEvent], None]:
        """Compacts when what will be sent, not what was said, outgrows the window."""
        effective = self._effective(await self.view(), self._located())
        if not should_compress(effective, self.settings.get("context.compressAt")):
            return
        try:
            done = await self.compact()
        except ProviderError as error:
            note = Note("context.full", f"no summary could be made ({error}); everything is sent")
            yield [SessionNote(note)]
            return
        if done is None:
            if not self._said_full:
                self._said_full = True
                yield [
                    SessionNote(
                        Note("context.full", f"{effective.shown()} tokens, and nothing can be left out")
                    )
                ]
            return
        yield [done, SessionNote(_compacted(done))]

    async def compact(self) -> Compacted | None:
        """Earlier turns become a summary; None when there is nothing that could."""
        located, shown = self._located(), await self.view()
        before = self._effective(shown, located)
        limit = before.limit or before.total
        replay = replay_of(self.settings)
        cut = find_cut(shown, limit, located.destination, replay)
        if cut is None:
            return None
        sent_thinking = replay.include is not False and replay.strip == "none"
        text = await summarised(
            self.client,
            self.model,
            [line.turn for line in cut.covered],
            room=int(limit * SUMMARY_SHARE),
            thinking=sent_thinking,
        )
        if not text:
            return None
        await self.keeper.append(
            self.conversation_id, summary_turn(text), kind="summary", covers=cut.covered[-1].id
        )
        after = self._effective(await self.view(), located)
        self._fingerprint = None
        return Compacted(text, len(cut.covered), before.total, after.total)

    async def title(self) -> str | None:
        """A name for the conversation, asked of its own model with thinking at its least."""
        turns = (await self.view()).turns[:4]
        return await titled(self.client, self.model, turns) if turns else None

    # For the loop

    async def run_tool(self, call: ToolCall) -> Outcome:
        return await self.offered.run(call, ToolContext(policy=self.policy, ask=self.ask))

    def cost(self, answer: Answer, asked: NextRequest) -> float | None:
        """US dollars; None when a price or a count is not known, or nobody asked for prices."""
        facts = asked.prepared.plan.facts
        if self._pricing is None or facts is None:
            return None
        return cost_of(answer.usage, self._pricing(facts, datetime.datetime.now(datetime.UTC).date()))

    def learn(self, answer: Answer, asked: NextRequest) -> None:
        """Estimates get better with what the provider says it read."""
        reported = answer.usage.input_total if answer.usage else None
        if reported is None:
            return
        model, request = asked.prepared.model, asked.prepared.request
        estimated = count(request.turns, model=model, system=request.system, tools=request.tools).total
        provider = asked.prepared.provider.name
        self.calibration = self.calibration.learned(provider, model, estimated, reported)


def _compacted(done: Compacted) -> Note:
    message = f"{done.turns} turns are now given as a summary; they stay in the conversation"
    return Note("context.compacted", message, detail={"before": done.before, "after": done.after})
