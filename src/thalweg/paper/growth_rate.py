"""How fast a quantity grows: the slope of a log-log fit, with its uncertainty."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from thalweg.types import FloatArray

CONFIDENCE = 0.95


class GrowthRate(NamedTuple):
    """The exponent e of a fitted power law c·Tᵉ, with its confidence interval."""

    exponent: float
    low: float
    high: float


def fit_growth_rate(
    horizons: FloatArray, values: FloatArray, seeds: FloatArray
) -> GrowthRate | None:
    """Least squares of log value on log T, each seed with a constant c of its own.

    The interval is Student's, at 95 %. None where a value is not positive, or where
    there are too few values to know the uncertainty.
    """
    t, v, s = (np.asarray(part, float) for part in (horizons, values, seeds))
    groups = np.unique(s)
    degrees_of_freedom = len(t) - len(groups) - 1
    if degrees_of_freedom < 1 or not (v > 0).all():
        return None
    constants = (s[:, None] == groups).astype(float)
    design = np.column_stack([np.log(t), constants])
    solution, residual, _, _ = np.linalg.lstsq(design, np.log(v))
    inverse = np.linalg.inv(design.T @ design)
    variance = float(residual[0]) / degrees_of_freedom * float(inverse[0, 0])
    quantile = float(stats.t.ppf((1 + CONFIDENCE) / 2, degrees_of_freedom))
    margin = quantile * float(np.sqrt(variance))
    slope = float(solution[0])
    return GrowthRate(slope, slope - margin, slope + margin)


def fit_slope(horizons: FloatArray, values: FloatArray) -> float:
    """The exponent alone: least squares of log value on log T, for positive values."""
    return float(np.polyfit(np.log(horizons), np.log(values), 1)[0])
