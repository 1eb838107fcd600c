r"""The level experts with the last features and labels as further features.

Also known as: ARDL, autoregressive distributed lag.

A ridge regression of y about its discounted mean on x_t, x_{t-1}, y_{t-1} and y_{t-2},
with one of five memories in every lane of one SIMD vector, whose last three lanes are
copies of the fifth. The moments are updated in every round. The system has twice the
size of the others', so it is solved every few rounds only: the shortest memory here is
one of sixteen rounds.

Its leverage would need the factors of that round. It is taken to be that of the
autoregressive expert of the same memory, plus that of the features in the round before:
exactly so if the two rounds' features were uncorrelated.
"""

from thalweg.kernels.compiler.jit import inline_function, inner_function
from thalweg.kernels.compiler.simd import WIDTH, load, store
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.autoregressive import LAG_RIDGE
from thalweg.kernels.tracker.ridge_experts import (
    MIN_SPREAD,
    UNVARIED_RIDGE,
    past_lag,
    set_decay,
    update_moments,
)
from thalweg.kernels.tracker.seasonality import feature_row, newest_label
from thalweg.kernels.tracker.solve import back_substitute, factorise

SOLVE_INTERVAL = 4
"""Rounds between two solutions, where there are few coordinates."""
FIRST_ROUNDS = 16
"""Number of first rounds, each of which is solved."""
COORDINATES_PER_INTERVAL = 32
"""The interval is as many times longer as this goes into the coordinates, plus one."""
assert layout.DISTRIBUTED_LANES == WIDTH


@inner_function
def set_distributed_deviations(counters, past_x, past_y, mean, x, u, origin, age):
    """Set the deviations of x_t, x_{t-1}, y_{t-1}, y_{t-2} from their means, and y's
    origin, its mean.
    """
    n, now = x.size, newest_label(counters)
    last = feature_row(counters, past_lag(counters, age, 0))
    for j in range(n):
        store(u, (j, 0), x[j] - load(mean, (j, 0)))
        store(u, (n + j, 0), past_x[last, j] - load(mean, (n + j, 0)))
    for i in range(layout.PAST_LABELS):
        y, j = past_y[now + past_lag(counters, age, i) - 1], 2 * n + i
        store(u, (j, 0), y - load(mean, (j, 0)))
    store(origin, 0, load(mean, (2 * n + layout.PAST_LABELS, 0)))


@inline_function
def learn_distributed_lag(state, workspace, spread, lag_spread, y, w, elapsed, rounds):
    """Update means and moments, and at intervals solve for the coefficients.

    ``spread`` (3, n) and ``lag_spread`` (LAGS,) are those of the features and of the
    past labels; ``rounds`` is the number of rounds learnt before this one.
    """
    u, decay, outer_weight = (
        workspace.deviations,
        workspace.decay,
        workspace.outer_weight,
    )
    size = len(state.theta)
    set_decay(layout.DISTRIBUTED_DISCOUNT, elapsed, decay)
    before = load(decay, 0) * load(state.weight, 0)
    now = before + w
    step = w / now
    store(state.weight, 0, now)
    store(outer_weight, 0, before * step)
    store(u, (size, 0), y - load(workspace.origin, 0))
    for j in range(size + 1):
        store(state.mean, (j, 0), load(state.mean, (j, 0)) + step * load(u, (j, 0)))
    update_moments(state.moments, u, outer_weight, decay)
    if is_solution_due(rounds, size):
        set_distributed_ridges(spread, lag_spread, workspace.ridge)
        factorise(state.moments, workspace.ridge, workspace.lower, workspace.work)
        back_substitute(
            workspace.lower, size, size, layout.DISTRIBUTED_LANES, state.theta
        )


@inline_function
def is_solution_due(rounds, size):
    """Whether to solve in this round: in all of the first, then at an interval."""
    interval = SOLVE_INTERVAL * (1 + size // COORDINATES_PER_INTERVAL)
    t = int(rounds)
    return t < FIRST_ROUNDS or t % interval == 0


@inner_function
def set_distributed_ridges(spread, lag_spread, ridge):
    """Set the ridge of every coordinate, (2n + 2, lanes): that of the light levels."""
    n = spread.shape[1]
    for j in range(len(ridge)):
        unit = spread[0, j % n] if j < 2 * n else lag_spread[j - 2 * n]
        delta = LAG_RIDGE * unit
        for lane in range(layout.DISTRIBUTED_LANES):
            ridge[j, lane] = delta if delta > MIN_SPREAD else UNVARIED_RIDGE
