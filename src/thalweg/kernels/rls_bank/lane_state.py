"""The states of eight experts side by side, one in each SIMD lane.

A lane without an expert plays least squares that never forgets, so that ordinary
numbers are computed there, and never read.
"""

from typing import Annotated, NamedTuple

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.compiler.layout import Layout, Shape
from thalweg.kernels.compiler.simd import WIDTH
from thalweg.kernels.ud_factor import GROWTH, INPUT_SCALE, RETAINED_RIDGE


class LaneRows(NamedTuple):
    """At which row of a group's buffer, shape (rows, 8), each field begins.

    Offsets instead of views: a kernel that takes arrays out of a tuple counts
    references to them, which would cost more than a round of a small n.
    """

    upper: Annotated[int, Shape("n * (n - 1) // 2")]  # U above D, column after column
    theta: Annotated[int, Shape("targets", "n")]
    d: Annotated[int, Shape("n")]
    input_scale: Annotated[int, Shape("n")]
    ridge: Annotated[int, Shape("n")]
    # By how much forgetting has multiplied C since the covariance cap was checked, and
    # by how much it does so in this round.
    growth: Annotated[int, Shape(1)]
    round_growth: Annotated[int, Shape(1)]
    # The workspace of a round.
    v: Annotated[int, Shape("n")]
    gain: Annotated[int, Shape("n")]
    ratio: Annotated[int, Shape("n")]
    end: Annotated[int, Shape(0)]


LAYOUT = Layout("lanes of a bank", LaneRows, version=1, dimensions=("n", "targets"))
_offsets = LAYOUT.kernel_offsets


@kernel
def lane_rows(n, targets):
    """The rows of a group of experts with n features."""
    return _offsets(0, n, targets)


@kernel
def allocate_groups(groups, rows):
    """A buffer (groups, rows, 8) whose rows are cache lines, not parts of two."""
    numbers = groups * rows * WIDTH
    spare = np.empty(numbers + WIDTH)
    first = -np.int64(spare.ctypes.data) // 8 % WIDTH
    return spare[first : first + numbers].reshape((groups, rows, WIDTH))


@kernel
def gather(theta, factor, buffer, at, in_lanes):
    """Copy each expert's state to its lane; shapes as in bank.py."""
    experts, n, targets = theta.shape
    buffer[:, : at.d].fill(0)
    buffer[:, at.d :].fill(1)
    for expert in range(experts):
        group, lane = expert // WIDTH, expert % WIDTH
        if in_lanes[group]:
            own, row = factor[expert], at.upper
            for j in range(n):
                for i in range(j):
                    buffer[group, row + i, lane] = own[j, i]
                row += j
                buffer[group, at.d + j, lane] = own[j, j]
                buffer[group, at.input_scale + j, lane] = own[INPUT_SCALE, j]
                buffer[group, at.ridge + j, lane] = own[RETAINED_RIDGE, j]
                for k in range(targets):
                    buffer[group, at.theta + k * n + j, lane] = theta[expert, j, k]
            buffer[group, at.growth, lane] = own[GROWTH, 0]


@kernel
def scatter(buffer, at, theta, factor, in_lanes):
    """Copy what is in each lane back to the expert's state."""
    experts, n, targets = theta.shape
    for expert in range(experts):
        group, lane = expert // WIDTH, expert % WIDTH
        if in_lanes[group]:
            own, row = factor[expert], at.upper
            for j in range(n):
                for i in range(j):
                    own[j, i] = buffer[group, row + i, lane]
                row += j
                own[j, j] = buffer[group, at.d + j, lane]
                own[INPUT_SCALE, j] = buffer[group, at.input_scale + j, lane]
                for k in range(targets):
                    theta[expert, j, k] = buffer[group, at.theta + k * n + j, lane]
            own[GROWTH, 0] = buffer[group, at.growth, lane]
