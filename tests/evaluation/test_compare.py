"""Comparison of any learners on the same rounds."""

import numpy as np
import pytest

from thalweg import Block, RecursiveLeastSquares, Tracker
from thalweg.errors import InvalidParameterError
from thalweg.evaluation import compare, prequential

T = 200
RNG = np.random.default_rng(4)
X = RNG.normal(size=(T, 2))
Y = np.where(np.arange(T) < T // 2, 1.0, -1.0) * X[:, 0] + 0.1 * RNG.normal(size=T)
BLOCK = Block(X, Y)
LEARNERS = {
    "remembers": RecursiveLeastSquares(1.0),
    "forgets": RecursiveLeastSquares(0.95),
    "diverges": lambda block, delay: np.full(len(block), np.nan),
    "tracks": Tracker(),
}


@pytest.mark.parametrize("delay", [0, 3])
def test_each_result_is_that_of_prequential_and_the_least_error_comes_first(delay):
    comparison = compare(LEARNERS, BLOCK, delay=delay, burn_in=20)
    for name, learner in LEARNERS.items():
        alone = prequential(learner, BLOCK, delay=delay, burn_in=20, name=name)
        np.testing.assert_array_equal(comparison[name].prediction, alone.prediction)
        assert str(comparison[name]) == str(alone)
    errors = [result.squared for result in comparison.results]
    assert errors[:-1] == sorted(errors[:-1])
    assert comparison.results[-1].name == "diverges"
    assert comparison.best is comparison.results[0]
    assert comparison["forgets"].squared < comparison["remembers"].squared


def test_a_comparison_prints_as_a_table_with_simple_baselines():
    lines = str(compare(LEARNERS, BLOCK)).splitlines()
    assert lines[0].split("  ")[0] == "learner"
    assert len(lines) == 1 + len(LEARNERS) + 3
    assert lines[-3].split()[:3] == ["persistence", "1.000", "1.000"]
    assert lines[-2].startswith("drift")
    assert lines[-1] == "199 rounds scored"
    assert len({len(line) for line in lines[:-1]}) == 1


def test_no_learner_and_an_unknown_name_are_refused():
    with pytest.raises(InvalidParameterError, match="at least one learner"):
        compare({}, BLOCK)
    with pytest.raises(InvalidParameterError, match="Got 'nobody' instead"):
        compare({"a": Tracker()}, BLOCK)["nobody"]


def test_learners_without_names_and_a_class_are_refused_by_name():
    rls = RecursiveLeastSquares()
    with pytest.raises(InvalidParameterError, match="must be a dict of at least one"):
        compare([rls], BLOCK)
    with pytest.raises(InvalidParameterError, match=r"RecursiveLeastSquares\(\)"):
        compare({"class": RecursiveLeastSquares}, BLOCK)
