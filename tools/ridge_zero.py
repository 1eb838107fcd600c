"""Least squares without a prior (ridge=0) beside ``numpy.linalg.lstsq``.

    PYTHONPATH=src:. python tools/ridge_zero.py --seed 0 --streams 1000

prints a table, one line for each kind of stream, number of features n and discount γ:
how many streams of 12n rows were played, how many of them are judged (the weighted rows
have rank n and a condition number κ of at most 1e6), the largest error of θ among
these, relative to max(1, |θ|), how many errors pass 1e-8, how many of these pass
what rounding the rows once may do as well (εκ²|r|/σ_1, r being the residuals: Wedin's
bound, which no method escapes), and how many of all streams met a number that is not
finite. Below the table, for each stream beyond 1e-8: how far ours and lstsq itself are
from the solution in extended precision. The exit status is 1 where an error passes both
limits or a number is not finite.
"""

import argparse
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tests.fuzz.reference_runs import solve_least_squares
from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.types import Block

Array = npt.NDArray[Any]
FEATURES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
DISCOUNTS = (1.0, 0.99, 0.95, 0.9)
ROWS_PER_FEATURE = 12
MAX_CONDITION = 1e6
TOLERANCE = 1e-8


def binary(rng: np.random.Generator, rows: int, n: int) -> Array:
    """Zeros and ones, equally often."""
    return rng.integers(0, 2, size=(rows, n)).astype(float)


def sparse(rng: np.random.Generator, rows: int, n: int) -> Array:
    """Mostly zeros, the rest small integers or normal numbers."""
    share = rng.choice([0.1, 0.2, 0.4])
    values = rng.choice([-2.0, -1.0, 1.0, 2.0, 3.0], size=(rows, n))
    if rng.random() < 0.5:
        values = rng.normal(size=(rows, n))
    return np.where(rng.random((rows, n)) < share, values, 0.0)


def one_hot(rng: np.random.Generator, rows: int, n: int) -> Array:
    """Indicators of a category, with a constant feature in half of the streams."""
    x = np.eye(n)[rng.integers(0, n, size=rows)]
    if rng.random() < 0.5:
        x[:, 0] = 1.0
    return x


def repeated(rng: np.random.Generator, rows: int, n: int) -> Array:
    """Few different rows, which come again and again."""
    kind = rng.choice([binary, sparse, integer])
    different = kind(rng, int(rng.integers(n, 2 * n + 1)), n)
    return np.asarray(different[rng.integers(0, len(different), size=rows)])


def step(rng: np.random.Generator, rows: int, n: int) -> Array:
    """Features that are 0, then 1 from some round on, in any order of the rounds."""
    starts = np.sort(rng.integers(0, rows, size=n))
    starts[0] = 0
    if rng.random() < 0.5:
        starts = rng.permutation(starts)
    return (np.arange(rows)[:, None] >= starts).astype(float)


def integer(rng: np.random.Generator, rows: int, n: int) -> Array:
    """Integers from -3 to 3."""
    return rng.integers(-3, 4, size=(rows, n)).astype(float)


def mixed_scales(rng: np.random.Generator, rows: int, n: int) -> Array:
    """One of the other kinds, each feature in a unit of its own."""
    kind = rng.choice([binary, sparse, one_hot, repeated, integer])
    return np.asarray(kind(rng, rows, n) * 10.0 ** rng.integers(-2, 3, size=n))


KINDS: dict[str, Callable[[np.random.Generator, int, int], Array]] = {
    kind.__name__: kind  # type: ignore[attr-defined]
    for kind in (binary, sparse, one_hot, repeated, step, integer, mixed_scales)
}


class Verdict(NamedTuple):
    """What became of one stream."""

    judged: bool
    error: float
    sensitivity: float  # the error that rounding of the rows alone may cause
    finite: bool

    @property
    def wrong(self) -> bool:
        """Whether the error passes both limits."""
        return self.judged and not self.error <= max(TOLERANCE, self.sensitivity)


def example_stream(seed: int, kind: str, n: int, stream: int) -> Block:
    """A stream of 12n rows; half of the streams have labels that x explains."""
    rng = np.random.default_rng([seed, list(KINDS).index(kind), n, stream])
    rows = ROWS_PER_FEATURE * n
    x = KINDS[kind](rng, rows, n)
    y = rng.integers(-3, 4, size=rows) + 0.0
    if rng.random() < 0.5:
        y = x @ rng.normal(size=n) + rng.choice([0.0, 0.1]) * rng.normal(size=rows)
    weight = rng.choice([0.0, 0.5, 1.0, 4.0], size=rows) if rng.random() < 0.2 else None
    return Block(x, y, weight)


