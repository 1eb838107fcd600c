"""kernels/ud_factor.py's ``forget`` and ``update`` for eight factors side by side.

Each lane goes through the same operations in the same order, products and sums rounded
separately, so that it ends with the same bits. Only the order in which rows are visited
is another: a row's dot product is taken just before the row changes, while it is near.

No function here that is called in every round may call one that is not inlined, nor
touch an array for the last time within an ``if``: the compiler would then count
references to its arrays, at several times the price of the arithmetic.
"""

import math

import numpy as np

from thalweg.kernels.jit import kernel
from thalweg.kernels.simd import above, any_above, larger, load, size, spread, store
from thalweg.kernels.ud_factor import NOISE_MATTERS, SIZE_DECAY

EPS, TINY = np.finfo(np.float64).eps, np.finfo(np.float64).tiny
LARGEST = np.finfo(np.float64).max
BEYOND = math.nextafter(NOISE_MATTERS, math.inf)
"""The least number that is more than NOISE_MATTERS."""


@kernel(inline=True)
def update(room, at, n):
    """P ← P/grown + vvᵀ; P⁻¹v is ``image`` times what is returned."""
    row = at.upper
    alpha = per_alpha = spread(1.0)
    for j in range(0, n - 3, 4):
        _four_dots(room, at, row, j)
        this = row
        for i in range(j, j + 4):
            alpha, per_alpha = _pivot(room, at, this, i, n, alpha, per_alpha)
            this += i
        _four_sweeps(room, at, row, j)
        row = this
    for j in range(n - n % 4, n):
        _dot(room, at, row, j)
        alpha, per_alpha = _pivot(room, at, row, j, n, alpha, per_alpha)
        _sweep(room, at, row, j)
        row += j
    return per_alpha


@kernel(inline=True)
def note_sizes(room, at, n):
    """How large each coordinate of v has been lately."""
    for j in range(n):
        new, old = size(load(room, (at.v + j, 0))), load(room, (at.size + j, 0))
        kept = above(new, 0.0, larger(new, old * SIZE_DECAY), old)
        store(room, (at.size + j, 0), kept)


@kernel(inline=True)
def _dot(room, at, row, j):
    """(Uᵀv)_j into ``image``; column j of U begins at ``row``."""
    f = load(room, (at.v + j, 0))
    for i in range(j):
        f = f + load(room, (row + i, 0)) * load(room, (at.v + i, 0))
    store(room, (at.image + j, 0), f)


@kernel(inline=True)
def _four_dots(room, at, row, j):
    """The same for j to j + 3 together: a single sum would wait for itself."""
    p, q, r, s = row, row + j, row + 2 * j + 1, row + 3 * j + 3
    v_0, v_1 = load(room, (at.v + j, 0)), load(room, (at.v + j + 1, 0))
    v_2, v_3 = load(room, (at.v + j + 2, 0)), load(room, (at.v + j + 3, 0))
    a, b, c, d = v_0, v_1, v_2, v_3
    for i in range(j):
        v = load(room, (at.v + i, 0))
        a = a + load(room, (p + i, 0)) * v
        b = b + load(room, (q + i, 0)) * v
        c = c + load(room, (r + i, 0)) * v
        d = d + load(room, (s + i, 0)) * v
    b = b + load(room, (q + j, 0)) * v_0
    c = c + load(room, (r + j, 0)) * v_0
    c = c + load(room, (r + j + 1, 0)) * v_1
    d = d + load(room, (s + j, 0)) * v_0
    d = d + load(room, (s + j + 1, 0)) * v_1
    d = d + load(room, (s + j + 2, 0)) * v_2
    store(room, (at.image + j, 0), a)
    store(room, (at.image + j + 1, 0), b)
    store(room, (at.image + j + 2, 0), c)
    store(room, (at.image + j + 3, 0), d)


