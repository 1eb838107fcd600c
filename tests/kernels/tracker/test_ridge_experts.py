"""Means, moments and solutions, lane by lane against NumPy."""

import numpy as np
import pytest

from tests.kernels.tracker.workspaces import new_workspace, ridge_experts, solve
from thalweg.kernels.tracker.tracker_layout import (
    ANCHORED_LANES,
    AUTOREGRESSIVE_LANES,
    COUNTERS,
    DISCOUNT,
    LANES,
    MEMORY_COUNT,
    PASSED_ROUNDS,
    RIDGE,
    SEASON,
)


def test_moments_are_those_about_the_discounted_mean():
    rng = np.random.default_rng(0)
    rows = 5 + rng.normal(size=(30, 4))  # two features, the last label, the label
    rate, passed = rng.uniform(0, 2, size=(2, 30))
    workspace = new_workspace(2).experts
    weight, mean = np.zeros(LANES), np.zeros((4, LANES))
    moments = np.zeros((5, 3, LANES))
    for row, w, elapsed in zip(rows, rate, passed, strict=True):
        for g in range(MEMORY_COUNT):
            workspace.deviations[:3, g] = row[:3] - mean[:3, g]
            workspace.origin[g] = mean[3, g]
        u, outer_weight, decay = (
            workspace.deviations,
            workspace.outer_weight,
            workspace.decay,
        )
        ridge_experts.update_means(
            weight,
            mean,
            row[3],
            w,
            elapsed,
            u,
            workspace.origin,
            outer_weight,
            decay,
        )
        ridge_experts.update_moments(moments, u, outer_weight, decay)
    age = passed[::-1].cumsum()[::-1] - passed
    for g in range(MEMORY_COUNT):
        share = rate * DISCOUNT[g] ** age
        np.testing.assert_allclose(weight[g], share.sum())
        np.testing.assert_allclose(mean[:, g], share @ rows / share.sum())
        centred = rows - mean[:, g]
        expected = np.tril((centred.T * share) @ centred)[:, :3]
        np.testing.assert_allclose(moments[:4, :, g], expected, rtol=1e-9, atol=1e-9)
        last = rows[-1, :3] - (mean[:3, g] * weight[g] - rate[-1] * rows[-1, :3]) / (
            weight[g] - rate[-1]
        )
        np.testing.assert_allclose(moments[4, :, g], last, rtol=1e-9, atol=1e-9)


def test_deviations_are_from_the_mean_the_last_round_and_the_season():
    rng = np.random.default_rng(1)
    x, means = rng.normal(size=2), rng.normal(size=(4, MEMORY_COUNT))
    mean = np.hstack([means, means, np.zeros((4, 2 * MEMORY_COUNT))])
    past_x, past_y = rng.normal(size=(512, 2)), np.tile(rng.normal(size=512), 2)
    counters = np.zeros(COUNTERS)
    counters[PASSED_ROUNDS], counters[SEASON] = 600, 7
    u, origin = np.zeros((4, LANES)), np.zeros(LANES)
    ridge_experts.set_deviations(counters, past_x, past_y, mean, x, u, origin, 0)
    newest = -600 % 512
    families = u[:3].reshape(3, 4, MEMORY_COUNT)
    for family in (0, 1):
        np.testing.assert_array_equal(families[:2, family], x[:, None] - means[:2])
        np.testing.assert_array_equal(families[2, family], past_y[newest] - means[2])
    for family, lag in ((2, 1), (3, 7)):
        step = (x - past_x[(600 - lag) % 512])[:, None]
        np.testing.assert_array_equal(families[:2, family], np.tile(step, MEMORY_COUNT))
        assert (families[2, family] == 0).all()
    origins = [means[3], means[3], past_y[newest], past_y[newest + 6]]
    np.testing.assert_array_equal(origin[:MEMORY_COUNT], origins[0])
    np.testing.assert_array_equal(origin[2 * MEMORY_COUNT :: MEMORY_COUNT], origins[2:])


