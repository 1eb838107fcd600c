"""The Tracker against the best fixed (γ, ridge) pair in hindsight, stream by stream.

    python benchmarks/tracker_accuracy.py public      # real data, see `make data`
    python benchmarks/tracker_accuracy.py synthetic   # ten generators, five seeds

All columns but NMSE are ratios to the best pair's error. How they are measured is in
thalweg.lab.accuracy.tracker_accuracy. `thalweg accuracy` shows the same.
"""

import sys

from thalweg.lab.accuracy import (
    COVERAGE,
    TrackerAccuracy,
    geometric_mean,
    measure_tracker,
    public_streams,
    synthetic_streams,
)


def main(source: str) -> None:
    """Print the table of the streams of ``source``."""
    streams = synthetic_streams() if source == "synthetic" else public_streams()
    rows = []
    print(HEADER)
    for name, load in streams.items():
        rows.append(measure_tracker(name, *load()))
        print(line(rows[-1]), flush=True)
    summary(rows)


HEADER = f"""{"stream":14} {"n":>3} {"T":>7} {"best pair":>14} {"NMSE":>9} \
{"Tracker":>8} {"features":>8} {"persist":>8} {"γ=1":>7} {"cover":>6} {"µs":>6}"""


def line(row: TrackerAccuracy) -> str:
    """A row as text."""
    return (
        f"{row.stream:14} {row.features:3} {row.rounds:7,} {pair(row):>14} "
        f"{row.nmse:9.4g} {row.tracker:8.4f} {row.features_only:8.4f} "
        f"{row.persistence:8.3f} {row.never_forget:7.3f} {row.covered:6.1%} "
        f"{row.micros:6.1f}"
    )


def pair(row: TrackerAccuracy) -> str:
    """The best discount and ridge as text."""
    return f"({row.discount:g}, {row.ridge:g})"


def summary(rows: list[TrackerAccuracy]) -> None:
    """Geometric means and worst cases."""
    for name in ("tracker", "features_only", "persistence", "never_forget"):
        ratios = {row.stream: getattr(row, name) for row in rows}
        worst = max(ratios, key=ratios.__getitem__)
        mean = geometric_mean(ratios.values())
        print(f"{name:14} geo-mean {mean:.4f}  worst {ratios[worst]:.4f} {worst}")
    long = [row for row in rows if row.rounds >= 5000] or rows
    covered = [row.covered for row in long]
    print(f"{COVERAGE:.0%} intervals cover {min(covered):.1%} to {max(covered):.1%}")


if __name__ == "__main__":
    main(sys.argv[1])
