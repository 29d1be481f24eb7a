"""The tree of commands."""

from __future__ import annotations

import click

from thinkwire._version import __version__
from thinkwire.cli.explain import explain_command
from thinkwire.cli.models import models
from thinkwire.cli.sim import sim
from thinkwire.cli.tour import tour
from thinkwire.cli.wire import wire


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="thinkwire %(version)s")
def app() -> None:
    """Carries a model's reasoning across every wire, and loses none of it."""


app.add_command(explain_command)
app.add_command(models)
app.add_command(sim)
app.add_command(tour)
app.add_command(wire)
