"""Every check of River, on every estimator."""

import pytest

pytest.importorskip("river")

from river import checks

from thalweg.integrations import river as estimators

ESTIMATORS = [
    getattr(estimators, name)(**settings)
    for name in estimators.__all__
    for settings in getattr(estimators, name)._unit_test_params()
]
LONG = "check_bounded_memory_growth"
"""A check of two seconds; in the fast tier one estimator takes it."""


def marks_of(estimator, check):
    is_slow = check.__name__ == LONG and estimator is not ESTIMATORS[0]
    return [pytest.mark.slow] if is_slow else []


CHECKS = [
    pytest.param(
        estimator, check, id=f"{type(estimator).__name__}-{check.__name__}",
        marks=marks_of(estimator, check),
    )
    for estimator in ESTIMATORS
    for check in checks.yield_checks(estimator)
]  # fmt: skip


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_an_estimator_passes_a_check_of_river(estimator, check):
    check(estimator.clone())


def test_no_check_is_left_out():
    assert len(ESTIMATORS) == 9
    assert not any(estimator._unit_test_skips() for estimator in ESTIMATORS)
