"""Questions to the user while an answer is made: may this tool be run?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from thinkwire.messages import ToolCall
from thinkwire.session.formatting import unmistakable
from thinkwire.session.tools import Spec
from thinkwire.web.ui_stream.encoder import Frame
from thinkwire.web.ui_stream.parts import call_input

Decision = Literal["yes", "no", "always"]

PATIENCE = 1800.0
"""Seconds until a question that nobody answers counts as no."""


class Approvals:
    """The questions of one answer. They appear as `data-approval` parts, and again when they are decided."""

    def __init__(self, say: Callable[[Frame], None], patience: float = PATIENCE) -> None:
        self._say = say
        self._patience = patience
        self._open: dict[str, asyncio.Future[Decision]] = {}

    async def ask(self, call: ToolCall, spec: Spec) -> bool | Literal["always"]:
        """What the user says; no when nobody says anything."""
        future: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._open[call.id] = future
        self._tell(call, spec, "asked")
        said = "no"
        try:
            async with asyncio.timeout(self._patience):
                said = await future
        except TimeoutError:
            pass
        except asyncio.CancelledError:
            self._tell(call, spec, "no")
            raise
        finally:
            del self._open[call.id]
        self._tell(call, spec, said)
        return "always" if said == "always" else said == "yes"

    def decide(self, call_id: str, decision: Decision) -> bool:
        """Whether there was such a question."""
        future = self._open.get(call_id)
        if future is None or future.done():
            return False
        future.set_result(decision)
        return True

    def _tell(self, call: ToolCall, spec: Spec, state: str) -> None:
        data = {
            "tool_call_id": call.id,
            "tool": call.name,
            "effect": spec.effect,
            "input": call_input(call.arguments),
            "shown": unmistakable(call.arguments),
            "state": state,
        }
        self._say({"type": "data-approval", "id": f"approval-{call.id}", "data": data})
