"""Means, moments and solutions, lane by lane against NumPy."""

import numpy as np

from thalweg.kernels.tracker import room
from thalweg.kernels.tracker.deviations import look, reveal
from thalweg.kernels.tracker.layout import (
    CLOCK,
    DISCOUNT,
    LAG,
    LANES,
    RIDGE,
    ROUNDS,
    SPANS,
)
from thalweg.kernels.tracker.moments import learn_moments, learn_spread, set_ridge
from thalweg.kernels.tracker.solve import back, factorise


def test_moments_are_those_about_the_discounted_mean():
    rng = np.random.default_rng(0)
    rows = 5 + rng.normal(size=(30, 4))  # two features, the last label, the label
    rate, passed = rng.uniform(0, 2, size=(2, 30))
    sums, weight, mean = room.for_sums(2), np.zeros(SPANS), np.zeros((4, SPANS))
    moments = np.zeros((4, 3, LANES))
    for row, w, elapsed in zip(rows, rate, passed, strict=True):
        for g in range(SPANS):
            sums.deviation[:3, g] = row[:3] - mean[:3, g]
            sums.origin[g] = mean[3, g]
        u, gain, decay = sums.deviation, sums.gain, sums.decay
        reveal(weight, mean, row[3], w, elapsed, u, sums.origin, gain, decay)
        learn_moments(moments, u, gain, decay)
    age = passed[::-1].cumsum()[::-1] - passed
    for g in range(SPANS):
        share = rate * DISCOUNT[g] ** age
        np.testing.assert_allclose(weight[g], share.sum())
        np.testing.assert_allclose(mean[:, g], share @ rows / share.sum())
        centred = rows - mean[:, g]
        expected = np.tril((centred.T * share) @ centred)[:, :3]
        np.testing.assert_allclose(moments[:, :, g], expected, rtol=1e-9, atol=1e-9)


def test_deviations_are_from_the_mean_the_last_round_and_the_season():
    rng = np.random.default_rng(1)
    x, mean = rng.normal(size=2), rng.normal(size=(4, SPANS))
    past_x, past_y = rng.normal(size=(512, 2)), np.tile(rng.normal(size=512), 2)
    clock = np.zeros(CLOCK)
    clock[ROUNDS], clock[LAG] = 600, 7
    u, origin = np.zeros((4, LANES)), np.zeros(LANES)
    look(clock, past_x, past_y, mean, x, u, origin)
    newest = -600 % 512
    families = u[:3].reshape(3, 4, SPANS)
    for family in (0, 1):
        np.testing.assert_array_equal(families[:2, family], x[:, None] - mean[:2])
        np.testing.assert_array_equal(families[2, family], past_y[newest] - mean[2])
    for family, lag in ((2, 1), (3, 7)):
        step = (x - past_x[(600 - lag) % 512])[:, None]
        np.testing.assert_array_equal(families[:2, family], np.tile(step, SPANS))
        assert (families[2, family] == 0).all()
    said = [mean[3], mean[3], past_y[newest], past_y[newest + 6]]
    np.testing.assert_array_equal(origin[:SPANS], said[0])
    np.testing.assert_array_equal(origin[2 * SPANS :: SPANS], said[2:])


def test_the_ridge_is_in_units_of_the_spread():
    rng = np.random.default_rng(2)
    x, labels = rng.normal(size=(20, 2)), rng.normal(size=20)
    x[:, 1] = 4.0
    centre, spread, u = np.zeros(3), np.zeros((3, 3)), np.zeros((4, LANES))
    steps = rng.normal(size=(20, 2, 2))
    for t in range(20):
        u[:2, 2 * SPANS], u[:2, 3 * SPANS] = steps[t]
        learn_spread(centre, spread, x[t], labels[t], u, 1 / (t + 1))
    expected = [np.append(x.var(axis=0), labels.var())]
    expected += [np.append((steps[:, i] ** 2).mean(axis=0), 0) for i in range(2)]
    np.testing.assert_allclose(spread, expected, atol=1e-14)
    ridge = np.empty((3, LANES))
    set_ridge(spread, ridge)
    wanted = np.repeat(spread[[0, 0, 1, 2]], SPANS, axis=0) * RIDGE[:, None]
    np.testing.assert_array_equal(ridge.T, np.where(wanted > 0, wanted, 1.0))


def test_all_lanes_are_solved():
    rng = np.random.default_rng(3)
    z = 5
    roots = rng.normal(size=(LANES, z + 3, z))
    full = np.einsum("lki,lkj->lij", roots, roots)
    b, ridge = rng.normal(size=(z, LANES)), rng.uniform(0.1, 1, size=(z, LANES))
    moments = np.concatenate([np.tril(full).transpose(1, 2, 0), b[None]])
    sums = room.for_sums(z - 1)
    sums.deviation[:] = rng.normal(size=sums.deviation.shape)
    factorise(moments, ridge, sums.deviation, sums.lower, sums.scaled, sums.entry)
    for size in (z, z - 1):  # the leading coordinates' own system as well
        for which, right in ((z, b), (z + 1, sums.deviation)):
            out = np.empty((z, LANES))
            back(sums.lower, which, size, LANES, out)
            for lane in range(LANES):
                matrix = full[lane] + np.diag(ridge[:, lane])
                expected = np.linalg.solve(matrix[:size, :size], right[:size, lane])
                np.testing.assert_allclose(out[:size, lane], expected, rtol=1e-9)
