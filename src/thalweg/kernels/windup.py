"""What keeps P from vanishing in a direction that nothing excites any more.

``hold`` is always on: it acts only where C_kk passes a limit that excited data never
reach. ``top_up`` keeps a ridge that forgetting would take away. Both add w e_k e_kᵀ to
P for the coordinates that need it most: O(n²), and the same whatever the order of the
features. docs/derivations/factor.md says why that is enough.
"""

import math

import numpy as np

from thalweg.kernels.jit import kernel
from thalweg.kernels.ud_factor import diagonal, learn

LOOK = 1.5
"""``hold`` looks at C each time forgetting has multiplied it by this."""
RAISE = 4.0
"""A direction that has passed its limit is brought back to a quarter of it."""
MOST = 8
"""``top_up`` raises at most so many coordinates a round."""
IN_NEED = 0.1
"""The part of the information on a coordinate that is ridge, where it lives on it."""
TIE = 1e-9
"""Needs that differ by less are equal."""
TINY = 1e-30
"""A ridge that is left alone never becomes 0, which would mean that P_0 was."""


@kernel(inline=True)
def hold(factor, c, unit):
    """Keep C_kk size_k² below ε^(-3/4), ε the rounding unit.

    Beyond that limit what rounding puts into a quiet direction would no longer be
    small beside what the data put there. θ is left alone. Where several coordinates
    pass it at once, C as a whole is scaled back, as if less had been forgotten.
    c and unit are (n,) to work in.
    """
    if factor[factor.shape[1] + 2, 0] >= LOOK:
        _hold(factor, c, unit)


@kernel
def _hold(factor, c, unit):
    n = factor.shape[1]
    _bound_the_unknown(factor)
    diagonal(factor, c)
    limit = np.finfo(factor.dtype).eps ** -0.75
    unlearnt = np.finfo(factor.dtype).max ** 0.25 / limit  # beyond it, where P_0 = 0
    # The two largest C_kk size_k² / limit. Not -1 for none: the compiler would take it
    # for a type of its own, and compile all that it is given to twice.
    worst, first, second = n, 0.0, 0.0
    for k in range(n):
        ratio = c[k] * (factor[n, k] * factor[n, k]) / limit
        most = unlearnt if factor[n + 1, k] == 0 else np.inf
        if first < ratio < most:
            worst, first, second = k, ratio, first
        elif second < ratio < most:
            second = ratio
    # One is raised at a time: look again next round if another is waiting.
    factor[n + 2, 0] = 1.0 if second * LOOK < 1 else LOOK
    if first * LOOK < 1:
        return
    back = 1 / max(second, 1.0)
    for j in range(n):
        factor[j, j] *= back
    size = factor[n, worst]
    raised = RAISE * size * size / limit - 1 / (c[worst] * back)
    _add(factor, worst, raised, unit, c)


@kernel
def _bound_the_unknown(factor):
    """Where P_0 = 0 still shows, D stands for infinity: it need not grow further."""
    most = np.finfo(factor.dtype).max ** 0.75
    for j in range(factor.shape[1]):
        if most < factor[j, j] < np.inf:
            factor[j, j] = most


@kernel
def top_up(theta, factor, discount, gamma, ridge, pull, c, unit):
    """Give back to P the ridge it has forgotten most harmfully, w e_k e_kᵀ at a time.

    ⌈2n(1-γ)⌉ coordinates have their turn in a round, so that each has two in a memory,
    but no more than ``MOST``: O(n²). A memory too short for that is made longer, by
    taking back part of this round's forgetting, ``discount``. With ``pull``, θ moves to
    what minimises the sum with the ridge on θ_k itself, as if 0 had been observed.
    theta is (n, k); c and unit are (n,) to work in.
    """
    n = factor.shape[1]
    diagonal(factor, c)
    quiet = 0  # coordinates that live on their ridge, and will be served in turn
    for k in range(n):
        factor[n + 1, k] = max(factor[n + 1, k] * discount, TINY)
        quiet += c[k] * ridge > IN_NEED
    turns = min(max(math.ceil(2 * n * (1 - gamma)), 1), MOST)
    # Until its next turn such a one loses γ^(quiet/turns), or a factor 4 where
    # forgetting is taken back: δ is to be the mean.
    target = ridge * min(gamma ** (-0.5 * quiet / turns), 2.0)
    for _ in range(turns):
        worst, _ = _neediest(factor, target, c)
        if worst < 0:
            return
        raised = target - factor[n + 1, worst]
        factor[n + 1, worst] = target
        _add(factor, worst, raised, unit, c)
        if pull:
            for j in range(theta.shape[1]):
                step = math.sqrt(raised) * theta[worst, j]
                for i in range(n):
                    theta[i, j] -= c[i] * step
    _, most = _neediest(factor, target, c)
    if most > 1:
        back = max(1 / most, discount)
        for j in range(n):
            factor[j, j] *= back
            factor[n + 1, j] /= back


@kernel
def _neediest(factor, target, c):
    """The k with the largest (target - r_k) C_kk, which is returned too; -1 if none."""
    n = factor.shape[1]
    diagonal(factor, c)
    most = 0.0
    for k in range(n):
        need = (target - factor[n + 1, k]) * c[k]
        if most < need < np.inf:
            most = need
    # The first of those that need it as much: the last bit is not to choose.
    for k in range(n):
        need = (target - factor[n + 1, k]) * c[k]
        if most > 0 and most * (1 - TIE) <= need < np.inf:
            return k, most
    return -1, 0.0


@kernel
def _add(factor, k, weight, unit, image):
    """P ← P + w e_k e_kᵀ, which is no new v: the size of coordinate k stays."""
    n = factor.shape[1]
    unit.fill(0)
    unit[k] = math.sqrt(weight)
    size = factor[n, k]
    learn(factor, unit, image)
    factor[n, k] = size
