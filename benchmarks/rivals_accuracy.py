"""The Tracker against River, persistence and the paper's meta-algorithm.

    OMP_NUM_THREADS=1 python benchmarks/rivals_accuracy.py

Nine public streams. What is measured, and how: thalweg.lab.accuracy.rival_accuracy.
"""

import sys

import numpy as np

from thalweg.lab.accuracy.rival_accuracy import (
    BAYESIAN_ROWS,
    LINEAR_MODELS,
    STREAMS,
    RivalAccuracy,
    measure_rivals,
    streams_lost,
)


def main() -> None:
    """Run all streams and print the table."""
    rows = []
    for name in STREAMS:
        print(f"{len(rows) + 1} of {len(STREAMS)}: {name}", file=sys.stderr, flush=True)
        rows.append(measure_rivals(name))
    print(HEADER)
    for row in rows:
        print(line(row))
    print(f"* the first {BAYESIAN_ROWS:,} rows only, for both")
    for text, names in VERDICTS.items():
        print(verdict(text, rows, names))


HEADER = f"""\
{"":28}NMSE of a rival over the Tracker's: above 1 the Tracker wins
{"":10} {"":>6} {"Tracker":>9} {"River LR":>9} {"River LR":>9} {"River LR":>9} \
{"River PA":>9} {"River":>9} {"persis-":>8} {"meta-":>9}
{"stream":10} {"rows":>6} {"NMSE":>9} {"default":>9} {"best of 4":>9} \
{f"b. of {LINEAR_MODELS}":>9} {"best of 4":>9} {"Bayesian":>9} {"tence":>8} \
{"algorithm":>9}"""
VERDICTS = {
    "River's best of four optimisers": ("best_of_four",),
    "the best of all of River": ("best", "passive", "bayesian"),
    "persistence": ("persistence",),
    "the paper's meta-algorithm": ("meta",),
}


def line(row: RivalAccuracy) -> str:
    """A row as text."""
    cut = "*" if row.rounds > BAYESIAN_ROWS else " "
    return (
        f"{row.stream:10} {row.rounds:6,} {row.tracker:9.4g} {cell(row.default):>9} "
        f"{cell(row.best_of_four):>9} {cell(row.best):>9} {cell(row.passive):>9} "
        f"{cell(row.bayesian) + cut:>9} {cell(row.persistence):>8} {cell(row.meta):>9}"
    )


def cell(value: float) -> str:
    """A ratio as text."""
    return f"{value:.3f}" if np.isfinite(value) else "div"


def verdict(text: str, rows: list[RivalAccuracy], names: tuple[str, ...]) -> str:
    """On how many streams the Tracker is below all of these rivals, and where not."""
    where = [
        f"{name} ({value:.4f})" for name, value in streams_lost(rows, names).items()
    ]
    won = f"Below {text} on {len(rows) - len(where)} of {len(rows)} streams"
    return f"{won}; not on {', '.join(where)}" if where else won


if __name__ == "__main__":
    main()
