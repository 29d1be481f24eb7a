"""What the tests of tools share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from thinkwire.messages import Text, ToolCall
from thinkwire.session.tools import Outcome, Policy, Toolbox, ToolContext, builtin_tools

FREE = ToolContext(policy=Policy(default="allow"))


def text_of(outcome: Outcome) -> str:
    return "".join(block.text for block in outcome.result.content if isinstance(block, Text))


class Run:
    """Calls the built-in tools of a folder, with everything allowed."""

    def __init__(self, folder: Path) -> None:
        self.box = Toolbox(builtin_tools(folder))

    async def __call__(self, name: str, **arguments: Any) -> Outcome:
        return await self.box.run(ToolCall("c", name, json.dumps(arguments)), FREE)

    async def good(self, name: str, **arguments: Any) -> str:
        outcome = await self(name, **arguments)
        assert not outcome.result.failed, text_of(outcome)
        return text_of(outcome)

    async def bad(self, name: str, **arguments: Any) -> str:
        outcome = await self(name, **arguments)
        assert outcome.result.failed, text_of(outcome)
        return text_of(outcome)
