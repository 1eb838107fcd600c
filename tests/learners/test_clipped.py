import numpy as np
import pytest

from thalweg.errors import InvalidParameterError
from thalweg.learners import ClippedRLS, RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.types import Block

RNG = np.random.default_rng(0)
BLOCK = Block(RNG.normal(size=(200, 3)), np.clip(RNG.normal(size=200), -1, 1))


def test_is_recursive_least_squares_with_its_predictions_clipped():
    rls = RecursiveLeastSquares(0.8)
    learner = ClippedRLS(-1.0, 1.0, rls)
    state, trace = learner.run(learner.init(np.zeros(3)), SquaredError(), BLOCK)
    plain, expected = rls.run(rls.init(np.zeros(3)), SquaredError(), BLOCK)
    np.testing.assert_allclose(state.theta, plain.theta, rtol=1e-9, atol=1e-12)
    clipped = np.clip(expected.prediction, -1, 1)
    np.testing.assert_allclose(trace.prediction, clipped, rtol=1e-9, atol=1e-12)
    assert (expected.prediction != clipped).any()
    np.testing.assert_allclose(trace.loss, 0.5 * (trace.prediction - BLOCK.y) ** 2)
    assert trace.loss.sum() < expected.loss.sum()


def test_a_range_upside_down_is_refused():
    with pytest.raises(
        InvalidParameterError, match="'high' .* must be above 'low', 1.0"
    ):
        ClippedRLS(1.0, 1.0)


@pytest.mark.parametrize("bound", [1e39, 1e100])
def test_a_range_beyond_single_precision_clips_nothing(bound):
    wide, rls = ClippedRLS(-bound, bound), RecursiveLeastSquares()
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 3)), 1e14 * rng.normal(size=20)
    start = np.zeros(3, np.float32)
    _, clipped = wide.run(wide.init(start), SquaredError(), Block(x, y))
    _, plain = rls.run(rls.init(start), SquaredError(), Block(x, y))
    assert clipped.prediction.dtype == np.float32
    np.testing.assert_allclose(clipped.prediction, plain.prediction, rtol=1e-5)
