"""Which rounds may be played as a block, and what each leaves in the UD factor.

In a block nothing checks C_kk after each round, as ``cap_covariance`` of windup.py and
the guards of ``bierman_update`` do. Here is a test that none of them would have acted,
and one that a block's rounding, which is another than that of single rounds, stays far
below 1e-9.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.ud_factor import (
    GROWTH,
    INPUT_SCALE,
    SCALE_DECAY,
    min_forgetting_factor,
)
from thalweg.kernels.windup import CHECK_GROWTH, covariance_cap

EPS = np.finfo(np.float64).eps
MIN_GAMMA, COVARIANCE_CAP = min_forgetting_factor(EPS), covariance_cap(EPS)
MAX_INPUT = 1e100
"""Largest √weight·|x| in a block: squares are divided by what remains at its end."""
MIN_PIVOT = 1e-250
"""Smallest D_j, which a block may hold as 1/D_j."""
MIN_REMAINING = 1e-20
"""Lower limit of the part of the initial information that remains in a block."""
MAX_CONDITION = 1e6
"""Upper limit of P_kk C_kk, by which rounding may be multiplied."""


class RecordedRounds(NamedTuple):
    """The rounds to play, as in ``rls``; out and loss are filled in."""

    x: Any  # (T, n)
    y: Any  # (T, k)
    weight: Any  # (T,), or (0,) for all ones
    elapsed: Any  # (T,) or (0,)
    out: Any  # (T, k)
    loss: Any  # (T,)


@kernel
def applied_discount(discount):
    """The discount as ``forget`` of ud_factor.py applies it."""
    return max(discount, MIN_GAMMA)


class BlockPreview(NamedTuple):
    """What is known of a block before it is played."""

    discount: Any  # (b,) γ to the power of the time elapsed, round by round
    weight: Any  # (b,)
    remaining: Any  # (b,) what each round leaves of the information before the block
    peak: Any  # (n,) largest √weight·|x| of each feature, recently or in the block
    input_scale: Any  # (n,) its recent size, as ``bierman_update`` has it at the end
    learnt: Any  # (n,) Σ weight·x² / remaining, the information on it that is gained


@kernel
def allocate_preview(n, max_rounds):
    """Space for a block of at most ``max_rounds`` rounds of n features."""
    discount, weight = np.empty(max_rounds), np.empty(max_rounds)
    remaining, peak, input_scale = np.empty(max_rounds), np.empty(n), np.empty(n)
    return BlockPreview(discount, weight, remaining, peak, input_scale, np.empty(n))


@kernel(ieee_division=True)
def block_end(factor, bound, gamma, rounds, start, ahead):
    """The end of the block from ``start`` on; ``start`` itself if no block is safe.

    ``bound`` (≥ n,) is an upper bound of C_kk. The preview ``ahead`` is filled in.
    """
    n, count, passed = len(ahead.peak), 0, 1.0
    for k in range(n):
        ahead.peak[k] = ahead.input_scale[k] = factor[INPUT_SCALE, k]
        ahead.learnt[k] = 0.0
    x, weight, elapsed = rounds.x, rounds.weight, rounds.elapsed
    for t in range(start, min(start + len(ahead.remaining), len(x))):
        ahead.discount[count] = gamma ** elapsed[t] if len(elapsed) else gamma
        ahead.weight[count] = weight[t] if len(weight) else 1.0
        passed *= applied_discount(ahead.discount[count])
        if passed < MIN_REMAINING:
            break
        ahead.remaining[count] = passed
        root = math.sqrt(ahead.weight[count])
        _update_scales(x, t, root, passed, ahead)
        count += 1
    if count == 0:
        return start
    # C_kk grows by forgetting only: in the block it stays below bound / remaining.
    limit = COVARIANCE_CAP / CHECK_GROWTH * ahead.remaining[count - 1]
    for k in range(n):
        peak = ahead.peak[k]
        if not (peak <= MAX_INPUT and bound[k] * (peak * peak) < limit):
            return start
    return start + count


@kernel(ieee_division=True)
def _update_scales(x, t, root, remaining, ahead):
    peak, input_scale, learnt = ahead.peak, ahead.input_scale, ahead.learnt
    inverse = 1 / remaining
    for k in range(len(peak)):
        v, highest, recent = abs(root * x[t, k]), peak[k], input_scale[k]
        recent = recent if v == 0 else recent * SCALE_DECAY
        peak[k] = v if v > highest else highest
        input_scale[k] = v if v > recent else recent
        learnt[k] += v * v * inverse


@kernel
def is_well_conditioned(information, variance, ahead, ridge):
    """Whether P_kk C_kk stays below ``MAX_CONDITION`` in a block.

    C_kk and P_kk are those of the start, or bounds of them; ``ridge`` is what P_kk may
    gain beside the rounds, but for forgetting.
    """
    exceeded = 0  # counted, since a loop that may end early is not vectorised
    for k in range(len(ahead.peak)):
        gained = information[k] + ahead.learnt[k] + ridge
        exceeded += not variance[k] * gained <= MAX_CONDITION
    return exceeded == 0


@kernel
def is_representable(factor):
    """Whether every D_j is a number that blocks can work with."""
    for j in range(factor.shape[1]):
        if not MIN_PIVOT < factor[j, j] < np.inf:
            return False
    return True


@kernel
def update_scale_rows(factor, ahead, count):
    """Update input scales and growth by ``count`` rounds in which the cap is idle."""
    for k in range(factor.shape[1]):
        factor[INPUT_SCALE, k] = ahead.input_scale[k]
    growth = factor[GROWTH, 0]
    for s in range(count):
        growth *= 1 / applied_discount(ahead.discount[s])
        if growth >= CHECK_GROWTH:
            growth = 1.0
    factor[GROWTH, 0] = growth
