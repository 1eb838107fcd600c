"""Where eight experts keep what they remember, to be updated side by side.

A lane without an expert plays least squares that never forgets, so that ordinary
numbers are computed there; nobody hears them.
"""

from typing import NamedTuple

import numpy as np

from thalweg.kernels.jit import kernel
from thalweg.kernels.simd import WIDTH


class Rows(NamedTuple):
    """At which row of a group's room, shape (rows, 8), each part begins.

    Places instead of views: a kernel that takes arrays out of a tuple counts references
    to them, which would cost more than a round of a small n.
    """

    upper: int  # n(n-1)/2 rows: U above its diagonal, column after column
    theta: int  # k·n, target after target
    d: int  # n
    size: int  # n
    ridge: int  # n
    look: int  # by how much forgetting has multiplied C since ``hold`` last looked
    grown: int  # by how much it does so in this round
    # To work in, n rows each:
    v: int
    image: int
    ratio: int
    end: int


@kernel
def layout(n, targets):
    """The rows of a group of experts with n features."""
    theta = n * (n - 1) // 2
    d = theta + targets * n
    look = d + 3 * n
    v = look + 2
    return Rows(
        0, theta, d, d + n, d + 2 * n, look, look + 1, v, v + n, v + 2 * n, v + 3 * n
    )


@kernel
def rooms(groups, rows):
    """Room (groups, rows, 8), each row a cache line: half and half would cost twice."""
    numbers = groups * rows * WIDTH
    spare = np.empty(numbers + WIDTH)
    first = -np.int64(spare.ctypes.data) // 8 % WIDTH
    return spare[first : first + numbers].reshape((groups, rows, WIDTH))


@kernel
def gather(theta, factor, room, at, together):
    """Give each expert its lane; shapes as in rounds.py, room (groups, rows, 8)."""
    experts, n, targets = theta.shape
    room[:, : at.d].fill(0)
    room[:, at.d :].fill(1)
    for expert in range(experts):
        group, lane = expert // WIDTH, expert % WIDTH
        if together[group]:
            row = at.upper
            for j in range(n):
                for i in range(j):
                    room[group, row + i, lane] = factor[expert, j, i]
                row += j
                room[group, at.d + j, lane] = factor[expert, j, j]
                room[group, at.size + j, lane] = factor[expert, n, j]
                room[group, at.ridge + j, lane] = factor[expert, n + 1, j]
                for k in range(targets):
                    room[group, at.theta + k * n + j, lane] = theta[expert, j, k]
            room[group, at.look, lane] = factor[expert, n + 2, 0]


@kernel
def scatter(room, at, theta, factor, together):
    """Give each expert back what is in its lane."""
    experts, n, targets = theta.shape
    for expert in range(experts):
        group, lane = expert // WIDTH, expert % WIDTH
        if together[group]:
            row = at.upper
            for j in range(n):
                for i in range(j):
                    factor[expert, j, i] = room[group, row + i, lane]
                row += j
                factor[expert, j, j] = room[group, at.d + j, lane]
                factor[expert, n, j] = room[group, at.size + j, lane]
                for k in range(targets):
                    theta[expert, j, k] = room[group, at.theta + k * n + j, lane]
            factor[expert, n + 2, 0] = room[group, at.look, lane]
