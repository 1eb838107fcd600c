"""Means, moments and solutions, lane by lane against NumPy."""

import numpy as np
import pytest

from tests.kernels.tracker.workspaces import new_workspace, ridge_experts, solve
from thalweg.kernels.tracker import tracker_layout as layout


def test_moments_are_those_about_the_discounted_mean():
    rng = np.random.default_rng(0)
    rows = 5 + rng.normal(size=(30, 4))  # three features and the label
    rate, passed = rng.uniform(0, 2, size=(2, 30))
    workspace = new_workspace(3).experts
    u, outer_weight = workspace.deviations, workspace.outer_weight
    origin, decay = workspace.origin, workspace.decay
    weight, mean = np.zeros(layout.LANES), np.zeros((4, layout.LANES))
    moments = np.zeros((5, 3, layout.LANES))
    for row, w, elapsed in zip(rows, rate, passed, strict=True):
        for g in range(layout.MEMORY_COUNT):
            u[:3, g], origin[g] = row[:3] - mean[:3, g], mean[3, g]
        ridge_experts.set_decay(layout.DISCOUNT, elapsed, decay)
        ridge_experts.update_means(
            weight, mean, row[3], w, u, origin, outer_weight, decay
        )
        ridge_experts.update_moments(moments, u, outer_weight, decay)
    age = passed[::-1].cumsum()[::-1] - passed
    for g in range(layout.MEMORY_COUNT):
        share = rate * layout.DISCOUNT[g] ** age
        np.testing.assert_allclose(weight[g], share.sum())
        np.testing.assert_allclose(mean[:, g], share @ rows / share.sum())
        centred = rows - mean[:, g]
        expected = np.tril((centred.T * share) @ centred)[:, :3]
        np.testing.assert_allclose(moments[:4, :, g], expected, rtol=1e-9, atol=1e-9)
        last = rows[-1, :3] - (mean[:3, g] * weight[g] - rate[-1] * rows[-1, :3]) / (
            weight[g] - rate[-1]
        )
        np.testing.assert_allclose(moments[4, :, g], last, rtol=1e-9, atol=1e-9)


def test_moments_may_do_without_a_row_for_the_last_deviations():
    rng = np.random.default_rng(1)
    u, outer_weight, decay = rng.normal(size=(4, 8)), *rng.uniform(size=(2, 8))
    before = rng.normal(size=(4, 3, 8))
    moments = before.copy()
    ridge_experts.update_moments(moments, u, outer_weight, decay)
    updated = decay * before + outer_weight * u[:, None] * u[None, :3]
    lower = np.tri(4, 3, dtype=bool)[..., None]
    expected = np.where(lower, updated, before)
    np.testing.assert_allclose(moments, expected, rtol=1e-12)


def test_deviations_are_from_the_mean_the_last_round_and_the_season():
    rng = np.random.default_rng(1)
    x, means = rng.normal(size=2), rng.normal(size=(3, layout.MEMORY_COUNT))
    mean = np.hstack([means, means, np.zeros((3, 2 * layout.MEMORY_COUNT))])
    past_x, past_y = rng.normal(size=(512, 2)), np.tile(rng.normal(size=512), 2)
    counters = np.zeros(layout.COUNTERS)
    counters[layout.PASSED_ROUNDS], counters[layout.SEASON] = 600, 7
    u, origin = np.zeros((3, layout.LANES)), np.zeros(layout.LANES)
    ridge_experts.set_deviations(counters, past_x, past_y, mean, x, u, origin, 0)
    newest = -600 % 512
    families = u[:2].reshape(2, 4, layout.MEMORY_COUNT)
    for family in (0, 1):
        np.testing.assert_array_equal(families[:, family], x[:, None] - means[:2])
    for family, lag in ((2, 1), (3, 7)):
        step = (x - past_x[(600 - lag) % 512])[:, None]
        np.testing.assert_array_equal(
            families[:, family], np.tile(step, layout.MEMORY_COUNT)
        )
    origins = [means[2], means[2], past_y[newest], past_y[newest + 6]]
    np.testing.assert_array_equal(origin[: layout.MEMORY_COUNT], origins[0])
    np.testing.assert_array_equal(
        origin[layout.MEMORY_COUNT : 2 * layout.MEMORY_COUNT], origins[1]
    )
    np.testing.assert_array_equal(
        origin[2 * layout.MEMORY_COUNT :: layout.MEMORY_COUNT], origins[2:]
    )


def test_the_first_round_stands_for_those_before_it():
    counters = np.zeros(layout.COUNTERS)
    counters[layout.SEASON] = 1
    for passed, expected in ((1, [1, 1, 1]), (2, [1, 2, 2]), (9, [1, 2, 3])):
        counters[layout.PASSED_ROUNDS] = passed
        assert [ridge_experts.past_lag(counters, 0, i) for i in range(3)] == expected
    counters[layout.DELAY] = 4
    assert [ridge_experts.past_lag(counters, 4, i) for i in range(3)] == [5, 6, 7]


