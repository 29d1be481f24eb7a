"""Laws that hold for every dialect, as tests with drawn input."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkwire.dialects import NAMES

FULL = 20
"""How many times as many examples a law gets in `make test-full`."""


def law(check: Callable[[str, st.DataObject], None]) -> Callable[[str, str], None]:
    """Turn a check of a dialect with drawn data into a test of every registered dialect.

    It draws as many examples as the hypothesis profile says, and FULL times as many in `make test-full`.
    """
    usual = settings()
    full = settings(max_examples=FULL * usual.max_examples)
    runs = {name: how(given(data=st.data())(check)) for name, how in (("usual", usual), ("full", full))}

    @pytest.mark.parametrize("examples", ["usual", pytest.param("full", marks=pytest.mark.full)])
    @pytest.mark.parametrize("dialect", NAMES)
    def test(dialect: str, examples: str) -> None:
        runs[examples](dialect)

    return test
