"""Roofline probes: what one core can do at most, and what an RLS round's parts take.

Measuring kernels for roofline.py. The first five find the machine's ceilings.
The last three are ``bierman_update`` of kernels/ud_factor.py taken apart: one after the
other they do what it does, which a test holds them to.
"""

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.ud_factor import transposed_product

STEPS = 16
"""Multiply-adds for every number loaded, so that loads do not count."""


# Contraction lets the compiler use fused multiply-adds: the ceiling of the machine.
@kernel(contracts=True)
def fused_multiply_adds(x, scale, shift, repeats):
    """x ← x·scale + shift, ``STEPS`` times for each of x (n,), in registers."""
    for _ in range(repeats):
        for i in range(x.size):
            value = x[i]
            for _ in range(STEPS):
                value = value * scale + shift
            x[i] = value


@kernel
def multiply_adds(x, scale, shift, repeats):
    """``fused_multiply_adds`` with product and sum each rounded, as in learners."""
    for _ in range(repeats):
        for i in range(x.size):
            value = x[i]
            for _ in range(STEPS):
                value = value * scale + shift
            x[i] = value


@kernel
def triad(a, b, c, scale, repeats):
    """a ← b + scale·c, all of shape (n,): two loads and a store a number."""
    for _ in range(repeats):
        for i in range(a.size):
            a[i] = b[i] + scale * c[i]


@kernel
def chained_sums(x, repeats):
    """Σ x, where each addition waits for the one before: its latency."""
    total = 0.0
    for _ in range(repeats):
        for i in range(x.size):
            total += x[i]
    return total


@kernel
def dependent_passes(x, step, repeats):
    """x ← x + step for a short x (n,): each pass loads what the last one stored."""
    for _ in range(repeats):
        for i in range(x.size):
            x[i] += step


@kernel(ieee_division=True)
def dots(factor, v, gain, repeats):
    """The first part of the update: Uᵀv into ``gain`` (n,)."""
    for _ in range(repeats):
        transposed_product(factor, v, gain)


@kernel(ieee_division=True)
def pivots(factor, f, g, ratio, d_after, repeats):
    """The second part: n divisions and dependent sums; D goes to ``d_after`` (n,)."""
    inverse_alpha = 1.0
    for _ in range(repeats):
        alpha = inverse_alpha = 1.0
        for j in range(f.size):
            d, f_j = factor[j, j], f[j]
            g[j] = d * f_j
            ratio[j] = -f_j * inverse_alpha
            previous = alpha
            alpha += g[j] * f_j
            inverse_alpha = 1 / alpha
            d_after[j] = d * (previous * inverse_alpha)
    return inverse_alpha


@kernel(ieee_division=True)
def sweeps(factor, gain, g, ratio, repeats):
    """The third part: updates every column of U and the unnormalised ``gain``."""
    for _ in range(repeats):
        for j in range(gain.size):
            g_j, r = g[j], ratio[j]
            for i in range(j):
                u = factor[j, i]
                factor[j, i] = u + r * gain[i]
                gain[i] += g_j * u
            gain[j] = g_j
