import numpy as np
import pytest

from thalweg.errors import UnsupportedLossError
from thalweg.learners.last_value import LastValue
from thalweg.losses import Huber, SquaredError, Tracking
from thalweg.types import Block


@pytest.mark.parametrize("targets", [(), (2,)])
def test_the_prediction_is_the_last_y_and_zero_before_the_first(targets):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 3)), rng.normal(size=(50, *targets))
    y[10], y[20:30] = 1e150, 0
    learner = LastValue()
    state = learner.init(np.ones((3, *targets)))
    state, trace = learner.run(state, SquaredError(), Block(x, y))
    expected = np.concatenate([np.zeros((1, *targets)), y[:-1]])
    np.testing.assert_array_equal(trace.prediction, expected)
    np.testing.assert_array_equal(state.last, y[-1])


def test_the_loss_is_that_of_the_prediction():
    rng = np.random.default_rng(0)
    x, y, weight = rng.normal(size=(50, 3)), rng.normal(size=50), rng.uniform(1, 2, 50)
    learner, loss = LastValue(), Huber(width=0.7)
    _, trace = learner.run(learner.init(np.ones(3)), loss, Block(x, y, weight))
    expected = weight * loss.phi(np.append(0, y[:-1]), y)
    np.testing.assert_allclose(trace.loss, expected, rtol=1e-15)


def test_a_round_of_weight_zero_is_not_seen():
    block = Block(np.ones((4, 1)), np.array([5.0, 7.0, 0.0, 9.0]), [1.0, 1.0, 0.0, 1.0])
    learner = LastValue()
    state = learner.init(np.zeros(1))
    state, trace = learner.run(state, SquaredError(), block)
    np.testing.assert_array_equal(trace.prediction, [0, 5, 7, 7])
    assert state.last == 9


def test_the_state_does_not_change_with_the_callers_array():
    y = np.ones((3, 2))
    learner = LastValue()
    state = learner.init(np.zeros((1, 2)))
    state, _ = learner.run(state, SquaredError(), Block(np.ones((3, 1)), y))
    y[:] = 8
    np.testing.assert_array_equal(state.last, [1, 1])


def test_it_needs_a_loss_of_predictions():
    with pytest.raises(UnsupportedLossError, match="LastValue learns from LinearLoss"):
        LastValue().check_loss(Tracking())
