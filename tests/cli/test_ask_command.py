"""`thinkwire ask`, as a user and as a script would call it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from thinkwire.cli.app import app
from thinkwire.store import open_store

EXIT_NO_KEY, EXIT_LOST, EXIT_INTERRUPTED = 3, 4, 130


def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["ask", *arguments], input=stdin)


def events(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def test_the_answer_is_on_stdout_and_the_thinking_on_stderr() -> None:
    result = run("--sim", "-m", "claude-opus-5-5/high", "[[think:Let me see.]][[say:Seen.]]")
    assert result.exit_code == 0
    assert result.stdout == "Seen.\n"
    assert "Let me see." in result.stderr
    assert "simulated" in result.stderr


def test_thinking_can_be_hidden() -> None:
    result = run("--sim", "-R", "-m", "claude-opus-5-5/high", "[[think:Let me see.]][[say:Seen.]]")
    assert result.stdout == "Seen.\n"
    assert "Let me see." not in result.stderr


@pytest.mark.parametrize(
    "model", ["claude-opus-5-5/high", "kimi-k2-thinking", "gemini-3.8-flash", "gpt-5.6-terra"]
)
def test_json_gives_every_event_a_line(model: str) -> None:
    result = run("--sim", "--json", "-m", model, "[[think:Hm.]][[say:Yes.]]")
    told = events(result)
    assert result.exit_code == 0
    assert told[0]["event"] == "conversation"
    assert told[0]["simulated"] is True
    assert [event["event"] for event in told if event["event"].startswith("turn_")][-1] == "turn_ended"
    assert "".join(event["text"] for event in told if event["event"] == "block_grew") == "Hm.Yes."
    assert told[-1]["usage"]["input_total"] > 0


def test_piped_text_is_the_question() -> None:
    assert run("--sim", stdin="[[say:From a pipe.]]").stdout == "From a pipe.\n"


def test_piped_text_goes_along_with_a_question() -> None:
    result = run("--sim", "--json", "-m", "claude-opus-5-5", "[[say:Read.]]", stdin="some diff")
    assert result.exit_code == 0
    (conversation,) = [event for event in events(result) if event["event"] == "conversation"]
    exported = kept(conversation["id"])
    assert "some diff" in exported[0]["turn"]
    assert "[[say:Read.]]" in exported[0]["turn"]


def kept(conversation_id: str) -> list[dict[str, Any]]:
    import sqlite3

    path = Path(os.environ["THINKWIRE_DATA"]) / "thinkwire.db"
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    query = "select * from messages where conversation_id = ? order by seq"
    rows = [dict(row) for row in connection.execute(query, (conversation_id,))]
    connection.close()
    return rows


@pytest.mark.usefixtures("time_of_asking")
def test_the_conversation_is_kept_with_thinking_in_a_column_of_its_own_and_goes_on() -> None:
    first = run("--sim", "--json", "-m", "claude-opus-5-5/high", "[[think:One.]][[say:First.]]")
    conversation_id = events(first)[0]["id"]
    second = run("--sim", "--json", "-c", "[[say:Second.]]")
    assert events(second)[0]["id"] == conversation_id
    assert events(second)[0]["model"] == "claude-opus-5-5/high"
    third = run("--sim", "--json", "-c", conversation_id, "-m", "kimi-k3", "[[say:Third.]]")
    assert events(third)[0]["id"] == conversation_id
    rows = kept(conversation_id)
    assert [row["text"] for row in rows if row["role"] == "assistant"] == ["First.", "Second.", "Third."]
    assert rows[1]["thinking"] == "One."
    assert {row["status"] for row in rows} == {"complete"}


def test_nothing_is_kept_when_that_is_asked_for() -> None:
    assert run("--sim", "--no-save", "[[say:Gone.]]").stdout == "Gone.\n"
    assert not (Path(os.environ["THINKWIRE_DATA"]) / "thinkwire.db").exists()
    assert "no conversation" in run("--sim", "-c", "And?").stderr


def test_a_store_that_cannot_be_opened_is_said_and_the_answer_still_comes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("THINKWIRE_DATA", str(tmp_path / "file"))
    result = run("--sim", "[[say:Here.]]")
    assert result.stdout == "Here.\n"
    assert result.exit_code == 0
    assert "not kept" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["-m", "claude-opus-5-5", "Hello"], EXIT_NO_KEY, "ANTHROPIC_API_KEY"),
        (["Hello"], EXIT_NO_KEY, "--sim"),
        (["--sim", "-m", "claude-opus-5-5", "[[fail:401]]"], EXIT_NO_KEY, "key"),
        (["--sim", "-m", "claude-opus-5-5", "[[cut]]"], 1, "error:"),
        (["--sim", "-m", "kimi-k2-thinking", "[[think:Only.]]"], EXIT_LOST, "gave no answer"),
        (["--sim", "-m", "no-such-model", "Hello"], 1, "nobody is known"),
        (["--sim", "--set", "reasoning.efort=high", "Hello"], 1, "reasoning.effort"),
        (["--sim", "--effort", "enormous", "Hello"], 1, "xhigh"),
        (["--sim", "--profile", "nope", "Hello"], 1, "kimi-k2-thinking"),
        (["--sim", "--tool", "red_file", "Hello"], 1, "read_file"),
        ([], 2, "ask what?"),
        (["--no-such-flag"], 2, "No such option"),
    ],
)
def test_exit_codes_and_what_to_do_next(arguments: list[str], code: int, words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == code
    assert words in result.stderr
    assert "Traceback" not in result.output


def test_tools_are_confined_offered_and_run(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("the password is swordfish")
    result = run("--sim", "--tool", "read_file", '[[call:read_file {"path":"notes.txt"}]][[say:Read.]]')
    assert result.stdout == "Read.\n"
    assert "swordfish" in result.stderr
    refused = run("--sim", "--tool", "*", '[[call:write_file {"path":"a","content":"b"}]][[say:No.]]')
    assert not (tmp_path / "a").exists()
    assert "was not run" in refused.stderr
    run("--sim", "--yes", "--tool", "*", '[[call:write_file {"path":"a","content":"b"}]][[say:Yes.]]')
    assert (tmp_path / "a").read_text() == "b"


def test_settings_come_from_the_project_and_the_request_wins(tmp_path: Path) -> None:
    (tmp_path / ".thinkwire.toml").write_text('model = "kimi-k3"\n')
    assert events(run("--sim", "--json", "[[say:x]]"))[0]["model"] == "kimi-k3"
    assert events(run("--sim", "--json", "-m", "MiniMax-M3", "[[say:x]]"))[0]["model"] == "MiniMax-M3"


def test_terminal_control_in_an_answer_is_shown_and_not_obeyed() -> None:
    result = run("--sim", "[[say:red \x1b[31m alert \x07]]")
    assert result.stdout == "red \\x1b[31m alert \\x07\n"


@pytest.fixture(params=["first", "later"])
def time_of_asking(request: pytest.FixtureRequest) -> None:
    """The first question makes the store; later ones are kept by the quick door."""
    if request.param == "later":
        asyncio.run(make_the_store())


async def make_the_store() -> None:
    await (await open_store()).aclose()


@pytest.mark.usefixtures("time_of_asking")
def test_an_interrupt_keeps_what_arrived() -> None:
    command = [sys.executable, "-m", "thinkwire", "ask", "--sim", "-m", "claude-opus-5-5/high"]
    process = subprocess.Popen(
        [*command, "[[think:Half.]][[say:Half an answer]][[stall:30]]"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    deadline = time.monotonic() + 60
    said = b""
    while b"answer" not in said and time.monotonic() < deadline:
        said += os.read(process.stdout.fileno(), 100)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == EXIT_INTERRUPTED
    import sqlite3

    connection = sqlite3.connect(Path(os.environ["THINKWIRE_DATA"]) / "thinkwire.db")
    rows = connection.execute(
        "select status, thinking, text from messages where role = 'assistant'"
    ).fetchall()
    connection.close()
    ((status, thinking, text),) = rows
    assert (status, thinking) == ("interrupted", "Half.")
    assert "answer" in text


@pytest.mark.usefixtures("time_of_asking")
def test_a_killed_process_leaves_what_was_shown_a_second_before() -> None:
    command = [sys.executable, "-m", "thinkwire", "ask", "--sim", "-m", "claude-opus-5-5/high"]
    process = subprocess.Popen(
        [*command, "[[think:Half.]][[say:Half an answer]][[stall:30]]"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    path = Path(os.environ["THINKWIRE_DATA"]) / "thinkwire.db"
    deadline = time.monotonic() + 60
    while "answer" not in answer_in(path) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.communicate(timeout=30)
    assert "answer" in answer_in(path)
    going_on = run("--sim", "--json", "-c", "[[say:And on.]]")
    assert going_on.exit_code == 0
    rows = kept(events(going_on)[0]["id"])
    assert [row["status"] for row in rows] == ["complete", "interrupted", "complete", "complete"]


def test_questions_that_are_asked_at_once_are_all_kept() -> None:
    command = [sys.executable, "-m", "thinkwire", "ask", "--sim", "[[say:One of many.]]"]
    for _ in range(2):  # the first time the store is made by all of them at once
        asking = [
            subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            for _ in range(3)
        ]
        for process in asking:
            said, troubles = process.communicate(timeout=60)
            assert (process.returncode, said) == (0, b"One of many.\n"), troubles
            assert b"not kept" not in troubles
    result = CliRunner().invoke(app, ["talks", "list", "--json"])
    assert len(result.stdout.splitlines()) == 6


def answer_in(path: Path) -> str:
    import sqlite3

    if not path.exists():
        return ""
    connection = sqlite3.connect(path, timeout=10)
    try:
        row = connection.execute("select text from messages where role = 'assistant'").fetchone()
    except sqlite3.OperationalError:
        row = None
    finally:
        connection.close()
    return row[0] if row else ""
