"""The simulators inside this process, started on a loopback socket when somebody first asks for them."""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from functools import cache

from thinkwire.sim.server import running_simulator


@cache
def address() -> str:
    """Where they are. They end with the process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(running_simulator())
