"""A batch model as a rival of online learners: trained again every 500 rows.

Also known as: walk-forward validation, rolling-origin evaluation. The model gets what
the Tracker finds by itself: past labels, a season ago among them, and changes.
"""

from collections.abc import Callable

import numpy as np

from benchmarks.accuracy.accuracy_streams import AccuracyStream
from thalweg.types import FloatArray

LABEL_LAGS = (1, 2, 3)
RETRAIN_EVERY = 500
EARLY_TRAININGS = (100, 200, 300, 400)
"""Rows after which it is trained before the first 500, as short streams are scored from
row 100 on."""
Forecast = Callable[[FloatArray], FloatArray]
"""From features (m, k) to forecasts (m,)."""
Train = Callable[[FloatArray, FloatArray], Forecast]
"""From features (m, k) and targets (m,) to a model."""


def retrained_forecasts(
    stream: AccuracyStream, train: Train, window: int | None = None,
    of_changes: bool = False,
) -> FloatArray:  # fmt: skip
    """Forecasts (T,), each by a model of rows before it.

    ``window`` is how many rows it is trained on, the last ones; all, if None. A model
    ``of_changes`` is trained to forecast how much the label will change. Before the
    first training the last label is the forecast.
    """
    features, last = lag_features(stream), lag_rows(stream.y, 1)
    origin = last if of_changes else np.zeros(len(last))
    forecasts, rows = last.copy(), len(last)
    starts = training_rows(rows)
    for start, end in zip(starts, [*starts[1:], rows], strict=True):
        known = slice(0 if window is None else max(0, start - window), start)
        forecast = train(features[known], (stream.y - origin)[known])
        forecasts[start:end] = origin[start:end] + forecast(features[start:end])
    return forecasts


def lag_features(stream: AccuracyStream) -> FloatArray:
    """The stream's features, past labels, and changes of both: (T, 2n + 4 or 5)."""
    x, y = stream.x, stream.y
    lags = dict.fromkeys((*LABEL_LAGS, stream.season))
    past = {lag: lag_rows(y, lag) for lag in lags}
    return np.column_stack(
        [x, *past.values(), past[1] - past[2], x - lag_rows(x, 1)]
    )  # fmt: skip


def lag_rows(values: FloatArray, lag: int) -> FloatArray:
    """The rows ``lag`` rows before; the first one where there are none."""
    return values[np.maximum(np.arange(len(values)) - lag, 0)]


def training_rows(rows: int) -> list[int]:
    """How many rows are known at each training."""
    regular = range(RETRAIN_EVERY, rows, RETRAIN_EVERY)
    return [start for start in (*EARLY_TRAININGS, *regular) if start < rows]
