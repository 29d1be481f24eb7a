"""Running commands in the workspace folder. They can do what the user can: approval is the only fence."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Annotated

import msgspec

from thinkwire.messages import Text
from thinkwire.notes import Note
from thinkwire.session.tools import process
from thinkwire.session.tools.environment import without_secrets
from thinkwire.session.tools.tool import Output, Spec, tool
from thinkwire.session.tools.workspace import Workspace

OUTPUT_LIMIT = 48 * 1024
LONGEST = 600
QUIET = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}
"""Nobody sits at this terminal."""

Seconds = Annotated[float, msgspec.Meta(gt=0, le=LONGEST, description="After how long to stop it.")]


def command_tools(workspace: Workspace | Path | str) -> tuple[Spec, ...]:
    """`run_command`, which begins in the workspace and is not confined to it."""
    space = workspace if isinstance(workspace, Workspace) else Workspace(workspace)

    async def run_command(
        command: Annotated[str, "A command line for the shell."],
        timeout: Seconds = 120,
    ) -> Output:
        """Run a shell command in the workspace. It has no input, and what it starts ends with it."""
        shell = shutil.which("bash") or "/bin/sh"
        ended = await process.run(
            [shell, "-c", command],
            cwd=space.root,
            env=without_secrets(os.environ) | QUIET,
            timeout=timeout,
            limit=OUTPUT_LIMIT,
        )
        return _report(ended, timeout)

    return (tool(effect="run", subject="command", timeout=LONGEST + 10)(run_command),)


def _report(ended: process.ProcessResult, timeout: float) -> Output:
    notes = []
    if ended.missing:
        message = f"run_command: {ended.missing:,} bytes from the middle of the output are left out"
        notes.append(Note("tool.truncated", message, detail={"tool": "run_command", "bytes": ended.missing}))
    text = ended.output.decode("utf-8", "replace").rstrip("\n")
    lines = [line for line in (text, _ending(ended.code, timeout)) if line]
    content = (Text("\n".join(lines) or "(no output)"),)
    return Output(content, failed=ended.code != 0, notes=tuple(notes))


def _ending(code: int | None, timeout: float) -> str:
    if code is None:
        return f"[stopped after {timeout:g} seconds, with everything it had started]"
    if code < 0:
        return f"[ended by {_signal_name(-code)}]"
    return f"[exit code {code}]" if code else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
