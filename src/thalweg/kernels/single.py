"""Recursive least squares one call at a time: all that it needs in one array.

Handing an argument from Python to compiled code costs more than a round of a small n,
so ``memory`` holds everything, in this order:
    [0] n   [1] k   [2] γ   [3] floor   [4] pull   [5] the largest legal number
    [6] weight   [7] elapsed
    then x (n), y (k), out (k), v (n), image (n), theta (n, k), factor (n+3, n), and
    quiet (n): for how many rounds each feature has been zero
"""

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from thalweg.kernels.floor import top_up
from thalweg.kernels.rls import step

HEAD = 8


def allocate(n: int, k: int, *settings: float) -> npt.NDArray[np.float64]:
    """``memory`` for n features and k targets; settings are [2] to [5]."""
    memory = np.zeros(HEAD + 4 * n + 2 * k + n * k + (n + 3) * n)
    memory[:HEAD] = (n, k, *settings, 1.0, 1.0)
    return memory


@njit(cache=True)
def predict(memory):
    """x·θ into out, for the x in ``memory``; whether x is legal."""
    # By offsets, in the order of ``predict.dot``: views would cost more than the sums.
    n, k, largest = int(memory[0]), int(memory[1]), memory[5]
    out, theta = HEAD + n + k, HEAD + 3 * n + 2 * k
    for i in range(HEAD, HEAD + n):
        if not abs(memory[i]) <= largest:  # nor where it is NaN
            return False
    for j in range(k):
        p = 0.0
        for i in range(n):
            p += memory[HEAD + i] * memory[theta + i * k + j]
        memory[out + j] = p
    return True


@njit(cache=True, error_model="numpy")
def update(memory):
    """Learn from the x and y in ``memory``; False, and nothing done, if not legal."""
    n, k, gamma, floor = int(memory[0]), int(memory[1]), memory[2], memory[3]
    largest, weight, elapsed = memory[5], memory[6], memory[7]
    if not (0 <= weight <= largest and 0 <= elapsed <= largest):
        return False
    root = math.sqrt(weight)
    most = largest / max(root, 1.0)
    for i in range(HEAD, HEAD + n + k):
        if not abs(memory[i]) <= most:
            return False
    x, y, out, v, image, theta, factor, quiet = views(memory, n, k)
    for i in range(n):
        quiet[i] = 0.0 if x[0, i] != 0 else quiet[i] + 1
    discount = gamma**elapsed if elapsed != 1 else gamma
    step(theta, factor, discount, root, x, y, 0, out, 0, v, image)
    if floor > 0:
        top_up(theta, factor, discount, gamma, floor, memory[4] != 0, image, v)
    return True


@njit(cache=True)
def views(memory, n, k):
    """x (1, n), y and out (1, k), v, image, theta, factor, quiet: parts of memory."""
    x, y = HEAD, HEAD + n
    v = y + 2 * k
    theta = v + 2 * n
    factor = theta + n * k
    return (
        memory[x:y].reshape((1, n)),
        memory[y : y + k].reshape((1, k)),
        memory[y + k : v].reshape((1, k)),
        memory[v : v + n],
        memory[v + n : theta],
        memory[theta:factor].reshape((n, k)),
        memory[factor : factor + (n + 3) * n].reshape((n + 3, n)),
        memory[factor + (n + 3) * n :],
    )
