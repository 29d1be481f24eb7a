"""`thinkwire chat --plain`: lines in, lines out, as a program in a pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CHECK = """
import atexit, sys
atexit.register(lambda: print("HEAVY" if "textual" in sys.modules else "LIGHT"))
"""
PROGRAM = "from thinkwire.cli.chat import chat; chat()"


def chat(*args: str, lines: str, code: str = PROGRAM, **variables: str) -> subprocess.CompletedProcess[str]:
    names = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")
    given = {name: value for name, value in os.environ.items() if name not in names} | variables
    command = [sys.executable, "-c", code, *args]
    return subprocess.run(command, input=lines, capture_output=True, text=True, timeout=60, env=given)


def test_a_conversation_by_lines_without_loading_a_screen_and_on_with_it(tmp_path: Path) -> None:
    lines = (
        "[[think:First\\\nthen more.]] [[say:Hello.]]\n"
        "/model gemini-2.5-pro/high\n"
        "/effort wild\n"
        '[[call:run_command {"command":"touch made"}]] [[say:As you like.]]\n'
        "/thinking hide\n"
        "[[think:Unseen.]] [[say:Visible.]]\n"
        "/cost\n"
        "/resume\n"
        "/quit\n"
        "never read\n"
    )
    done = chat("--sim", "--plain", "-m", "claude-opus-5-5/high", lines=lines, code=CHECK + PROGRAM)
    assert done.returncode == 0, done.stderr
    out = done.stdout
    assert "SIMULATED: no model is asked" in out
    assert "│ First\n│ then more.\nHello.\n" in out
    assert "✓ Switched to Google gemini-2.5-pro\n  Thinking: high (32,768 tokens)\n" in out
    assert "there is no level 'wild'" in out
    assert "✗ The user refused this call." in out
    assert "│ Unseen." not in out
    assert "together: 4 answers" in out
    assert "never read" not in out
    assert out.rstrip().endswith("LIGHT")
    assert "Traceback" not in done.stderr

    again = chat("--sim", "--plain", "-c", lines="[[say:Again.]]\n/cost\n[[fail:400]]\n")
    assert "gemini-2.5-pro/high answers" in again.stdout
    assert "together: 5 answers" in again.stdout
    assert "✗ google: " in again.stdout
    assert "/retry asks again" in again.stdout
    assert again.returncode == 1


def test_without_a_key_it_says_which_to_set() -> None:
    keyless = chat("--plain", lines="Hello\n", THINKWIRE_CONFIG="nowhere")
    assert keyless.returncode == 3
    assert "ANTHROPIC_API_KEY" in keyless.stderr
    assert "Traceback" not in keyless.stderr
