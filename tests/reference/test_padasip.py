"""padasip 1.2.2 (MIT): the figure of its own test suite, and the filter run live."""

import numpy as np
import padasip
import pytest

from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.types import Block


def their_stream():
    """The stream of padasip's tests/filters.py, drawn as it is drawn there."""
    np.random.seed(100)
    x = np.random.normal(0, 1, (100, 4))
    v = np.random.normal(0, 0.1, 100)
    return Block(x, 2 * x[:, 0] + 0.1 * x[:, 1] - 4 * x[:, 2] + 0.5 * x[:, 3] + v)


def test_the_sum_that_their_test_suite_states():
    block = their_stream()
    start = np.random.normal(0, 0.5, 4)  # their "random" start, next from the same seed
    learner = RecursiveLeastSquares(0.9, ridge=0.001)
    _, trace = learner.run(learner.init(start), SquaredError(), block)
    assert trace.prediction.sum() == pytest.approx(16.80842884997325, rel=1e-12)


@pytest.mark.parametrize("discount, ridge", [(0.98, 0.1), (0.9, 0.001), (1.0, 1.0)])
def test_their_filter_live(discount, ridge):
    block = their_stream()
    theirs = padasip.filters.FilterRLS(4, mu=discount, eps=ridge, w="zeros")
    predictions, _, _ = theirs.run(block.y, block.x)
    learner = RecursiveLeastSquares(discount, ridge)
    state, trace = learner.run(learner.init(np.zeros(4)), SquaredError(), block)
    np.testing.assert_allclose(trace.prediction, predictions, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(state.theta, theirs.w, rtol=1e-9)


def test_the_sum_of_their_filter_from_zero():
    learner = RecursiveLeastSquares(0.98, ridge=0.1)
    _, trace = learner.run(learner.init(np.zeros(4)), SquaredError(), their_stream())
    assert trace.prediction.sum() == pytest.approx(12.76803307317268, rel=1e-12)
