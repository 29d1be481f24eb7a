"""Commands: their output, their environment, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

import pytest

from tests.session.tools.running import FREE, Run, text_of
from thinkwire.messages import ToolCall
from thinkwire.session.tools import ToolContext
from thinkwire.session.tools.environment import without_secrets

pytestmark = pytest.mark.anyio
FAMILY = (
    "sleep 300 & (trap '' TERM; sleep 300; sleep 300) & echo $! > pids; jobs -p >> pids; echo $$ >> pids; "
)


async def until_gone(pids: list[int]) -> None:
    async with asyncio.timeout(5):
        while any(alive(pid) for pid in pids):
            await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def pids_in(folder: Path) -> list[int]:
    return [int(pid) for pid in (folder / "pids").read_text().split()]


async def test_output_and_exit_code(tmp_path: Path) -> None:
    run = Run(tmp_path)
    assert await run.good("run_command", command="echo out; echo err >&2") == "out\nerr"
    assert await run.good("run_command", command="pwd -P") == str(tmp_path.resolve())
    assert await run.good("run_command", command="true") == "(no output)"
    assert await run.bad("run_command", command="echo no; exit 3") == "no\n[exit code 3]"
    assert await run.bad("run_command", command="kill -9 $$") == "[ended by SIGKILL]"
    assert await run.good("run_command", command="cat") == "(no output)", "there is no input"


async def test_wrong_arguments_run_nothing(tmp_path: Path) -> None:
    run = Run(tmp_path)
    for wrong in (
        {"command": ["ls"]},
        {"command": "touch x", "timeout": 0},
        {"command": "touch x", "timeout": 1e9},
    ):
        assert "Wrong arguments" in await run.bad("run_command", **wrong)
    assert "failed" in await run.bad("run_command", command="touch x\0")
    assert os.listdir(tmp_path) == []


async def test_long_output_keeps_both_ends_and_says_so(tmp_path: Path) -> None:
    outcome = await Run(tmp_path)(
        "run_command", command="echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo last"
    )
    text = text_of(outcome)
    assert text.startswith("first\nxxx")
    assert text.endswith("xxxlast")
    assert "bytes left out" in text
    assert len(text) < 64 * 1024
    assert [note.code for note in outcome.notes] == ["tool.truncated"]


async def test_keys_are_not_inherited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "DASHSCOPE_API_KEY", "GITHUB_TOKEN", "MY_SECRET_THING", "DB_PASSWORD"):
        monkeypatch.setenv(name, "planted")
    monkeypatch.setenv("HARMLESS", "kept")
    shown = await Run(tmp_path).good("run_command", command="env")
    assert "planted" not in shown
    assert "HARMLESS=kept" in shown


def test_a_users_own_provider_has_secrets_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path))
    (tmp_path / "providers.toml").write_text(
        '[[provider]]\nname = "mine"\nlabel = "Mine"\nbase_url = "http://127.0.0.1:9"\nauth = "bearer"\n'
        'keys = ["ODDLY_NAMED"]\nsource = "here"\n'
        '[[provider.routes]]\ndialect = "openai-chat"\npath = "/v1"\n'
    )
    assert without_secrets({"ODDLY_NAMED": "x", "PATH": "y"}) == {"PATH": "y"}


async def test_a_time_out_ends_grandchildren(tmp_path: Path) -> None:
    start = time.monotonic()
    said = await Run(tmp_path).bad("run_command", command=FAMILY + "echo begun; wait", timeout=0.3)
    assert time.monotonic() - start < 4
    assert said == "begun\n[stopped after 0.3 seconds, with everything it had started]"
    pids = pids_in(tmp_path)
    assert len(pids) >= 3
    await until_gone(pids)


async def test_what_a_command_leaves_running_ends_with_it(tmp_path: Path) -> None:
    start = time.monotonic()
    assert await Run(tmp_path).good("run_command", command=FAMILY + "echo done") == "done"
    assert time.monotonic() - start < 4
    await until_gone(pids_in(tmp_path))


async def test_cancelling_ends_everything(tmp_path: Path) -> None:
    call = ToolCall("c", "run_command", json.dumps({"command": FAMILY + "touch begun; wait"}))
    task = asyncio.create_task(Run(tmp_path).box.run(call, FREE))
    async with asyncio.timeout(5):
        while not (tmp_path / "begun").exists():
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until_gone(pids_in(tmp_path))


async def test_a_child_in_a_session_of_its_own_holds_up_nothing(tmp_path: Path) -> None:
    start = time.monotonic()
    said = await Run(tmp_path).good("run_command", command="setsid sleep 3 & echo done")
    assert said == "done"
    assert time.monotonic() - start < 2.5


async def test_a_command_is_asked_for_by_default(tmp_path: Path) -> None:
    call = ToolCall("c", "run_command", '{"command": "touch x"}')
    outcome = await Run(tmp_path).box.run(call, ToolContext())
    assert outcome.result.failed
    assert os.listdir(tmp_path) == []
