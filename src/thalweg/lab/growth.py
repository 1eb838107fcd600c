"""How fast a quantity grows: the slope of its logarithm, with its uncertainty."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from thalweg.types import FloatArray


class Growth(NamedTuple):
    """The exponent e of a fitted law c·Tᵉ, with the ends of its 95 % interval."""

    exponent: float
    low: float
    high: float


def growth(
    horizons: FloatArray, values: FloatArray, seeds: FloatArray
) -> Growth | None:
    """Least squares of log value on log T, each seed with a constant c of its own.

    None where a value is not positive, or too few are there to know the uncertainty.
    """
    t, v, s = (np.asarray(part, float) for part in (horizons, values, seeds))
    groups = np.unique(s)
    free = len(t) - len(groups) - 1
    if free < 1 or not (v > 0).all():
        return None
    own = (s[:, None] == groups).astype(float)
    design = np.column_stack([np.log(t), own])
    found, residual, _, _ = np.linalg.lstsq(design, np.log(v))
    variance = float(residual[0]) / free * float(np.linalg.inv(design.T @ design)[0, 0])
    margin = float(stats.t.ppf(0.975, free)) * float(np.sqrt(variance))
    slope = float(found[0])
    return Growth(slope, slope - margin, slope + margin)
