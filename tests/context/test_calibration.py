"""Calibration: learns from what providers report, and is not led astray by one of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkwire.context import Calibration
from thinkwire.errors import MalformedInput

reports = st.lists(st.tuples(st.integers(-5, 10**7), st.none() | st.integers(-5, 10**7)), max_size=30)


def taught(*reports: tuple[int, int | None]) -> Calibration:
    calibration = Calibration()
    for estimated, reported in reports:
        calibration = calibration.learned("p", "m", estimated, reported)
    return calibration


def test_a_model_that_nothing_was_reported_of_is_not_corrected() -> None:
    assert Calibration().corrected("p", "m", 1234) == 1234


@given(st.floats(0.5, 2.5))
def test_steady_reports_are_learnt(ratio: float) -> None:
    calibration = taught(*[(10_000, int(10_000 * ratio))] * 40)
    assert calibration.corrected("p", "m", 10_000) == pytest.approx(10_000 * ratio, rel=0.02)


def test_one_odd_report_among_many_moves_little() -> None:
    steady = [(1000, 1200)] * 20
    assert taught(*steady, (1000, 900_000)).factor("p", "m") == pytest.approx(1.2, rel=0.1)


@given(reports)
def test_factors_stay_within_bounds_whatever_is_reported(reports: list[tuple[int, int | None]]) -> None:
    assert 0.33 <= taught(*reports).factor("p", "m") <= 3


@pytest.mark.parametrize("reported", [None, 0, -3, 199])
def test_unknown_and_tiny_usage_teaches_nothing(reported: int | None) -> None:
    assert taught((1000, reported)) == Calibration()


def test_models_are_learnt_apart() -> None:
    calibration = taught((1000, 2000)).learned("p", "other", 1000, 500)
    assert calibration.factor("p", "m") > 1 > calibration.factor("p", "other")
    assert calibration.factor("q", "m") == 1


def test_learning_leaves_the_value_as_it_was() -> None:
    before = taught((1000, 1500))
    before.learned("p", "m", 1000, 3000)
    assert before == taught((1000, 1500))


def test_the_models_that_were_not_used_for_longest_are_forgotten() -> None:
    calibration = Calibration()
    for number in range(600):
        calibration = calibration.learned("p", f"m{number}", 1000, 1500)
    assert len(calibration.models) == 500
    assert calibration.factor("p", "m0") == 1
    assert calibration.factor("p", "m599") > 1


@given(reports)
def test_a_calibration_survives_its_file(reports: list[tuple[int, int | None]]) -> None:
    calibration = taught(*reports)
    assert Calibration.from_json(calibration.to_json()) == calibration


@pytest.mark.parametrize("data", [b"", b"[]", b'{"models":{"p/m":{"factor":900}}}', b'{"models":3}', b"\xff"])
def test_a_damaged_file_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(MalformedInput, match="token calibration"):
        Calibration.from_json(data)
