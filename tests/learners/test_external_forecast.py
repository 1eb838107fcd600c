"""A Tracker with a feature that is a forecast of the label: pooled with its own."""

import numpy as np
import pytest

from tests.learners.test_tracker_definition import assert_every_round_agrees, stream
from thalweg.errors import InvalidParameterError
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners import Tracker
from thalweg.losses import SquaredError
from thalweg.types import Block

LOSS, RNG = SquaredError(), np.random.default_rng(3)
T, GIVEN = 400, 2
X = RNG.normal(size=(T, 4))
Y = X[:, 0] + np.sin(np.arange(T) / 9) + 0.3 * RNG.normal(size=T)
X[:, GIVEN] = Y + 0.4 * RNG.normal(size=T)  # errors of its own
BLOCK = Block(X, Y)


class GivenTracker(Tracker):
    """A Tracker whose states say at once that feature 2 is a forecast."""

    def init(self, theta):
        return self.with_external_forecast(super().init(theta), (GIVEN,))


def run(learner, block=BLOCK, given=(GIVEN,), record=()):
    state = learner.init(np.zeros(block.x.shape[1:]))
    if given:
        state = learner.with_external_forecast(state, given)
    return learner.run(state, LOSS, block, record)


def pooled_by_hand(losses, count, own, given, y):
    """The softmax on discounted losses of own forecast, mean and external forecast."""
    made = []
    for one, other, label in zip(own, given, y, strict=True):
        what = np.array([one, (one + other) / 2, other])
        weights = np.exp(-0.1 * count * (losses / losses.min() - 1))
        made.append(weights @ what / weights.sum())
        losses = 0.99 * losses + (label - what) ** 2
        count = 0.99 * count + 1
    return np.array(made)


def test_the_forecast_is_the_pool_of_the_own_one_and_the_given_one():
    """Once it is within the limits of predictions."""
    _, own = run(Tracker(), given=())
    start = 100
    state, _ = run(Tracker(), BLOCK[:start])
    pool = layout.views(state.packed, 4).pool
    _, trace = Tracker().run(state, LOSS, BLOCK[start:])
    expected = pooled_by_hand(
        pool.losses, pool.weight[0], own.prediction[start:], X[start:, GIVEN], Y[start:]
    )
    np.testing.assert_allclose(trace.prediction, expected, rtol=1e-9)
    assert abs(trace.prediction - own.prediction[start:]).max() > 0.05


@pytest.mark.sampled(1)
@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("shock", [None, 300])
def test_kernels_equal_the_definition(delay, shock):
    block = stream(240, 3, seed=delay)
    if shock is not None:
        block = stream(700, 3, seed=delay, shock=20)
    learner = GivenTracker(delay=delay)
    state = assert_every_round_agrees(learner, block)
    assert layout.views(state.packed, 3).pool.weight[0] > 1


@pytest.mark.parametrize("delay", [0, 4])
def test_a_run_can_be_cut_anywhere_and_single_calls_are_the_same(delay):
    learner = Tracker(delay=delay)
    whole_state, whole = run(learner, record=("interval",))
    state, parts = (
        learner.with_external_forecast(learner.init(np.zeros(4)), (GIVEN,)),
        [],
    )
    for start, stop in ((0, 1), (1, 130), (130, 131), (131, T)):
        state, trace = learner.run(state, LOSS, BLOCK[start:stop])
        parts.append(trace.prediction)
    np.testing.assert_array_equal(np.concatenate(parts), whole.prediction)
    np.testing.assert_array_equal(state.packed, whole_state.packed)
    live = learner.live_buffer(state, LOSS, 0)
    again, _ = learner.run(state, LOSS, BLOCK[:1])
    call = (live.buffer, X[0], Y[0], 1.0, 1.0)
    assert live.call(*call, False) == learner.predict(state, X[0])
    live.call(*call, True)
    np.testing.assert_array_equal(live.copy_state().packed, again.packed)


def test_a_good_forecast_helps_and_a_bad_one_does_little_harm():
    def error(external_forecast, given):
        x = np.column_stack([X[:, :2], external_forecast, X[:, 3]])
        _, trace = run(Tracker(), Block(x, Y), given)
        return trace.loss[100:].mean()

    smooth = Y + 0.05 * np.random.default_rng(0).normal(size=T)
    assert error(smooth, (GIVEN,)) < 1.05 * error(smooth, ())
    noise = 30 * np.random.default_rng(1).normal(size=T)
    assert error(noise, (GIVEN,)) < 1.02 * error(noise, ())


def test_intervals_are_those_of_the_pool():
    _, trace = run(Tracker(), record=("interval",))
    low, high = trace.extras["interval"][100:].T
    assert ((low <= trace.prediction[100:]) & (trace.prediction[100:] <= high)).all()
    assert 0.84 < ((low <= Y[100:]) & (Y[100:] <= high)).mean() < 0.96


def test_each_of_several_targets_has_its_own():
    learner, x = Tracker(), np.column_stack([X, Y + 0.1 * RNG.normal(size=T)])
    block = Block(x, np.column_stack([Y, 2 * Y]))
    state = learner.init(np.zeros((5, 2)))
    _, both = learner.run(
        learner.with_external_forecast(state, (GIVEN, 4)), LOSS, block
    )
    for target, given in enumerate((GIVEN, 4)):
        _, one = run(Tracker(), Block(x, block.y[:, target]), (given,))
        np.testing.assert_array_equal(both.prediction[:, target], one.prediction)


@pytest.mark.parametrize("given", [4, -2, 7])
def test_a_forecast_is_one_of_the_features(given):
    learner = Tracker()
    with pytest.raises(InvalidParameterError, match="must be one of 4 features"):
        learner.with_external_forecast(learner.init(np.zeros(4)), (given,))


def test_features_that_come_and_go_move_the_forecast_along():
    learner = Tracker(curvature=False)
    state, _ = run(learner)
    fewer = learner.remove_features(state, [0])
    assert fewer.packed[layout.EXTERNAL_FORECAST] == 1 + GIVEN - 1
    without = learner.remove_features(state, [GIVEN])
    assert without.packed[layout.EXTERNAL_FORECAST] == 0
    more = learner.add_features(state, [0])
    assert more.packed[layout.EXTERNAL_FORECAST] == 1 + GIVEN + 1
