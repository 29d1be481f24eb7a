"""A pytest fixture: `from thinkwire.sim.fixture import simulator`, then `def test_it(simulator): …`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from thinkwire.sim.app import Simulator
from thinkwire.sim.server import running_simulator


class Running(NamedTuple):
    """Simulators on a socket: their address, and the application behind it."""

    url: str
    app: Simulator

    def at(self, provider: str) -> str:
        """The base address of a provider."""
        return f"{self.url}/{provider}"


@pytest.fixture(scope="session")
def simulator() -> Iterator[Running]:
    """All simulated providers on a loopback socket, for the whole session."""
    app = Simulator()
    with running_simulator(app) as url:
        yield Running(url, app)
