"""N least squares on one stream: one after the other, or eight side by side?

Times of whole runs, the way to the lanes and back included; processor time on one
thread, repetitions interleaved, medians. Before anything is timed both ways must agree
to the last bit. docs/decisions/compiled-kernels.md has the results.

python -m benchmarks.bank
"""

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import thalweg as tw
from benchmarks.bench.bench_plan import BenchPlan
from benchmarks.bench.timing import TimedCall, fit_calls, time_interleaved
from thalweg.kernels.rls_bank.bank import lane_thresholds, play
from thalweg.learners.exponential_weights import initial_log_weights
from thalweg.types import FloatArray

FEATURES, EXPERTS = (2, 4, 8, 16, 32, 64), (1, 2, 3, 4, 5, 6, 8, 16, 32, 64)
LONG, BRISK = (10.0, 10_000.0), (2.0, 256.0)
"""The shortest and the longest memory in a bank, in rounds."""
SHORT = (1, 2, 4, 8, 16, 32)
TRACKED = (4, 8, 16)
NONE = np.empty(0)


def learners(
    experts: int, memories: tuple[float, float]
) -> list[tw.RecursiveLeastSquares]:
    """Memories in geometric progression."""
    windows = np.geomspace(*memories, experts)
    return [tw.RecursiveLeastSquares(window=float(window)) for window in windows]


def plain(rounds: int, n: int) -> FloatArray:
    """Features that are all excited in every round."""
    return np.random.default_rng(n).normal(size=(rounds, n))


def half_unexcited(rounds: int, n: int) -> FloatArray:
    """Half of them become zero, so that the covariance cap has to act."""
    x = plain(rounds, n)
    x[100:, : n // 2] = 0
    return x


def one_hot(rounds: int, n: int) -> FloatArray:
    """One of them is 1, the others are 0."""
    return np.eye(n)[np.random.default_rng(n).integers(n, size=rounds)]


class Shape(NamedTuple):
    """What a bank is made of."""

    n: int
    experts: int
    rounds: int
    features: Callable[[int, int], FloatArray] = plain
    memories: tuple[float, float] = LONG


def kernel(shape: Shape, in_lanes: bool) -> Callable[[], tuple[FloatArray, ...]]:
    """One run of the kernel from its start: gives what it changes and fills in."""
    n, experts, rounds, features, memories = shape
    bank, x = learners(experts, memories), features(rounds, n)
    y = x[:, :1] + 0.1 * np.random.default_rng(0).normal(size=(rounds, 1))
    states = [expert.init(np.zeros((n, 1))) for expert in bank]
    gamma = np.array([expert.discount for expert in bank])
    settings = gamma, np.zeros(experts), np.zeros(experts), 1.0
    groups = np.full(-(-experts // 8), in_lanes)

    def call() -> tuple[FloatArray, ...]:
        changed = (
            *(np.array(part) for part in zip(*states, strict=True)),
            initial_log_weights(experts),
        )
        out, loss = np.empty((rounds, 1)), np.empty(rounds)
        trace = out, loss, np.empty((0, n, 1)), np.empty((0, experts))
        play(*changed, *settings, x, y, NONE, NONE, *trace, groups)
        return *changed, out, loss

    return call


def both(shape: Shape, plan: BenchPlan) -> tuple[float, float]:
    """Nanoseconds a round, one after the other and side by side."""
    ways = {in_lanes: kernel(shape, in_lanes) for in_lanes in (False, True)}
    for one, other in zip(*(call() for call in ways.values()), strict=True):
        np.testing.assert_array_equal(one, other)
    timed = {way: fit_calls(call, shape.rounds, plan) for way, call in ways.items()}
    times = time_interleaved(timed, plan)
    return times[False].ns, times[True].ns


def long_enough(n: int, experts: int) -> int:
    """Rounds that take some milliseconds."""
    return max(512, int(2e6 / experts / (n + 4) ** 2))


def shapes(plan: BenchPlan) -> None:
    """Whole arrays, for every shape."""
    print("µs a round (ns an expert): one after the other, side by side; the ratio")
    for n in FEATURES:
        few, _ = lane_thresholds(n)
        print(f"\nn = {n}: the rule says side by side from {few} experts on")
        for experts in EXPERTS:
            alone, in_lanes = both(Shape(n, experts, long_enough(n, experts)), plan)
            wrong = "  else" if (experts >= few) != (in_lanes < alone) else ""
            print(
                f"  N = {experts:<3}"
                f"{alone / 1e3:>9.3f} ({alone / experts:>6.1f})"
                f"{in_lanes / 1e3:>9.3f} ({in_lanes / experts:>6.1f})"
                f"{alone / in_lanes:>7.2f}{wrong}"
            )


def short(plan: BenchPlan) -> None:
    """Few rounds, where the way to the lanes and back counts."""
    print("\nTimes one after the other over side by side, in a run of T rounds, N = 8")
    print("    n" + "".join(f"{f'T = {rounds}':>9}" for rounds in SHORT))
    for n in FEATURES:
        times = [both(Shape(n, 8, rounds), plan) for rounds in SHORT]
        print(f"{n:>5}" + "".join(f"{alone / ours:>9.2f}" for alone, ours in times))


def hostile(plan: BenchPlan) -> None:
    """Where directions are not excited, and ``cap_covariance`` acts."""
    kinds = [(f, m) for f in (plain, one_hot, half_unexcited) for m in (LONG, BRISK)]
    print("\nTimes one after the other over side by side, N = 8, by memories in rounds")
    names = [f"{f.__name__} {m[0]:.0f}-{m[1]:.0f}" for f, m in kinds]
    print("    n" + "".join(f"{name:>20}" for name in names))
    for n in FEATURES:
        times = [both(Shape(n, 8, 4000, *kind), plan) for kind in kinds]
        print(f"{n:>5}" + "".join(f"{alone / ours:>20.2f}" for alone, ours in times))


def tracked(plan: BenchPlan) -> None:
    """The Tracker's 76 experts in one kernel, and 76 filters."""
    print("\nµs a round: the Tracker, 76 filters in a bank, 76 filters each by itself")
    bank = learners(76, LONG)
    for n in TRACKED:
        x = plain(1000, n)
        block = tw.Block(x, x[:, 0])

        def runs(several, n=n, block=block) -> TimedCall:  # type: ignore[no-untyped-def]
            def call() -> None:
                for one in several:
                    one.run(one.init(np.zeros(n)), tw.SquaredError(), block)

            return fit_calls(call, len(block), plan)

        timed = {
            "tracker": runs([tw.Tracker()]),
            "bank": runs([tw.learners.Experts(tuple(bank))]),
            "single": runs(bank),
        }
        spent = {
            name: one.ns / 1e3 for name, one in time_interleaved(timed, plan).items()
        }
        ratios = (f"{us:>9.2f} ({us / spent['tracker']:.2f})" for us in spent.values())
        print(f"  n = {n:<3}" + "".join(ratios))


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--budget", type=float, default=0.02)
    options = parser.parse_args()
    plan = BenchPlan(repeats=options.repeats, budget=options.budget)
    for section in (shapes, short, hostile, tracked):
        section(plan)


if __name__ == "__main__":
    main()
