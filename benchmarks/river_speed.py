"""What ``predict_one`` and ``learn_one`` of our estimators cost beside River's.

Processor time of both together a row, n = 8 features; medians of runs in turn, in one
process. A ratio is the median of those of single turns, in which a busy machine slows
both alike.

python -m benchmarks.river_speed
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from river import linear_model, preprocessing

from thalweg.integrations.river import (
    GradientRegressor,
    NewtonRegressor,
    RLSMultiTargetRegressor,
    RLSRegressor,
    TrackerClassifier,
    TrackerRegressor,
)

ROUNDS, WARM_UP, REPEATS, FEATURES = 2000, 200, 21, 8
SLOW = (NewtonRegressor, GradientRegressor)
"""These have no kernel for single calls, and are given fewer rows."""


def scaled_regression() -> Any:
    """River's linear regression on scaled rows, as its documentation advises."""
    return preprocessing.StandardScaler() | linear_model.LinearRegression()


def scaled_classification() -> Any:
    """River's logistic regression on scaled rows."""
    return preprocessing.StandardScaler() | linear_model.LogisticRegression()


def linear_tracker() -> TrackerRegressor:
    """The Tracker without its correction for curvature."""
    return TrackerRegressor(curvature=False)


def processor_time(
    model: Any, rows: list[dict[str, float]], targets: list[Any]
) -> float:
    """Seconds of one ``predict_one`` and ``learn_one``."""
    for x, y in zip(rows[:WARM_UP], targets, strict=False):
        model.learn_one(x, y)
    count = 200 if isinstance(model, SLOW) else len(rows)
    start = time.process_time()
    for x, y in zip(rows[:count], targets, strict=False):
        model.predict_one(x)
        model.learn_one(x, y)
    return (time.process_time() - start) / count


def main() -> None:
    """Print the cost of each estimator, and its ratio to that of a peer."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROUNDS, FEATURES))
    names = [f"feature_{i}" for i in range(FEATURES)]
    rows = [dict(zip(names, row, strict=True)) for row in x.tolist()]
    y = (x @ rng.normal(size=FEATURES) + rng.normal(size=ROUNDS)).tolist()
    labels = [target > 0 for target in y]
    several = [{"a": target, "b": -target} for target in y]
    plain, scaled, tracker = "River, LinearRegression", "River, scaled", "Tracker"
    models: dict[str, tuple[Callable[[], Any], list[Any], str]] = {
        plain: (linear_model.LinearRegression, y, plain),
        scaled: (scaled_regression, y, scaled),
        "RLSRegressor": (RLSRegressor, y, plain),
        tracker: (TrackerRegressor, y, scaled),
        "Tracker, curvature=False": (linear_tracker, y, scaled),
        "TrackerClassifier, 2 classes": (TrackerClassifier, labels, tracker),
        "River, scaled logistic": (scaled_classification, labels, tracker),
        "RLSMultiTargetRegressor, 2": (RLSMultiTargetRegressor, several, plain),
        "NewtonRegressor": (NewtonRegressor, y, plain),
        "GradientRegressor": (GradientRegressor, y, plain),
    }  # fmt: skip
    times: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(REPEATS):
        for name, (make, targets, _) in models.items():
            times[name].append(processor_time(make(), rows, targets))
    for name, (_, _, peer) in models.items():
        cost = np.median(times[name])
        ratio = np.median(np.divide(times[name], times[peer]))
        print(f"{name:30} {cost * 1e6:7.2f} µs, {ratio:6.2f} of {peer}")


if __name__ == "__main__":
    main()
