"""Room to compute in, made once for a whole run."""

import numpy as np
from numba import njit

from thalweg.kernels.tracker.layout import (
    EXPERTS,
    LANES,
    LONGEST_SEASON,
    RULES,
    Sums,
    Votes,
)


@njit(cache=True)
def for_sums(n):
    """For the experts of ``n`` features."""
    z = n + 1
    return Sums(
        np.zeros((z + 1, LANES)),
        np.zeros(LANES),
        np.zeros(LANES),
        np.zeros(LANES),
        np.zeros((z, LANES)),
        np.zeros((z + 2, z, LANES)),
        np.zeros((z + 2, z, LANES)),
        np.zeros(LANES),
        np.zeros((z, LANES)),
        np.zeros(LONGEST_SEASON),
        np.zeros(n),
    )


@njit(cache=True)
def for_votes():
    """For the rules."""
    return Votes(
        np.zeros(EXPERTS),
        np.zeros(EXPERTS),
        np.zeros(EXPERTS),
        np.zeros(EXPERTS),
        np.zeros((RULES, EXPERTS)),
        np.zeros(RULES),
        np.zeros(RULES),
        np.ones(RULES),
        np.zeros(EXPERTS),
    )
