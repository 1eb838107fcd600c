"""The Tracker against the best fixed (γ, ridge) pair in hindsight, stream by stream.

    python benchmarks/tracker_accuracy.py public      # real data, see `make data`
    python benchmarks/tracker_accuracy.py synthetic   # ten generators, five seeds

Every learner predicts, then learns. Errors are mean squares after a burn-in of 500
rounds, 100 on streams of at most 5,000; all columns but NMSE are ratios to the best
pair's error. The pairs keep their ridge, A_t = γA_{t-1} + xxᵀ + (1-γ)δI, and are given
inputs and target standardised with the whole stream's mean and deviation, and an
intercept; the Tracker gets the raw numbers.
"""

import sys
import time
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from thalweg.evaluation.public import TASKS, load
from thalweg.learners import Tracker
from thalweg.losses import SquaredError
from thalweg.types import Block

DISCOUNTS = (1.0, 0.9995, 0.999, 0.995, 0.99, 0.98, 0.95, 0.9, 0.8, 0.6)
RIDGES = (1e-4, 1e-2, 1.0)
LEVEL = 0.9
Loader = Callable[[], tuple[Any, Any]]


class Row(NamedTuple):
    """One line of the table."""

    stream: str
    features: int
    rounds: int
    pair: str
    nmse: float
    tracker: float
    features_only: float
    persistence: float
    never_forget: float
    covered: float
    micros: float


def main(source: str) -> None:
    """Print the table of the streams of ``source``."""
    streams = synthetic() if source == "synthetic" else public()
    rows = []
    print(HEADER)
    for name, read in streams.items():
        rows.append(compare(name, *read()))
        print(line(rows[-1]), flush=True)
    summary(rows)


def compare(name: str, x: Any, y: Any) -> Row:
    """Run everything on one stream."""
    burn = 100 if len(y) <= 5000 else 500
    fixed = pair_errors(x, y, burn)
    best = min(fixed, key=lambda pair: fixed[pair])
    start, block = np.zeros(x.shape[1]), Block(x, y)
    learner = Tracker(coverage=LEVEL)
    learner.run(learner.init(start), SquaredError(), block[:2])  # compiled by now
    began = time.perf_counter()
    learner.run(learner.init(start), SquaredError(), block)
    micros = 1e6 * (time.perf_counter() - began) / len(y)
    _, trace = learner.run(learner.init(start), SquaredError(), block, ["interval"])
    only = Tracker(information="features")
    _, blind = only.run(only.init(start), SquaredError(), block)
    low, high = trace.extras["interval"][burn:].T

    def ratio(prediction: Any) -> float:
        return float(np.mean((y - prediction)[burn:] ** 2)) / fixed[best]

    return Row(
        name, x.shape[1], len(y), f"({best[0]:g}, {best[1]:g})",
        fixed[best] / y[burn:].var(), ratio(trace.prediction), ratio(blind.prediction),
        ratio(np.append(0.0, y[:-1])),
        min(fixed[1.0, ridge] for ridge in RIDGES) / fixed[best],
        float(np.mean((low <= y[burn:]) & (y[burn:] <= high))), micros,
    )  # fmt: skip


def pair_errors(x: Any, y: Any, burn: int) -> dict[tuple[float, float], float]:
    """The mean squared error of every pair, in the target's own unit."""
    spread = x.std(axis=0)
    scaled = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    rows, target = np.column_stack([scaled, np.ones(len(y))]), (y - y.mean()) / y.std()
    return {
        pair: float(np.mean((target - kept_ridge(rows, target, *pair))[burn:] ** 2))
        * float(y.var())
        for pair in product(DISCOUNTS, RIDGES)
    }


@njit(cache=True)
def kept_ridge(x, y, gamma, delta):
    """Predictions x·A⁻¹b, A and b as above; by Cholesky, afresh in every round."""
    rounds, n = x.shape
    a, b, theta = delta * np.eye(n), np.zeros(n), np.zeros(n)
    lower, out = np.zeros((n, n)), np.empty(rounds)
    for t in range(rounds):
        out[t] = 0.0
        for i in range(n):
            out[t] += x[t, i] * theta[i]
        for i in range(n):
            b[i] = gamma * b[i] + x[t, i] * y[t]
            for j in range(i + 1):
                a[i, j] = gamma * a[i, j] + x[t, i] * x[t, j]
            a[i, i] += (1 - gamma) * delta
            theta[i] = b[i]
            for j in range(i + 1):
                rest = a[i, j]
                for k in range(j):
                    rest -= lower[i, k] * lower[j, k]
                lower[i, j] = np.sqrt(rest) if i == j else rest / lower[j, j]
                theta[i] -= lower[i, j] * theta[j] if j < i else 0.0
            theta[i] /= lower[i, i]
        for i in range(n - 1, -1, -1):
            theta[i] /= lower[i, i]
            for j in range(i):
                theta[j] -= lower[i, j] * theta[i]
    return out


def public() -> Mapping[str, Loader]:
    """The public streams, read when their turn comes."""

    def loader(name: str) -> Loader:
        return lambda: (lambda task: (task.x, task.y))(load(name))

    return {name: loader(name) for name in TASKS}


HEADER = f"""{"stream":14} {"n":>3} {"T":>7} {"best pair":>14} {"NMSE":>9} \
{"Tracker":>8} {"features":>8} {"persist":>8} {"γ=1":>7} {"cover":>6} {"µs":>6}"""