def test_the_ridge_is_in_units_of_the_spread():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(20, 2))
    x[:, 1] = 4.0
    overall_mean, spread, u = np.zeros(2), np.zeros((3, 2)), np.zeros((3, layout.LANES))
    steps = rng.normal(size=(20, 2, 2))
    for t in range(20):
        u[:2, 2 * layout.MEMORY_COUNT], u[:2, 3 * layout.MEMORY_COUNT] = steps[t]
        ridge_experts.update_spread(overall_mean, spread, x[t], u, 1 / (t + 1))
    expected = [x.var(axis=0), *((steps[:, i] ** 2).mean(axis=0) for i in range(2))]
    np.testing.assert_allclose(spread, expected, atol=1e-14)
    ridge = np.empty((2, layout.LANES))
    ridge_experts.set_ridges(spread, ridge)
    wanted = (
        np.repeat(spread[[0, 0, 1, 2]], layout.MEMORY_COUNT, axis=0)
        * layout.RIDGE[:, None]
    )
    unvaried = ridge_experts.UNVARIED_RIDGE
    np.testing.assert_array_equal(ridge.T, np.where(wanted > 0, wanted, unvaried))
    assert (ridge[1, : 2 * layout.MEMORY_COUNT] == unvaried).all()


def random_systems(z, lanes, seed=3):
    """Random S (lanes, z, z), right-hand sides b and u (2, z, lanes) and ridges."""
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(lanes, z + 3, z))
    full = np.einsum("lki,lkj->lij", roots, roots)
    return full, rng.normal(size=(2, z, lanes)), rng.uniform(0.1, 1, size=(z, lanes))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("z", [1, 2, 3, 5, 8, 9])
def test_all_lanes_are_solved(z):
    full, right, ridge = random_systems(z, layout.LANES)
    moments = np.concatenate([np.tril(full).transpose(1, 2, 0), right])
    workspace = new_workspace(z).experts
    solve.factorise(moments, ridge, workspace.lower, workspace.work)
    # What is asked for: b everywhere, and u where there are anchored experts.
    for which, lanes in ((0, layout.LANES), (1, layout.ANCHORED_LANES)):
        out = np.empty((z, layout.LANES))
        solve.back_substitute(workspace.lower, z + which, z, lanes, out)
        for lane in range(lanes):
            matrix = full[lane] + np.diag(ridge[:, lane])
            expected = np.linalg.solve(matrix, right[which, :, lane])
            np.testing.assert_allclose(out[:, lane], expected, rtol=1e-9)
    # L with 1/D on its diagonal is that of L D Lᵀ.
    for lane in range(layout.LANES):
        lower = np.tril(workspace.lower[:z, :, lane], -1) + np.eye(z)
        d = 1 / np.diag(workspace.lower[:z, :, lane])
        expected = full[lane] + np.diag(ridge[:, lane])
        np.testing.assert_allclose((lower * d) @ lower.T, expected, rtol=1e-9)
        np.testing.assert_allclose(workspace.work[2, :, lane], -d, rtol=1e-12)


@pytest.mark.parametrize("z", [3, 6])
def test_systems_with_b_alone_are_solved_in_eight_lanes(z):
    full, right, ridge = random_systems(z, 8)
    moments = np.concatenate([np.tril(full).transpose(1, 2, 0), right[:1]])
    lower, work, out = np.empty((z + 1, z, 8)), np.empty((3, z, 8)), np.empty((z, 8))
    solve.factorise(moments, ridge, lower, work)
    solve.back_substitute(lower, z, z, 8, out)
    for lane in range(8):
        matrix = full[lane] + np.diag(ridge[:, lane])
        expected = np.linalg.solve(matrix, right[0, :, lane])
        np.testing.assert_allclose(out[:, lane], expected, rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_a_shrunk_prediction_comes_with_its_leverage(n):
    full, right, ridge = random_systems(n, layout.LANES)
    rng = np.random.default_rng(4)
    u, origin = rng.normal(size=(n + 1, layout.LANES)), rng.normal(size=layout.LANES)
    weight = np.where(
        rng.uniform(size=layout.LANES) < 0.2, 0.0, rng.uniform(1, 9, layout.LANES)
    )
    moments = np.concatenate([np.tril(full).transpose(1, 2, 0), right])
    workspace, predictions = new_workspace(n).experts, np.zeros(layout.LANES)
    solve.factorise(moments, ridge, workspace.lower, workspace.work)
    ridge_experts.predict_shrunk(
        workspace.lower, u, origin, weight, workspace.projection, workspace.leverage,
        predictions,
    )  # fmt: skip
    assert (weight[:20] == 0).any()
    for lane in range(layout.LANES):
        matrix, here = full[lane] + np.diag(ridge[:, lane]), u[:n, lane]
        theta = np.linalg.solve(matrix, right[0, :, lane])
        expected = origin[lane] + theta @ here
        np.testing.assert_allclose(predictions[lane], expected, rtol=1e-9)
        expected = here @ np.linalg.solve(matrix, here)
        if layout.IS_LEVEL[lane] and weight[lane] > 0:
            expected += 1 / weight[lane]
        np.testing.assert_allclose(workspace.leverage[lane], expected, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-140, 1.0, 1e140])
