"""Every public stream, every discount, both dtypes: all finite, and near the exact fit.

    python -m benchmarks.every_stream        # needs `make data`

Recursive least squares with no floor, and with δ = 0.01 leaky and not leaky, on inputs
and target standardised with the whole stream's mean and deviation, and an intercept. In
float64 the floored ones are then compared with the exact recursion that keeps its
ridge, A_t = γA_{t-1} + xxᵀ + (1-γ)δI from A_0 = δI, so that theirs start from δ too:
mean squared errors after a burn-in of 500 rounds, 100 on streams of at most 5,000.
With leaky=True and γ ≥ 0.95 the ratio must not pass 1.02; below 0.95 both errors are
printed, divided by the target's variance.
The exit code is 1 if anything is not finite or any such ratio is larger.
"""

import sys
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from benchmarks.public_streams import PUBLIC_STREAMS, load_stream
from benchmarks.ridge_regression import discounted_ridge
from thalweg.losses import SquaredError
from thalweg.types import Block

DISCOUNTS = (1, 0.9999, 0.9995, 0.999, 0.995, 0.99, 0.98, 0.95, 0.9, 0.8, 0.6, 0.5)
COMPARED_DISCOUNTS = [discount for discount in DISCOUNTS if discount >= 0.95]
PRINTED_DISCOUNTS = [discount for discount in DISCOUNTS if discount < 0.95]
FLOOR, MAX_RATIO, MAX_ROUNDS = 0.01, 1.02, 80_000
SETTINGS: dict[str, dict[str, Any]] = {
    "no floor": {},
    "leaky": {"ridge": FLOOR, "floor": FLOOR, "leaky": True},
    "not leaky": {"ridge": FLOOR, "floor": FLOOR},
}


class StreamErrors(NamedTuple):
    """NMSE on one stream in float64, by discount: mean squares over the variance."""

    stream: str
    exact: dict[float, float]
    leaky: dict[float, float]
    not_leaky: dict[float, float]

    def ratio(self, name: str, discount: float) -> float:
        """The error over that of the exact recursion."""
        return float(getattr(self, name)[discount] / self.exact[discount])


def load_standardised(name: str) -> tuple[Any, Any]:
    """(x, y) of a stream, with an intercept; of flights the first quarter."""
    stream = load_stream(name)
    x, y = stream.x[:MAX_ROUNDS], stream.y[:MAX_ROUNDS]
    spread = x.std(axis=0)
    scaled = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.column_stack([scaled, np.ones(len(y))]), (y - y.mean()) / y.std()


def run_settings(
    x: Any, y: Any, discount: float, dtype: Any
) -> tuple[dict[str, Any], list]:
    """The predictions by settings, and what was not finite."""
    predictions, faults = {}, []
    block = Block(x.astype(dtype), y.astype(dtype))
    for name, settings in SETTINGS.items():
        learner = tw.RecursiveLeastSquares(discount, **settings)
        start = learner.init(np.zeros(x.shape[1], dtype))
        state, trace = learner.run(start, SquaredError(), block)
        parts = (trace.prediction, trace.loss, state.theta, state.factor)
        if not all(np.isfinite(part).all() for part in parts):
            faults.append(f"γ = {discount:g}, {np.dtype(dtype).name}, {name}")
        predictions[name] = trace.prediction
    return predictions, faults


def measure_stream(name: str) -> tuple[StreamErrors, list[str]]:
    """The errors on one stream, and the runs that were not finite."""
    x, y = load_standardised(name)
    burn = 100 if len(y) <= 5000 else 500
    errors, faults = StreamErrors(name, {}, {}, {}), []

    def error(prediction: Any) -> float:
        return float(np.mean((y - prediction)[burn:] ** 2) / y[burn:].var())

    for discount in DISCOUNTS:
        predictions, wrong = run_settings(x, y, discount, np.float64)
        faults += wrong + run_settings(x, y, discount, np.float32)[1]
        errors.exact[discount] = error(discounted_ridge(x, y, float(discount), FLOOR))
        errors.leaky[discount] = error(predictions["leaky"])
        errors.not_leaky[discount] = error(predictions["not leaky"])
    return errors, faults


def print_ratios(rows: list[StreamErrors], name: str, title: str) -> int:
    """Print the table of ratios, those too large with a mark; how many there are."""
    print(f"\n{title}, error over the exact recursion's; ! above {MAX_RATIO:g}")
    print(
        f"{'stream':12}" + "".join(f"{discount:>9g}" for discount in COMPARED_DISCOUNTS)
    )
    for row in rows:
        cells = [row.ratio(name, discount) for discount in COMPARED_DISCOUNTS]
        marked = (f"{cell:8.4f}{'!' if cell > MAX_RATIO else ' '}" for cell in cells)
        print(f"{row.stream:12}{''.join(marked)}")
    every = [
        row.ratio(name, discount) for row in rows for discount in COMPARED_DISCOUNTS
    ]
    print(f"largest {max(every):.4f}, smallest {min(every):.4f}")
    return sum(not ratio <= MAX_RATIO for ratio in every)


def print_errors(rows: list[StreamErrors]) -> None:
    """Print the errors themselves where the memory is too short to compare."""
    print("\nBelow 0.95: NMSE of the exact recursion | leaky | not leaky")
    print(
        f"{'stream':12}" + "".join(f"{discount:^33g}" for discount in PRINTED_DISCOUNTS)
    )
    for row in rows:
        cells = (
            f"{row.exact[discount]:10.4g}|{row.leaky[discount]:10.4g}"
            f"|{row.not_leaky[discount]:10.4g} "
            for discount in PRINTED_DISCOUNTS
        )
        print(f"{row.stream:12}{''.join(cells)}")


def main() -> int:
    """Print what was not finite, and the tables; 1 if anything is wrong."""
    rows, faults = [], []
    for name in PUBLIC_STREAMS:
        errors, wrong = measure_stream(name)
        rows.append(errors)
        faults += [f"{name}: {fault}" for fault in wrong]
        print(f"\r{name:14}", end="", file=sys.stderr)
    print(file=sys.stderr)
    count = len(PUBLIC_STREAMS) * len(DISCOUNTS) * len(SETTINGS) * 2
    print(f"{count} runs, {len(faults)} of them not finite")
    print("".join(f"  {fault}\n" for fault in faults), end="")
    above = print_ratios(rows, "leaky", "floor=0.01, leaky=True")
    print_ratios(
        rows, "not_leaky", "floor=0.01, leaky=False (another estimator: no promise)"
    )
    print_errors(rows)
    return 1 if faults or above else 0


if __name__ == "__main__":
    sys.exit(main())
