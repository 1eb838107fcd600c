"""The Tracker against River, persistence and the paper's meta-algorithm.

    OMP_NUM_THREADS=1 python benchmarks/rivals_accuracy.py

Nine public streams, cut at 60,000 rows. Every model predicts, then learns; its error is
the mean square after a burn-in of 500 rounds, 100 on streams of at most 5,000, over the
target's variance on the same rounds. Rivals get inputs and target standardised with the
mean and deviation of the whole stream, known before it begins, and an intercept; the
Tracker gets the raw numbers. Of a rival's settings the best in hindsight counts.
"""

import sys
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from river import linear_model, optim

from thalweg import discounts
from thalweg.evaluation.public import load
from thalweg.learners import Experts, RecursiveLeastSquares
from thalweg.learners.tracker import Tracker
from thalweg.losses import SquaredError
from thalweg.types import Block

STREAMS = (
    "cgm", "treasury", "bikeshare", "metro", "beijing_pm", "flights",
    "jpm_hedge", "ibm_hedge", "trump",
)  # fmt: skip
ROWS, BAYESIAN_ROWS = 60_000, 20_000  # River's smoothing inverts a matrix every round
DIVERGED = 5.0
RIDGE = 0.01  # of the meta-algorithm's experts, kept
OPTIMISERS: tuple[Callable[[], Any], ...] = (
    lambda: optim.SGD(0.01),  # River's default, with 0.01 for the intercept
    lambda: optim.SGD(0.001),
    lambda: optim.Adam(0.01),
    lambda: optim.AdaGrad(0.1),
    # What follows, and other rates for the intercept, is only in the best of all.
    lambda: optim.AdaGrad(1.0),
    lambda: optim.RMSProp(0.01),
)
PLAIN = 4
INTERCEPT_RATES = (0.01, 0.1, 0.5)
STEP_BOUNDS = (1.0, 0.1, 0.01, 0.001)  # C; at River's default, 1, NMSE > 1.3 everywhere
SMOOTHING = (None, 0.99, 0.999)


class Row(NamedTuple):
    """One line of the table: the Tracker's NMSE, and each rival's over it."""

    stream: str
    rounds: int
    tracker: float
    default: float  # River's LinearRegression as it comes
    plain: float  # with the best of four optimisers
    best: float  # with the best of six, and of three rates for the intercept
    passive: float  # River's PARegressor, with the best of four bounds on its steps
    bayesian: float  # River's BayesianLinearRegression; the Tracker on the same rows
    persistence: float
    meta: float


def main() -> None:
    """Run all streams and print the table."""
    rows = []
    for name in STREAMS:
        print(f"{len(rows) + 1} of {len(STREAMS)}: {name}", file=sys.stderr, flush=True)
        rows.append(compare(name))
    print(HEADER)
    for row in rows:
        print(line(row))
    print(f"* the first {BAYESIAN_ROWS:,} rows only, for both")
    for text, rivals in VERDICTS.items():
        print(verdict(text, rows, rivals))


def compare(name: str) -> Row:
    """Run everything on one stream."""
    task = load(name)
    x, y, naive = task.x[:ROWS], task.y[:ROWS], task.persistence[:ROWS]
    rows, target = standard(task.x)[:ROWS], standard(task.y)[:ROWS]
    ours = tracker(x, y)
    error, few = nmse(ours, y), slice(BAYESIAN_ROWS)
    passive = [nmse(river(model, rows, target), target) for model in passive_models()]
    linear = [nmse(river(model, rows, target), target) for model in linear_models()]
    with_one = np.column_stack([rows, np.ones(len(y))])
    bayesian = min(
        nmse(river(model, with_one[few], target[few]), target[few])
        for model in bayesian_models()
    )
    return Row(
        name, len(y), error,
        *(ratio(e, error) for e in (linear[0], min(linear[:PLAIN]), min(linear))),
        ratio(min(passive), error),
        ratio(bayesian, nmse(ours[few], y[few])),
        ratio(nmse(naive, y), error),
        ratio(nmse(meta(with_one, target), target), error),
    )  # fmt: skip


def standard(values: Any) -> Any:
    """Mean 0 and deviation 1, column by column."""
    return (values - values.mean(axis=0)) / values.std(axis=0)


def nmse(prediction: Any, y: Any) -> float:
    """Mean squared error over variance after the burn-in; infinite if not a number."""
    burn = 100 if len(y) <= 5000 else 500
    error = float(np.mean((y - prediction)[burn:] ** 2) / y[burn:].var())
    return error if np.isfinite(error) else np.inf


