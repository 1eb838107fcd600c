"""Coverage and width of the 90 % intervals of least squares, stream by stream.

    python -m benchmarks.least_squares_intervals          # real data, see `make data`
    python -m benchmarks.least_squares_intervals 10000    # the first 10,000 rows

Recursive least squares plays every public stream of at least 5,000 rows at the fixed
discount that was best in hindsight. Its intervals (kernels/error_intervals.py) stand
beside two kinds of conformal ones around the same predictions, both of the last 500
absolute errors: a rolling quantile, and adaptive conformal inference (ACI). Width and
interval score (Winkler) are ratios to these.
"""

import sys
from typing import NamedTuple

import numpy as np

from benchmarks.accuracy.accuracy_streams import (
    AccuracyStream,
    burn_in,
    public_streams,
)
from benchmarks.accuracy.interval_accuracy import (
    conformal_intervals,
    interval_score,
    worst_coverage,
)
from benchmarks.accuracy.tracker_accuracy import (
    COVERAGE,
    DISCOUNTS,
    geometric_mean,
    mean_square,
)
from thalweg.learners import RecursiveLeastSquares
from thalweg.models import Online
from thalweg.types import FloatArray

MIN_ROWS = 5000


class Intervals(NamedTuple):
    """How good the intervals of one stream are."""

    covered: float  # the share of targets inside
    worst_covered: float  # the least share in any 500 scored rows in a row
    width: float  # the mean width
    winkler: float  # the mean interval score


def main(rows: int | None) -> None:
    """Print the table, each stream cut after ``rows`` rows."""
    print(
        f"{'stream':12} {'n':>3} {'T':>7} {'γ':>6} {'cover':>6} {'worst':>6} "
        f"{'rolling':>7} {'worst':>6} {'width':>6} {'Winkler':>7} {'ACI':>6}"
    )
    measured = []
    for name, load in public_streams(rows).items():
        stream = load()
        if len(stream.y) >= MIN_ROWS:
            discount, ours, rolling, adaptive = measure(stream)
            measured.append((ours, rolling, adaptive))
            print(
                f"{name:12} {stream.x.shape[1]:3} {len(stream.y):7,} {discount:6g} "
                f"{ours.covered:6.1%} {ours.worst_covered:6.1%} "
                f"{rolling.covered:7.1%} {rolling.worst_covered:6.1%} "
                f"{ours.width / rolling.width:6.3f} "
                f"{ours.winkler / rolling.winkler:7.3f} "
                f"{ours.winkler / adaptive.winkler:6.3f}",
                flush=True,
            )
    summary(measured)


def measure(stream: AccuracyStream) -> tuple[float, Intervals, Intervals, Intervals]:
    """The best discount, and the intervals: ours, a rolling quantile's and ACI's."""
    x, y = stream.x, stream.y
    errors = {
        discount: mean_square(model(discount).run(x, y).prediction, y)
        for discount in DISCOUNTS
    }
    best = min(errors, key=errors.__getitem__)
    trace = model(best).run(x, y, record=("interval",))
    rolling, adaptive = (
        conformal_intervals(trace.prediction, y, COVERAGE, *step)
        for step in ((0.0,), ())
    )
    ours = trace.extras["interval"]
    return best, *(score(ends, y) for ends in (ours, rolling, adaptive))


def model(discount: float) -> Online:
    """Least squares with an intercept, on the features as they are."""
    return Online(RecursiveLeastSquares(discount))


def score(interval: FloatArray, y: FloatArray) -> Intervals:
    """Measure intervals (T, 2) on the scored rows."""
    scored = slice(burn_in(len(y)), None)
    low, high = interval[scored].T
    inside = (low <= y[scored]) & (y[scored] <= high)
    return Intervals(
        float(inside.mean()),
        worst_coverage(inside),
        float(np.mean(high - low)),
        float(np.mean(interval_score(interval[scored], y[scored], COVERAGE))),
    )


def summary(rows: list[tuple[Intervals, Intervals, Intervals]]) -> None:
    """Ranges of coverage, and geometric means of the ratios."""
    for name, k in (("ours", 0), ("rolling quantile", 1), ("ACI", 2)):
        covered = [row[k].covered for row in rows]
        worst = min(row[k].worst_covered for row in rows)
        width = geometric_mean(row[k].width / row[0].width for row in rows)
        winkler = geometric_mean(row[k].winkler / row[0].winkler for row in rows)
        print(
            f"{name:16} covers {min(covered):.1%} to {max(covered):.1%}, at least "
            f"{worst:.1%} in any 500 rows in a row; over ours: width {width:.3f}, "
            f"Winkler {winkler:.3f}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else None)
