"""The path-budget comparator against CVXPY with Clarabel, and how its cost grows.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.frontier

Each is the best of three calls: ours after one to compile, with all checks and
certificates; CVXPY at Clarabel's tolerances of 1e-6, modelling included, with the ratio
to the solver's own time beside it. Both run side by side: trust the ratios.
"""

import resource
import time

import cvxpy as cp
import numpy as np

from thalweg.losses import SquaredError
from thalweg.regret.frontier import frontier
from thalweg.regret.path_budget import best_path
from thalweg.types import Block

LOSS = SquaredError()
KINDS = ("walk", "piecewise", "stationary")
TRIES = 3


def stream(kind, rounds, n, seed=1):
    """A block with noise 0.1 and |x| ≤ 1, and the length of the path it follows."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, n))
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    theta = np.full((rounds, n), 0.3)
    if kind == "walk":
        theta += 0.01 * np.cumsum(rng.normal(size=(rounds, n)), axis=0)
        theta /= np.maximum(1.0, np.linalg.norm(theta, axis=1))[:, None]
    elif kind == "piecewise":
        theta = rng.normal(size=(6, n))[np.arange(rounds) * 6 // rounds] / np.sqrt(n)
    y = np.einsum("ti,ti->t", x, theta) + 0.1 * rng.normal(size=rounds)
    path = np.linalg.norm(np.diff(theta, axis=0), axis=1).sum()
    return Block(x, y), max(path, 1.0)


def timed(call):
    """The result and the seconds of the fastest of a few calls."""
    runs = []
    for _ in range(TRIES):
        begin = time.perf_counter()
        result = call()
        runs.append((time.perf_counter() - begin, result))
    seconds, result = min(runs, key=lambda run: run[0])
    return result, seconds


def general_solver(block, budget):
    """Loss, and seconds in the solver."""
    z = cp.Variable(block.x.shape)
    error = block.y - cp.sum(cp.multiply(block.x, z), axis=1)
    path = cp.sum(cp.norm(z[1:] - z[:-1], 2, axis=1))
    programme = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(error)), [path <= budget])
    tolerances = {f"tol_{name}": 1e-6 for name in ("gap_abs", "gap_rel", "feas")}
    loss = programme.solve(solver=cp.CLARABEL, **tolerances)
    return loss, programme.solver_stats.solve_time


def peak_megabytes():
    """The most memory this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def long_streams():
    """First of all, so that the peak memory is that of these solves."""
    before = peak_megabytes()
    print(
        "\none solve, T = 100,000    n   V/path         ms       gap  peak MB, so far"
    )
    print(f"compiled, before any data {before:45.0f}")
    for n, kind in [(n, kind) for n in (5, 1) for kind in KINDS]:
        block, path = stream(kind, 100_000, n)
        for part in (0.1, 1.0):
            found, seconds = timed(lambda: best_path(block, LOSS, part * path))  # noqa: B023
            print(
                f"{kind:24} {n:2} {part:8} {1e3 * seconds:10.1f} {found.gap:9.1e} "
                f"{peak_megabytes():12.0f}"
            )


def side_by_side():
    """One budget at a gap of 1e-6, n = 5."""
    print("\none solve, n = 5     T   V/path   ours ms      gap   CVXPY ms    ratio")
    print("                                                             (solver's own)")
    for rounds, kind in [(T, kind) for T in (2_000, 20_000) for kind in KINDS]:
        block, path = stream(kind, rounds, 5)
        for part in (0.1, 1.0):
            found, ours = timed(lambda: best_path(block, LOSS, part * path))  # noqa: B023
            theirs = timed(lambda: general_solver(block, part * path))  # noqa: B023
            (loss, solver), whole = theirs
            differ = abs(loss - found.loss) / found.loss
            print(
                f"{kind:14} {rounds:8} {part:6} {1e3 * ours:9.1f} {found.gap:9.1e} "
                f"{1e3 * whole:9.0f} {whole / ours:8.1f} ({solver / ours:.1f})  "
                f"losses differ by {differ:.0e}"
            )


def curves():
    """Whole frontiers, T = 20,000 and n = 5."""
    print("\nfrontier, T = 20,000, n = 5     points   seconds   widest bracket")
    for kind in KINDS:
        block, _ = stream(kind, 20_000, 5)
        for points in (14, None):
            begin = time.perf_counter()
            curve = frontier(block, LOSS, points=points)
            seconds = time.perf_counter() - begin
            print(f"{kind:31} {len(curve.upper):6} {seconds:9.2f} {curve.width:12.2%}")


def growth():
    """The exponent of T in the time of one solve."""
    print("\ngrowth with T, n = 5, V = 0.1 x path: seconds ~ T^exponent")
    lengths = np.array([2_000, 5_000, 12_000, 30_000, 80_000])
    for kind in KINDS:
        seconds = []
        for rounds in lengths:
            block, path = stream(kind, int(rounds), 5)
            call = lambda: best_path(block, LOSS, 0.1 * path)  # noqa: B023, E731
            seconds.append(timed(call)[1])
        exponent = np.polyfit(np.log(lengths), np.log(seconds), 1)[0]
        print(f"{kind:31} {exponent:.2f}")


if __name__ == "__main__":
    for n in (1, 5):
        best_path(stream("walk", 100, n)[0], LOSS, 0.5)
    long_streams()
    side_by_side()
    curves()
    growth()
