"""Origins from which a series is forecast, and what is scored.

An origin is the row of the last value known; its forecasts are of the rows after it.
"""

import numpy as np
import numpy.typing as npt

from thalweg.errors import StreamError
from thalweg.types import FloatArray

IntArray = npt.NDArray[np.int64]
MAX_ORIGINS = 200


def evaluation_origins(
    y: FloatArray, horizon: int, count: int = MAX_ORIGINS
) -> IntArray:
    """At most ``count`` origins, evenly spaced over those of the second half.

    An origin has a value, and so have all rows that are forecast from it.
    """
    half = len(y) // 2
    known = np.isfinite(y[half:])
    windows = np.lib.stride_tricks.sliding_window_view(known, horizon + 1)
    possible = half + np.flatnonzero(windows.all(axis=1))
    if not len(possible):
        raise StreamError(
            f"The second half of the series has no row after which {horizon} values "
            "are known."
        )
    count = min(count, len(possible))
    return possible[np.linspace(0, len(possible) - 1, count).round().astype(np.int64)]


def values_after(y: FloatArray, origins: IntArray, horizon: int) -> FloatArray:
    """The values (m, horizon) that are forecast from the origins."""
    values: FloatArray = y[origins[:, None] + np.arange(1, horizon + 1)]
    return values


def root_mean_square(errors: FloatArray) -> float:
    """The root of the mean of squares."""
    return float(np.sqrt(np.mean(errors**2)))