def ratio(rival: float, ours: float) -> float:
    """A rival's NMSE over the Tracker's; infinite if the rival diverged."""
    return rival / ours if rival <= DIVERGED else np.inf


def tracker(x: Any, y: Any) -> Any:
    """The Tracker's predictions, no setting touched."""
    learner = Tracker()
    start = learner.init(np.zeros(x.shape[1]))
    return learner.run(start, SquaredError(), Block(x, y))[1].prediction


def meta(x: Any, y: Any) -> Any:
    """Algorithm 2 over kept-ridge least squares on the grid of Theorem 7, D = 1.

    λ = α = 1/(4Y²), for which exp(-λ(y-p)²/2) is concave in p while |y|, |p| ≤ Y. It is
    told Y, the largest target to come, and T.
    """
    experts = (
        RecursiveLeastSquares(gamma, ridge=RIDGE, floor=RIDGE, pull=True)
        for gamma in discounts.grid(len(y), 1.0)
    )
    learner = Experts(tuple(experts), 1 / (4 * float(np.abs(y).max()) ** 2))
    start = learner.init(np.zeros(x.shape[1]))
    return learner.run(start, SquaredError(), Block(x, y))[1].prediction


def linear_models() -> Iterable[Any]:
    """River's LinearRegression: the default first, then those of the best of four."""
    for rate, optimiser in product(INTERCEPT_RATES, OPTIMISERS):
        yield linear_model.LinearRegression(optimiser(), intercept_lr=rate)


def passive_models() -> Iterable[Any]:
    """River's PARegressor, from bold to timid."""
    return (linear_model.PARegressor(C=bound) for bound in STEP_BOUNDS)


def bayesian_models() -> Iterable[Any]:
    """River's BayesianLinearRegression, with and without forgetting."""
    return (linear_model.BayesianLinearRegression(smoothing=s) for s in SMOOTHING)


def river(model: Any, x: Any, y: Any) -> Any:
    """Predictions of a River model; none from the round on in which it breaks down."""
    out = np.full(len(y), np.nan)
    for t, (row, target) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        features = dict(enumerate(row))
        try:
            out[t] = model.predict_one(features)
            model.learn_one(features, target)
        except (np.linalg.LinAlgError, OverflowError):
            break
    return out


CHOICES = len(OPTIMISERS) * len(INTERCEPT_RATES)
HEADER = f"""\
{"":28}NMSE of a rival over the Tracker's: above 1 the Tracker wins
{"":10} {"":>6} {"Tracker":>9} {"River LR":>9} {"River LR":>9} {"River LR":>9} \
{"River PA":>9} {"River":>9} {"persis-":>8} {"meta-":>9}
{"stream":10} {"rows":>6} {"NMSE":>9} {"default":>9} {"best of 4":>9} \
{f"b. of {CHOICES}":>9} {"best of 4":>9} {"Bayesian":>9} {"tence":>8} \
{"algorithm":>9}"""
VERDICTS = {
    "River's best of four optimisers": ("plain",),
    "the best of all of River": ("best", "passive", "bayesian"),
    "persistence": ("persistence",),
    "the paper's meta-algorithm": ("meta",),
}


def line(row: Row) -> str:
    """A row as text."""
    cut = "*" if row.rounds > BAYESIAN_ROWS else " "
    return (
        f"{row.stream:10} {row.rounds:6,} {row.tracker:9.4g} {cell(row.default):>9} "
        f"{cell(row.plain):>9} {cell(row.best):>9} {cell(row.passive):>9} "
        f"{cell(row.bayesian) + cut:>9} {cell(row.persistence):>8} {cell(row.meta):>9}"
    )


def cell(value: float) -> str:
    """A ratio as text."""
    return f"{value:.3f}" if np.isfinite(value) else "div"


def verdict(text: str, rows: list[Row], rivals: tuple[str, ...]) -> str:
    """On how many streams the Tracker is below all of these rivals, and where not."""
    least = {row.stream: min(getattr(row, rival) for rival in rivals) for row in rows}
    lost = [f"{name} ({value:.4f})" for name, value in least.items() if value <= 1]
    won = f"Below {text} on {len(rows) - len(lost)} of {len(rows)} streams"
    return f"{won}; not on {', '.join(lost)}" if lost else won


if __name__ == "__main__":
    main()
