"""Time a sample of an adaptive RLS filter, beside padasip and pyroomacoustics.

    .venv-bench/bin/python -m benchmarks.adaptive_filters

Everyone filters the same signals, from the same start: whole signals and, where there
is a call for it, sample by sample. Microseconds a sample, the best of five.
"""

import time
from collections.abc import Callable

import numpy as np
import padasip
from pyroomacoustics.adaptive import RLS

import thalweg as tw

SAMPLES = 5000
DISCOUNT, RIDGE = 0.999, 0.001


def best_time(call: Callable[[], object]) -> float:
    """Microseconds a sample, the best of five calls."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times) / SAMPLES * 1e6


def measure(taps: int) -> tuple[float, ...]:
    """Times of our run and update, padasip's run and pyroomacoustics' update."""
    d, x = np.random.default_rng(0).normal(size=(2, SAMPLES))
    learner = tw.RecursiveLeastSquares(DISCOUNT, ridge=RIDGE)
    padded = np.concatenate([np.zeros(taps - 1), x])
    rows = np.lib.stride_tricks.sliding_window_view(padded, taps)[:, ::-1]
    theirs = padasip.filters.FilterRLS(taps, mu=DISCOUNT, eps=RIDGE, w="zeros")
    single = RLS(taps, lmbd=DISCOUNT, delta=RIDGE, dtype=np.float64)
    ours = tw.AdaptiveFilter(taps, learner)
    pairs = list(zip(d.tolist(), x.tolist(), strict=True))
    return (
        best_time(lambda: tw.adaptive_filter(d, x, taps, learner)),
        best_time(lambda: [ours.update(b, a) for b, a in pairs]),
        best_time(lambda: theirs.run(d, rows)),
        best_time(lambda: [single.update(a, b) for b, a in pairs]),
    )


def main() -> None:
    """Print a table, a row for each number of taps."""
    print(
        f"{'taps':>4} {'run':>6} {'update':>7} {'padasip':>8} {'pyroomacoustics':>16}"
    )
    for taps in (8, 32, 128):
        run, update, padasip_run, pyroom_update = measure(taps)
        print(
            f"{taps:4} {run:6.2f} {update:7.2f} {padasip_run:8.1f} "
            f"{pyroom_update:16.1f}"
        )


if __name__ == "__main__":
    main()
