"""How wide a band has to be at least while few errors of its forecasts are known."""

import math
from functools import lru_cache

import numpy as np
import scipy  # its parts are loaded when they are first used

from thalweg.kernels.tracker.prediction_interval import SCALE_MEMORY
from thalweg.kernels.tracker.tracker_layout import RECENT_ERRORS
from thalweg.types import FloatArray

MAX_COUNT = RECENT_ERRORS
"""Bands of extreme levels count their errors as few below this number."""


@lru_cache(maxsize=64)
def few_errors(level: float, steps: tuple[float, ...]) -> FloatArray:
    """How many mean errors a band of this level reaches at least, (steps, k).

    Column n is for n known errors: as long as no quantile of so few can be taken, the
    ends are those of Student's t of n degrees of freedom, which the ratio of a normal
    error to the root mean square of n others has. The mean of their sizes is less than
    that by a factor of up to √(π/2). Errors of neighbouring forecasts are alike: of a
    step h, 1 + (h - 1)/2 in a row count as one after the first, also for quantiles. It
    is 0 where errors are enough.
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
