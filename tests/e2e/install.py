"""Fills the folder that CLIENT_CACHE names: `python -m tests.e2e.install [NAME…]`."""

from __future__ import annotations

import subprocess
import sys

from tests.e2e.agents import AGENTS
from tests.e2e.libraries import LIBRARIES
from tests.e2e.programs import cache, install


def main(names: list[str]) -> int:
    """Installs all clients, or those of these names; how many of them would not."""
    folder = cache()
    if folder is None:
        raise SystemExit("set CLIENT_CACHE to the folder for the clients")
    failed = 0
    for program in [*AGENTS, *LIBRARIES]:
        if names and program.name not in names:
            continue
        print(f"{program.name} {program.version}", flush=True)
        try:
            install(program, folder)
        except (OSError, subprocess.CalledProcessError) as error:
            failed += 1
            print(f"  not installed: {error}", file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
