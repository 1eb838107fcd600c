"""Which experts are played side by side: docs/decisions/007-the-bank.md."""

from typing import Any

import numpy as np
import numpy.typing as npt

from thalweg.kernels.simd import WIDTH

Array = npt.NDArray[Any]
WORTH_IT = (8, 2, 1), (32, 3, 8), (128, 4, 8), (np.inf, 5, 8)
"""Up to so many features: from how many experts and rounds on the lanes are faster."""


def chosen(theta: Array, floor: Array, rounds: int) -> npt.NDArray[np.bool_] | None:
    """For every eight experts, whether they are played together: (⌈N/8⌉,), or None.

    Shapes: theta (N, n, k), floor (N,). Lanes compute in float64, and a ridge that is
    kept is added to one coordinate at a time, another one for each expert.
    """
    if theta.dtype != np.float64:
        return None
    experts, n, _ = theta.shape
    fewest_experts, fewest_rounds = worth_it(n)
    together = np.full(-(-experts // WIDTH), rounds >= fewest_rounds)
    if (experts - 1) % WIDTH + 1 < fewest_experts:
        together[-1] = False
    for expert in np.flatnonzero(floor):
        together[expert // WIDTH] = False
    return together


def worth_it(n: int) -> tuple[int, int]:
    """The fewest experts with n features, and rounds, that are faster together."""
    return next((few, short) for most, few, short in WORTH_IT if n <= most)
