"""Recursive least squares one call at a time: all that it needs in one array.

Handing an argument from Python to compiled code costs more than a round of a small n,
so ``memory`` holds everything: a header (call_header.py), then
    x (n), y, out, v (n), image (n), theta (n), factor (n+3, n), and quiet (n): for how
    many rounds each feature has been zero
"""

import math

import numpy as np

from thalweg.kernels.call_header import (
    COUNT,
    HEADER_SIZE,
    REFUSED,
    SETTINGS,
    copy_features,
    count_unexcited,
    max_legal_value,
    not_refused,
)
from thalweg.kernels.jit import kernel
from thalweg.kernels.layout import view
from thalweg.kernels.rls import step
from thalweg.kernels.windup import top_up

GAMMA, FLOOR, PULL = range(SETTINGS, SETTINGS + 3)


def size(n: int) -> int:
    """How many numbers ``memory`` has for n features."""
    return HEADER_SIZE + 5 * n + 2 + (n + 3) * n


@kernel(ieee_division=True)
def call(memory, x, y, weight, elapsed, learning):
    """What is said of y at x; then learn it, if so told. NaN, and nothing done, if
    anything is not legal or ``memory`` is closed.
    """
    most = max_legal_value(memory, weight, elapsed)
    n = copy_features(memory, x, most) if abs(y) <= most else -1
    if n < 0:
        return REFUSED
    if learning:
        return _learn(memory, n, y, weight, elapsed)
    # By offsets, in the order of ``rls.step``: views would cost more than the sums.
    theta, p = HEADER_SIZE + 3 * n + 2, 0.0
    for i in range(n):
        p += memory[HEADER_SIZE + i] * memory[theta + i]
    return p


@kernel(ieee_division=True)
def _learn(memory, n, y, weight, elapsed):
    row, label, out, v, image, theta, factor, quiet = unpack(memory, n)
    count_unexcited(row[0], quiet)
    label[0, 0] = y
    gamma = memory[GAMMA]
    discount = gamma**elapsed if elapsed != 1 else gamma
    step(theta, factor, discount, math.sqrt(weight), row, label, 0, out, 0, v, image)
    if memory[FLOOR] > 0:
        pull = memory[PULL] != 0
        top_up(theta, factor, discount, gamma, memory[FLOOR], pull, image, v)
    memory[COUNT] += 1
    return not_refused(out[0, 0])


def views(memory: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
    """x (1, n), y and out (1, 1), v, image, theta (n, 1), factor, quiet."""
    v = HEADER_SIZE + n + 2
    theta = v + 2 * n
    factor = theta + n
    return (
        view(memory, HEADER_SIZE, (1, n)),
        view(memory, HEADER_SIZE + n, (1, 1)),
        view(memory, HEADER_SIZE + n + 1, (1, 1)),
        view(memory, v, (n,)),
        view(memory, v + n, (n,)),
        view(memory, theta, (n, 1)),
        view(memory, factor, (n + 3, n)),
        view(memory, factor + (n + 3) * n, (n,)),
    )


unpack = kernel(views)
"""For kernels only, as the parts in it are."""
