"""Whatever JSON a request holds, a simulated vendor answers it or refuses it in the vendor's words."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz.budget import EXAMPLES
from tests.sim.odd_requests import Request, check, requests
from thinkwire.sim.app import Simulator

pytestmark = pytest.mark.full
APP = Simulator()


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), report_multiple_bugs=True)
@given(requests())
def test_no_request_breaks_a_simulator(request: Request) -> None:
    check(APP, request)
