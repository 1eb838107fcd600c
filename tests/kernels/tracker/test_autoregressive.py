"""The experts that see past labels: the bordered system against a dense one."""

import numpy as np
import pytest

from tests.kernels.tracker.test_ridge_experts import random_systems
from tests.kernels.tracker.workspaces import (
    autoregressive,
    new_state,
    new_workspace,
    ridge_experts,
    solve,
)
from thalweg.kernels.tracker import tracker_layout as layout


class Bordered:
    """Random systems of n features and three past labels, in the kernels' arrays."""

    def __init__(self, n, spread=1.0):
        rng = np.random.default_rng(n)
        z, lanes = n + layout.LAGS, layout.AUTOREGRESSIVE_LANES
        self.full, right, ridge = random_systems(z, layout.LANES)
        self.b, self.u = right[0], rng.normal(size=(z, layout.LANES))
        self.origin, self.weight = (
            rng.normal(size=layout.LANES),
            rng.uniform(1, 9, layout.LANES),
        )
        s, self.workspace = new_state(n)
        self.lags, own = s.lags, self.workspace.experts
        s.lags.spread[:] = spread * rng.uniform(1, 2, size=layout.LAGS)
        self.ridge = ridge
        self.ridge[n:] = 0.01 * s.lags.spread[:, None]
        lower = np.tril(self.full).transpose(1, 2, 0)
        s.experts.moments[:n], s.experts.moments[n] = lower[:n, :n], self.b[:n]
        s.lags.moments[: layout.LAGS] = lower[n:, :, :lanes]
        s.lags.moments[layout.LAGS, n:] = self.b[n:, :lanes]
        own.deviations[:n] = self.u[:n]
        self.workspace.lags.deviations[:] = self.u[n:, :lanes]
        solve.factorise(s.experts.moments, ridge[:n].copy(), own.lower, own.work)
        autoregressive.set_lag_factors(s.lags, self.workspace.lags, own)

    def matrix(self, lane):
        return self.full[lane] + np.diag(self.ridge[:, lane])

    def predict(self):
        own, predictions = self.workspace.experts, np.zeros(layout.PADDED_EXPERTS)
        ridge_experts.predict_shrunk(
            own.lower, own.deviations, self.origin, self.weight, own.projection,
            own.leverage, predictions,
        )  # fmt: skip
        autoregressive.predict_autoregressive(self.workspace.lags, own, predictions)
        return predictions[layout.AUTOREGRESSIVE :][: layout.AUTOREGRESSIVE_LANES]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_the_factors_continue_those_of_the_features(n):
    system = Bordered(n)
    lags, own = system.workspace.lags, system.workspace.experts
    for lane in range(layout.AUTOREGRESSIVE_LANES):
        rows = np.zeros((n + layout.LAGS, n + layout.LAGS))
        rows[:n, :n], rows[n:] = (
            own.lower[:n, :, lane],
            lags.lower[: layout.LAGS, :, lane],
        )
        lower, d = np.tril(rows, -1) + np.eye(n + layout.LAGS), 1 / np.diag(rows)
        expected = system.matrix(lane)
        np.testing.assert_allclose((lower * d) @ lower.T, expected, rtol=1e-9)
        np.testing.assert_allclose(lags.negative_d[:, lane], -d[n:], rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_a_prediction_with_past_labels_comes_with_its_leverage(n):
    system = Bordered(n)
    predictions, lags = system.predict(), system.workspace.lags
    for lane in range(layout.AUTOREGRESSIVE_LANES):
        matrix, u = system.matrix(lane), system.u[:, lane]
        theta = np.linalg.solve(matrix, system.b[:, lane])
        expected = system.origin[lane] + theta @ u
        np.testing.assert_allclose(predictions[lane], expected, rtol=1e-9)
        expected = u @ np.linalg.solve(matrix, u) + 1 / system.weight[lane]
        np.testing.assert_allclose(lags.leverage[lane], expected, rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_coefficients_of_features_and_past_labels_are_solved_for(n):
    system = Bordered(n)
    lags, own = system.workspace.lags, system.workspace.experts
    autoregressive.solve_autoregressive(lags.lower, own.lower, lags.solution)
    for lane in range(layout.AUTOREGRESSIVE_LANES):
        theta = np.linalg.solve(system.matrix(lane), system.b[:, lane])
        np.testing.assert_allclose(lags.solution[:, lane], theta, rtol=1e-9)


def test_a_coefficient_of_a_past_label_beyond_float64_is_zero():
    n, lags = 2, new_workspace(2).lags
    lags.lower[:], lower = 0.5, np.full((n + 2, n, layout.LANES), 0.5)
    lags.lower[layout.LAGS, n + 1] = np.inf
    lower[n, 0] = np.nan
    autoregressive.solve_autoregressive(lags.lower, lower, lags.solution)
    assert (lags.solution[[0, n + 1]] == 0).all()
    assert np.isfinite(lags.solution).all()


def test_labels_that_never_varied_have_no_leverage():
    n = 2
    constant = Bordered(n, spread=0.0)
    constant.full[:, n:], constant.full[:, :, n:] = 0.0, 0.0
    constant.lags.moments[:] = 0.0
    own, lags = constant.workspace.experts, constant.workspace.lags
    autoregressive.set_lag_factors(constant.lags, lags, own)
    for unit in (1e-140, 1.0, 1e140):  # a label that moves for the first time
        lags.deviations[:] = unit
        predictions = constant.predict()
        leverage = own.leverage[: layout.AUTOREGRESSIVE_LANES]
        np.testing.assert_allclose(lags.leverage, leverage, rtol=1e-12)
        for lane in range(layout.AUTOREGRESSIVE_LANES):
            matrix, u = constant.matrix(lane)[:n, :n], constant.u[:n, lane]
            theta = np.linalg.solve(matrix, constant.b[:n, lane])
            expected = constant.origin[lane] + theta @ u
            np.testing.assert_allclose(predictions[lane], expected, rtol=1e-9)


def test_moments_of_past_labels_are_those_about_the_discounted_mean():
    n, rounds, lanes = 2, 30, layout.AUTOREGRESSIVE_LANES
    rng = np.random.default_rng(0)
    rows = 5 + rng.normal(size=(rounds, n + layout.LAGS + 1))  # x, the past labels, y
    rate, decay = (
        rng.uniform(0.1, 2, size=rounds),
        rng.uniform(0.5, 1, size=layout.LANES),
    )
    weight, total = np.zeros(layout.LANES), rate.cumsum()
    s, _ = new_state(n)
    mean = np.zeros((n + 1, layout.LANES))
    for t, (row, w) in enumerate(zip(rows, rate, strict=True)):
        u = np.append(row[:n], row[-1])[:, None] - mean
        lag_u = row[n:-1, None] - s.lags.mean
        before = decay * weight
        weight[:] = before + w
        outer_weight = before * w / weight
        mean += w / weight * u
        autoregressive.learn_lags(
            s.lags, u, weight, outer_weight, decay, row[n:-1].copy(), lag_u, w,
            w / total[t],
        )  # fmt: skip
    for lane in range(lanes):
        share = rate * decay[lane] ** np.arange(rounds)[::-1]
        centred = rows - share @ rows / share.sum()
        expected = (centred.T * share) @ centred
        own = expected[n:-1, : n + layout.LAGS]
        lower = np.tri(layout.LAGS, n + layout.LAGS, n, dtype=bool)
        moments = s.lags.moments[..., lane]
        np.testing.assert_allclose(moments[: layout.LAGS][lower], own[lower], atol=1e-9)
        np.testing.assert_allclose(
            moments[layout.LAGS, n:], expected[-1, n:-1], atol=1e-9
        )
        means = share @ rows[:, n:-1] / share.sum()
        np.testing.assert_allclose(s.lags.mean[:, lane], means)
    labels = rows[:, n:-1]
    overall = rate @ labels / rate.sum()
    np.testing.assert_allclose(s.lags.overall_mean, overall)
    spread = rate @ (labels - overall) ** 2 / rate.sum()
    np.testing.assert_allclose(s.lags.spread, spread)


@pytest.mark.parametrize("delay, age", [(0, 0), (4, 0), (4, 4)])
def test_past_labels_are_the_newest_that_were_known(delay, age):
    counters, past_y = np.zeros(layout.COUNTERS), np.tile(np.arange(512.0), 2)
    mean = np.random.default_rng(0).normal(
        size=(layout.LAGS, layout.AUTOREGRESSIVE_LANES)
    )
    counters[layout.PASSED_ROUNDS], counters[layout.SEASON], counters[layout.DELAY] = (
        600,
        7,
        delay,
    )
    labels, u = (
        np.empty(layout.LAGS),
        np.empty((layout.LAGS, layout.AUTOREGRESSIVE_LANES)),
    )
    autoregressive.set_lag_deviations(counters, past_y, mean, labels, u, age)
    newest = -600 % 512 + age
    np.testing.assert_array_equal(labels, newest + np.arange(layout.LAGS))
    np.testing.assert_array_equal(u, labels[:, None] - mean)
