"""The experts on two rounds of features and labels, against dense ridge regressions."""

import numpy as np
import pytest

from tests.kernels.tracker import reference
from tests.kernels.tracker.workspaces import distributed_lag, new_state
from thalweg.kernels.tracker import tracker_layout as layout


def test_memories_are_those_of_the_reference():
    np.testing.assert_array_equal(layout.DISTRIBUTED_MEMORIES, reference.WIDE_MEMORIES)


@pytest.mark.parametrize("delay, age", [(0, 0), (3, 0), (3, 3)])
def test_deviations_are_of_two_rounds_of_features_and_two_labels(delay, age):
    rng, n = np.random.default_rng(0), 2
    counters = np.zeros(layout.COUNTERS)
    counters[layout.PASSED_ROUNDS], counters[layout.SEASON], counters[layout.DELAY] = (
        600,
        7,
        delay,
    )
    past_x, past_y = rng.normal(size=(512, n)), np.tile(rng.normal(size=512), 2)
    mean, x = rng.normal(size=(2 * n + 3, layout.DISTRIBUTED_LANES)), rng.normal(size=n)
    u, origin = (
        np.zeros((2 * n + 3, layout.DISTRIBUTED_LANES)),
        np.zeros(layout.DISTRIBUTED_LANES),
    )
    distributed_lag.set_distributed_deviations(
        counters, past_x, past_y, mean, x, u, origin, age
    )
    newest, last = -600 % 512 + age, past_x[(599 - age) % 512]
    now = np.concatenate([x, last, past_y[newest : newest + 2]])
    np.testing.assert_array_equal(u[:-1], now[:, None] - mean[:-1])
    np.testing.assert_array_equal(origin, mean[-1])


def learn_rows(rows, y, rate, elapsed, spread, lag_spread, rounds):
    """The state after these rows; yields after each."""
    s, workspace = new_state(spread.shape[1])
    state, wide = s.distributed_lag, workspace.distributed_lag
    for t, row in enumerate(rows):
        wide.deviations[:-1] = row[:, None] - state.mean[:-1]
        wide.origin[:] = state.mean[-1]
        distributed_lag.learn_distributed_lag(
            state, wide, spread, lag_spread, y[t], rate[t], elapsed[t], rounds[t]
        )
        yield state


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 3])
def test_coefficients_are_those_of_a_dense_ridge_regression(n):
    rng = np.random.default_rng(1)
    count, size = 30, 2 * n + 2
    rows, y = 5 + rng.normal(size=(count, size)), rng.normal(size=count)
    rate, elapsed = rng.uniform(0.1, 2, size=(2, count))
    spread, lag_spread = rng.uniform(1, 2, size=(3, n)), rng.uniform(1, 2, size=3)
    spread[0, 0] = 0.0
    rows[:, 0] = rows[:, n] = 7.0  # the first feature never varied
    units = np.concatenate([spread[0], spread[0], lag_spread[:2]])
    ridges = np.where(units > 0, 0.01 * units, 1e300)
    every = np.zeros(count)  # rounds in all of which it is solved
    states = learn_rows(rows, y, rate, elapsed, spread, lag_spread, every)
    for t, state in enumerate(states):
        age = elapsed[: t + 1][::-1].cumsum()[::-1] - elapsed[: t + 1]
        for lane, gamma in enumerate(layout.DISTRIBUTED_DISCOUNT):
            share = rate[: t + 1] * gamma**age
            m, m_y = share @ rows[: t + 1], share @ y[: t + 1]
            m, m_y = m / share.sum(), m_y / share.sum()
            u = rows[: t + 1] - m
            matrix = (u.T * share) @ u + np.diag(ridges)
            theta = np.linalg.solve(matrix, (u.T * share) @ (y[: t + 1] - m_y))
            np.testing.assert_allclose(
                state.theta[:, lane], theta, rtol=1e-6, atol=1e-9
            )
            np.testing.assert_allclose(state.mean[:, lane], np.append(m, m_y))
            np.testing.assert_allclose(state.weight[lane], share.sum())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("n, every, first", [(3, 4, 16), (14, 4, 16), (15, 8, 16)])
def test_it_is_solved_in_all_of_the_first_rounds_then_at_an_interval(n, every, first):
    rng, count, size = np.random.default_rng(2), 44, 2 * n + 2
    rows, y = rng.normal(size=(count, size)), rng.normal(size=count)
    ones, spread = np.ones(count), np.ones((3, n))
    states = learn_rows(rows, y, ones, ones, spread, np.ones(3), np.arange(count))
    before, solved = np.zeros((size, layout.DISTRIBUTED_LANES)), []
    for t, state in enumerate(states):
        if (state.theta != before).any():
            solved.append(t)
        before = state.theta.copy()
    # In round 0 there is one row only, about whose mean nothing varies.
    expected = [t for t in range(1, count) if t < first or t % every == 0]
    assert solved == expected
