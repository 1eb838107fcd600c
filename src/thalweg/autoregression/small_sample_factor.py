"""Small-sample factors: the minimum width of a band while few errors are known."""

import math
from functools import lru_cache

import numpy as np
import scipy  # its parts are loaded when they are first used

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.prediction_interval import SCALE_MEMORY
from thalweg.types import FloatArray

MAX_COUNT = layout.RECENT_ERRORS
"""Limit of the number of errors that count as few, also for extreme levels."""


@lru_cache(maxsize=64)
def small_sample_factors(level: float, steps: tuple[float, ...]) -> FloatArray:
    """The minimum reach of a band of this level, in mean errors: (steps, k).

    Column n is for n known errors. While they are too few for a quantile, the ends are
    those of Student's t with n degrees of freedom: the distribution of the ratio of a
    normal error to the root mean square of n others. The mean of their sizes is smaller
    than that by a factor of up to √(π/2). Errors of neighbouring forecasts are
    correlated: of a step h, 1 + (h - 1)/2 in a row count as one after the first, also
    for quantiles. The factor is 0 once there are enough errors.
    """
    share = (1 - level) / 2
    enough = math.ceil(1 / share - 1e-9) - 1
    alike = 1 + (np.array(steps) - 1) / 2
    counts = np.arange(1, min(math.ceil(enough * alike.max()), MAX_COUNT))
    degrees = 1 + (np.minimum(counts, 2 * SCALE_MEMORY) - 1) / alike[:, None]
    root_mean_square = 1 + (math.sqrt(math.pi / 2) - 1) * (1 - 1 / degrees)
    reach = root_mean_square * scipy.special.stdtrit(degrees, 1 - share)
    bounds = np.zeros((len(alike), len(counts) + 1))
    bounds[:, 1:] = np.where(counts < enough * alike[:, None], reach, 0.0)
    return bounds
