"""Coverage of 90 % intervals after the labels stop, by the step that is forecast.

    python -m benchmarks.gap_intervals          # real data, see `make data`
    python -m benchmarks.gap_intervals 1000     # that many gaps in each stream

Five hourly streams without past labels among their features, which would not be known
in a gap (waterflow then has none: a constant stands for them). Gaps begin at random
rows of the second half. Step 1 is forecast with all labels, step h after h - 1 rounds
without one. Beside the intervals of the Tracker stand those of distance 0 all along,
and those of least squares (discount 0.999), whose width does not know the distance.
Width is that of the Tracker's intervals over the width at step 1, the median.
"""

import sys
from typing import NamedTuple

import numpy as np

from benchmarks.accuracy.accuracy_streams import stripped_streams
from thalweg.learners import RecursiveLeastSquares, Tracker
from thalweg.losses import SquaredError
from thalweg.models import Online
from thalweg.types import Block, FloatArray

STREAMS = ("bikeshare", "metro", "household", "uk_gas", "waterflow")
STEPS = (1, 2, 6, 12, 24)
GAPS, SEED = 400, 16
LOSS = SquaredError()


class Coverage(NamedTuple):
    """The share of labels inside at each step, and the growth of the intervals."""

    ours: FloatArray
    constant: FloatArray
    least_squares: FloatArray
    width: FloatArray


def main(gaps: int) -> None:
    """Print a line for each stream and kind of interval, then their means."""
    print(f"{'stream':11} {'gaps':>5} {'':14}" + "".join(f"{h:7}" for h in STEPS))
    measured = []
    for name in STREAMS:
        stream = stripped_streams()[name]()
        x = np.zeros((len(stream.y), 1)) if name == "waterflow" else stream.x
        starts = gap_starts(len(stream.y), gaps)
        measured.append(measure(np.ascontiguousarray(x), stream.y, starts))
        print_lines(f"{name:11} {len(starts):5}", measured[-1])
    means = (np.mean(kind, axis=0) for kind in zip(*measured, strict=True))
    print_lines(f"{'mean':17}", Coverage(*means))


def print_lines(head: str, coverage: Coverage) -> None:
    """Print the coverage of one stream, a line for each kind of interval."""
    for kind, values in coverage._asdict().items():
        name = kind.replace("_", " ")
        print(f"{head:17} {name:14}" + "".join(f"{v:7.3f}" for v in values), flush=True)
        head = ""


def gap_starts(rounds: int, gaps: int) -> list[int]:
    """Random rounds of the second half, in order, with room for the last step."""
    candidates = np.arange(rounds // 2, rounds - STEPS[-1])
    rng = np.random.default_rng(SEED)
    count = min(gaps, len(candidates))
    return [int(t) for t in np.sort(rng.choice(candidates, count, replace=False))]


def measure(x: FloatArray, y: FloatArray, starts: list[int]) -> Coverage:
    """Play the stream; at every start a copy goes on without labels."""
    tracker, model = Tracker(), Online(RecursiveLeastSquares(0.999))
    state, position = tracker.init(np.zeros(x.shape[1])), 0
    inside: dict[str, list[FloatArray]] = {name: [] for name in Coverage._fields}
    steps = np.array(STEPS) - 1
    for start in starts:
        before, rows = slice(position, start), slice(start, start + STEPS[-1])
        state, _ = tracker.run(state, LOSS, Block(x[before], y[before]))
        model.run(x[before], y[before])
        gap = Block(x[rows], y[rows], np.zeros(STEPS[-1]))
        _, trace = tracker.run(state, LOSS, gap, record=("interval",))
        forecast, ends = trace.prediction[:, None], trace.extras["interval"]
        constant = forecast + (ends[0] - forecast[0])
        squares = np.array([model.predict(row, interval=0.9)[1:] for row in x[rows]])
        intervals = {"ours": ends, "constant": constant, "least_squares": squares}
        for name, (low, high) in ((k, v.T) for k, v in intervals.items()):
            inside[name].append(((low <= y[rows]) & (y[rows] <= high))[steps])
        width = np.ptp(ends, axis=1)
        inside["width"].append((width / width[0])[steps])
        position = start
    shares = [np.mean(inside[name], axis=0) for name in Coverage._fields[:3]]
    return Coverage(*shares, np.median(inside["width"], axis=0))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else GAPS)
