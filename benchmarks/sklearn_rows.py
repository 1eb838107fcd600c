"""Time a row of predict and partial_fit, of an estimator and of the model it holds.

    python -m benchmarks.sklearn_rows

Microseconds a row of eight features, predicted and then learnt; the best of five.
"""

import time
from collections.abc import Callable

import numpy as np
from sklearn.linear_model import SGDRegressor

from thalweg.integrations.sklearn import RLSRegressor, TrackerRegressor

ROWS = 300


def best_time(call: Callable[[int], object]) -> float:
    """Microseconds a row, the best of five passes."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for t in range(ROWS):
            call(t)
        times.append(time.perf_counter() - start)
    return min(times) / ROWS * 1e6


def main() -> None:
    """Print a row for each estimator."""
    x = np.random.default_rng(0).normal(size=(ROWS, 8))
    y = x.sum(axis=1)
    for estimator in (RLSRegressor(), TrackerRegressor(), SGDRegressor()):
        estimator.partial_fit(x, y)

        def learn(t: int, estimator=estimator) -> None:
            estimator.predict(x[t : t + 1])
            estimator.partial_fit(x[t : t + 1], y[t : t + 1])

        def learn_in_model(t: int, estimator=estimator) -> None:
            estimator.model_.predict(x[t])
            estimator.model_.update(x[t], y[t])

        times = f"{best_time(learn):.0f}"
        if hasattr(estimator, "model_"):
            times += f", model_ {best_time(learn_in_model):.2f}"
        print(f"{type(estimator).__name__}: {times}")


if __name__ == "__main__":
    main()
