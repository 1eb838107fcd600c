"""The experts and their composition, against tests/kernels/tracker/reference.py."""

import numpy as np
import pytest

from tests.kernels.tracker import reference
from tests.kernels.tracker.workspaces import diagnostics, mixture, new_state
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.round import observe, predict
from thalweg.learners.tracker import Tracker
from thalweg.learners.tracker.workspace import TrackerWorkspace

NONE = np.empty(0)


def drifting_stream(count=40, n=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, n)) * [1.0, 30.0, 0.02][:n] + 5
    theta = np.cumsum(0.2 * rng.normal(size=(count, n)), axis=0)
    season = 2 * np.sin(2 * np.pi * np.arange(count) / 6)
    return x, 100 + season + (x * theta).sum(axis=1) + 0.1 * rng.normal(size=count)


def clip_to_labels(expert_predictions, y):
    beyond, step = 0.5 * np.ptp(y), 2 * abs(np.diff(y)).max()
    low = max(y.min() - beyond, y[-1] - step)
    return np.clip(expert_predictions, low, min(y.max() + beyond, y[-1] + step))


def test_every_expert_predicts_what_the_definition_predicts():
    x, y = drifting_stream()
    x[:, 2] = 7.0  # a constant feature
    x[:15, 1] = 3.0  # and one that is constant at first
    s, workspace = new_state(3)
    seasons, anchored = [1, 1], np.zeros((2, 10, 3))
    for t in range(len(y)):
        forecast = predict(s, x[t], workspace)
        if t > 1:
            expert_predictions = reference.experts(
                x[:t], y[:t], x[t], seasons, anchored
            )
            observed = workspace.rules.expert_predictions[: layout.EXPERTS]
            np.testing.assert_allclose(
                observed, clip_to_labels(expert_predictions, y[:t]), rtol=1e-9
            )
            expected = np.append(
                reference.ACTIVE_FROM <= t, [False] * (72 - layout.EXPERTS)
            )
            np.testing.assert_array_equal(workspace.rules.active, expected)
        observe(s, x[t], y[t], 1.0, 1.0, forecast, workspace)
        if t > 0:
            reference.step_anchored(anchored, x[: t + 1], y[: t + 1])
            seasons.append(reference.season(y[: t + 1]))
            assert s.counters[layout.SEASON] == seasons[-1]


def test_the_forecast_is_the_meta_rules_mean_of_the_rules_means():
    x, y = drifting_stream()
    s, workspace = new_state(3)
    for t in range(len(y)):
        forecast = predict(s, x[t], workspace)
        if t > 1:
            np.testing.assert_allclose(
                workspace.rules.expert_weights.sum(axis=1), 1, rtol=1e-12
            )
            np.testing.assert_allclose(
                workspace.rules.rule_weights.sum(), 1, rtol=1e-12
            )
            assert (
                workspace.rules.expert_weights[:, workspace.rules.active == 0] == 0
            ).all()
            expected = (
                workspace.rules.rule_weights[: layout.RULES]
                @ workspace.rules.expert_weights
                @ workspace.rules.expert_predictions
            )
            np.testing.assert_allclose(forecast, expected, rtol=1e-12)
        observe(s, x[t], y[t], 1.0, 1.0, forecast, workspace)


def test_where_all_experts_agree_that_is_the_forecast_and_no_rule_learns():
    x, _ = drifting_stream(20)
    s, workspace = new_state(3)
    for t in range(20):
        forecast = predict(s, x[t], workspace)
        before = s.rules.boa.copy(), s.rules.mlpoly.copy(), s.rules.softmax.copy()
        observe(s, x[t], 0.3, 1.0, 1.0, forecast, workspace)
        assert forecast == (0.3 if t else 0.0)
        for part, was in zip(s.rules[1:4], before, strict=True):
            np.testing.assert_array_equal(part, was)
    # Experts that became active meanwhile have weight from their first round on.
    predict(s, x[0], workspace)
    assert (workspace.rules.expert_weights[0, workspace.rules.active == 1] > 0).all()


def test_the_second_forecast_is_the_first_label():
    s, workspace = new_state(2)
    assert predict(s, np.array([1.0, 2.0]), workspace) == 0
    observe(s, np.array([1.0, 2.0]), -7.0, 1.0, 1.0, 0.0, workspace)
    assert predict(s, np.array([30.0, 2.0]), workspace) == -7


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


def test_the_slope_is_how_the_forecast_moves_with_x():
    x, y = drifting_stream()
    s, workspace = new_state(3)
    for t in range(len(y)):
        forecast = predict(s, x[t], workspace)
        observe(s, x[t], y[t], 1.0, 1.0, forecast, workspace)
    # No limits, so that no expert is clipped near x.
    (
        s.counters[layout.LOWEST_LABEL],
        s.counters[layout.HIGHEST_LABEL],
        s.counters[layout.STEP_LIMIT],
    ) = -1e6, 1e6, 0
    base = predict(s, x[0], workspace)
    mixture.combine_weights(
        workspace.rules.rule_weights,
        workspace.rules.expert_weights,
        layout.RULES,
        workspace.rules.forecast_weights,
    )
    slope = np.empty(3)
    diagnostics.set_slope(s.experts, workspace.rules.forecast_weights, slope)
    for j in range(3):
        step = np.zeros(3)
        step[j] = 0.5
        change = predict(s, x[0] + step, workspace) - base
        np.testing.assert_allclose(change, 0.5 * slope[j], rtol=1e-9, atol=1e-9)
