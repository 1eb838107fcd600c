"""What several targets cost least squares: microseconds a round, beside one target.

    python benchmarks/several_targets.py

Single calls are ``Online.predict`` and ``update``, one after the other; whole arrays
are the learner's ``run``. Each is the best of several tries, in time of the processor.
"""

import time
from collections.abc import Callable

import numpy as np

from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.models import Online
from thalweg.types import Block

FEATURES, ROUNDS, TRIES = 8, 5000, 7
TARGETS = (1, 2, 10, 50)


def main() -> None:
    """Print a line for each number of targets; one target is a number, no array."""
    print(f"{'targets':>7} {'calls':>8} {'ratio':>6} {'arrays':>8} {'ratio':>6}")
    one: tuple[float, float] | None = None
    for targets in TARGETS:
        calls, arrays = measure(targets)
        one = one or (calls, arrays)
        print(
            f"{targets:7} {calls:6.2f}µs {calls / one[0]:6.2f} "
            f"{arrays:6.3f}µs {arrays / one[1]:6.2f}"
        )


def measure(targets: int) -> tuple[float, float]:
    """Microseconds a round of single calls, and of whole arrays."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(ROUNDS, FEATURES)), rng.normal(size=(ROUNDS, targets))
    labels = y[:, 0] if targets == 1 else y
    model = Online(RecursiveLeastSquares(), intercept=False)
    model.run(x[:10], labels[:10])
    rounds = list(zip(x, labels.tolist() if targets == 1 else labels, strict=True))

    def play_calls() -> None:
        predict, update = model.predict, model.update
        for row, label in rounds:
            predict(row)
            update(row, label)

    learner, state, block = model.learner, model.state, Block(x, labels)

    def play_arrays() -> None:
        learner.run(state, SquaredError(), block)

    return best_time(play_calls), best_time(play_arrays)


def best_time(play: Callable[[], None]) -> float:
    """Microseconds a round, the best of several tries."""
    times = []
    for _ in range(TRIES):
        start = time.process_time()
        play()
        times.append(time.process_time() - start)
    return 1e6 * min(times) / ROUNDS


if __name__ == "__main__":
    main()
