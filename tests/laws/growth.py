"""How the cost of work grows with its input, told so that load on the machine cannot fail a test.

Two costs are compared. The number of calls, of functions in C too, is the same in every run. The processor
time of this thread shows work inside one call as well, such as joining long tuples. Other processes can only
make it longer, so the least of many runs is taken, and the bound lies midway between linear and quadratic.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from types import FrameType

STEP = 4
"""How many times the input of the first work the second has."""
MOST_CALLS = 5.3
MOST_TIME = 8.0
"""Times the cost for four times the input: 2.3 and 2.8 times for twice the input, two times in a row. Linear
work is at 4, quadratic work at 16. Where data outgrows a cache of the processor, linear work is above 4 once.
"""
_ATTEMPTS = 25
_FEW = 2_000
"""Calls below which the fixed cost of the work decides."""
_ENOUGH = 0.001
"""Seconds below which an input is too small for its cost to matter or to be measured."""

Work = Callable[[], object]


def excess(single: Work, larger: Work, *, timed: bool = True) -> str | None:
    """Say what grows too fast between two works; the second has `STEP` times the input of the first."""
    single()  # what is loaded or remembered at the first run counts for neither
    calls_of_larger = _calls(larger)
    calls = calls_of_larger / max(_calls(single), 1)
    if calls > MOST_CALLS and calls_of_larger > _FEW:
        return f"{calls:.1f} times the calls"
    time_ratio = _growth_of_time(single, larger) if timed else 0.0
    return f"{time_ratio:.1f} times the time" if time_ratio > MOST_TIME else None


def _growth_of_time(single: Work, larger: Work) -> float:
    least_single = least_larger = float("inf")
    for _ in range(_ATTEMPTS):
        least_single = min(least_single, _cost(single))
        least_larger = min(least_larger, _cost(larger))
        if least_larger < _ENOUGH or least_larger <= MOST_TIME * least_single:
            return 0.0
    return least_larger / least_single


def _calls(work: Work) -> int:
    """How many functions the work calls."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def _cost(work: Work) -> float:
    collects = gc.isenabled()
    gc.disable()
    try:
        begun = time.thread_time()
        work()
        return time.thread_time() - begun
    finally:
        if collects:
            gc.enable()
