"""The best scalar path at a price: the fused lasso, exactly, in one pass over T rounds.

    min Σ ½w_t z_t² - c_t z_t + λ Σ|z_{t+1} - z_t|

Johnson (2013), *A dynamic programming algorithm for the fused lasso and
L0-segmentation*, here with a weight for each round. The derivative, by its last level
z, of the least cost of the rounds 0..t rises and is piecewise linear. A round adds
w_t z - c_t to it; the link that follows clips it to [-λ, λ], at low_t and high_t. So a
piece is a run of rounds s..t, since whose start it was not clipped, on one side:

    σλ + Σ_{s..t} (w z - c),  σ = -1 on the left, 1 on the right, 0 for s = 0

Here, unlike there, the sums of a run are differences of sums in twice the precision,
and pieces store their run instead of what they add to a neighbour: else a weight of
1e-18 would be lost beside a weight of 1.
"""

import numpy as np

from thalweg.kernels.compiler.jit import kernel

MAX_STEPS = 80
"""Newton steps on λ before giving up; 2 to 16 are usual."""


@kernel
def best_path(x, y, budget, highest):
    """argmin Σ ½(y_t - x_t z_t)² over Σ|z_{t+1} - z_t| ≤ V, shapes (T,), all x ≠ 0.

    The length of ``fused_lasso``'s path falls with λ, piecewise linearly: Newton on λ.
    At 0 it must be above the ``budget`` V, and at ``highest`` the path must be z = 0.
    """
    w, c = compensated_sums(x * x), compensated_sums(x * y)
    z, workspace = np.empty_like(x), allocate_workspace(len(x))
    short, long = np.zeros_like(x), y / x
    short_length, long_length = 0.0, np.abs(np.diff(long)).sum()
    low, high, price = 0.0, highest, 0.3 * highest
    for _ in range(MAX_STEPS):
        length, slope = fused_lasso(w, c, price, z, *workspace)
        if length > budget:
            low, long_length, long[:] = price, length, z
        else:
            high, short_length, short[:] = price, length, z
        if abs(length - budget) <= 1e-13 * budget or high - low <= 1e-15 * high:
            break
        price += (budget - length) / slope if slope < 0 else np.inf
        if not low < price < high:
            price = np.sqrt(low * high) if low > 0 else 0.1 * high
    # A tiny weight may jump within the rounding of λ: then V lies between the two.
    between = long_length - short_length
    share = (budget - short_length) / between if between > 0 else 1.0
    return short + share * (long - short)


@kernel
def compensated_sums(values):
    """(2, T+1): the sums of the first 0..T values, and what rounding took from them.

    Compensated summation (Knuth's two-sum).
    """
    sums = np.zeros((2, len(values) + 1))
    for t in range(len(values)):
        before, value = sums[0, t], values[t]
        after = before + value
        part = after - before
        sums[0, t + 1] = after
        sums[1, t + 1] = sums[1, t] + ((before - (after - part)) + (value - part))
    return sums


@kernel
def allocate_workspace(rounds):
    """The workspace of ``fused_lasso``, after z."""
    low, high, run = np.empty(rounds), np.empty(rounds), np.empty(2 * rounds, np.int64)
    return low, high, run, np.empty(2 * rounds), np.empty(2 * rounds)


@kernel
def fused_lasso(w, c, price, z, low, high, run, side, end):
    """Set z to the best path; returns Σ|z_{t+1} - z_t| and its derivative by λ.

    Shapes: w and c (2, T+1), ``compensated_sums`` of w > 0 and c; z, low, high (T,).
    Workspace: ``run`` (2T,) integers, ``side`` and ``end`` (2T,) hold the starts of the
    pieces, their σ and where each ends; they grow from the middle both ways.
    """
    T = len(z)
    first = last = T
    run[first], side[first] = 0, 0.0
    for t in range(T):
        if t:
            first -= 1
            run[first], side[first], end[first] = t, -1.0, low[t - 1]
            end[last] = high[t - 1]
            last += 1
            run[last], side[last] = t, 1.0
        goal = -1.0 if t < T - 1 else 0.0  # the last round has no link to be clipped by
        low[t] = level_at(w, c, price, goal, run[first], t, side[first])
        while first < last and end[first] <= low[t]:
            first += 1
            low[t] = level_at(w, c, price, goal, run[first], t, side[first])
        high[t] = level_at(w, c, price, -goal, run[last], t, side[last])
        while first < last and end[last - 1] >= high[t]:
            last -= 1
            high[t] = level_at(w, c, price, -goal, run[last], t, side[last])
    z[T - 1] = low[T - 1]
    # Going back, a round follows its successor as far as its own thresholds allow.
    for t in range(T - 2, -1, -1):
        z[t] = min(max(z[t + 1], low[t]), high[t])
    return level_runs(w, c, price, z)


@kernel
def level_at(w, c, price, goal, s, t, sigma):
    """The z at which the piece of the rounds s..t has the value goal·λ."""
    return (interval_sum(c, s, t) + (goal - sigma) * price) / interval_sum(w, s, t)


@kernel
def interval_sum(sums, s, t):
    """The sum of the values s..t."""
    return (sums[0, t + 1] - sums[0, s]) + (sums[1, t + 1] - sums[1, s])


@kernel
def level_runs(w, c, price, z):
    """Set each run of equal z to its exact level; returns the path and its derivative.

    A run with the sums W and C lies at (C + λσ)/W, σ = the sign of the step that ends
    it less the sign of the step before it.
    """
    T = len(z)
    path = slope = before = previous = 0.0
    first = 0
    while first < T:
        end = first + 1
        while end < T and z[end] == z[first]:
            end += 1
        after = np.sign(z[end] - z[first]) if end < T else 0.0
        exact = level_at(w, c, price, after, first, end - 1, before)
        slope -= (after - before) ** 2 / interval_sum(w, first, end - 1)
        if first:
            path += abs(exact - previous)
        z[first:end] = exact
        first, before, previous = end, after, exact
    return path, slope
