"""The command line. Only what a command needs is loaded: `thinkwire --version` loads nothing."""

from __future__ import annotations

import sys

from thinkwire._version import __version__


def main() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):
        print(f"thinkwire {__version__}")
        return
    from thinkwire.cli.app import app

    if not sys.argv[1:] and sys.stdin.isatty() and sys.stdout.isatty():
        sys.argv.append("chat")
    app(prog_name="thinkwire")
