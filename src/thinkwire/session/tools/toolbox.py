"""Running calls: whatever goes wrong with a tool becomes a result that the model can act on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import Any

import msgspec

from thinkwire.errors import ConfigError, MalformedInput
from thinkwire.jsonvalue import JsonObject, parse_object
from thinkwire.messages import Text, ToolCall, ToolResult
from thinkwire.notes import Note
from thinkwire.request import Tool
from thinkwire.session.tools.approval import Ask, Policy, decide, matches_name
from thinkwire.session.tools.environment import masked
from thinkwire.session.tools.output import bounded, output_of
from thinkwire.session.tools.tool import Output, Spec, ToolFailed

REFUSED = "The user refused this call."
COMPLAINT_LENGTH = 2_000


class ToolContext(msgspec.Struct, frozen=True):
    """On what terms calls are run. Without somebody to `ask`, what would have to be asked is refused."""

    policy: Policy = Policy()
    ask: Ask | None = None
    timeout: float = 120
    """Seconds for a call, not counting the wait for approval."""
    text_limit: int = 64 * 1024
    """Bytes of text in a result."""


class Outcome(msgspec.Struct, frozen=True):
    """A call's result, what was changed on its way, and the seconds it took once it was approved."""

    result: ToolResult
    notes: tuple[Note, ...] = ()
    elapsed: float = 0.0


class ToolDenied(Exception):
    """The call is not allowed; the message is for the model."""


class Toolbox:
    """The tools of a session, by name. It remembers what the user said "always" to."""

    def __init__(self, tools: Iterable[Spec] = ()) -> None:
        self._tools: dict[str, Spec] = {}
        for spec in tools:
            if spec.name in self._tools:
                raise ConfigError(f"two tools are called {spec.name}")
            self._tools[spec.name] = spec
        self._always: set[tuple[str, str | None]] = set()
        self._one_question_at_a_time = asyncio.Lock()

    @property
    def specs(self) -> tuple[Spec, ...]:
        return tuple(self._tools.values())

    def definitions(self) -> tuple[Tool, ...]:
        """The tools for a request, always in the same order, so that prompt caches hold."""
        return tuple(spec.definition for spec in self._tools.values())

    def only(self, patterns: Iterable[str]) -> Toolbox:
        """A toolbox with the tools that these names or patterns (`mcp__github__*`) mean."""
        patterns = tuple(patterns)
        for pattern in patterns:
            if not any(matches_name(pattern, name) for name in self._tools):
                raise ConfigError(self._unknown(pattern))
        chosen = (
            spec
            for spec in self._tools.values()
            if any(matches_name(pattern, spec.name) for pattern in patterns)
        )
        box = Toolbox(chosen)
        box._always, box._one_question_at_a_time = self._always, self._one_question_at_a_time
        return box

    async def run(self, call: ToolCall, ctx: ToolContext | None = None) -> Outcome:
        """Run a call and say how it went. Raises nothing but the caller's own cancellation."""
        ctx = ctx or ToolContext()
        try:
            spec, arguments = self._read(call)
            await self._approve(call, spec, arguments, ctx)
        except ToolFailed as error:
            return _failed(call, str(error))
        except ToolDenied as error:
            note = Note("tool.refused", f"{call.name} was not run: {error}", detail={"tool": call.name})
            return _failed(call, str(error), (note,))
        start = time.monotonic()
        output, notes = bounded(await _run(spec, arguments, ctx), call.name, ctx.text_limit)
        elapsed = time.monotonic() - start
        result = ToolResult(call.id, output.content, name=call.name, failed=output.failed)
        return Outcome(result, output.notes + notes, elapsed)

    def _read(self, call: ToolCall) -> tuple[Spec, JsonObject]:
        spec = self._tools.get(call.name)
        if spec is None:
            raise ToolFailed(self._unknown(call.name))
        if call.interrupted:
            raise ToolFailed("This call was cut off before its arguments were complete. Nothing was run.")
        try:
            return spec, parse_object(call.arguments.strip() or "{}")
        except MalformedInput as error:
            raise ToolFailed(f"The arguments are not a JSON object: {error}. Nothing was run.") from None

    def _unknown(self, name: str) -> str:
        from difflib import get_close_matches

        near = get_close_matches(name, self._tools, n=1)
        known = ", ".join(sorted(self._tools)[:40]) or "none"
        return f"There is no tool called {name[:80]}." + (
            f" Did you mean {near[0]}?" if near else f" The tools are: {known}."
        )

    async def _approve(self, call: ToolCall, spec: Spec, arguments: JsonObject, ctx: ToolContext) -> None:
        """Returns when the call may be run."""
        subject = await _subject(spec, arguments)
        decision = decide(ctx.policy, spec, subject)
        if decision == "deny":
            raise ToolDenied("The settings do not allow this call.")
        if decision == "allow":
            return
        # What "always" covers: a tool, but of a tool that can do anything only the very same command.
        remembered = (spec.name, subject if spec.effect == "run" else None)
        async with self._one_question_at_a_time:
            if remembered in self._always:
                return
            if ctx.ask is None:
                raise ToolDenied("This call needs the user's approval, and there is nobody to ask.")
            try:
                answer = await ctx.ask(call, spec)
            except Exception as error:
                raise ToolDenied(f"The user could not be asked ({type(error).__name__}).") from None
            if answer == "always":
                self._always.add(remembered)
            elif answer is not True:
                raise ToolDenied(REFUSED)


async def _subject(spec: Spec, arguments: JsonObject) -> str | None:
    try:
        return spec.subject(arguments) if spec.subject else None
    except Exception:
        return None


async def _run(spec: Spec, arguments: JsonObject, ctx: ToolContext) -> Output:
    limit = spec.timeout or ctx.timeout
    clock = asyncio.timeout(limit)
    try:
        async with clock:
            value = await spec.call(arguments)
        return output_of(value)
    except ToolFailed as error:
        return _complaint(str(error))
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return _complaint(f"{spec.name} was cancelled from within.")
    except (Exception, SystemExit) as error:
        if clock.expired():
            return _complaint(f"{spec.name} took longer than {limit:g} seconds and was stopped.")
        return _complaint(f"{spec.name} failed: {_fault(error)}")


def _fault(error: BaseException) -> str:
    """An exception as one short line: no traceback, no key of this process."""
    try:
        words = str(error)
    except Exception:
        words = ""
    name = type(error).__name__
    return f"{name}: {words}" if words else name


def _complaint(text: str) -> Output:
    return Output((Text(masked(text)[:COMPLAINT_LENGTH]),), failed=True)


def _failed(call: ToolCall, message: str, notes: tuple[Note, ...] = ()) -> Outcome:
    """A call that was never run."""
    output: Any = bounded(_complaint(message), call.name, COMPLAINT_LENGTH * 4)[0]
    return Outcome(ToolResult(call.id, output.content, name=call.name, failed=True), notes)