def line(row: Row) -> str:
    """A row as text."""
    return (
        f"{row.stream:14} {row.features:3} {row.rounds:7,} {row.pair:>14} "
        f"{row.nmse:9.4g} {row.tracker:8.4f} {row.features_only:8.4f} "
        f"{row.persistence:8.3f} {row.never_forget:7.3f} {row.covered:6.1%} "
        f"{row.micros:6.1f}"
    )


def summary(rows: list[Row]) -> None:
    """Geometric means and worst cases."""
    for name in ("tracker", "features_only", "persistence", "never_forget"):
        ratios = np.array([getattr(row, name) for row in rows])
        mean, worst = np.exp(np.log(ratios).mean()), rows[int(ratios.argmax())]
        print(f"{name:14} geo-mean {mean:.4f}  worst {ratios.max():.4f} {worst.stream}")
    long = [row for row in rows if row.rounds >= 5000] or rows
    covered = [row.covered for row in long]
    print(f"{LEVEL:.0%} intervals cover {min(covered):.1%} to {max(covered):.1%}")


def synthetic(rounds: int = 4000) -> Mapping[str, Loader]:
    """Ten generators × five seeds."""
    return {
        f"{maker.__name__}-{seed}": lambda maker=maker, seed=seed: maker(
            np.random.default_rng(seed), rounds
        )
        for maker in GENERATORS
        for seed in range(5)
    }


def _linear(rng: Any, theta: Any, noise: Any) -> tuple[Any, Any]:
    x = rng.normal(size=theta.shape)
    return x, (x * theta).sum(axis=1) + noise * rng.normal(size=len(x))


def stationary(rng: Any, rounds: int) -> tuple[Any, Any]:
    """One θ for ever."""
    return _linear(rng, np.tile(rng.normal(size=5), (rounds, 1)), 0.5)


def abrupt(rng: Any, rounds: int) -> tuple[Any, Any]:
    """A new θ every 700 rounds."""
    theta = rng.normal(size=(rounds // 700 + 1, 5))
    return _linear(rng, np.repeat(theta, 700, axis=0)[:rounds], 0.3)


def drift(rng: Any, rounds: int) -> tuple[Any, Any]:
    """θ walks."""
    return _linear(rng, np.cumsum(0.03 * rng.normal(size=(rounds, 5)), axis=0), 0.5)


def rotate(rng: Any, rounds: int) -> tuple[Any, Any]:
    """θ goes round in a plane, once in 200 rounds."""
    plane = np.linalg.qr(rng.normal(size=(6, 2)))[0]
    angle = 2 * np.pi * np.arange(rounds) / 200
    return _linear(rng, np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T, 0.1)


def seasonal(rng: Any, rounds: int) -> tuple[Any, Any]:
    """A pattern of 24 rounds that changes slowly, and features."""
    days = np.cumsum(0.1 * rng.normal(size=(rounds // 24 + 1, 24)), axis=0)
    x, y = _linear(rng, np.tile(rng.normal(size=3), (rounds, 1)), 0.3)
    return x, y + (rng.normal(size=24) * 2 + days).ravel()[:rounds]


def heavy_tails(rng: Any, rounds: int) -> tuple[Any, Any]:
    """θ walks, and noise has Student's t, 2.5 degrees of freedom."""
    x, y = _linear(rng, np.cumsum(0.02 * rng.normal(size=(rounds, 4)), axis=0), 0.0)
    return x, y + 0.5 * rng.standard_t(2.5, size=rounds)


def variance_shifts(rng: Any, rounds: int) -> tuple[Any, Any]:
    """θ walks under noise that is calm and wild in turn."""
    noise = np.where(np.arange(rounds) // 400 % 2, 2.0, 0.1)
    return _linear(rng, np.cumsum(0.03 * rng.normal(size=(rounds, 4)), axis=0), noise)


def sparse_jumps(rng: Any, rounds: int) -> tuple[Any, Any]:
    """Now and then one coefficient jumps."""
    jump = (rng.random((rounds, 6)) < 1 / 600) * rng.normal(size=(rounds, 6)) * 2
    return _linear(rng, np.cumsum(jump, axis=0) + rng.normal(size=6), 0.2)


def trend(rng: Any, rounds: int) -> tuple[Any, Any]:
    """A level with a slope that walks, and features."""
    slope = np.cumsum(0.001 * rng.normal(size=rounds))
    x, y = _linear(rng, np.tile(rng.normal(size=4), (rounds, 1)), 0.5)
    return x, y + np.cumsum(slope)


def quiet_features(rng: Any, rounds: int) -> tuple[Any, Any]:
    """Features that are silent for long, with coefficients that walk."""
    theta = np.cumsum(0.02 * rng.normal(size=(rounds, 6)), axis=0)
    heard = np.repeat(rng.random((rounds // 100 + 1, 6)) < 0.3, 100, axis=0)[:rounds]
    x = rng.normal(size=(rounds, 6)) * heard
    return x, (x * theta).sum(axis=1) + 0.3 * rng.normal(size=rounds)


GENERATORS = (
    stationary, abrupt, drift, rotate, seasonal, heavy_tails, variance_shifts,
    sparse_jumps, trend, quiet_features,
)  # fmt: skip

if __name__ == "__main__":
    main(sys.argv[1])
