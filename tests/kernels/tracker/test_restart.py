"""When the state is out of proportion to recent rounds, and what is then reset."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.kernels.tracker.test_round import drifting_stream
from tests.kernels.tracker.workspaces import (
    adashare,
    new_state,
    new_workspace,
    padded,
    restart,
    tracker_round,
)
from thalweg.kernels.compiler.layout import by_name
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.restart import CHECK_INTERVAL
from thalweg.learners.tracker import Tracker, definition
from thalweg.learners.tracker.regret_bound import adashare_regret
from thalweg.losses import SquaredError
from thalweg.types import Block

SHOCK, SEEN = 100, 640  # the first look at which 512 rounds since the shock are seen


def state_after(x, y):
    learner, n = Tracker(), x.shape[1]
    state, _ = learner.run(learner.init(np.zeros(n)), SquaredError(), Block(x, y))
    return layout.views(state.packed, n)


def shocked_stream(rounds, feature=None, by=1e9):
    x, y = drifting_stream(rounds)
    if feature is None:
        y[SHOCK] += by
    else:
        x[SHOCK, feature] += by
    return x, y


@pytest.mark.parametrize("feature", [None, 0, 2])
def test_a_shock_is_forgotten_once_the_last_rounds_are_clean(feature):
    x, y = shocked_stream(SEEN + 1, feature)
    assert (
        state_after(x[: SEEN - 1], y[: SEEN - 1]).counters[layout.TOTAL_WEIGHT]
        == SEEN - 2
    )
    s = state_after(x, y)
    assert s.counters[layout.TOTAL_WEIGHT] == 1
    assert abs(s.experts.mean).max() < 1e6
    assert s.max_feature_steps.max() < 1e6
    assert s.counters[layout.HIGHEST_LABEL] < 1e6
    assert s.counters[layout.MAX_LABEL_STEP] < 1e6


def test_after_a_restart_the_experts_are_those_of_a_fresh_start():
    x, y = shocked_stream(SEEN + 60)
    s, fresh = state_after(x, y), state_after(x[SEEN - 1 :], y[SEEN - 1 :])
    lanes = slice(0, layout.SEASON_LANE)
    moments, expected = s.experts.moments[..., lanes], fresh.experts.moments[..., lanes]
    np.testing.assert_allclose(moments, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(s.experts.mean, fresh.experts.mean, rtol=1e-12)
    np.testing.assert_allclose(s.experts.spread[:2], fresh.experts.spread[:2])


def test_the_clip_range_starts_from_the_last_labels():
    x, y = shocked_stream(SEEN)
    s, recent = state_after(x, y), y[-layout.MAX_SEASON :]
    assert (s.counters[layout.LOWEST_LABEL], s.counters[layout.HIGHEST_LABEL]) == (
        recent.min(),
        recent.max(),
    )
    assert s.counters[layout.MAX_LABEL_STEP] == abs(np.diff(recent)).max()
    steps = abs(np.diff(x[-layout.MAX_SEASON :], axis=0)).max(axis=0)
    np.testing.assert_array_equal(s.max_feature_steps, steps)


def test_what_is_in_proportion_is_kept():
    x, y = shocked_stream(
        SEEN + 4 * CHECK_INTERVAL, by=20 * abs(np.diff(drifting_stream(SEEN)[1])).max()
    )
    x[200:, 1] = 4.0  # a feature at rest may yet move as it did
    s = state_after(x, y)
    assert s.counters[layout.TOTAL_WEIGHT] == len(y) - 1


@pytest.mark.parametrize(
    "feature, ratio, restarts",
    [(None, 70, False), (None, 140, True), (0, 700, False), (0, 1400, True)],
)
def test_labels_beyond_100_times_and_features_beyond_1000_restart(
    feature, ratio, restarts
):
    x, y = drifting_stream(SEEN)
    values = y if feature is None else x[:, feature]
    step = abs(np.diff(values[-layout.MAX_SEASON :])).max()
    s = state_after(*shocked_stream(SEEN, feature, ratio * step))
    assert (s.counters[layout.TOTAL_WEIGHT] == 0) == restarts


def test_a_constant_label_is_no_reason_to_forget():
    x, y = drifting_stream(SEEN + CHECK_INTERVAL)
    y[50:] = 3.0
    assert state_after(x, y).counters[layout.TOTAL_WEIGHT] == len(y) - 1


@pytest.mark.parametrize("prior", [[0.2] * 5, [0.025, 0.9, 0.025, 0.025, 0.025]])
def test_adashare_keeps_its_bound_when_its_loss_scale_is_raised(prior):
    rng = np.random.default_rng(0)
    experts, rounds = 5, 300
    rule_state, everyone = np.append(padded(prior), [0.0, 0.0]), padded(np.ones(5))
    weights, loss, posterior, largest = *np.empty((3, 8)), 0.0
    regret, sizes = np.zeros((rounds + 1, experts)), np.empty(rounds)
    prior_in = padded(prior, 1.0)
    for t in range(1, rounds + 1):
        adashare.set_weights(rule_state, everyone, weights)
        q, size = rng.normal(size=experts), 1e3 if t % 90 < 30 else 1.0
        q, y = size * q, size * q[t // 40 % experts]
        mix = weights[:experts] @ q
        lowest = adashare.set_losses(padded(q), everyone, y, 1.0, loss)
        own = 0.5 * (y - mix) ** 2
        adashare.learn(
            rule_state, everyone, everyone, prior_in, own, loss, lowest, t, 1.0,
            posterior,
        )  # fmt: skip
        largest = sizes[t - 1] = max(largest, ((y - q) ** 2).max())
        if t % 90 == 50:
            adashare.set_weights(rule_state, everyone, weights)
            before, power = weights[:5].copy(), rule_state[8] / (1.5 * largest)
            adashare.raise_loss_scale(rule_state, everyone, prior_in, largest)
            adashare.set_weights(rule_state, everyone, weights)
            expected = prior * (before / prior) ** power
            np.testing.assert_allclose(weights[:5], expected / expected.sum())
            assert power < 1
            assert rule_state[8] == 1.5 * largest
        regret[t] = regret[t - 1] + 0.5 * (y - mix) ** 2 - 0.5 * (y - q) ** 2
    for a in range(1, rounds + 1, 7):
        for b in range(a, rounds + 1, 5):
            error, here = np.sqrt(sizes[b - 1]), regret[b] - regret[a - 1]
            bound = [adashare_regret(error, probability, a, b) for probability in prior]
            assert (here <= bound).all()


# What a restart does with every array of the state. A new array is named in one of
# these, after a decision in restart.py and in the definition.
RESET = {
    "season_differences", "inverse_counts", "max_feature_steps",
    "experts.weight", "experts.mean", "experts.moments", "experts.anchored",
    "experts.overall_mean", "experts.spread", "lags.mean", "lags.moments",
    "lags.overall_mean", "lags.spread", "distributed_lag.weight",
    "distributed_lag.mean", "distributed_lag.moments", "distributed_lag.theta",
    "distributed_lag.last_leverage", "rules.boa", "rules.mlpoly", "rules.softmax",
    "rules.cauchy", "rules.committee", "rules.correction", "curvature.gram",
    "curvature.target", "curvature.theta", "curvature.change_mean",
    "curvature.change_spread", "pool.losses", "pool.weight",
}  # fmt: skip
KEPT = {
    "active_from", "past_x", "past_y", "recent_errors",
    "curvature.coordinates", "curvature.directions", "curvature.biases",
}  # fmt: skip
IN_PART = {"counters", "pending", "rules.adashare", "rules.meta"}
RESET_COUNTERS = {
    "SEASON", "TOTAL_WEIGHT", "ERROR_SCALE", "LOWEST_LABEL",
    "HIGHEST_LABEL", "MAX_LABEL_STEP", "DIFFERENCE_COUNT", "QUICK_ERROR_MEAN",
    "SLOW_ERROR_MEAN", "CORRECTION_SCALE", "CORRECTION_COUNT", "GRAM_SCALE",
    "ROOT_STEP", "STEP_COUNT", "JUMP_ROUNDS",
}  # fmt: skip
KEPT_COUNTERS = {
    "ROUNDS", "ELAPSED", "STEP_LIMIT", "ERROR_COUNT", "MAX_LOSS", "DELAY",
    "PENDING_COUNT", "OLDEST_PENDING", "PASSED_ROUNDS", "HINGE_COUNT",
    "JUMP_ORIGIN", "JUMP_SIZE", "JUMP_LOW", "JUMP_HIGH", "JUMP_RETURNED",
    "GAP_ROUNDS", "EXTERNAL_FORECAST",
}  # fmt: skip
MARK = 7.0


def restart_by_kernel(s, n):
    workspace = new_workspace(n)
    workspace.rules.active_next[:] = s.active_from <= s.counters[layout.ROUNDS]
    restart.restart_after_outlier(s, workspace.rules, workspace.experts.recent_steps)


def restart_by_definition(s, n):
    definition.restart_after_outlier(s)


def marked_state(n):
    """A packed state of large steps in the past, and of ``MARK`` in all other places.

    But for what is in proportion to it: the last rounds, and numbers that give sizes.
    """
    packed = Tracker(delay=2).init(np.zeros(n)).packed
    s, rng = layout.views(packed, n), np.random.default_rng(0)
    for name, array in by_name(s).items():
        if name not in ("counters", "active_from"):
            array[:] = MARK
    s.past_x[:] = rng.normal(size=s.past_x.shape)
    s.past_y[:] = np.tile(rng.normal(size=layout.MAX_SEASON), 2)
    sizes = [layout.DELAY, layout.HINGE_COUNT]
    counts = s.counters[sizes]
    s.counters[:] = MARK
    s.counters[sizes] = counts
    s.counters[layout.ROUNDS] = s.counters[layout.PASSED_ROUNDS] = 640
    s.counters[layout.MAX_LABEL_STEP] = 1e9
    return packed


@pytest.mark.parametrize("restart", [restart_by_kernel, restart_by_definition])
def test_a_restart_has_a_decision_about_every_array_of_the_state(restart):
    n = 3
    packed = marked_state(n)
    s, before = layout.views(packed, n), by_name(layout.views(packed.copy(), n))
    restart(s, n)
    after = by_name(s)
    assert set(after) == RESET | KEPT | IN_PART
    for name in RESET:
        assert (after[name] != MARK).all(), name
    for name in KEPT:
        np.testing.assert_array_equal(after[name], before[name], name)
    assert (after["pending"][:, layout.HAS_PREDICTION] == 0).all()
    assert (np.delete(after["pending"], layout.HAS_PREDICTION, axis=1) == MARK).all()
    assert (s.rules.adashare[1] != MARK).all()
    changed = s.counters != before["counters"]
    indices = {getattr(layout, name) for name in RESET_COUNTERS}
    kept = {getattr(layout, name) for name in KEPT_COUNTERS}
    assert set(np.flatnonzero(changed)) == indices
    assert indices | kept == set(range(layout.COUNTERS))


def test_every_counter_has_a_decision_about_it():
    names = set(re.findall(r"counters\[([A-Z_]+)\]", "".join(kernel_sources())))
    assert names <= RESET_COUNTERS | KEPT_COUNTERS


def kernel_sources():
    return [path.read_text() for path in Path(layout.__file__).parent.glob("*.py")]


@pytest.mark.slow
@pytest.mark.parametrize("restart", [restart_by_kernel, restart_by_definition])
def test_after_a_restart_all_experts_predict_the_last_label(restart):
    n, packed = 3, marked_state(3)
    s = layout.views(packed, n)
    restart(s, n)
    s.counters[[layout.DELAY, layout.EXTERNAL_FORECAST]] = 0
    s.curvature.coordinates[:] = 0  # indices, of which 7 is none
    _, workspace = new_state(n)
    x = s.past_x[(640 - 1) % 512] + [1.0, -2.0, 3.0]
    tracker_round.predict(s, x, workspace)
    observed = workspace.rules.expert_predictions[: layout.EXPERTS]
    np.testing.assert_allclose(observed, s.past_y[-640 % 512], rtol=1e-12)
    # Limits do not hide what is beyond them: the label is no end of their range.
    assert s.counters[layout.LOWEST_LABEL] < observed[0]
    assert observed[0] < s.counters[layout.HIGHEST_LABEL]


def test_after_a_restart_an_interval_is_as_wide_as_the_labels_move():
    x, y = shocked_stream(SEEN)
    s = state_after(x, y)
    recent = abs(np.diff(y[-layout.MAX_SEASON :])).mean()
    assert s.counters[layout.ERROR_SCALE] == pytest.approx(recent)
    assert s.counters[layout.ERROR_COUNT] > 500
    learner = Tracker()
    state = learner.init(np.zeros(x.shape[1]))
    state, _ = learner.run(state, SquaredError(), Block(x, y))
    interval = learner.interval(state, x[-1])
    assert 0 < interval.high - interval.low < 20 * recent
