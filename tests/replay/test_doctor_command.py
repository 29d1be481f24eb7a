"""`thinkwire doctor` and `thinkwire convert`, as people use them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.replay.test_doctor import half_the_results, no_seals, talk
from tests.transcripts.samples import CLAUDE_CODE, CODEX, COMPACTED, lines
from thinkwire.cli.doctor import EVERYBODY, doctor
from thinkwire.cli.transcripts import convert
from thinkwire.messages import Conversation, Origin, Text, Thinking, ToolCall, Turn
from thinkwire.transcripts import read_transcript

CLAUDE = "claude-opus-5-5/high"
BODY = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 9000,
    "system": "Be brief.",
    "thinking": {"type": "enabled", "budget_tokens": 2000},
    "messages": [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": ""},
                {"type": "tool_use", "id": "functions.x:0", "name": "x", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "functions.x:0", "content": "7"}],
        },
    ],
}


def run(*args: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(doctor, args, input=stdin, catch_exceptions=False)


def converted(*args: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(convert, args, input=stdin, catch_exceptions=False)


def saved(folder: Path, name: str, data: bytes) -> str:
    path = folder / name
    path.write_bytes(data)
    return str(path)


def test_a_sound_conversation_ends_with_0(tmp_path: Path) -> None:
    done = run(saved(tmp_path, "talk.json", talk(CLAUDE).to_json()))
    assert (done.exit_code, done.stdout) == (0, "anthropic/claude-opus-5-5: nothing is wrong\n")


def test_what_would_be_refused_is_shown_in_a_table_and_ends_with_1(tmp_path: Path) -> None:
    broken = Conversation(turns=half_the_results(talk(CLAUDE).turns))
    done = run(saved(tmp_path, "talk.json", broken.to_json()))
    assert done.exit_code == 1
    first, head, row, last = (" ".join(line.split()) for line in done.stdout.splitlines())
    assert first == "anthropic/claude-opus-5-5: 1 would be refused, 1 lost"
    assert head == "turn block how bad what mend"
    assert row == ("3 2 refused call.unanswered: the call of get_time has no result it gets one that says so")
    assert last.startswith("5 lost prefix.broken:")


def test_the_machines_form_names_every_finding(tmp_path: Path) -> None:
    done = run("-", "--json", stdin=json.dumps(BODY).encode())
    told = json.loads(done.stdout)
    assert (told["format"], told["model"]) == ("anthropic", "anthropic/claude-sonnet-4-5")
    assert {finding["code"] for finding in told["findings"]} == {"thinking.unsigned", "call.illegal_id"}
    assert all(finding["severity"] == "refused" for finding in told["findings"])


def test_a_mended_request_is_in_the_same_language(tmp_path: Path) -> None:
    source = saved(tmp_path, "body.json", json.dumps(BODY).encode())
    target = tmp_path / "mended.json"
    done = run(source, "--fix", "-o", str(target))
    assert done.exit_code == 0
    assert json.loads(Path(source).read_text()) == BODY, "the input is left as it is"
    mended = json.loads(target.read_text())
    assert mended["thinking"] == {"type": "disabled"}, "the loop began without thinking"
    assert [block["type"] for block in mended["messages"][1]["content"]] == ["tool_use"]
    assert run(str(target)).exit_code == 0


def test_a_mended_conversation_keeps_everybodys_thinking(tmp_path: Path) -> None:
    gemini = talk("gemini-3.8-flash/high").turns
    turns = (*half_the_results(gemini), *talk(CLAUDE).turns)
    source = saved(tmp_path, "talk.json", Conversation(turns=turns).to_json())
    done = run(source, "--model", "gpt-5.6-terra", "--fix")
    kept = Conversation.from_json(done.stdout)
    thoughts = [b for turn in turns for b in turn.blocks if isinstance(b, Thinking)]
    assert [b for turn in kept.turns for b in turn.blocks if isinstance(b, Thinking)] == thoughts
    again = run("-", "--model", "gpt-5.6-terra", "--json", stdin=done.stdout.encode())
    assert {f["severity"] for f in json.loads(again.stdout)["findings"]} <= {"odd"}
    assert "lost: no, dormant" in again.stdout


def test_without_a_model_everybody_is_asked() -> None:
    call = Turn("assistant", (ToolCall("a.b", "x"),))
    done = run("-", stdin=Conversation(turns=(Turn("user", (Text("Hi"),)), call)).to_json())
    assert done.exit_code == 1
    assert all(name in done.stdout for name in EVERYBODY)


def test_a_transcript_of_another_program_is_examined_for_its_own_model(tmp_path: Path) -> None:
    done = run(saved(tmp_path, "s.jsonl", lines(*CLAUDE_CODE)))
    assert (done.exit_code, done.stdout) == (0, "anthropic/claude-opus-5-5: nothing is wrong\n")
    assert "4 lines" not in done.stderr
    assert "1 sidechain" in done.stderr
    assert run(saved(tmp_path, "r.jsonl", lines(*CODEX))).stdout.startswith("openai/gpt-5.6-terra: nothing")


def test_control_characters_of_a_file_do_not_reach_the_screen() -> None:
    call = Turn("assistant", (ToolCall("id", "x\x1b[2J"),), origin=Origin("openai", None, "gpt-5.6-terra"))
    done = run("-", stdin=Conversation(turns=(Turn("user", (Text("Hi"),)), call)).to_json())
    assert "\x1b" not in done.stdout


def test_seals_are_never_shown() -> None:
    turns = talk(CLAUDE).turns
    seals = [b.seal.data for turn in turns for b in turn.blocks if isinstance(b, Thinking) and b.seal]
    for model in EVERYBODY:
        done = run("-", "--model", model, "--json", stdin=Conversation(turns=turns).to_json())
        assert not any(seal[:20] in done.output for seal in seals)


@pytest.mark.parametrize(
    ("args", "stdin", "words"),
    [
        (("-",), b"what?", "not JSON"),
        (("-",), b"", "is empty"),
        (("/nowhere/at/all",), b"", "cannot read"),
        (("-", "--model", "no-such-model"), Conversation().to_json(), "PROVIDER/MODEL"),
    ],
)
def test_what_cannot_be_done_is_said(args: tuple[str, ...], stdin: bytes, words: str) -> None:
    done = run(*args, stdin=stdin)
    assert done.exit_code == 1
    assert words in json.loads(done.stderr)["error"]["message"]


def test_a_copy_without_a_fix_is_a_mistake_of_usage() -> None:
    assert run("-", "-o", "x").exit_code == 2


def test_a_request_is_not_written_in_a_language_its_provider_does_not_speak() -> None:
    done = run("-", "--model", "gemini-3.8-flash", "--fix", stdin=json.dumps(BODY).encode())
    assert done.exit_code == 1
    assert "wire convert" in done.stderr


def test_a_transcript_becomes_markdown_lines_and_our_file(tmp_path: Path) -> None:
    source = saved(tmp_path, "s.jsonl", lines(*COMPACTED))
    page, ours, file = (tmp_path / name for name in ("s.md", "ours.jsonl", "s.json"))
    for out in (page, ours, file):
        assert converted(source, "-o", str(out)).exit_code == 0
    assert page.read_text().startswith("# Weather of two cities\n")
    assert "Two at once." not in converted(str(ours), "--to", "markdown").stdout
    read = read_transcript(lines(*COMPACTED))
    assert read_transcript(file.read_bytes()).conversation == read.conversation
    archives = read_transcript(ours.read_bytes()).archives
    assert [archive.header.title for archive in archives] == ["Weather of two cities"] * 2
    assert converted(str(ours), "--to", "jsonl").stdout_bytes == ours.read_bytes()
    assert "earlier" in converted(source, "--to", "json").stderr


def test_thinking_is_in_markdown_when_asked_for() -> None:
    done = converted("-", "--to", "markdown", "--thinking", stdin=lines(*CLAUDE_CODE))
    assert "> Two at once." in done.stdout
    assert "c2lnbmVk" not in done.stdout


def test_the_input_is_not_overwritten_by_a_conversion(tmp_path: Path) -> None:
    source = saved(tmp_path, "s.jsonl", lines(*CODEX))
    done = converted(source, "-o", source)
    assert done.exit_code == 1
    assert Path(source).read_bytes() == lines(*CODEX)


def test_thinking_without_its_signature_is_found_in_a_file() -> None:
    done = run("-", stdin=Conversation(turns=no_seals(talk(CLAUDE).turns)).to_json())
    assert done.exit_code == 1
    assert done.stdout.count("thinking.unsigned") == 3
