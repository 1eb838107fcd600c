"""The Tracker against LightGBM, retrained every 500 rows, stream by stream.

    .venv-bench/bin/python -m benchmarks.accuracy.lightgbm_accuracy
    .venv-bench/bin/python -m benchmarks.accuracy.lightgbm_accuracy --rows 2000

The first 10,000 rows of the public, stripped and shocked streams. Ratios are the
Tracker's mean squared error over LightGBM's: below 1 the Tracker wins. LightGBM has the
settings that are best on the whole set, in hindsight; in the second column of ratios,
those that are best on the stream. What it gets, and how it is trained, is in
retrained_model.py and boosted_trees.py. Its results are saved
(--results), so that later runs measure the Tracker only.
"""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.accuracy.accuracy_streams import AccuracyStream
from benchmarks.accuracy.boosted_trees import (
    SETTINGS,
    TreeAccuracy,
    TreeResults,
    TreeSettings,
    best_settings,
)
from benchmarks.accuracy.command import REAL_SETS
from benchmarks.accuracy.tracker_accuracy import (
    LEARNERS,
    geometric_mean,
    measure_learner,
)

TRACKER = LEARNERS["tracker"]


class Duel(NamedTuple):
    """One stream: the Tracker and LightGBM."""

    stream: str
    rounds: int
    ratio: float  # the Tracker's mean squared error over LightGBM's
    ratio_to_best: float  # over that of LightGBM with the best settings on the stream
    tracker_micros: float  # microseconds a row
    tree_micros: float


def main() -> None:
    """Print a table for every set, and what holds over all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", action="append", choices=REAL_SETS)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--results", type=Path, default=Path("out/lightgbm.json"))
    given = parser.parse_args()
    results, duels = TreeResults(given.results), list[Duel]()
    for name in given.set or REAL_SETS:
        loaders = REAL_SETS[name](given.rows)
        streams = {stream: load() for stream, load in loaders.items()}
        trees = measure_settings(name, streams, results)
        best = best_settings(trees)
        print(f"\n{name}: LightGBM with {best}")
        print(HEADER)
        for stream, played in streams.items():
            least = min(each[stream].error for each in trees.values())
            duels.append(play(stream, played, trees[best][stream], least))
            print(line(duels[-1]), flush=True)
        print(summary(name, duels[-len(streams) :]))
    print(summary("\nall", duels))


def measure_settings(
    name: str, streams: dict[str, AccuracyStream], results: TreeResults
) -> dict[TreeSettings, dict[str, TreeAccuracy]]:
    """LightGBM with all settings on all streams."""
    measured: dict[TreeSettings, dict[str, TreeAccuracy]] = {}
    for settings in SETTINGS:
        print(f"{name}: {settings}", file=sys.stderr, flush=True)
        measured[settings] = {
            stream: results.measure(f"{name} {stream}", played, settings)
            for stream, played in streams.items()
        }
    return measured


def play(
    name: str, stream: AccuracyStream, trees: TreeAccuracy, least_error: float
) -> Duel:
    """Run the Tracker on a stream, beside results of LightGBM."""
    tracker, rounds = measure_learner(TRACKER, stream), len(stream.y)
    return Duel(
        name, rounds, tracker.error / trees.error, tracker.error / least_error,
        tracker.micros, 1e6 * trees.seconds / rounds,
    )  # fmt: skip


HEADER = f"""{"stream":14} {"rows":>6} {"ratio":>7} {"to best":>7} \
{"Tracker µs":>10} {"LightGBM µs":>11}"""


def line(duel: Duel) -> str:
    """A row as text."""
    return (
        f"{duel.stream:14} {duel.rounds:6,} {duel.ratio:7.3f} "
        f"{duel.ratio_to_best:7.3f} {duel.tracker_micros:10.1f} "
        f"{duel.tree_micros:11.0f}"
    )


def summary(name: str, duels: list[Duel]) -> str:
    """What holds over the streams."""
    ratios = [duel.ratio for duel in duels]
    to_best = geometric_mean(duel.ratio_to_best for duel in duels)
    times = geometric_mean(duel.tree_micros / duel.tracker_micros for duel in duels)
    return (
        f"{name}: error over LightGBM's: geo-mean {geometric_mean(ratios):.3f}, median "
        f"{np.median(ratios):.3f}, below 1 on {sum(r < 1 for r in ratios)} of "
        f"{len(ratios)} streams; with its best settings on each stream, geo-mean "
        f"{to_best:.3f}; LightGBM takes {times:.0f} times as long"
    )


if __name__ == "__main__":
    main()
