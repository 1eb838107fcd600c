"""LightGBM beside the Tracker: boosted trees, trained again every 500 rows.

Its features are those of ``retrained_model``. Of several settings the one with the
least error on a set of streams counts, in hindsight. LightGBM runs on one thread, as
does the Tracker. What was measured is saved, as it takes 20 minutes for 45 streams of
10,000 rows, and does not change.
"""

import json
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import lightgbm
import numpy as np

from benchmarks.accuracy.accuracy_streams import AccuracyStream
from benchmarks.accuracy.retrained_model import Forecast, retrained_forecasts
from benchmarks.accuracy.tracker_accuracy import geometric_mean, mean_square
from thalweg.types import FloatArray


class TreeSettings(NamedTuple):
    """How LightGBM is trained."""

    leaves: int = 31
    learning_rate: float = 0.05
    trees: int = 100
    window: int | None = None  # rows, the last ones; all, if None
    of_changes: bool = False  # whether trees forecast the change since the last label
    linear_leaves: bool = False  # whether each leaf is a linear model, not a constant

    def __str__(self) -> str:
        rows = f"last {self.window} rows" if self.window else "all rows"
        return (
            f"{self.leaves} leaves, rate {self.learning_rate:g}, {self.trees} trees, "
            f"{rows}, {'changes' if self.of_changes else 'levels'}"
            f"{', linear leaves' if self.linear_leaves else ''}"
        )


SETTINGS = (
    TreeSettings(),
    TreeSettings(of_changes=True),
    TreeSettings(window=5000, of_changes=True),
    TreeSettings(leaves=15, trees=200, of_changes=True),
    TreeSettings(leaves=63, trees=200, of_changes=True),
    TreeSettings(leaves=15, of_changes=True, linear_leaves=True),
)


class TreeAccuracy(NamedTuple):
    """One stream and one setting: the mean squared error, and the time."""

    error: float  # of the scored rounds, in the target's own unit
    seconds: float  # of one processor, for all rounds, trainings included


class TreeResults:
    """What was measured, by stream and settings, in a JSON file.

    A result is of one version of LightGBM and of the very numbers of a stream: where
    either differs, it is measured again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results: dict[str, Any] = (
            json.loads(path.read_text()) if path.exists() else {}
        )

    def measure(
        self, name: str, stream: AccuracyStream, settings: TreeSettings
    ) -> TreeAccuracy:
        """The saved result of these settings on a stream; measured, if there is none.

        ``name`` is for readers of the file.
        """
        key = f"{name}, {_digest(stream)}, LightGBM {lightgbm.__version__}, {settings}"
        if key not in self._results:
            self._results[key] = measure_trees(stream, settings)._asdict()
            self._save()
        return TreeAccuracy(**self._results[key])

    def _save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(self._results, indent=1))
        unfinished.replace(self.path)


def best_settings(
    results: Mapping[TreeSettings, Mapping[str, TreeAccuracy]],
) -> TreeSettings:
    """The settings with the least geometric mean of errors over the streams."""
    return min(
        results,
        key=lambda settings: geometric_mean(
            result.error for result in results[settings].values()
        ),
    )


def measure_trees(stream: AccuracyStream, settings: TreeSettings) -> TreeAccuracy:
    """Run LightGBM on one stream."""
    start = time.process_time()

    def train(features: FloatArray, targets: FloatArray) -> Forecast:
        return _train(features, targets, settings)

    forecasts = retrained_forecasts(stream, train, settings.window, settings.of_changes)
    seconds = time.process_time() - start
    return TreeAccuracy(mean_square(forecasts, stream.y), seconds)


def _train(
    features: FloatArray, targets: FloatArray, settings: TreeSettings
) -> Forecast:
    parameters: dict[str, Any] = {
        "objective": "regression", "num_leaves": settings.leaves,
        "learning_rate": settings.learning_rate, "num_threads": 1, "verbosity": -1,
        "linear_tree": settings.linear_leaves, "force_col_wise": True,
        "deterministic": True, "seed": 0,
    }  # fmt: skip
    data = lightgbm.Dataset(features, targets)
    model = lightgbm.train(parameters, data, settings.trees)
    return lambda rows: np.asarray(model.predict(rows, num_threads=1))


def _digest(stream: AccuracyStream) -> str:
    """Twelve digits that differ between streams."""
    arrays = (stream.x, stream.y)
    joined = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
    return sha256(joined).hexdigest()[:12]
