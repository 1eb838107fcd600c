"""Recursive least squares one call at a time: all that it needs in one array.

Handing an argument from Python to compiled code costs more than a round of a small n,
so ``memory`` holds everything: a head (head.py), then
    x (n), y, out, v (n), image (n), theta (n), factor (n+3, n), and quiet (n): for how
    many rounds each feature has been zero
"""

import math

import numpy as np
from numba import njit

from thalweg.kernels.head import (
    COUNT,
    HEAD,
    SETTINGS,
    most_legal,
    note_silence,
    said,
    take,
)
from thalweg.kernels.parts import part
from thalweg.kernels.rls import step
from thalweg.kernels.windup import top_up

GAMMA, FLOOR, PULL = range(SETTINGS, SETTINGS + 3)


def size(n: int) -> int:
    """How many numbers ``memory`` has for n features."""
    return HEAD + 5 * n + 2 + (n + 3) * n


@njit(cache=True, error_model="numpy")
def call(memory, x, y, weight, elapsed, learning):
    """What is said of y at x; then learn it, if so told. NaN, and nothing done, if
    anything is not legal or ``memory`` is closed.
    """
    most = most_legal(memory, weight, elapsed)
    n = take(memory, x, most) if abs(y) <= most else -1
    if n < 0:
        return math.nan
    if learning:
        return _learn(memory, n, y, weight, elapsed)
    # By offsets, in the order of ``rls.step``: views would cost more than the sums.
    theta, p = HEAD + 3 * n + 2, 0.0
    for i in range(n):
        p += memory[HEAD + i] * memory[theta + i]
    return p


@njit(cache=True, error_model="numpy")
def _learn(memory, n, y, weight, elapsed):
    row, label, out, v, image, theta, factor, quiet = unpack(memory, n)
    note_silence(row[0], quiet)
    label[0, 0] = y
    gamma = memory[GAMMA]
    discount = gamma**elapsed if elapsed != 1 else gamma
    step(theta, factor, discount, math.sqrt(weight), row, label, 0, out, 0, v, image)
    if memory[FLOOR] > 0:
        pull = memory[PULL] != 0
        top_up(theta, factor, discount, gamma, memory[FLOOR], pull, image, v)
    memory[COUNT] += 1
    return said(out[0, 0])


def views(memory: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
    """x (1, n), y and out (1, 1), v, image, theta (n, 1), factor, quiet."""
    v = HEAD + n + 2
    theta = v + 2 * n
    factor = theta + n
    return (
        part(memory, HEAD, (1, n)),
        part(memory, HEAD + n, (1, 1)),
        part(memory, HEAD + n + 1, (1, 1)),
        part(memory, v, (n,)),
        part(memory, v + n, (n,)),
        part(memory, theta, (n, 1)),
        part(memory, factor, (n + 3, n)),
        part(memory, factor + (n + 3) * n, (n,)),
    )


unpack = njit(cache=True)(views)
"""For kernels only, as the parts in it are."""
