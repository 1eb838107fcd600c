"""The Tracker against the best fixed (γ, ridge) pair in hindsight, stream by stream.

    python benchmarks/tracker_accuracy.py public      # real data, see `make data`
    python benchmarks/tracker_accuracy.py stripped    # without past labels as features
    python benchmarks/tracker_accuracy.py shocked     # with four outliers each
    python benchmarks/tracker_accuracy.py synthetic   # ten generators, five seeds
    python benchmarks/tracker_accuracy.py public 10000     # the first 10,000 rows

All columns from Tracker to γ=1 are ratios to the best pair's error. How they are
measured is in thalweg.lab.accuracy.tracker_accuracy. `thalweg accuracy` shows the same.
"""

import sys

import numpy as np

from thalweg.lab import accuracy
from thalweg.lab.accuracy import (
    COVERAGE,
    TrackerAccuracy,
    geometric_mean,
    measure_tracker,
)


def main(source: str, rows: int | None) -> None:
    """Print the table of the streams of ``source``, cut after so many rows."""
    if source == "synthetic":
        streams = accuracy.synthetic_streams()
    else:
        streams = getattr(accuracy, f"{source}_streams")(rows)
    measured = []
    print(HEADER)
    for name, load in streams.items():
        measured.append(measure_tracker(name, load()))
        print(line(measured[-1]), flush=True)
    summary(measured)


HEADER = f"""{"stream":14} {"n":>3} {"T":>7} {"best pair":>14} {"NMSE":>9} \
{"Tracker":>8} {"features":>8} {"persist":>8} {"γ=1":>7} {"cover":>6} {"worst":>6} \
{"Winkler":>7} {"µs":>6}"""


def line(row: TrackerAccuracy) -> str:
    """A row as text."""
    return (
        f"{row.stream:14} {row.features:3} {row.rounds:7,} {pair(row):>14} "
        f"{row.nmse:9.4g} {row.errors['tracker']:8.4f} "
        f"{row.errors['features_only']:8.4f} {row.errors['persistence']:8.3f} "
        f"{row.errors['never_forget']:7.3f} {row.intervals.covered:6.1%} "
        f"{row.intervals.worst_covered:6.1%} {row.intervals.winkler:7.3f} "
        f"{row.micros:6.1f}"
    )


def pair(row: TrackerAccuracy) -> str:
    """The best discount and ridge as text."""
    return f"({row.discount:g}, {row.ridge:g})"


def summary(rows: list[TrackerAccuracy]) -> None:
    """Geometric means, medians and worst cases."""
    for name in rows[0].errors:
        ratios = {row.stream: row.errors[name] for row in rows}
        worst = max(ratios, key=ratios.__getitem__)
        mean, median = geometric_mean(ratios.values()), np.median([*ratios.values()])
        print(
            f"{name:14} geo-mean {mean:.4f}  median {median:.4f}  "
            f"worst {ratios[worst]:.4f} {worst}"
        )
    long = [row.intervals for row in rows if row.rounds >= 5000]
    intervals = long or [row.intervals for row in rows]
    covered = [each.covered for each in intervals]
    worst_covered = min(each.worst_covered for each in intervals)
    winkler = geometric_mean(row.intervals.winkler for row in rows)
    print(
        f"{COVERAGE:.0%} intervals cover {min(covered):.1%} to {max(covered):.1%}, "
        f"at least {worst_covered:.1%} in any 500 rows in a row; Winkler score over "
        f"that of adaptive conformal intervals {winkler:.3f}"
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)
