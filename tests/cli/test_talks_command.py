"""`thinkwire talks`: what is kept can be found, taken out and taken in again, and nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from thinkwire.cli.app import app

SEALED = "claude-opus-5-5/high"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def asked(text: str, *more: str) -> str:
    result = run("ask", "--sim", "--json", "-m", SEALED, *more, text)
    assert result.exit_code == 0, result.stderr
    return str(json.loads(result.stdout.splitlines()[0])["id"])


def lines(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_conversation_is_listed_found_renamed_deleted_and_restored() -> None:
    assert "Nothing yet" in run("talks", "list").stderr
    first, second = asked("[[say:About tides.]]"), asked("[[think:moon]][[say:About squares.]]")
    assert [row["id"] for row in lines(run("talks", "list", "--json"))] == [second, first]
    assert [hit["conversation_id"] for hit in lines(run("talks", "search", "tides", "--json"))] == [first] * 2
    assert run("talks", "search", "moonlight").exit_code == 1
    assert run("talks", "rename", first, "The", "sea").exit_code == 0
    assert "The sea" in run("talks", "list").stdout
    assert run("talks", "delete", first).exit_code == 0
    assert [row["id"] for row in lines(run("talks", "list", "--json"))] == [second]
    assert run("talks", "restore", first).exit_code == 0
    assert len(lines(run("talks", "list", "--json"))) == 2


def test_export_and_import_lose_nothing(tmp_path: Path) -> None:
    asked("[[think:Hm.]][[say:First.]]")
    asked("[[say:Second.]]", "-c")
    assert run("talks", "export", "last", "-o", "talk.jsonl").exit_code == 0
    (taken,) = lines(run("talks", "import", "talk.jsonl", "--json"))
    assert run("talks", "export", taken["id"], "-o", "again.jsonl").exit_code == 0
    first, again = (
        [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        for name in ("talk.jsonl", "again.jsonl")
    )
    assert [line.get("turn") for line in again] == [line.get("turn") for line in first]
    assert "signature" in (tmp_path / "again.jsonl").read_text()
    assert again[0]["model"] == SEALED
    going_on = run("ask", "--sim", "-R", "-c", taken["id"], "[[say:And on.]]")
    assert (going_on.exit_code, going_on.stdout) == (0, "And on.\n")


def test_markdown_leaves_thinking_out_unless_asked_and_seals_always(tmp_path: Path) -> None:
    asked("[[think:A secret thought.]][[say:The answer.]]")
    for thinking in (False, True):
        flags = ["--thinking"] if thinking else []
        assert run("talks", "export", "last", "-o", "talk.md", *flags).exit_code == 0
        text = (tmp_path / "talk.md").read_text()
        assert "The answer." in text
        assert text.count("A secret thought.") == (2 if thinking else 1)  # once in the question
        assert "signature" not in text


@pytest.mark.parametrize(
    "arguments", [["export", "nobody"], ["import", "no-such-file"], ["delete", "nobody"]]
)
def test_what_is_not_there_is_said(arguments: list[str]) -> None:
    result = run("talks", *arguments)
    assert result.exit_code == 1
    assert "Traceback" not in result.output
    assert arguments[1] in result.stderr
