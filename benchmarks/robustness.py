"""What robustness costs: our kernel beside textbook RLS without any safeguard.

Whole arrays, one thread, repetitions interleaved, the best of each; only the ratios
mean anything on another machine.
"""

import time
from collections.abc import Callable

import numpy as np
from plain_rls import plain_rls

import thalweg as tw
from thalweg.kernels.rls import rls
from thalweg.types import FloatArray

DISCOUNT, REPEATS = 0.99, 9


def plain(x: FloatArray, y: FloatArray) -> None:
    """The yardstick."""
    n = x.shape[1]
    plain_rls(np.zeros(n), np.eye(n), DISCOUNT, x, y, np.empty(len(y)))


def ours(floor: float | None) -> Callable[[FloatArray, FloatArray], None]:
    """The kernel of ``RecursiveLeastSquares``, with or without a retained ridge."""
    learner = tw.RecursiveLeastSquares(DISCOUNT, floor=floor)

    def call(x: FloatArray, y: FloatArray) -> None:
        n, none = x.shape[1], np.empty(0)
        theta, factor = learner.init(np.zeros((n, 1)))
        out, loss = np.empty((len(y), 1)), np.empty(len(y))
        played, how = np.empty((0, n, 1)), (DISCOUNT, floor or 0.0, False)
        rls(theta, factor, *how, x, y[:, None], none, none, out, loss, played)

    return call


def main() -> None:
    """Print nanoseconds a round and ratios to the yardstick."""
    calls = {"plain": plain, "ours": ours(None), "with floor": ours(0.01)}
    rng = np.random.default_rng(0)
    print(f"{'n':>4}{'plain ns':>10}{'ours ns':>10}{'ratio':>8}{'with floor':>12}")
    for n in (2, 4, 8, 16, 32, 64, 128):
        x = rng.normal(size=(int(min(2e5, 2e7 / (n * n + 20))), n))
        y = x[:, 0] + rng.normal(size=len(x))
        best = dict.fromkeys(calls, np.inf)
        for _ in range(REPEATS):
            for name, call in calls.items():
                start = time.perf_counter()
                call(x, y)
                best[name] = min(best[name], (time.perf_counter() - start) / len(y))
        base, robust, floored = (1e9 * best[name] for name in calls)
        ratios = f"{robust / base:>8.2f}{floored / base:>12.2f}"
        print(f"{n:>4}{base:>10.1f}{robust:>10.1f}{ratios}")


if __name__ == "__main__":
    main()
