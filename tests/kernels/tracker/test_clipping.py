"""Limits of predictions, against tests/kernels/tracker/reference.py."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.tracker import reference
from tests.kernels.tracker.workspaces import clipping, padded
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners import Tracker
from thalweg.learners.tracker import definition_clipping
from thalweg.losses import SquaredError
from thalweg.types import Block

LOSS = SquaredError()
LABELS = np.array([4.0, 4.5, 3.5])  # newest first


def limits_at(shrunk, labels=LABELS, step_limit=1.0):
    """Limits where labels were in [2, 6] with steps of up to 2, and 30 must agree."""
    counters = np.zeros(layout.COUNTERS)
    counters[layout.LOWEST_LABEL], counters[layout.HIGHEST_LABEL] = 2.0, 6.0
    counters[layout.MAX_LABEL_STEP] = 2.0
    counters[layout.STEP_LIMIT] = step_limit
    predictions = padded(np.append(shrunk, np.full(layout.EXPERTS - 40, 1e3)))
    before = predictions.copy()
    limits = clipping.clip_limits(counters, labels, predictions, np.empty(40))
    np.testing.assert_array_equal(predictions, before)
    return limits


def test_limits_are_the_range_of_labels_and_the_largest_step():
    calm = np.full(40, 4.0)
    assert limits_at(calm) == (0.0, 8.0)
    assert limits_at(calm, LABELS - 1) == (0.0, 7.0)  # 3 + 2·2
    assert limits_at(calm, LABELS + 2) == (2.0, 8.0)  # 6 - 2·2
    assert limits_at(calm, LABELS - 1, step_limit=0.0) == (0.0, 8.0)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("step_limit", [0.0, 1.0])
def test_a_limit_yields_where_three_quarters_of_the_shrunk_experts_go_beyond(
    side, step_limit
):
    rng = np.random.default_rng(0)
    wide = 4 + side * (5 + 2 * rng.uniform(size=40))  # of limits 4 ± 4
    place = 0 if side < 0 else 1
    for beyond in (29, 30, 33, 40):
        shrunk = wide.copy()
        shrunk[beyond:] = 4.0
        rng.shuffle(shrunk)
        expected = [0.0, 8.0]
        if beyond >= 30:  # the nearest of the farthest 30
            expected[place] = 4 + side * np.sort(side * (shrunk - 4))[10]
        assert limits_at(shrunk, step_limit=step_limit) == pytest.approx(expected)


def test_a_limit_yields_by_two_ranges_of_labels_at_most():
    for far in (50.0, 1e300, np.inf):
        assert limits_at(np.full(40, far)) == (0.0, 14.0)
        assert limits_at(np.full(40, -far)) == (-6.0, 8.0)


def test_no_limit_yields_after_a_jump_of_the_last_label():
    shrunk = np.full(40, 9.0)
    assert limits_at(shrunk, np.array([4.0, 5.0, 5.0])) == (0.0, 9.0)
    for jump in (1.01, -1.01):
        assert limits_at(shrunk, np.array([4.0, 4 - jump, 4.0])) == (0.0, 8.0)


VALUES = st.floats(-50, 50)


@given(
    st.lists(VALUES, min_size=2, max_size=6), st.lists(VALUES, min_size=1, max_size=40)
)
def test_limits_are_those_of_the_reference(y, some):
    y, shrunk = np.array(y), np.resize(some, 40)
    counters = np.zeros(layout.COUNTERS)
    counters[layout.LOWEST_LABEL], counters[layout.HIGHEST_LABEL] = y.min(), y.max()
    counters[layout.MAX_LABEL_STEP] = abs(np.diff(y)).max()
    counters[layout.STEP_LIMIT] = 1.0
    labels, predictions = reference.past_labels(y, len(y), 3), padded(shrunk)
    limits = clipping.clip_limits(counters, labels, predictions, np.empty(40))
    assert limits == reference.clip_limits(y, shrunk)


def limits_after(y, forecasts, delay=0, by_definition=False):
    """Limits after each label, (T, 2), of predictions without any other limit."""
    counters = np.zeros(layout.COUNTERS)
    counters[layout.STEP_LIMIT], counters[layout.DELAY] = 1.0, delay
    limits = []
    for t in range(1, len(y)):
        label, last, forecast = float(y[t]), float(y[t - 1]), float(forecasts[t])
        if by_definition:
            definition_clipping.update_jump(counters, label, last, forecast)
            limit = definition_clipping.limit_after_jump
        else:
            clipping.update_jump(counters, last, label, forecast)
            limit = clipping.limit_after_jump
        limits.append(limit(counters, -np.inf, np.inf))
    return np.array(limits)


@st.composite
def labels_with_jumps(draw):
    """Labels that walk, with outliers and changes of level, and their forecasts."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = np.cumsum(rng.normal(size=90))
    for _ in range(draw(st.integers(1, 6))):
        first, lasts = draw(st.integers(30, 85)), draw(st.integers(1, 40))
        y[first : first + lasts] += draw(st.sampled_from([-300.0, -40.0, 17.0, 90.0]))
    foreseen = draw(st.sampled_from([0.0, 0.4, 0.6, 1.0]))
    forecasts = np.append(0.0, y[:-1] + foreseen * np.diff(y))
    return y, forecasts + 0.1 * rng.normal(size=90)


