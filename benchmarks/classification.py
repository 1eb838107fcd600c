"""Classifiers beside River's on ImageSegments, and what a round of them costs.

Every row is predicted, then learnt. The log loss is also printed without the rows in
which a class first appears, to which every model gives probability 0. Costs are
processor time of one ``predict`` and ``update`` at n = 8, medians of runs in turn.

python -m benchmarks.classification
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from river import datasets, forest, linear_model, preprocessing

import thalweg as tw

ROUNDS, WARM_UP, REPEATS, FEATURES = 500, 100, 15, 8
Predictions = list[dict[Any, float]]


def river_predictions(model: Any, rows: Sequence[Any]) -> Predictions:
    """What a model of River gives each row before it learns it."""
    predictions = []
    for x, label in rows:
        predictions.append(model.predict_proba_one(x) or {})
        model.learn_one(x, label)
    return predictions


def our_predictions(rows: Sequence[Any]) -> Predictions:
    """The same for a ``Classifier``."""
    model = tw.Classifier()
    x = np.array([list(row.values()) for row, _ in rows], float)
    trace = model.run(x, [label for _, label in rows])
    return [dict(zip(model.classes, p, strict=True)) for p in trace.prediction]


def print_scores(name: str, predictions: Predictions, labels: list[Any]) -> None:
    """The accuracy and the log loss."""
    own = [p.get(label, 0.0) for p, label in zip(predictions, labels, strict=True)]
    losses = -np.log(np.maximum(own, np.finfo(float).eps))
    later = [label in labels[:t] for t, label in enumerate(labels)]
    guesses = [max(p, key=p.__getitem__, default=None) for p in predictions]
    hits = np.mean([a == b for a, b in zip(guesses, labels, strict=True)])
    print(
        f"{name:30} accuracy {hits:.3f}  log loss {losses.mean():.3f}, without first "
        f"appearances {losses[later].mean():.3f}"
    )


def processor_time(model: Any, x: Any, labels: Sequence[Any]) -> float:
    """Seconds of one ``predict`` and ``update``."""
    for t in range(WARM_UP):
        model.update(x[t], labels[t])
    start = time.process_time()
    for t in range(ROUNDS):
        model.predict(x[t])
        model.update(x[t], labels[t])
    return (time.process_time() - start) / ROUNDS


def print_costs() -> None:
    """What one ``predict`` and ``update`` of each model takes."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROUNDS, FEATURES))
    scores = x @ rng.normal(size=(FEATURES, 7)) + rng.normal(size=(ROUNDS, 7))
    y, seven = scores[:, 0], scores.argmax(axis=1).tolist()
    models: dict[str, tuple[Callable[[], Any], Any]] = {
        "Online, Tracker": (tw.Online, y),
        "Online, LogisticTracker": (
            lambda: tw.Online(tw.LogisticTracker(), tw.Logistic()),
            1.0 * (y > 0),
        ),
        "Classifier, 2 classes": (tw.Classifier, (y > 0).tolist()),
        "Classifier, 7 classes": (tw.Classifier, seven),
    }
    times: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(REPEATS):
        for name, (make, labels) in models.items():
            times[name].append(processor_time(make(), x, labels))
    unit = float(np.median(times["Online, Tracker"]))
    for name, taken in times.items():
        cost = float(np.median(taken))
        print(f"{name:30} {cost * 1e6:6.1f} µs, {cost / unit:.2f} of the Tracker's")


def main() -> None:
    """Print the table."""
    rows = list(datasets.ImageSegments())
    labels = [label for _, label in rows]
    softmax = preprocessing.StandardScaler() | linear_model.SoftmaxRegression()
    adaptive_forest = forest.ARFClassifier(seed=0)
    print_scores("Classifier()", our_predictions(rows), labels)
    for name, model in (("softmax", softmax), ("adaptive forest", adaptive_forest)):
        print_scores(f"River, {name}", river_predictions(model, rows), labels)
    print_costs()


if __name__ == "__main__":
    main()
