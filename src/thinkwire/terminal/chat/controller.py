"""What happens on the screen: messages, commands, runs, questions, the status."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from thinkwire._version import __version__
from thinkwire.errors import ConfigError, ThinkwireError
from thinkwire.messages import Text, ToolCall, Turn
from thinkwire.pricing import price_of
from thinkwire.session import Run, Session
from thinkwire.session.commands import (
    COMMANDS,
    THEME,
    Candidate,
    Completion,
    complete,
    is_command,
    next_level,
    run_command,
)
from thinkwire.session.tools import Spec
from thinkwire.settings import thinking_shown
from thinkwire.terminal.chat import status_data as standing
from thinkwire.terminal.chat.actions import act
from thinkwire.terminal.chat.conversations import ConversationManager
from thinkwire.terminal.chat.history import render_history
from thinkwire.terminal.chat.run_renderer import RunRenderer
from thinkwire.terminal.mentions import attachments, complete_mention
from thinkwire.terminal.notice import Notice
from thinkwire.terminal.picker import Picker, among
from thinkwire.terminal.transcript import Transcript, transcript
from thinkwire.terminal.welcome import no_key_lines, welcome_lines
from thinkwire.terminal.widgets.approval import ApprovalPrompt, approval
from thinkwire.terminal.widgets.user_message import UserMessage
from thinkwire.usage import Usage

if TYPE_CHECKING:
    from thinkwire.terminal.app import Chat

_LONG = ("compact",)
"""Commands that ask a model themselves."""


class ChatController:
    """The conversation on the desk, and what the user does with it."""

    def __init__(self, app: Chat, desk: ConversationManager) -> None:
        self.app = app
        self.desk = desk
        self.run: Run | None = None
        self._talk = app.talk
        self._notes: set[tuple[str, str]] = set()
        """What was said beside the conversation and need not be said again."""
        self.later: list[str] = []
        """Commands that count once the model has answered."""
        self._last: tuple[Usage | None, float | None] | None = None
        self._working = False
        self._unanswered = False

    async def aclose(self) -> None:
        if self.run is not None:
            await self.run.interrupt()
        await self.desk.aclose()

    @property
    def session(self) -> Session:
        return self.desk.session

    @property
    def busy(self) -> bool:
        return self._working or self.session.busy

    @property
    def can_retry(self) -> bool:
        return self._unanswered and not self.busy

    # Beginning

    async def begin(self) -> None:
        """The store is opened aside; the user may type at once."""
        self.desk.open(self._approve)
        try:
            if self.desk.options.going_on is not None:
                await self.desk.go_on_as_asked()
                await self.show_session()
            else:
                await self._talk.put(Notice(welcome_lines(self.session, self.desk, __version__), "welcome"))
            for line in await self.desk.serve_tools():
                await self.say(line, failed=True)
        except ThinkwireError as error:
            await self.say(f"✗ {error}", failed=True)
        await self.refresh_status()
        if self.desk.lacks_key is not None:
            await self._offer_simulators()
            await self.refresh_status()
        self.app.ready.set()

    async def _offer_simulators(self) -> None:
        choices = {"s": (True, "use the simulators"), "q": (False, "quit")}
        lines = "\n".join(no_key_lines(self.desk.client))
        if not await self._ask(
            ApprovalPrompt("No key was found, so there is nobody to ask yet.", lines, choices)
        ):
            self.app.exit(0)
            return
        await self.desk.simulate()
        await self._talk.say(
            "SIMULATED: from here on no model is asked; everything that follows is made up.", kind="note"
        )

    async def show_session(self) -> None:
        """Another conversation lies on the desk."""
        self._notes.clear()
        path = await self.session.keeper.path(self.session.conversation_id)
        self._last = standing.last_turn(path)
        self._unanswered = bool(path) and (path[-1].role == "user" or path[-1].status != "complete")
        await render_history(self._talk, path)
        if self._unanswered:
            await self.say("F5 asks again.")
        self.app.refresh_bindings()
        await self.refresh_status()

    # What is typed

    def complete(self, text: str) -> Completion:
        if text.startswith("/") and "@" not in text:
            return complete(self.session, text)
        return complete_mention(text, self.desk.options.folder) or Completion(0, ())

    async def take(self, text: str) -> None:
        """A message or a command. What cannot be sent now stays in the prompt."""
        if is_command(text):
            self.app.prompt.taken()
            self.app.run_worker(self.command(text), group="command")
        elif self.busy:
            self.app.notify("The model is answering. Esc interrupts it; your text stays here.", timeout=3)
        elif self.session.settings.get("model") is None:
            await self.say("✗ Which model? /model NAME, or /model to choose", failed=True)
        else:
            await self._send(text)

    async def _send(self, text: str) -> None:
        try:
            blocks = attachments(text, self.desk.options.folder)
        except ThinkwireError as error:
            await self.say(f"✗ {error}", failed=True)
            return
        self.app.prompt.taken()
        await self._talk.put(UserMessage(Turn("user", (*blocks, Text(text)))))
        self._start(self.session.start(text, blocks))

    async def command(self, text: str) -> None:
        """Runs a slash command; what it leaves to the face is done at once."""
        await self.say(f"> {text}")
        self._working = text[1:].split()[:1] == list(_LONG)
        if self._working:
            self.app.activity.begin("Summing up")
        try:
            reply = await run_command(self.session, text)
        finally:
            if self._working:
                self._working = False
                self.app.activity.end()
        await self.say(*reply.lines, failed=reply.failed)
        if reply.action is not None:
            await act(self, reply.action)
        await self.refresh_status()

    async def say(self, *lines: str, failed: bool = False) -> None:
        await self._talk.say(*lines, kind="error" if failed else "info")

    # A run

    def retry(self) -> None:
        """Asks again from where the conversation stands."""
        if not self.busy:
            self._start(self.session.start(None))

    async def interrupt(self) -> None:
        if self.run is not None:
            await self.run.interrupt()

    def _start(self, run: Run) -> None:
        self.run = run
        self._unanswered = False
        self._talk.anchor()
        self.app.activity.begin("Thinking")
        self.app.refresh_bindings()
        self.app.run_worker(self._follow(run), group="run")
        self.app.run_worker(self._know_prices, thread=True, group="prices")

    async def _follow(self, run: Run) -> None:
        teller = RunRenderer(self._talk, self.app.activity, self._notes)
        trouble: ThinkwireError | None = None
        try:
            async for happening in run.follow():
                teller.tell(happening)
        except ThinkwireError as error:
            trouble = error
        finally:
            await teller.close()
            self.app.activity.end()
        ended = teller.ended
        if ended is not None:
            self._last = (ended.usage, ended.cost)
        self._unanswered = ended is None or ended.ending != "complete"
        if trouble is not None:
            await self.say(f"✗ {trouble}", "  F5 asks again.", failed=True)
        else:
            await self._settle()
        self.app.refresh_bindings()
        await self.refresh_status()
        later, self.later = self.later, []
        for command in later:
            await self.command(command)

    async def _settle(self) -> None:
        try:
            await self.desk.settle()
            trouble = self.desk.trouble
        except ThinkwireError as error:
            trouble = error
        line = f"This conversation is not kept: {trouble}"
        if trouble is not None and ("store", line) not in self._notes:
            self._notes.add(("store", line))
            await self.say(line, failed=True)

    def _know_prices(self) -> None:
        """Price data takes a second to load; it is there when the answer is."""
        facts = self.session.plan().facts
        if facts is not None:
            price_of(facts, datetime.datetime.now(datetime.UTC).date())
        if self.app.alone:
            self._talk.keep_still()

    async def _approve(self, call: ToolCall, spec: Spec) -> bool | Literal["always"]:
        answer: bool | Literal["always"] = await self._ask(approval(call, spec))
        return answer

    async def _ask(self, question: ApprovalPrompt) -> Any:
        """The answer to a question; it goes away with the one who asked."""
        await self.app.mount(question, before=self.app.suggestions)
        try:
            return await question.answer
        finally:
            await asyncio.shield(question.remove())
            self.app.prompt.focus()

    # Keys

    async def cycle_level(self) -> None:
        try:
            level = next_level(self.session)
        except ConfigError as error:
            self.app.notify(str(error), severity="error")
            return
        self.session.unset("reasoning.maxTokens")
        self.session.set("reasoning.effort", level)
        self.app.notify(f"Thinking: {standing.level(self.session)}", timeout=2)
        await self.refresh_status()

    async def toggle_thinking(self) -> None:
        self.session.set("reasoning.includeInResponse", not thinking_shown(self.session.settings))
        await self.refresh_status()

    async def show_transcript(self) -> None:
        path = await self.session.keeper.path(self.session.conversation_id)
        await self.app.push_screen(Transcript(transcript(path)))

    def show_history(self) -> None:
        entries = [Candidate(text) for text in self.app.prompt.typed.newest()]

        def recall(text: str | None) -> None:
            if text is not None:
                self.app.prompt.replace_all(text)

        self.app.push_screen(Picker("What was typed before", among(entries)), recall)

    def palette(self) -> Iterator[tuple[str, str, Callable[[], None]]]:
        """The commands: name, help, and what choosing one does. One that needs more goes to the prompt."""
        for command in COMMANDS.values():
            needs_more = bool(command.usage) and not command.usage.startswith("[")

            def chosen(name: str = command.name, more: bool = needs_more) -> None:
                if more:
                    self.app.prompt.replace_all(f"/{name} ")
                else:
                    self.app.run_worker(self.command(f"/{name}"), group="command")

            yield f"/{command.name}", command.help, chosen

    # Status

    async def refresh_status(self) -> None:
        self._talk.show_thinking(thinking_shown(self.session.settings))
        self.app.theme = self.session.settings.get(THEME) or self.app.theme
        usage, cost = self._last or (None, None)
        asked = self._last is not None
        self.app.status.show(await standing.of(self.session, turn=usage, turn_cost=cost, asked=asked))
