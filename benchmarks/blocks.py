"""Blocks beside round by round: how much faster, and how far apart the predictions.

The same learner on the same stream. Both run in one thread, so the time is that of the
processor; repetitions are interleaved, figures are medians. Only the ratios mean
anything on another machine.
"""

import argparse
import statistics
import time

import numpy as np

import thalweg as tw

DISCOUNTS = (0.99, 0.999)
KINDS = {"plain": (None, False), "floor": (0.01, False), "floor, leaky": (0.01, True)}
BUDGET = 1e8
"""n² times rounds of each repetition; with a retained ridge a quarter of it."""


def timed(learner, block, blocked):
    """Seconds, and the predictions."""
    state = learner.init(np.zeros(block.x.shape[1]))
    start_time = time.process_time()
    _, trace = learner.run(state, tw.SquaredError(), block, blocked=blocked)
    return time.process_time() - start_time, trace.prediction


def compare(learner, block, repeats):
    """µs a round both ways, and the largest difference over the largest label."""
    times, predictions = {False: [], True: []}, {}
    for repeat in range(repeats + 1):
        for blocked in times:
            spent, predictions[blocked] = timed(learner, block, blocked)
            if repeat:  # the first one compiles
                times[blocked].append(spent / len(block) * 1e6)
    gap = np.abs(predictions[True] - predictions[False]).max() / np.abs(block.y).max()
    return *(statistics.median(spent) for spent in times.values()), gap


def main():
    """Print a line for each number of features, discount and kind of ridge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--features", type=int, nargs="*", default=[16, 32, 64, 128, 256, 512]
    )
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    header = ("n", "γ", "ridge", "one by one", "blocked", "ratio", "apart")
    print("µs a round\n" + "{:>4}{:>7} {:<12}{:>11}{:>9}{:>7}{:>9}".format(*header))
    for n in options.features:
        for discount in DISCOUNTS:
            for kind, (floor, leaky) in KINDS.items():
                budget = BUDGET if floor is None else BUDGET / 4
                x = rng.normal(size=(max(600, min(20_000, int(budget / n**2))), n))
                block = tw.Block(x, x @ rng.normal(size=n) + rng.normal(size=len(x)))
                learner = tw.RecursiveLeastSquares(discount, 0.01, floor, leaky)
                one, many, gap = compare(learner, block, options.repeats)
                print(
                    f"{n:>4}{discount:>7} {kind:<12}{one:>11.3f}{many:>9.3f}"
                    f"{one / many:>7.2f}{gap:>9.0e}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
