"""The experts and their composition, against tests/kernels/tracker/reference.py."""

import numpy as np
import pytest

from tests.kernels.tracker import reference
from tests.kernels.tracker.workspaces import (
    diagnostics,
    mixture,
    new_state,
    padded,
    tracker_round,
)
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker import Tracker
from thalweg.learners.tracker.workspace import TrackerWorkspace

# Parts of a round are compiled one by one, which takes 15 s; the tests of the
# definition (tests/learners/test_tracker_definition.py) are the fast ones.
pytestmark = pytest.mark.slow

NONE = np.empty(0)


def drifting_stream(count=40, n=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, n)) * [1.0, 30.0, 0.02][:n] + 5
    theta = np.cumsum(0.2 * rng.normal(size=(count, n)), axis=0)
    season = 2 * np.sin(2 * np.pi * np.arange(count) / 6)
    return x, 100 + season + (x * theta).sum(axis=1) + 0.1 * rng.normal(size=count)


@pytest.mark.slow
def test_every_expert_predicts_what_the_definition_predicts():
    x, y = drifting_stream()
    x[:, 2] = 7.0  # a constant feature
    x[:15, 1] = 3.0  # and one that is constant at first
    s, workspace = new_state(3)
    seasons, anchored, rules = [1, 1], np.zeros((2, 10, 3)), workspace.rules
    for t in range(len(y)):
        forecast = tracker_round.predict(s, x[t], workspace)
        if t > 1:
            q, h = reference.experts(x[:t], y[:t], x[t], seasons, anchored)
            limits = reference.clip_limits(y[:t], q[: layout.LANES])
            observed = rules.expert_predictions[: layout.EXPERTS]
            np.testing.assert_allclose(observed, np.clip(q, *limits), rtol=1e-9)
            confidences = 1 / np.sqrt(1 + h + (h / 5) ** 2)
            observed = rules.confidences[: layout.EXPERTS]
            np.testing.assert_allclose(observed, confidences, rtol=1e-9)
            expected = padded(reference.ACTIVE_FROM <= t)
            np.testing.assert_array_equal(rules.active, expected)
        tracker_round.observe(s, x[t], y[t], 1.0, 1.0, forecast, workspace)
        if t > 0:
            reference.step_anchored(anchored, x[: t + 1], y[: t + 1])
            seasons.append(reference.season(y[: t + 1]))
            assert s.counters[layout.SEASON] == seasons[-1]


@pytest.mark.parametrize("curvature", [False, True])
def test_the_forecast_is_the_meta_rules_mean_of_the_rules_means(curvature):
    x, y = drifting_stream()
    s, workspace = new_state(3, curvature=curvature)
    rules = workspace.rules
    for t in range(len(y)):
        forecast = tracker_round.predict(s, x[t], workspace)
        if t > 1:
            sums = rules.expert_weights.sum(axis=1)
            np.testing.assert_allclose(sums, 1, rtol=1e-12)
            np.testing.assert_allclose(rules.rule_weights.sum(), 1, rtol=1e-12)
            assert (rules.expert_weights[:, rules.active == 0] == 0).all()
            means = rules.expert_weights @ rules.expert_predictions
            committee, correction = workspace.curvature.committee[:2]
            np.testing.assert_allclose(committee, means[layout.COMMITTEE], rtol=1e-12)
            means[layout.COMMITTEE] = rules.rule_predictions[layout.COMMITTEE]
            assert means[layout.COMMITTEE] == committee + correction
            assert curvature or correction == 0
            expected = rules.rule_weights[: layout.RULES] @ means
            np.testing.assert_allclose(forecast, expected, rtol=1e-12)
        tracker_round.observe(s, x[t], y[t], 1.0, 1.0, forecast, workspace)
    assert (correction != 0) == curvature