def test_a_feature_that_never_varied_has_no_leverage_in_whatever_unit(unit):
    n, rng = 3, np.random.default_rng(5)
    workspace, predictions = new_workspace(n).experts, np.zeros(layout.LANES)
    spread = rng.uniform(1, 2, size=(3, n))
    spread[:, 1] = 0.0
    roots = rng.normal(size=(8, n))
    roots[:, 1] = 0.0
    moments = np.zeros((n + 2, n, layout.LANES))
    moments[:n] = np.tril(roots.T @ roots)[..., None]
    moments[n:] = roots.sum(axis=0)[:, None]
    ridge_experts.set_ridges(spread, workspace.ridge)
    solve.factorise(moments, workspace.ridge, workspace.lower, workspace.work)
    u, origin, weight = (
        rng.normal(size=(n + 1, layout.LANES)),
        np.zeros(layout.LANES),
        np.ones(layout.LANES),
    )
    u[1] = 0.0
    observed = []
    for moved in (0.0, unit):  # now it varies for the first time
        u[1] = moved
        ridge_experts.predict_shrunk(
            workspace.lower, u, origin, weight, workspace.projection,
            workspace.leverage, predictions,
        )  # fmt: skip
        observed.append((workspace.leverage.copy(), predictions.copy()))
    np.testing.assert_allclose(observed[0], observed[1], rtol=1e-12)
    assert (observed[0][0] > 0).all()


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_coefficient_beyond_float64_is_zero(size):
    """Of tiny features and huge labels, which can push it to either side."""
    workspace = new_workspace(4).experts
    lower = workspace.lower
    lower[:] = 0.5
    lower[size - 1, 0] = 1e200  # an infinite one before it is not passed on
    for which, b in ((4, np.inf), (5, -np.inf), (4, np.nan), (5, 1e200)):
        lower[which] = 3.0
        lower[which, size - 1] = b
        out = np.empty((4, layout.LANES))
        solve.back_substitute(lower, which, size, layout.LANES, out)
        assert np.isfinite(out[:size]).all()
        if not np.isfinite(b):
            assert (out[size - 1] == 0).all()


def test_an_anchored_coefficient_beyond_float64_starts_again_from_zero():
    n, workspace = 2, new_workspace(2).experts
    theta, u = np.zeros((n, layout.ANCHORED_LANES)), np.zeros((n + 1, layout.LANES))
    theta[0], theta[1] = 1.6e308, 3.0
    u[n], workspace.lower[:] = 1.0, 0.0  # y deviates by 1, x not at all
    workspace.lower[n + 1, 0], workspace.lower[n + 1, 1] = 1e308, 2.0
    weight, gain = np.ones(layout.LANES), np.zeros((n, layout.LANES))
    ridge_experts.step_anchored(theta, u, weight, workspace.lower, gain)
    assert (theta[0] == 0).all()
    assert (theta[1] == 5).all()


def test_an_anchored_coefficient_moves_by_the_gain_times_the_innovation():
    n, rng = 3, np.random.default_rng(6)
    full, right, ridge = random_systems(n, layout.LANES)
    u, weight = rng.normal(size=(n + 1, layout.LANES)), rng.uniform(size=layout.LANES)
    right[1] = u[:n]
    workspace, theta = (
        new_workspace(n).experts,
        rng.normal(size=(n, layout.ANCHORED_LANES)),
    )
    moments = np.concatenate([np.tril(full).transpose(1, 2, 0), right])
    solve.factorise(moments, ridge, workspace.lower, workspace.work)
    before = theta.copy()
    ridge_experts.step_anchored(theta, u, weight, workspace.lower, workspace.solution)
    for lane in range(layout.ANCHORED_LANES):
        matrix, here = full[lane] + np.diag(ridge[:, lane]), u[:n, lane]
        innovation = u[n, lane] - before[:, lane] @ here
        gain = weight[lane] * np.linalg.solve(matrix, here)
        expected = before[:, lane] + innovation * gain
        np.testing.assert_allclose(theta[:, lane], expected, rtol=1e-9, atol=1e-12)
