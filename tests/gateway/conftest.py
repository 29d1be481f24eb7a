"""One simulator and one gateway for all tests of a module that need nothing special."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.gateway.gateways import Served, running_gateway
from thinkwire.providers import default_providers
from thinkwire.sim.fixture import Running, simulator

__all__ = ["simulator"]


@pytest.fixture(scope="module")
def served(simulator: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    bases = {name: simulator.at(name) for name in default_providers()}
    with running_gateway(tmp_path_factory.mktemp("gateway"), bases) as gateway:
        yield gateway