def test_where_all_experts_agree_that_is_the_forecast_and_no_rule_learns():
    x, _ = drifting_stream(20)
    s, workspace = new_state(3)
    learning = ("boa", "mlpoly", "softmax", "cauchy", "committee", "correction")
    for t in range(20):
        forecast = tracker_round.predict(s, x[t], workspace)
        before = [getattr(s.rules, name).copy() for name in learning]
        tracker_round.observe(s, x[t], 0.3, 1.0, 1.0, forecast, workspace)
        assert forecast == (0.3 if t else 0.0)
        for name, was in zip(learning, before, strict=True):
            np.testing.assert_array_equal(getattr(s.rules, name), was, name)
    # Experts that became active meanwhile have weight from their first round on.
    tracker_round.predict(s, x[0], workspace)
    assert (workspace.rules.expert_weights[0, workspace.rules.active == 1] > 0).all()


def test_the_second_forecast_is_the_first_label():
    s, workspace = new_state(2)
    assert tracker_round.predict(s, np.array([1.0, 2.0]), workspace) == 0
    tracker_round.observe(s, np.array([1.0, 2.0]), -7.0, 1.0, 1.0, 0.0, workspace)
    assert tracker_round.predict(s, np.array([30.0, 2.0]), workspace) == -7


@pytest.mark.parametrize("learned", [0, 1, 25])
def test_predicting_changes_nothing(learned):
    x, y = drifting_stream()
    packed = Tracker().init(np.zeros(3)).packed
    workspace = TrackerWorkspace(packed, 3, rows=30, record=("forecast",))
    if learned:
        workspace.play(x[:learned], y[:learned], NONE, NONE)
    before = workspace.packed.copy()
    records = workspace.play(x[:5], NONE, NONE, NONE)
    np.testing.assert_array_equal(workspace.packed, before)
    assert np.isfinite(records["forecast"]).all()


def test_the_slope_is_how_the_forecast_moves_with_x_at_these_weights():
    x, y = drifting_stream()
    s, workspace = new_state(3, curvature=False)
    rules, counters = workspace.rules, s.counters
    for t in range(len(y)):
        forecast = tracker_round.predict(s, x[t], workspace)
        tracker_round.observe(s, x[t], y[t], 1.0, 1.0, forecast, workspace)
    # No limits, so that no expert is clipped near x.
    counters[layout.LOWEST_LABEL], counters[layout.HIGHEST_LABEL] = -1e6, 1e6
    counters[layout.STEP_LIMIT] = 0
    base = tracker_round.predict(s, x[0], workspace)
    weights = rules.forecast_weights
    mixture.combine_weights(
        rules.rule_weights, rules.expert_weights, layout.RULES, weights
    )
    np.testing.assert_allclose(base, weights @ rules.expert_predictions, rtol=1e-12)
    slope = np.empty(3)
    diagnostics.set_slope(s, workspace, weights, slope)
    for j in range(3):
        step = np.zeros(3)
        step[j] = 0.5
        tracker_round.predict(
            s, x[0] + step, workspace
        )  # confidences, and so weights, are others
        change = weights @ rules.expert_predictions - base
        np.testing.assert_allclose(change, 0.5 * slope[j], rtol=1e-9, atol=1e-9)


def test_confidence_falls_with_leverage_and_the_last_value_is_trusted():
    rng = np.random.default_rng(0)
    own, lags, last = rng.exponential(size=40), *rng.exponential(size=(2, 16))
    confidences = np.zeros(layout.PADDED_EXPERTS + 8)
    tracker_round.set_confidences(own, lags, last, confidences)
    wide = [list(layout.MEMORIES).index(m) for m in layout.DISTRIBUTED_MEMORIES]
    h = np.concatenate([own, own[:20], lags[:10], (lags + last)[wide], [0.0]])
    expected = 1 / np.sqrt(1 + h + h**2 / 25)
    observed = confidences[: layout.EXPERTS]
    np.testing.assert_allclose(observed, expected, rtol=1e-14)
    assert confidences[layout.LAST_VALUE] == 1
