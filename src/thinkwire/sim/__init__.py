"""Strict simulated providers: they answer like the real ones, and refuse like them.

    from thinkwire.sim import Simulator, running_simulator, simulator   # the last is a pytest fixture

The names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thinkwire.sim.app import Simulator
    from thinkwire.sim.chaos import Chaos
    from thinkwire.sim.fixture import simulator
    from thinkwire.sim.server import running_simulator, serving

__all__ = ["Chaos", "Simulator", "running_simulator", "serving", "simulator"]

_HOME = {
    "Chaos": "chaos",
    "Simulator": "app",
    "running_simulator": "server",
    "serving": "server",
    "simulator": "fixture",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'thinkwire.sim' has no attribute {name!r}")
    return getattr(import_module(f"thinkwire.sim.{_HOME[name]}"), name)
