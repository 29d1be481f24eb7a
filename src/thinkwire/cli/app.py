"""The tree of commands. A command's module is loaded when it is called, or when help lists them all."""

from __future__ import annotations

from importlib import import_module

import click

from thinkwire._version import __version__

COMMANDS = {
    "acp": "thinkwire.cli.acp:acp",
    "ask": "thinkwire.cli.ask:ask",
    "chat": "thinkwire.cli.chat:chat",
    "config": "thinkwire.cli.config:config",
    "convert": "thinkwire.cli.transcripts:convert",
    "db": "thinkwire.cli.db:db",
    "doctor": "thinkwire.cli.doctor:doctor",
    "explain": "thinkwire.cli.explain:explain_command",
    "keys": "thinkwire.cli.keys:keys",
    "ledger": "thinkwire.cli.ledger:ledger",
    "models": "thinkwire.cli.models:models",
    "profile": "thinkwire.cli.profile:profile",
    "serve": "thinkwire.cli.serve:serve",
    "sim": "thinkwire.cli.sim:sim",
    "talks": "thinkwire.cli.conversations:talks",
    "tour": "thinkwire.cli.tour:tour",
    "users": "thinkwire.cli.users:users",
    "wire": "thinkwire.cli.wire:wire",
}


class Commands(click.Group):
    """A group that knows its commands by name and loads one when it is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="thinkwire %(version)s")
def app() -> None:
    """Carries a model's reasoning across every wire, and loses none of it."""
