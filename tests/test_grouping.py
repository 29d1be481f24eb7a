"""`for_each` runs every case of a group and reports all that fail."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

TESTS = """
import pytest
from tests.grouping import for_each

@for_each("number", [1, 2, 3, 4], group=lambda number: "odd" if number % 2 else "even")
def test_small(number):
    assert number < 3

@for_each("left, right", [(1, 1), (2, 2)])
def test_pairs(left, right, tmp_path):
    assert left == right
    assert tmp_path.is_dir()

@for_each("number", [])
def test_empty(number):
    pass

@for_each("number", [1])
def test_skips(number):
    pytest.skip("never")

@for_each("number", [1, 2])
@pytest.mark.anyio
async def test_async(number):
    assert number == 1

@for_each("number", [pytest.param(1, id="marked", marks=pytest.mark.skip(reason="missing part")), 2])
def test_marked(number):
    assert number == 2
"""


def test_every_failing_case_of_a_group_is_reported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    pytester.makeconftest("import pytest\n@pytest.fixture\ndef anyio_backend(): return 'asyncio'")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-v")
    result.assert_outcomes(failed=4, passed=2, skipped=2)
    result.stdout.fnmatch_lines_random(
        [
            "*::test_small?odd? FAILED*",
            "*::test_small?even? FAILED*",
            "*::test_pairs?all? PASSED*",
            "*::test_skips?all? FAILED*",
            "*::test_async?all? FAILED*",
            "*::test_marked?all? PASSED*",
            "*::test_marked?marked? SKIPPED*",
        ]
    )
    text = result.stdout.str()
    failures = text.partition("short test summary")[0]
    assert failures.count("1 of 2 cases failed") == 3
    assert "assert 3 < 3" in text
    assert "assert 4 < 3" in text
