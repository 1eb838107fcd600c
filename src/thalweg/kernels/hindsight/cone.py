"""Second-order cones of the path-budget problem: scaling, step lengths, corrections.

Each link t of the path is a pair of points in the cone ‖tail‖ ≤ head: (s, D), the move
allowed and made, and (λ, S), its price. riccati.py has the iterate ``it``.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel


@kernel
def nesterov_todd_scaling(price, it):
    """The Nesterov-Todd scaling of each link: the W with W⁻¹(s, D) = W(λ, S).

    Returns False where rounding has put a point on the boundary of its cone.
    """
    n = it.D.shape[1]
    for t in range(len(it.s)):
        D2 = S2 = DS = 0.0
        for i in range(n):
            D2 += it.D[t, i] * it.D[t, i]
            S2 += it.S[t, i] * it.S[t, i]
            DS += it.D[t, i] * it.S[t, i]
        p2, q2 = cone_determinant(it.s[t], D2), cone_determinant(price, S2)
        if not (p2 > 0 and q2 > 0):
            return False
        p, q = math.sqrt(p2), math.sqrt(q2)
        # In the cone (s, D)·(λ, S) ≥ pq; near its boundary rounding may deny that.
        norm = math.sqrt(2 + 2 * max(1.0, (it.s[t] * price + DS) / (p * q)))
        a, b = 1 / (norm * p), 1 / (norm * q)
        it.eta[t] = p / q
        it.w0[t] = a * it.s[t] + b * price
        for i in range(n):
            it.w1[t, i] = a * it.D[t, i] - b * it.S[t, i]
    return True


@kernel
def cone_determinant(head, tail2):
    """p0² - ‖p1‖² without the cancellation of the squares."""
    tail = math.sqrt(tail2)
    return (head - tail) * (head + tail)


@kernel
def step_to_boundary(price, d_price, it):
    """How many times the direction fits before a point leaves its cone."""
    length = np.inf
    for t in range(len(it.s)):
        length = min(length, boundary_step(it.s[t], it.ds[t], it.D, it.dD, t))
        length = min(length, boundary_step(price, d_price, it.S, it.dS, t))
    return length


@kernel(inline=True)  # halves the time of step_to_boundary
def boundary_step(head, d_head, tail, d_tail, t):
    """The least a > 0 with (p0 + a dp0)² = ‖p1 + a dp1‖², or infinity."""
    tail2 = inner = d_tail2 = 0.0
    for i in range(tail.shape[1]):
        tail2 += tail[t, i] * tail[t, i]
        inner += tail[t, i] * d_tail[t, i]
        d_tail2 += d_tail[t, i] * d_tail[t, i]
    A = d_head * d_head - d_tail2
    B = head * d_head - inner
    C = cone_determinant(head, tail2)
    discriminant = B * B - A * C
    if (A < 0 or B < 0) and discriminant >= 0:
        bottom = math.sqrt(discriminant) - B
        if bottom > 0:
            return C / bottom
    return np.inf


@kernel
def complementarity(price, d_price, length, it):
    """The duality gap Σ λs + S·D after a step of this length."""
    gap, lam = 0.0, price + length * d_price
    for t in range(len(it.s)):
        gap += (it.s[t] + length * it.ds[t]) * lam
        for i in range(it.D.shape[1]):
            D = it.D[t, i] + length * it.dD[t, i]
            gap += D * (it.S[t, i] + length * it.dS[t, i])
    return gap


@kernel
def mehrotra_correction(price, d_price, target, it):
    """Mehrotra's right-hand side ρ = W(Wq \\ (σμe - Wq∘Wq - W⁻¹dp ∘ Wdq)).

    p = (s, D), q = (λ, S), e = (1, 0) and ``target`` is σμ. The product of the cone is
    u∘v = (u·v, u0v1 + v0u1), and u \\ v undoes it.
    """
    n = it.D.shape[1]
    wq, dp, dq = np.empty(n), np.empty(n), np.empty(n)
    for t in range(len(it.s)):
        size, S2 = math.sqrt(it.eta[t]), 0.0
        for i in range(n):
            S2 += it.S[t, i] * it.S[t, i]
        # wq0² - ‖wq‖² is η(λ² - ‖S‖²), which unlike it cannot cancel to zero.
        det = it.eta[t] * cone_determinant(price, S2)
        wq0 = max(math.sqrt(det), apply_scaling(size, 1.0, t, it, price, it.S, wq))
        dp0 = apply_scaling(1 / size, -1.0, t, it, it.ds[t], it.dD, dp)
        dq0 = apply_scaling(size, 1.0, t, it, d_price, it.dS, dq)
        v0, inner = target - wq0 * wq0 - dp0 * dq0, 0.0
        for i in range(n):
            v0 -= wq[i] * wq[i] + dp[i] * dq[i]
            v = -2 * wq0 * wq[i] - dp0 * dq[i] - dq0 * dp[i]
            it.rho1[t, i] = v
            inner += wq[i] * v
        u0, undo = (wq0 * v0 - inner) / det, 1 / wq0
        for i in range(n):
            it.rho1[t, i] = (it.rho1[t, i] - u0 * wq[i]) * undo
        it.rho0[t] = apply_scaling(size, 1.0, t, it, u0, it.rho1, dp)
        for i in range(n):
            it.rho1[t, i] = dp[i]


@kernel
def apply_scaling(size, sign, t, it, head, tail, out):
    """W(head, tail[t]) for √η and 1, W⁻¹ for 1/√η and -1: head, and tail in ``out``."""
    w0, inner = it.w0[t], 0.0
    for i in range(len(out)):
        inner += it.w1[t, i] * tail[t, i]
    along = sign * head + inner / (1 + w0)
    for i in range(len(out)):
        out[i] = size * (tail[t, i] + along * it.w1[t, i])
    return size * (w0 * head + sign * inner)
