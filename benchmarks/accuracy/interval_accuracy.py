"""How good prediction intervals are: coverage, and width against conformal ones.

Coverage alone is easy: wide enough intervals have it. The interval score (Winkler 1972;
Gneiting & Raftery 2007, eq. 43) charges the width, and 2/(1 - coverage) of the distance
to every value outside. It is compared with that of adaptive conformal inference (Gibbs
& Candès 2021), which puts intervals around the same forecasts.
"""

import math
from bisect import bisect_left, insort
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.accuracy.accuracy_streams import burn_in
from thalweg.types import FloatArray, Trace

WORST_ROUNDS = 500
"""Number of rounds in a row over which the worst coverage is sought."""
CONFORMAL_STEP = 0.005
"""γ of adaptive conformal inference, as in Gibbs & Candès."""
CONFORMAL_ERRORS = 500
"""Number of the last errors from which its quantiles are taken."""


class IntervalAccuracy(NamedTuple):
    """Coverage and width of the intervals of one learner on one stream."""

    covered: float  # the share of targets inside
    worst_covered: float  # the least share in any 500 scored rounds in a row
    winkler: float  # the interval score over that of adaptive conformal intervals


def measure_intervals(trace: Trace, y: FloatArray, coverage: float) -> IntervalAccuracy:
    """Measure the intervals that a learner recorded, on the scored rounds."""
    interval, forecast = trace.extras["interval"], trace.prediction
    scored = slice(burn_in(len(y)), None)
    inside = ((interval[:, 0] <= y) & (y <= interval[:, 1]))[scored]
    score, conformal = (
        float(np.mean(interval_score(ends, y, coverage)[scored]))
        for ends in (interval, conformal_intervals(forecast, y, coverage))
    )
    return IntervalAccuracy(
        float(inside.mean()), worst_coverage(inside), score / conformal
    )


def worst_coverage(inside: npt.NDArray[np.bool_], rounds: int = WORST_ROUNDS) -> float:
    """The least share of True in ``rounds`` neighbours; in all, if they are fewer."""
    rounds = min(rounds, len(inside))
    count = np.append(0, np.cumsum(inside))
    return float((count[rounds:] - count[:-rounds]).min() / rounds)


def interval_score(interval: FloatArray, y: FloatArray, coverage: float) -> FloatArray:
    """The interval score of each round, (T,), also: Winkler score. Small is good."""
    low, high = interval.T
    outside = np.maximum(low - y, 0) + np.maximum(y - high, 0)
    return np.asarray(high - low + 2 / (1 - coverage) * outside)


def conformal_intervals(
    forecast: FloatArray, y: FloatArray, coverage: float, step: float = CONFORMAL_STEP
) -> FloatArray:
    """Intervals (T, 2) of adaptive conformal inference around forecasts (T,).

    With ``step`` γ = 0 they are those of a rolling quantile, which does not adapt.
    As wide as the 1 - α_t quantile of the last absolute errors; after each round
    α_{t+1} = α_t + γ(1 - coverage - [y_t was outside]). Where α_t ≤ 0 asks for all
    values, they take the largest error, as an infinite width has no score.
    """
    errors = np.abs(y - forecast).tolist()
    ordered, widths, alpha = list[float](), np.zeros(len(y)), 1 - coverage
    for t, error in enumerate(errors):
        rank = min(math.ceil((1 - alpha) * (len(ordered) + 1)), len(ordered))
        widths[t] = ordered[rank - 1] if rank > 0 else 0.0
        alpha += step * (1 - coverage - (error > widths[t]))
        insort(ordered, error)
        if len(ordered) > CONFORMAL_ERRORS:
            del ordered[bisect_left(ordered, errors[t - CONFORMAL_ERRORS])]
    return np.column_stack([forecast - widths, forecast + widths])
