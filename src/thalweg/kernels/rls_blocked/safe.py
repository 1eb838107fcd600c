"""Which rounds may be taken as a block, and what every round leaves in the factor.

In a block nothing looks at C_kk after each round, as ``floor.hold`` and the guards of
``factor.update`` do. Here is a test that none of them would have acted.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thalweg.kernels.jit import kernel
from thalweg.kernels.ud_factor import SIZE_DECAY
from thalweg.kernels.windup import LOOK

LARGEST = 1e100
"""Of √weight·|x|: in a block squares are divided by what has been forgotten in it."""
SMALLEST = 1e-250
"""Of D_j, which a block may hold as 1/D_j."""
FORGOTTEN = 1e-20
"""A block ends before less than this is left of what was known at its start."""


class Rounds(NamedTuple):
    """The rounds to play, as in ``rls``; out and loss are filled in."""

    x: Any  # (T, n)
    y: Any  # (T, k)
    weight: Any  # (T,), or (0,) for all ones
    elapsed: Any  # (T,) or (0,)
    out: Any  # (T, k)
    loss: Any  # (T,)


@kernel
def forgetting(discount):
    """The discount as ``factor.forget`` applies it."""
    return max(discount, np.finfo(np.float64).eps ** 2)


class Ahead(NamedTuple):
    """What is known of a block before it is played."""

    discount: Any  # (b,) γ to the power of the time elapsed, round by round
    weight: Any  # (b,)
    left: Any  # (b,) what each round leaves of the information before the block
    peak: Any  # (n,) the largest √weight·|x| of each feature, lately or in the block
    size: Any  # (n,) its size lately, as ``factor.update`` would have it at the end


@kernel
def look_ahead(n, longest):
    """Room for a block of at most ``longest`` rounds of n features."""
    discount, weight, left = np.empty(longest), np.empty(longest), np.empty(longest)
    return Ahead(discount, weight, left, np.empty(n), np.empty(n))


@kernel
def block_end(factor, bound, gamma, rounds, start, ahead):
    """The end of the block from ``start`` on; ``start`` itself if none is safe.

    ``bound`` (≥ n,) is no less than C_kk. ``ahead`` is filled in.
    """
    n, count, passed = len(ahead.peak), 0, 1.0
    for k in range(n):
        ahead.peak[k] = ahead.size[k] = factor[n, k]
    x, weight, elapsed = rounds.x, rounds.weight, rounds.elapsed
    for t in range(start, min(start + len(ahead.left), len(x))):
        ahead.discount[count] = gamma ** elapsed[t] if len(elapsed) else gamma
        ahead.weight[count] = weight[t] if len(weight) else 1.0
        passed *= forgetting(ahead.discount[count])
        if passed < FORGOTTEN:
            break
        ahead.left[count] = passed
        _measure(x, t, math.sqrt(ahead.weight[count]), ahead.peak, ahead.size)
        count += 1
    if count == 0:
        return start
    # C_kk grows by forgetting only, so that in the block it stays below bound / left.
    limit = np.finfo(np.float64).eps ** -0.75 / LOOK * ahead.left[count - 1]
    for k in range(n):
        peak = ahead.peak[k]
        if not (peak <= LARGEST and bound[k] * (peak * peak) < limit):
            return start
    return start + count


@kernel
def _measure(x, t, root, peak, size):
    for k in range(len(peak)):
        v, highest, lately = abs(root * x[t, k]), peak[k], size[k]
        lately = lately if v == 0 else lately * SIZE_DECAY
        peak[k] = v if v > highest else highest
        size[k] = v if v > lately else lately


@kernel
def representable(factor):
    """Whether every D_j is a number that blocks can work with."""
    for j in range(factor.shape[1]):
        if not SMALLEST < factor[j, j] < np.inf:
            return False
    return True


@kernel
def note(factor, ahead, count):
    """What ``count`` rounds leave in the last rows where ``hold`` does not act."""
    n = factor.shape[1]
    for k in range(n):
        factor[n, k] = ahead.size[k]
    grown = factor[n + 2, 0]
    for s in range(count):
        grown *= 1 / forgetting(ahead.discount[s])
        if grown >= LOOK:
            grown = 1.0
    factor[n + 2, 0] = grown
