"""What several targets cost: microseconds a round, beside one target.

    python -m benchmarks.several_targets

Single calls are ``Online.predict`` and ``update``, one after the other; whole arrays
are the learner's ``run``. Each is the best of several tries, in time of the processor;
the last column is time by the clock, as targets of a Tracker are played in threads.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from thalweg.learners import Learner, RecursiveLeastSquares, Tracker
from thalweg.losses import SquaredError
from thalweg.models import Online
from thalweg.types import Block

FEATURES, ROUNDS, TRIES = 8, 5000, 7
TARGETS = ((RecursiveLeastSquares(), (1, 2, 10, 50)), (Tracker(), (1, 2, 10)))


def main() -> None:
    """Print a line for each number of targets; one target is a number, no array."""
    for learner, counts in TARGETS:
        print(f"{learner!r}, {FEATURES} features")
        print(f"{'targets':>7}{'calls':>10}{'ratio':>7}{'arrays':>10}{'ratio':>7}"
              f"{'clock':>10}{'ratio':>7}")  # fmt: skip
        one: tuple[float, ...] | None = None
        for targets in counts:
            times = measure(learner, targets)
            one = one or times
            pairs = zip(times, one, strict=True)
            cells = (f"{own:8.2f}µs{own / first:7.2f}" for own, first in pairs)
            print(f"{targets:7}" + "".join(cells))


def measure(learner: Learner[Any], targets: int) -> tuple[float, ...]:
    """Microseconds a round: single calls, whole arrays, and these by the clock."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(ROUNDS, FEATURES)), rng.normal(size=(ROUNDS, targets))
    labels = y[:, 0] if targets == 1 else y
    model = Online(learner, intercept=False)
    model.run(x[:10], labels[:10])
    rounds = list(zip(x, labels.tolist() if targets == 1 else labels, strict=True))

    def play_calls() -> None:
        predict, update = model.predict, model.update
        for row, label in rounds:
            predict(row)
            update(row, label)

    state, block = model.state, Block(x, labels)

    def play_arrays() -> None:
        learner.run(state, SquaredError(), block)

    processor, clock = time.process_time, time.perf_counter
    return (
        best_time(play_calls, processor),
        best_time(play_arrays, processor),
        best_time(play_arrays, clock),
    )


def best_time(play: Callable[[], None], clock: Callable[[], float]) -> float:
    """Microseconds a round, the best of several tries."""
    times = []
    for _ in range(TRIES):
        start = clock()
        play()
        times.append(clock() - start)
    return 1e6 * min(times) / ROUNDS


if __name__ == "__main__":
    main()
