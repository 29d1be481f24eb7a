"""`thinkwire chat`, and `thinkwire` alone: a chat in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from thinkwire.errors import ConfigError, MissingKey, ThinkwireError

if TYPE_CHECKING:
    from thinkwire.terminal.chat.conversations import ConversationManager

NO_KEY = 3


@click.command()
@click.option("-m", "--model", metavar="MODEL[/LEVEL]", help="Which model, and how hard it thinks.")
@click.option("--effort", metavar="LEVEL", help="none, minimal, low, medium, high, xhigh, max or auto.")
@click.option("--thinking-budget", type=int, metavar="N", help="Tokens; 0 is off, -1 lets the model decide.")
@click.option("--system", metavar="TEXT", help="Instructions for the model.")
@click.option("--profile", metavar="NAME", help="Settings saved under a name.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Any other setting.")
@click.option(
    "-c",
    "--continue",
    "going_on",
    is_flag=False,
    flag_value="",
    metavar="[ID]",
    help="Go on with the last one, or this.",
)
@click.option("--no-tools", is_flag=True, help="Let the model run nothing and read no file.")
@click.option(
    "--mcp",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="MCP servers, as `mcpServers` JSON.",
)
@click.option("--yes", is_flag=True, help="Run tools without asking.")
@click.option("--no-save", is_flag=True, help="Keep nothing of this conversation.")
@click.option("-R", "--hide-thinking", is_flag=True, help="Do not show thinking; Alt+T brings it back.")
@click.option("--sim", is_flag=True, help="Ask the strict simulators instead: no key, no network.")
@click.option("--plain", is_flag=True, help="Lines instead of a screen, for pipes and slow terminals.")
@click.option(
    "--theme",
    envvar="THINKWIRE_THEME",
    type=click.Choice(["dark", "light", "high-contrast"]),
    help="This time; /theme remembers one. Also $THINKWIRE_THEME.",
)
@click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal.")
def chat(*, plain: bool, no_mouse: bool, **given: Any) -> None:
    """Chat with a model and see it think. Without a terminal, lines go in and out.

    \b
    Examples:
      thinkwire
      thinkwire chat -m claude-opus-5-5/high
      thinkwire chat --sim
      thinkwire chat -c
      echo "Why is the sky blue?" | thinkwire chat --plain --sim
    """
    from thinkwire.cli.signals import run

    plain = plain or not (sys.stdin.isatty() and sys.stdout.isatty())
    try:
        ending = run(_run(given, plain=plain, mouse=not no_mouse))
    except KeyboardInterrupt:
        sys.exit(130)
    except ThinkwireError as error:
        click.secho(f"error: {error}", err=True, fg="red")
        sys.exit(NO_KEY if isinstance(error, MissingKey) else 1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    sys.exit(ending)


async def _run(given: dict[str, Any], *, plain: bool, mouse: bool) -> int:
    def desk() -> ConversationManager:
        from thinkwire.terminal.chat.conversations import ConversationManager, Options

        return ConversationManager(
            Options(tools=not given.pop("no_tools"), save=not given.pop("no_save"), **given)
        )

    if plain:
        from thinkwire.terminal.plain_chat import run_plain

        return await run_plain(desk())
    try:
        from thinkwire.terminal.app import run_chat
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the chat needs {error.name}: pip install 'thinkwire[tui]', or use --plain"
        ) from None
    return await run_chat(desk, theme=given["theme"], mouse=mouse)