def test_the_ridge_is_in_units_of_the_spread():
    rng = np.random.default_rng(2)
    x, labels = rng.normal(size=(20, 2)), rng.normal(size=20)
    x[:, 1] = 4.0
    overall_mean, spread, u = np.zeros(3), np.zeros((3, 3)), np.zeros((4, LANES))
    steps = rng.normal(size=(20, 2, 2))
    for t in range(20):
        u[:2, 2 * MEMORY_COUNT], u[:2, 3 * MEMORY_COUNT] = steps[t]
        ridge_experts.update_spread(
            overall_mean, spread, x[t], labels[t], u, 1 / (t + 1)
        )
    expected = [np.append(x.var(axis=0), labels.var())]
    expected += [np.append((steps[:, i] ** 2).mean(axis=0), 0) for i in range(2)]
    np.testing.assert_allclose(spread, expected, atol=1e-14)
    ridge = np.empty((3, LANES))
    ridge_experts.set_ridges(spread, ridge)
    wanted = np.repeat(spread[[0, 0, 1, 2]], MEMORY_COUNT, axis=0) * RIDGE[:, None]
    np.testing.assert_array_equal(ridge.T, np.where(wanted > 0, wanted, 1.0))


@pytest.mark.parametrize("z", [2, 3, 5, 8, 9])
def test_all_lanes_are_solved(z):
    rng = np.random.default_rng(3)
    roots = rng.normal(size=(LANES, z + 3, z))
    full = np.einsum("lki,lkj->lij", roots, roots)
    right, ridge = rng.normal(size=(2, z, LANES)), rng.uniform(0.1, 1, size=(z, LANES))
    moments = np.concatenate([np.tril(full).transpose(1, 2, 0), right])
    workspace = new_workspace(z - 1).experts
    solve.factorise(moments, ridge, workspace.lower, workspace.work)
    # What is asked for: the leading coordinates' system everywhere, for b; and for u
    # and the whole system where there are experts that need them.
    for size, which, lanes in (
        (z - 1, 0, LANES), (z - 1, 1, ANCHORED_LANES), (z, 0, AUTOREGRESSIVE_LANES),
    ):  # fmt: skip
        out = np.empty((z, LANES))
        solve.back_substitute(workspace.lower, z + which, size, lanes, out)
        for lane in range(lanes):
            matrix = (full[lane] + np.diag(ridge[:, lane]))[:size, :size]
            expected = np.linalg.solve(matrix, right[which, :size, lane])
            np.testing.assert_allclose(out[:size, lane], expected, rtol=1e-9)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_coefficient_beyond_float64_is_zero(size):
    """Of tiny features and huge labels, which can push it to either side."""
    workspace = new_workspace(4).experts
    lower = workspace.lower
    lower[:] = 0.5
    lower[size - 1, 0] = 1e200  # an infinite one before it is not passed on
    for which, b in ((5, np.inf), (6, -np.inf), (5, np.nan), (6, 1e200)):
        lower[which] = 3.0
        lower[which, size - 1] = b
        out = np.empty((5, LANES))
        solve.back_substitute(lower, which, size, LANES, out)
        assert np.isfinite(out[:size]).all()
        if not np.isfinite(b):
            assert (out[size - 1] == 0).all()


def test_an_anchored_coefficient_beyond_float64_starts_again_from_zero():
    n, workspace = 2, new_workspace(2).experts
    theta, u = np.zeros((n, ANCHORED_LANES)), np.zeros((n + 2, LANES))
    theta[0], theta[1] = 1.6e308, 3.0
    u[n + 1], workspace.lower[:] = 1.0, 0.0  # y deviates by 1, x not at all
    workspace.lower[n + 2, 0], workspace.lower[n + 2, 1] = 1e308, 2.0
    weight, gain = np.ones(LANES), np.zeros((n + 1, LANES))
    ridge_experts.step_anchored(theta, u, weight, workspace.lower, gain)
    assert (theta[0] == 0).all()
    assert (theta[1] == 5).all()