@pytest.mark.parametrize("by_definition", [False, True])
@given(labels_with_jumps(), st.sampled_from([0, 3]))
def test_limits_after_jumps_are_those_of_the_reference(by_definition, stream, delay):
    y, forecasts = stream
    limits = limits_after(y, forecasts, delay, by_definition)
    expected = reference.limits_after_jumps(y, forecasts, delay)
    np.testing.assert_allclose(limits, expected, rtol=1e-9, atol=1e-9)


def calm_labels(rounds=60, size=0.1, seed=0):
    return 5 + size * np.random.default_rng(seed).normal(size=rounds)


def test_an_outlier_sets_limits_until_four_rounds_after_its_return():
    y = calm_labels()
    y[40] += 50.0
    limits = limits_after(y, np.full(60, 5.0))
    assert np.isinf(limits[:39]).all()
    expected = [5 - (y[40] - 5), y[40] + (y[40] - 5)]  # as far again, either way
    np.testing.assert_allclose(limits[39], expected)
    widths = np.ptp(limits[40:44], axis=1)
    assert (widths > 10).all() and (widths < 11).all()  # a tenth of 50, either way
    assert np.isinf(limits[44:]).all()


def test_a_new_level_is_within_the_limits_and_lifts_them_after_four_rounds():
    y = calm_labels()
    y[40:] += 50.0
    limits = limits_after(y, np.full(60, 5.0))
    assert (limits[39:43, 0] < 5).all() and (limits[39:43, 1] > 55).all()
    assert np.isinf(limits[43]).all()


def test_a_jump_that_was_foreseen_sets_no_limits():
    y = calm_labels()
    y[40] += 50.0
    assert np.isinf(limits_after(y, y)).all()


def test_no_step_is_a_jump_before_it_is_known_what_is_usual():
    y = calm_labels()
    y[20] += 50.0
    assert np.isinf(limits_after(y, np.full(60, 5.0))[:25]).all()


def outlier_stream(rounds=400, outlier=300):
    """An autoregression of slow labels, and its own lags as features."""
    rng, y = np.random.default_rng(0), np.zeros(rounds)
    for t in range(2, rounds):
        y[t] = 1.7 * y[t - 1] - 0.72 * y[t - 2] + 0.1 * rng.normal()
    y[outlier] += 40.0
    x = np.column_stack([np.roll(y, lag) for lag in (1, 2, 3)])
    x[:3] = 0.0
    return Block(x, y)


def test_after_an_outlier_no_forecast_goes_further_than_it_did():
    block, learner = outlier_stream(), Tracker()
    _, trace = learner.run(learner.init(np.zeros(3)), LOSS, block)
    after = trace.prediction[301:306]
    assert after.max() < 2 * 41 and after.min() > -41
    # The label is back in round 301: from then on forecasts stay with it.
    assert abs(after[1:]).max() < 0.2 * 40


def test_a_round_without_a_label_ends_the_limits():
    block, learner = outlier_stream(), Tracker()
    state, _ = learner.run(learner.init(np.zeros(3)), LOSS, block[:301])
    assert state.packed[layout.JUMP_ROUNDS] > 0
    gap = Block(block.x[301:302], block.y[301:302], np.zeros(1), np.ones(1))
    state, _ = learner.run(state, LOSS, gap)
    assert state.packed[layout.JUMP_ROUNDS] == 0


def test_features_alone_know_of_no_jumps():
    counters = np.zeros(layout.COUNTERS)
    counters[layout.JUMP_ROUNDS] = 3.0
    assert clipping.limit_after_jump(counters, -9.0, 9.0) == (-9.0, 9.0)
    counters[layout.STEP_LIMIT] = 1.0
    assert clipping.limit_after_jump(counters, -9.0, 9.0) == (0.0, 0.0)
