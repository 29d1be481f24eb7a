"""`thinkwire acp`: the agent for editors that speak the Agent Client Protocol."""

from __future__ import annotations

import sys
from typing import Any

import click

from thinkwire.errors import ThinkwireError


@click.command()
@click.option("-m", "--model", metavar="MODEL[/LEVEL]", help="Which model, and how hard it thinks.")
@click.option("--effort", metavar="LEVEL", help="none, minimal, low, medium, high, xhigh, max or auto.")
@click.option("--system", metavar="TEXT", help="Instructions for the model.")
@click.option("--profile", metavar="NAME", help="Settings saved under a name.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Any other setting.")
@click.option("--no-tools", is_flag=True, help="Let the model run nothing and read no file.")
@click.option("--no-save", is_flag=True, help="Keep nothing of its conversations.")
@click.option("--sim", is_flag=True, help="Ask the strict simulators instead: no key, no network.")
def acp(*, no_tools: bool, no_save: bool, **given: Any) -> None:
    """Serve an editor over standard input and output. The editor starts this; people rarely do.

    \b
    Examples:
      thinkwire acp -m claude-opus-5-5/high
      thinkwire acp --sim
    """
    from thinkwire.cli.signals import run

    try:
        from thinkwire.terminal.acp.agent import run_acp
        from thinkwire.terminal.chat.conversations import Options
    except ModuleNotFoundError as error:
        message = f"error: this needs {error.name}: pip install 'thinkwire[acp]'"
        click.secho(message, err=True, fg="red")
        sys.exit(1)
    try:
        sys.exit(run(run_acp(Options(tools=not no_tools, save=not no_save, **given))))
    except KeyboardInterrupt:
        sys.exit(130)
    except ThinkwireError as error:
        click.secho(f"error: {error}", err=True, fg="red")
        sys.exit(1)
