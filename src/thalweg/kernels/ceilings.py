"""What one core can do at most, and what the parts of an RLS round take alone.

Measuring kernels for lab/bench/roofline.py. The first five find the machine's ceilings.
The last three are ``update`` of kernels/ud_factor.py taken apart: one after the other
they do what it does, which a test holds them to.
"""

from thalweg.kernels.jit import kernel
from thalweg.kernels.ud_factor import _transposed_times

STEPS = 16
"""Multiply-adds for every number loaded, so that loads do not count."""


# Contraction lets the compiler use fused multiply-adds: the ceiling of the machine.
@kernel(contracts=True)
def fused(x, scale, shift, repeats):
    """x ← x·scale + shift, ``STEPS`` times for each of x (n,), in registers."""
    for _ in range(repeats):
        for i in range(x.size):
            value = x[i]
            for _ in range(STEPS):
                value = value * scale + shift
            x[i] = value


@kernel
def separate(x, scale, shift, repeats):
    """The same with a product and then a sum, each rounded, as learners need it."""
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
    """Σ x, each sum waiting for the one before: how long an addition takes."""
    total = 0.0
    for _ in range(repeats):
        for i in range(x.size):
            total += x[i]
    return total


@kernel
def passes(x, step, repeats):
    """x ← x + step for a short x (n,): each pass loads what the last one stored."""
    for _ in range(repeats):
        for i in range(x.size):
            x[i] += step


@kernel(ieee_division=True)
def dots(factor, v, image, repeats):
    """The first part: Uᵀv into ``image`` (n,)."""
    for _ in range(repeats):
        _transposed_times(factor, v, image)


@kernel(ieee_division=True)
def pivots(factor, image, gain, ratio, fresh, repeats):
    """The second: n divisions, and sums that wait; D goes to ``fresh``. All (n,)."""
    per_alpha = 1.0
    for _ in range(repeats):
        alpha = per_alpha = 1.0
        for j in range(image.size):
            d, f = factor[j, j], image[j]
            gain[j] = d * f
            ratio[j] = -f * per_alpha
            left = alpha
            alpha += gain[j] * f
            per_alpha = 1 / alpha
            fresh[j] = d * (left * per_alpha)
    return per_alpha


@kernel(ieee_division=True)
def sweeps(factor, image, gain, ratio, repeats):
    """The third: every column of U, and P⁻¹v in ``image``."""
    for _ in range(repeats):
        for j in range(image.size):
            g, r = gain[j], ratio[j]
            for i in range(j):
                u = factor[j, i]
                factor[j, i] = u + r * image[i]
                image[i] += g * u
            image[j] = g