@kernel(inline=True)
def _pivot(room, at, row, j, n, alpha, per_alpha):
    """Forget and update D_j; image_j becomes g = D_j (Uᵀv)_j."""
    before = load(room, (at.d + j, 0)) * load(room, (at.grown, 0))
    d, f = before, load(room, (at.image + j, 0))
    g = d * f
    if any_from(BEYOND, g * f):
        d, f = _beyond_measure(room, at, row, j, n, d, f)
        g = d * f
    store(room, (at.image + j, 0), g)
    store(room, (at.ratio + j, 0), -1.0 * f * per_alpha)
    left = alpha
    alpha = alpha + g * f
    per_alpha = 1.0 / alpha
    after = larger(d * (left * per_alpha), TINY)
    store(room, (at.d + j, 0), above(size(f), 0.0, after, before))
    return alpha, per_alpha


@kernel(inline=True)
def any_from(limit, x):
    """Whether any lane is not below ``limit``; NaN never is."""
    return any_above(above(limit, x, 0.0, 1.0), 0.0)


@kernel(inline=True)
def _beyond_measure(room, at, row, j, n, d, f):
    """(d, f) as in kernels/ud_factor.py, in lanes where d f² is beyond measure."""
    v = load(room, (at.v + j, 0))
    total = size(v)
    for i in range(j):
        total = total + size(load(room, (row + i, 0)) * load(room, (at.v + i, 0)))
    noise = 4 * n * EPS * total
    found = above(d, LARGEST, LARGEST**0.5 / v / v, d)
    found = above(found * f * f, LARGEST**0.75, LARGEST**0.75 / f / f, found)
    found = above(size(f), noise, found, 0.0)
    heard = above(size(f), noise, f, 0.0)
    return above(BEYOND, d * f * f, d, found), above(BEYOND, d * f * f, f, heard)


@kernel(inline=True)
def _sweep(room, at, row, j):
    """Column j of U, and what it adds to ``image``."""
    g, ratio = load(room, (at.image + j, 0)), load(room, (at.ratio + j, 0))
    for i in range(j):
        image = load(room, (at.image + i, 0))
        store(room, (at.image + i, 0), _touch(room, row + i, image, g, ratio))


@kernel(inline=True)
def _four_sweeps(room, at, row, j):
    """The same for j to j + 3 together, which saves three visits to ``image``."""
    p, q, r, s = row, row + j, row + 2 * j + 1, row + 3 * j + 3
    a, ratio_a = load(room, (at.image + j, 0)), load(room, (at.ratio + j, 0))
    b, ratio_b = load(room, (at.image + j + 1, 0)), load(room, (at.ratio + j + 1, 0))
    c, ratio_c = load(room, (at.image + j + 2, 0)), load(room, (at.ratio + j + 2, 0))
    d, ratio_d = load(room, (at.image + j + 3, 0)), load(room, (at.ratio + j + 3, 0))
    for i in range(j):
        image = load(room, (at.image + i, 0))
        image = _touch(room, p + i, image, a, ratio_a)
        image = _touch(room, q + i, image, b, ratio_b)
        image = _touch(room, r + i, image, c, ratio_c)
        image = _touch(room, s + i, image, d, ratio_d)
        store(room, (at.image + i, 0), image)
    a = _touch(room, q + j, a, b, ratio_b)
    a = _touch(room, r + j, a, c, ratio_c)
    b = _touch(room, r + j + 1, b, c, ratio_c)
    store(room, (at.image + j, 0), _touch(room, s + j, a, d, ratio_d))
    store(room, (at.image + j + 1, 0), _touch(room, s + j + 1, b, d, ratio_d))
    store(room, (at.image + j + 2, 0), _touch(room, s + j + 2, c, d, ratio_d))


@kernel(inline=True)
def _touch(room, row, image, g, ratio):
    """Update one entry u of U; image_i with what u adds to it is returned."""
    u = load(room, (row, 0))
    store(room, (row, 0), u + ratio * image)
    return image + g * u
