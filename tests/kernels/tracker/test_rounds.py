"""The experts and their composition, against tests/kernels/tracker/slow.py."""

import numpy as np
import pytest

from tests.kernels.tracker import slow
from tests.kernels.tracker.rooms import mixture, opened, report
from thalweg.kernels.tracker import layout
from thalweg.kernels.tracker.rounds import observe, predict
from thalweg.learners.tracker import Tracker
from thalweg.learners.tracker.desk import Desk

NONE = np.empty(0)


def drifting(count=40, n=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, n)) * [1.0, 30.0, 0.02][:n] + 5
    theta = np.cumsum(0.2 * rng.normal(size=(count, n)), axis=0)
    season = 2 * np.sin(2 * np.pi * np.arange(count) / 6)
    return x, 100 + season + (x * theta).sum(axis=1) + 0.1 * rng.normal(size=count)


def clipped(said, y):
    beyond, step = 0.5 * np.ptp(y), 2 * abs(np.diff(y)).max()
    low = max(y.min() - beyond, y[-1] - step)
    return np.clip(said, low, min(y.max() + beyond, y[-1] + step))


def test_every_expert_says_what_the_definition_says():
    x, y = drifting()
    x[:, 2] = 7.0  # a constant feature
    x[:15, 1] = 3.0  # and one that is quiet at first
    s, sums, votes = opened(3)
    seasons, unpulled = [1, 1], np.zeros((2, 10, 3))
    for t in range(len(y)):
        forecast = predict(s, x[t], sums, votes)
        if t > 1:
            said = slow.experts(x[:t], y[:t], x[t], seasons, unpulled)
            heard = votes.said[: layout.EXPERTS]
            np.testing.assert_allclose(heard, clipped(said, y[:t]), rtol=1e-9)
            expected = np.append(slow.BORN <= t, [False] * (72 - layout.EXPERTS))
            np.testing.assert_array_equal(votes.active, expected)
        observe(s, x[t], y[t], 1.0, 1.0, forecast, sums, votes)
        if t > 0:
            slow.step_unpulled(unpulled, x[: t + 1], y[: t + 1])
            seasons.append(slow.season(y[: t + 1]))
            assert s.clock[layout.LAG] == seasons[-1]


def test_the_forecast_is_the_top_rules_mean_of_the_rules_means():
    x, y = drifting()
    s, sums, votes = opened(3)
    for t in range(len(y)):
        forecast = predict(s, x[t], sums, votes)
        if t > 1:
            np.testing.assert_allclose(votes.shares.sum(axis=1), 1, rtol=1e-12)
            np.testing.assert_allclose(votes.top.sum(), 1, rtol=1e-12)
            assert (votes.shares[:, votes.active == 0] == 0).all()
            expected = votes.top[: layout.RULES] @ votes.shares @ votes.said
            np.testing.assert_allclose(forecast, expected, rtol=1e-12)
        observe(s, x[t], y[t], 1.0, 1.0, forecast, sums, votes)


def test_where_all_experts_agree_that_is_said_and_no_rule_learns():
    x, _ = drifting(20)
    s, sums, votes = opened(3)
    for t in range(20):
        forecast = predict(s, x[t], sums, votes)
        before = s.rules.boa.copy(), s.rules.mlpoly.copy(), s.rules.softmax.copy()
        observe(s, x[t], 0.3, 1.0, 1.0, forecast, sums, votes)
        assert forecast == (0.3 if t else 0.0)
        for part, was in zip(s.rules[1:4], before, strict=True):
            np.testing.assert_array_equal(part, was)
    # Those born meanwhile are heard from their first round on all the same.
    predict(s, x[0], sums, votes)
    assert (votes.shares[0, votes.active == 1] > 0).all()


def test_the_second_forecast_is_the_first_label():
    s, sums, votes = opened(2)
    assert predict(s, np.array([1.0, 2.0]), sums, votes) == 0
    observe(s, np.array([1.0, 2.0]), -7.0, 1.0, 1.0, 0.0, sums, votes)
    assert predict(s, np.array([30.0, 2.0]), sums, votes) == -7


@pytest.mark.parametrize("learned", [0, 1, 25])
def test_predicting_changes_nothing(learned):
    x, y = drifting()
    packed = Tracker().init(np.zeros(3)).packed
    desk = Desk(packed, 3, rows=30, record=("forecast",))
    if learned:
        desk.play(x[:learned], y[:learned], NONE, NONE)
    before = desk.packed.copy()
    found = desk.play(x[:5], NONE, NONE, NONE)
    np.testing.assert_array_equal(desk.packed, before)
    assert np.isfinite(found["forecast"]).all()


def test_the_slope_is_how_the_forecast_moves_with_x():
    x, y = drifting()
    s, sums, votes = opened(3)
    for t in range(len(y)):
        forecast = predict(s, x[t], sums, votes)
        observe(s, x[t], y[t], 1.0, 1.0, forecast, sums, votes)
    # No limits, so that no expert is clipped near x.
    s.clock[layout.LOW], s.clock[layout.HIGH], s.clock[layout.LIMITED] = -1e6, 1e6, 0
    base = predict(s, x[0], sums, votes)
    mixture.combine(votes.top, votes.shares, layout.RULES, votes.final)
    slope = np.empty(3)
    report.slope(s.experts, votes.final, slope)
    for j in range(3):
        step = np.zeros(3)
        step[j] = 0.5
        moved = predict(s, x[0] + step, sums, votes) - base
        np.testing.assert_allclose(moved, 0.5 * slope[j], rtol=1e-9, atol=1e-9)
