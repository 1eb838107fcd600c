"""Features that come late: the Tracker's error beside one fed zeros until then.

    python -m benchmarks.late_features          # real data, see `make data`

Every public stream of at least two features, its first 6,000 rows, four seeds. Three
ways to come: the second half of the features after 1,000 rounds; one by one, evenly
over the first half of the stream; all but one after 50 rounds. Errors are mean squares
of the rows after the first arrival; the figure of a stream is their ratio, averaged
over seeds.
"""

import sys
from collections.abc import Callable

import numpy as np

from benchmarks.accuracy.accuracy_streams import public_streams
from benchmarks.accuracy.tracker_accuracy import geometric_mean
from thalweg.learners import Tracker
from thalweg.losses import SquaredError
from thalweg.types import Block, FloatArray

ROWS, SEEDS = 6000, 4
LOSS = SquaredError()
Arrivals = Callable[[int, int], list[int]]
"""The round in which each of n features comes, in a stream of T rows."""

SCENARIOS: dict[str, Arrivals] = {
    "half after 1,000": lambda n, T: [0] * -(-n // 2) + [min(1000, T // 3)] * (n // 2),
    "one by one": lambda n, T: [T * i // (2 * n) for i in range(n)],
    "all but one after 50": lambda n, T: [0] + [50] * (n - 1),
}


def main(curvature: bool) -> None:
    """Print a line for each stream, and the geometric means."""
    print(f"{'stream':12} {'n':>3} {'T':>6}" + "".join(f"{s:>22}" for s in SCENARIOS))
    ratios: dict[str, list[float]] = {scenario: [] for scenario in SCENARIOS}
    for name, load in public_streams(ROWS).items():
        stream = load()
        x, y = stream.x, stream.y
        if x.shape[1] < 2:
            continue
        line = f"{name:12} {x.shape[1]:3} {len(y):6,}"
        for scenario, arrivals in SCENARIOS.items():
            ratio = late_over_zeros(x, y, arrivals(x.shape[1], len(y)), curvature)
            ratios[scenario].append(ratio)
            line += f"{ratio:22.4f}"
        print(line, flush=True)
    means = "".join(f"{geometric_mean(r):22.4f}" for r in ratios.values())
    print(f"{'mean':23}{means}")


def late_over_zeros(
    x: FloatArray, y: FloatArray, arrivals: list[int], curvature: bool
) -> float:
    """The error of features that come late over that of zeros until they come."""
    zeros, first = x.copy(), min(round for round in arrivals if round)
    for feature, arrival in enumerate(arrivals):
        zeros[:arrival, feature] = 0.0
    late, fed = 0.0, 0.0
    for seed in range(SEEDS if curvature else 1):
        tracker = Tracker(seed=seed, curvature=curvature)
        prediction = play_late(tracker, x, y, arrivals)
        late += float(np.mean((prediction - y)[first:] ** 2))
        start = tracker.init(np.zeros(x.shape[1]))
        _, trace = tracker.run(start, LOSS, Block(zeros, y))
        fed += float(np.mean((trace.prediction - y)[first:] ** 2))
    return late / fed


def play_late(
    tracker: Tracker, x: FloatArray, y: FloatArray, arrivals: list[int]
) -> FloatArray:
    """The forecasts of a Tracker to which features are added when they come."""
    edges = [*sorted(set(arrivals)), len(y)]
    present = [i for i, arrival in enumerate(arrivals) if arrival == 0]
    state, parts = tracker.init(np.zeros(len(present))), []
    for start, end in zip(edges, edges[1:], strict=False):
        if start:
            come = [i for i, arrival in enumerate(arrivals) if arrival == start]
            present = sorted([*present, *come])
            state = tracker.add_features(state, [present.index(i) for i in come])
        rows = np.ascontiguousarray(x[start:end, present])
        state, trace = tracker.run(state, LOSS, Block(rows, y[start:end]))
        parts.append(trace.prediction)
    return np.concatenate(parts)


if __name__ == "__main__":
    main(curvature="--linear" not in sys.argv)
