"""Newton steps of the interior-point method in regret/path_budget.py.

The problem is min Σ ½(y_t - x_t·z_t)² over paths z with Σ‖z_{t+1} - z_t‖ ≤ V. Its dual
steers S_t = S_{t-1} + x_t r_t with the scalars r_t, keeps ‖S_t‖ ≤ λ on every link and
ends at zero: optimal control, with z as the costate. So a Newton system is one Riccati
recursion, and as the control is a scalar, a round costs O(n²) and not O(n³).

Each of the T-1 links t, between the rounds t and t+1, has two points of the cone
{(p0, p1): p0 ≥ ‖p1‖}: (s_t, D_t), with D_t = z_{t+1} - z_t, and (λ, S_t). They end up
orthogonal; the sum of their products is the duality gap.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.hindsight.cone import (
    complementarity,
    mehrotra_correction,
    nesterov_todd_scaling,
    step_to_boundary,
)

BOUNDARY_FRACTION = 0.99
"""A step goes this part of the way to the boundary of the cones."""


Iterate = namedtuple(
    "Iterate",
    "z S dS gain dS_price "  # (T, n)
    "r dr pivot misfit dr_price "  # (T,)
    "D dD w1 rho1 "  # (L, n), for L = T-1 links
    "s ds eta w0 rho0",  # (L,)
)
"""The iterate of the method, and the workspace of a step.