def weighted_rows(block: Block, discount: float, dtype: Any) -> tuple[Array, Array]:
    """The rows and labels whose least squares are θ."""
    weight = dtype(discount) ** np.arange(len(block.y) - 1.0, -1.0, -1.0, dtype)
    root = np.sqrt(weight if block.weight is None else weight * block.weight)
    return root[:, None] * block.x, root * block.y


def judge(block: Block, theta: Array, finite: bool, discount: float) -> Verdict:
    """Compare θ with the least squares fit of the discounted rows."""
    x, y = weighted_rows(block, discount, np.float64)
    expected, _, rank, sizes = np.linalg.lstsq(x, y, rcond=None)
    judged = rank == len(theta) and sizes[0] <= MAX_CONDITION * sizes[-1]
    size = max(1.0, np.abs(expected).max())
    error = np.abs(theta - expected).max() / size
    residual = np.linalg.norm(y - x @ expected)
    eps = np.finfo(np.float64).eps
    sensitivity = eps * sizes[0] * residual / sizes[-1] ** 2 / size if judged else 0.0
    return Verdict(bool(judged), float(error), float(sensitivity), finite)


def errors_in_extended_precision(block: Block, discount: float) -> tuple[float, float]:
    """How far θ of ours, and that of lstsq, are from the solution by Householder."""
    x, y = weighted_rows(block, discount, np.longdouble)
    exact = solve_least_squares(x, y[:, None])[:, 0]
    learner = RecursiveLeastSquares(discount, ridge=0.0)
    ours, _ = learner.run(learner.init(np.zeros(len(exact))), SquaredError(), block)
    rows = weighted_rows(block, discount, np.float64)
    theirs = np.linalg.lstsq(*rows, rcond=None)[0]
    size = max(1.0, np.abs(exact).max())
    errors = [np.abs(theta - exact).max() / size for theta in (ours.theta, theirs)]
    return float(errors[0]), float(errors[1])


def play(block: Block, discount: float) -> Verdict:
    """Play a stream with ``ridge=0`` and judge where it ends."""
    learner = RecursiveLeastSquares(discount, ridge=0.0)
    state, trace = learner.run(
        learner.init(np.zeros(block.x.shape[1])), SquaredError(), block
    )
    numbers = (state.theta, trace.prediction, trace.loss)
    finite = all(np.isfinite(array).all() for array in numbers)
    return judge(block, state.theta, finite, discount)


def main(arguments: list[str]) -> int:
    """Play the streams and print the table; 1 where one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--streams", type=int, default=1000, help="of each kind")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    options = parser.parse_args(arguments)
    per_line = max(1, options.streams // (len(FEATURES) * len(DISCOUNTS)))
    failures, beyond = 0, []
    print(f"{'kind':14}{'n':>4}{'γ':>6}{'streams':>9}{'judged':>8}", end="")
    print(f"{'worst':>10}{'> 1e-8':>8}{'wrong':>7}{'not finite':>12}")
    for kind in options.kinds:
        for n in FEATURES:
            for discount in DISCOUNTS:
                verdicts = [
                    play(example_stream(options.seed, kind, n, i), discount)
                    for i in range(per_line)
                ]
                errors = [v.error for v in verdicts if v.judged]
                worst = max(errors, default=0.0)
                above = sum(not error <= TOLERANCE for error in errors)
                broken = sum(not v.finite for v in verdicts)
                wrong = sum(v.wrong for v in verdicts)
                failures += wrong + broken
                beyond += [
                    (kind, n, discount, i)
                    for i, v in enumerate(verdicts)
                    if v.judged and not v.error <= TOLERANCE
                ]
                print(
                    f"{kind:14}{n:4}{discount:6.2f}{per_line:9}{len(errors):8}"
                    f"{worst:10.1e}{above:8}{wrong:7}{broken:12}"
                )
    for kind, n, discount, i in beyond:
        block = example_stream(options.seed, kind, n, i)
        ours, theirs = errors_in_extended_precision(block, discount)
        print(f"{kind}, n = {n}, γ = {discount}, stream {i}: ", end="")
        print(f"ours is off by {ours:.1e}, lstsq by {theirs:.1e}")
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
