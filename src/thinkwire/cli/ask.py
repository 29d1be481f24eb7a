"""`thinkwire ask`: one question, one answer, on a conversation that is kept."""

from __future__ import annotations

import gc
import re
import sys
from pathlib import Path
from typing import Any

import click

EXIT: dict[str, int] = {"complete": 0, "failed": 1, "lost": 4, "interrupted": 130}
NO_KEY = 3
LAST = "last"
ID = re.compile(r"[0-9a-hjkmnp-tv-z]{26}")


@click.command()
@click.argument("prompt", nargs=-1)
@click.option("-m", "--model", metavar="MODEL[/LEVEL]", help="Which model, and how hard it thinks.")
@click.option("--effort", metavar="LEVEL", help="none, minimal, low, medium, high, xhigh, max or auto.")
@click.option("--thinking-budget", type=int, metavar="N", help="Tokens; 0 is off, -1 lets the model decide.")
@click.option("--system", metavar="TEXT", help="Instructions for the model.")
@click.option("--profile", metavar="NAME", help="Settings saved under a name.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Any other setting.")
@click.option("-a", "--attach", multiple=True, type=click.Path(exists=True, dir_okay=False), help="A file.")
@click.option("--tool", "tools", multiple=True, metavar="NAME", help="A tool it may use; * stands for all.")
@click.option(
    "--mcp", metavar="FILE", type=click.Path(exists=True), help="MCP servers, as `mcpServers` JSON."
)
@click.option("--yes", is_flag=True, help="Run tools without asking.")
@click.option(
    "-c",
    "--continue",
    "going_on",
    is_flag=False,
    flag_value=LAST,
    metavar="[ID]",
    help="Go on with the last one, or this.",
)
@click.option("--no-save", is_flag=True, help="Keep nothing of this conversation.")
@click.option("-R", "--hide-thinking", is_flag=True, help="Show the answer only.")
@click.option("--json", "as_json", is_flag=True, help="Every event as a line of JSON.")
@click.option("--sim", is_flag=True, help="Ask the strict simulators instead: no key, no network.")
def ask(*, prompt: tuple[str, ...], **options: Any) -> None:
    """Ask a model. The answer goes to standard output, its thinking to standard error.

    Piped input is the question, or goes along with it as a file. Exit codes: 0 answered, 1 failed, 2 wrong
    use, 3 no key or a refused one, 4 only thinking came and no answer, 130 interrupted.

    \b
    Examples:
      thinkwire ask "Why is the sky blue?"
      thinkwire ask -m claude-opus-5-5/high "Is 2^61-1 prime?"
      git diff | thinkwire ask -R "Write a commit message" > message.txt
      thinkwire ask --tool read_file --tool search_text "Where is the retry rule?"
      thinkwire ask -c "And why?"
      thinkwire ask --sim "Show me how it looks"
    """
    # What is loaded stays to the end; to look for garbage in it takes a sixth of the time that all takes.
    gc.disable()
    from thinkwire.cli.ask_run import Question, answer
    from thinkwire.cli.printer import failed
    from thinkwire.cli.signals import run
    from thinkwire.errors import MissingKey, ProviderError, ThinkwireError

    gc.freeze()
    gc.enable()
    going_on = options["going_on"]
    if going_on is not None and going_on != LAST and not ID.fullmatch(going_on):
        # `-c` takes an id if one follows; anything else is the question, about the last conversation.
        prompt, options["going_on"] = (going_on, *prompt), LAST
    text, piped = _said(" ".join(prompt))
    if not text and not piped and not options["attach"] and options["going_on"] is None:
        raise click.UsageError('ask what? thinkwire ask "your question", or pipe it in')
    question = Question(text, piped, tuple(Path(path) for path in options.pop("attach")), **options)
    try:
        ending = run(answer(question))
    except KeyboardInterrupt:
        sys.exit(EXIT["interrupted"])
    except ThinkwireError as error:
        words = failed(error.failure) if isinstance(error, ProviderError) else str(error)
        click.secho(f"error: {words}", err=True, fg="red")
        sys.exit(NO_KEY if isinstance(error, MissingKey) or error.advice == "fix_key" else 1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    sys.exit(ending)


def _said(prompt: str) -> tuple[str, bytes]:
    """The question and what was piped in beside it; piped text alone is the question."""
    piped = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read()
    if prompt or not piped:
        return prompt, piped
    try:
        return piped.decode("utf-8"), b""
    except UnicodeDecodeError:
        return "", piped