``d`` is for direction, that of z follows from dD; ``_price`` is for ∂/∂λ. η and w are
the scaling of a link, W² = η(2wwᵀ - J) with J = diag(1, -1, ..., -1), and ρ its
right-hand side. ``gain`` and ``pivot`` are those of the Riccati recursion.
"""


def initial_iterate(r: Any, S: Any, path_length: float) -> Iterate:
    """The constant path z = 0, with the r (T,) and S (T, n) that belong to it."""
    T, n = S.shape
    wide, long = (np.zeros((T, n)) for _ in range(5)), (np.zeros(T) for _ in range(5))
    links, link = np.zeros((4, T - 1, n)), np.zeros((5, T - 1))
    iterate = Iterate(*wide, *long, *links, *link)
    iterate.r[:], iterate.S[:], iterate.s[:] = r, S, path_length / (T - 1)
    return iterate


@kernel
def newton_step(x, y, kappa, budget, price, it):
    """One predictor-corrector step, in place; returns the new λ, its length, the gap.

    Shapes: x (T, n), y (T,), kappa (n, n) the metric that pulls S_{T-1} to zero. A
    length of 0 says that rounding has left no direction to go; nothing is changed then.
    """
    gap = complementarity(price, 0.0, 0.0, it)
    if not (gap > 0 and nesterov_todd_scaling(price, it)):
        return price, 0.0, gap
    riccati_recursion(x, kappa, it)
    h, h_price = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    it.misfit[:] = 0.0
    for t in range(len(it.s)):
        for i in range(len(h)):
            it.rho1[t, i] = -2 * it.eta[t] * it.w0[t] * it.w1[t, i]
    sweep(x, h_price, it.dr_price, it.dS_price, it)
    for t in range(len(y)):
        fit = it.r[t]
        for i in range(len(h)):
            fit += x[t, i] * it.z[t, i]
        it.misfit[t] = y[t] - fit
    it.rho0[:] = -it.s
    it.rho1[:] = -it.D
    d_price = direction(x, kappa, budget, h, it)
    length = min(1.0, step_to_boundary(price, d_price, it))
    left = complementarity(price, d_price, length, it) / gap
    mehrotra_correction(
        price, d_price, min(1.0, max(0.0, left)) ** 3 * gap / len(it.s), it
    )
    d_price = direction(x, kappa, budget, h, it)
    length = min(1.0, BOUNDARY_FRACTION * step_to_boundary(price, d_price, it))
    if not (length > 0 and abs(d_price) < np.inf):
        return price, 0.0, gap
    for i in range(len(h)):
        h[i] = -h[i] - d_price * h_price[i]
    advance(length, h, it)
    price += length * d_price
    return price, length, complementarity(price, 0.0, 0.0, it)


@kernel
def riccati_recursion(x, kappa, it):
    """The backward Riccati recursion, for every right-hand side of this step.

    M ← M + η(I + 2w₁w₁ᵀ) at a link, M ← M - kkᵀ/d at a round, k = Mx, d = 1 + x·k.
    Only the lower triangle of M is kept.
    """
    T, n = x.shape
    M, k = kappa.copy(), np.empty(n)
    for t in range(T - 1, -1, -1):
        if t < T - 1:
            eta = it.eta[t]
            for i in range(n):
                w = 2 * eta * it.w1[t, i]
                for j in range(i + 1):
                    M[i, j] += w * it.w1[t, j]
                M[i, i] += eta
        d = 1.0
        for i in range(n):
            Mx = 0.0
            for j in range(i + 1):
                Mx += M[i, j] * x[t, j]
            for j in range(i + 1, n):
                Mx += M[j, i] * x[t, j]
            k[i] = Mx
            d += x[t, i] * Mx
        it.pivot[t] = 1 / d
        for i in range(n):
            gain = k[i] * it.pivot[t]
            it.gain[t, i] = gain
            for j in range(i + 1):
                M[i, j] -= gain * k[j]


@kernel
def sweep(x, h, dr, dS, it):
    """Solve for dr (T,) and dS (T, n), with ρ₁; h (n,) goes in with its end value."""
    T, n = x.shape
    for t in range(T - 1, -1, -1):
        u = it.misfit[t]
        for i in range(n):
            if t < T - 1:
                h[i] += it.rho1[t, i]
            u += x[t, i] * h[i]
        dr[t] = u * it.pivot[t]
        for i in range(n):
            h[i] -= it.gain[t, i] * u
    state = np.zeros(n)
    for t in range(T):
        u = dr[t]
        for i in range(n):
            u -= it.gain[t, i] * state[i]
        dr[t] = u
        for i in range(n):
            state[i] += x[t, i] * u
            dS[t, i] = state[i]


@kernel
def direction(x, kappa, budget, h, it):
    """Fill dr, dS, ds and dD from ρ; returns dλ, which makes Σ(s + ds) = V."""
    T, n = x.shape
    h[:] = 0.0
    for i in range(n):
        for j in range(n):
            h[i] -= kappa[i, j] * it.S[T - 1, j]
    sweep(x, h, it.dr, it.dS, it)
    top, bottom = -budget, 0.0
    for t in range(T - 1):
        main = own = 0.0
        for i in range(n):
            main += it.w1[t, i] * it.dS[t, i]
            own += it.w1[t, i] * it.dS_price[t, i]
        w0, eta = it.w0[t], it.eta[t]
        top += it.s[t] + it.rho0[t] - 2 * eta * w0 * main
        bottom += eta * (2 * w0 * w0 - 1) + 2 * eta * w0 * own
    d_price = top / bottom if bottom > 0 else np.nan
    for t in range(T):
        it.dr[t] += d_price * it.dr_price[t]
        for i in range(n):
            it.dS[t, i] += d_price * it.dS_price[t, i]
    for t in range(T - 1):
        wq = it.w0[t] * d_price
        for i in range(n):
            wq += it.w1[t, i] * it.dS[t, i]
        eta = it.eta[t]
        it.ds[t] = it.rho0[t] - eta * (2 * it.w0[t] * wq - d_price)
        for i in range(n):
            it.dD[t, i] = it.rho1[t, i] - eta * (it.dS[t, i] + 2 * it.w1[t, i] * wq)
    return d_price


@kernel
def advance(length, dz, it):
    """Move the iterate; dz (n,) is the direction of z_0 and is used up."""
    for t in range(len(it.r)):
        it.r[t] += length * it.dr[t]
        for i in range(len(dz)):
            it.z[t, i] += length * dz[i]
            it.S[t, i] += length * it.dS[t, i]
        if t == len(it.s):
            break
        it.s[t] += length * it.ds[t]
        for i in range(len(dz)):
            it.D[t, i] += length * it.dD[t, i]
            dz[i] += it.dD[t, i]
