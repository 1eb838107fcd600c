"""kernels/windup.py's ``hold`` for eight factors side by side, to the last bit."""

import numpy as np

from thalweg.kernels.jit import kernel
from thalweg.kernels.rls_bank.update import EPS, LARGEST, any_from, update
from thalweg.kernels.simd import above, larger, load, root, spread, store
from thalweg.kernels.windup import LOOK, RAISE

# As in kernels/windup.py, for float64.
LIMIT = EPS**-0.75
UNLEARNT = LARGEST**0.25 / LIMIT
BOUND = LARGEST**0.75
CALM = (1 - 1e-9) * LIMIT / LOOK
"""``hold`` acts on a C_kk size_k² from just above this."""


@kernel(inline=True)
def look(room, at, n):
    """Whether ``hold`` may have to act; where all is calm it has looked already."""
    grown = load(room, (at.look, 0)) * load(room, (at.grown, 0))
    if any_from(LOOK, grown):
        calm = above(_calm(room, at, n), 0.0, 1.0, grown)
        grown = above(LOOK, grown, grown, calm)
    store(room, (at.look, 0), grown)
    return any_from(LOOK, grown)


@kernel(inline=True)
def _calm(room, at, n):
    """1 in lanes where no C_kk is near what ``hold`` acts on, else 0."""
    calm = spread(1.0)
    for i in range(n):
        c, row = load(room, (at.d + i, 0)), at.upper + i * (i + 3) // 2
        for j in range(i + 1, n):
            u = load(room, (row, 0))
            c = c + u * u * load(room, (at.d + j, 0))
            row += j
        size = load(room, (at.size + i, 0))
        calm = above(CALM, c * (size * size), calm, 0.0)
        calm = above(BOUND, c, calm, 0.0)
    return calm


@kernel(ieee_division=True)
def hold(room, at, n):
    """Bound C in the lanes that wait for it; v is 0 in others, which changes nothing.

    In each lane it is another coordinate that is raised.
    """
    waits = above(LOOK, load(room, (at.look, 0)), 0.0, 1.0)
    _bound_the_unknown(room, at, n, waits)
    worst, first, second, c, size = _two_largest(room, at, n)
    seen = above(1.0, second * LOOK, 1.0, LOOK)
    store(room, (at.look, 0), above(waits, 0.0, seen, load(room, (at.look, 0))))
    acts = above(1.0, first * LOOK, 0.0, waits)
    back = 1.0 / larger(second, 1.0)
    raised = RAISE * size * size / LIMIT - 1.0 / (c * back)
    unit = above(acts, 0.0, root(raised), 0.0)
    back = above(acts, 0.0, back, 1.0)
    for k in range(n):
        store(room, (at.d + k, 0), load(room, (at.d + k, 0)) * back)
        v = above(worst, k - 0.5, above(k + 0.5, worst, unit, 0.0), 0.0)
        store(room, (at.v + k, 0), v)
    store(room, (at.grown, 0), 1.0)
    update(room, at, n)


@kernel(inline=True)
def _bound_the_unknown(room, at, n, waits):
    """Where P_0 = 0 still shows, D stands for infinity: it need not grow further."""
    for j in range(n):
        d = load(room, (at.d + j, 0))
        bounded = above(d, BOUND, above(d, LARGEST, d, BOUND), d)
        store(room, (at.d + j, 0), above(waits, 0.0, bounded, d))


@kernel(inline=True)
def _two_largest(room, at, n):
    """k of the largest C_kk size_k²/limit, this ratio, the next; its C_kk and size."""
    worst, first, second = spread(-1.0), spread(0.0), spread(0.0)
    worst_c, worst_size = spread(1.0), spread(1.0)
    for k in range(n):
        c, row = load(room, (at.d + k, 0)), at.upper + k * (k + 3) // 2
        for j in range(k + 1, n):
            u, d = load(room, (row, 0)), load(room, (at.d + j, 0))
            c = c + above(d, LARGEST, 0.0, u * u * d)
            row += j
        size = load(room, (at.size + k, 0))
        ratio = c * (size * size) / LIMIT
        most = above(load(room, (at.ridge + k, 0)), 0.0, np.inf, UNLEARNT)
        ratio = above(most, ratio, ratio, 0.0)
        second = above(ratio, first, first, larger(ratio, second))
        worst = above(ratio, first, float(k), worst)
        worst_c = above(ratio, first, c, worst_c)
        worst_size = above(ratio, first, size, worst_size)
        first = larger(ratio, first)
    return worst, first, second, worst_c, worst_size
