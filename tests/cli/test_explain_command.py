"""`thinkwire explain` and `thinkwire models`, as the commands that people type."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def run(*args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "thinkwire", *args], input=stdin, capture_output=True, timeout=60
    )


def ok(*args: str, stdin: bytes = b"") -> str:
    done = run(*args, stdin=stdin)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def refused(*args: str) -> str:
    done = run(*args)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    message: str = json.loads(done.stderr)["error"]["message"]
    return message


def test_the_json_form_has_everything_a_program_needs() -> None:
    shown = json.loads(ok("explain", "gemini-3-pro/none", "--json"))
    assert shown["provider"] == "google"
    assert shown["dialect"] == "gemini"
    assert shown["endpoint"].endswith("/v1beta/models/gemini-3-pro:generateContent")
    assert shown["requested"] == {"level": "none", "said": "/none"}
    assert shown["effective"] == {"on": True, "effort": "LOW"}
    assert shown["outcome"] == "adjusted"
    assert [note["code"] for note in shown["notes"]] == ["reasoning.minimum"]
    assert shown["body"]["generationConfig"]["thinkingConfig"]["thinkingLevel"] == "LOW"
    assert shown["feedback"][-1] == "  Thinking: LOW level (minimum)"


def test_the_page_shows_plan_body_and_changes() -> None:
    page = ok("explain", "claude-sonnet-4-5/med", "--max-tokens", "8000")
    assert page.startswith("✓ Switched to Anthropic claude-sonnet-4-5\n  Thinking: medium (43,008 tokens)\n")
    assert '+   "thinking": {' in page
    assert "max_tokens: 8000 → 51008" in page
    assert "\x1b[" not in page


def test_a_real_request_is_translated_with_a_loss_report() -> None:
    body = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 32_000,
        "thinking": {"type": "enabled", "budget_tokens": 16_000},
        "metadata": {"user_id": "u"},
        "messages": [{"role": "user", "content": "hi"}],
    }
    args = ("explain", "kimi-k3", "--request", "-", "--from", "anthropic", "--json")
    shown = json.loads(ok(*args, stdin=json.dumps(body).encode()))
    assert shown["body"]["model"] == "kimi-k3"
    assert shown["body"]["reasoning_effort"] == "high"
    assert "thinking" not in shown["body"]
    codes = [note["code"] for note in shown["notes"]]
    assert "field.dropped" in codes
    assert "reasoning.adjusted" in codes
    assert {"path": "reasoning_effort", "before": None, "after": "high"} in shown["diff"]


def test_the_matrix_covers_every_model() -> None:
    rows = [json.loads(line) for line in ok("explain", "--all", "--level", "high", "--json").splitlines()]
    assert len(rows) == len(ok("models").splitlines()) - 1
    assert all(row["outcome"] for row in rows)
    assert len(ok("explain", "--all").splitlines()) == len(rows)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("explain",), "which model?"),
        (("explain", "--all", "--level", "hard"), "no level 'hard'; there are none, minimal"),
        (("explain", "o3", "--request", "x.json"), "--request needs --from"),
        (("models", "no-such-model"), "nobody knows 'no-such-model'"),
        (("models", "--provider", "nobody"), "no provider 'nobody'; there are anthropic"),
        (("models", "--models", "no-such-file.toml"), "there is no table of models at no-such-file.toml"),
    ],
)
def test_errors_say_what_to_type_instead(args: tuple[str, ...], message: str) -> None:
    assert message in refused(*args)


OVERLAY = """
[base]
provider = "openai"
maker = "Me"
dialect = "openai-chat"
shape = "reasoning_effort"
source = "my own tests"
checked = 2026-11-16

[[model]]
ids = ["my-model", "gpt-4o"]
mechanism = "effort"
efforts = ["low", "high"]
"""


def test_an_own_table_adds_and_overrides(tmp_path: Path) -> None:
    table = tmp_path / "models.toml"
    table.write_text(OVERLAY)
    for model in ("my-model", "gpt-4o"):
        shown: dict[str, Any] = json.loads(ok("explain", f"{model}/med", "--models", str(table), "--json"))
        assert shown["body"]["reasoning_effort"] == "high"


BROKEN = {
    'efforts = ["low", "high"]': ("efforts = 3", "line 13"),
    'mechanism = "effort"': ('mechanism = "effrt"', "line 12"),
    'shape = "reasoning_effort"': ("shape = ", "line 6"),
    "ids = [": ("names = [", "line 10"),
    "[[model]]": ("[[modle]]", "line 10"),
    'source = "my own tests"\n': ("", "source"),
}


@pytest.mark.parametrize("good", BROKEN)
def test_a_broken_table_is_refused_with_file_line_and_reason(tmp_path: Path, good: str) -> None:
    bad, place = BROKEN[good]
    table = tmp_path / "models.toml"
    table.write_text(OVERLAY.replace(good, bad))
    message = refused("models", "--models", str(table))
    assert "models.toml" in message
    assert place in message


def test_one_model_is_shown_with_its_source() -> None:
    shown = ok("models", "claude-sonnet-4-5-20250929")
    assert "matched     dated" in shown
    assert "source " in shown
    assert json.loads(ok("models", "o3", "--json"))["mechanism"] == "effort"
