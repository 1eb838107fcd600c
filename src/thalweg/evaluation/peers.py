"""River's regressions as forecasters of a block."""

from collections.abc import Callable
from typing import Any

import numpy as np
from river import linear_model, optim

from thalweg.preprocessing.delayed_labels import DelayedLabels
from thalweg.types import Block, FloatArray

SMOOTHING = 0.99
"""Of the Bayesian regression, which forgets as least squares at this discount does."""


def forecasters() -> dict[str, Callable[[Block, int], FloatArray]]:
    """By name: as it comes, with a good optimiser, and the Bayesian with smoothing."""
    models: dict[str, Callable[[], Any]] = {
        "River linear": linear_model.LinearRegression,
        "River linear, AdaGrad": lambda: linear_model.LinearRegression(
            optim.AdaGrad(0.1), intercept_lr=0.1
        ),
        "River Bayesian": lambda: linear_model.BayesianLinearRegression(
            smoothing=SMOOTHING
        ),
    }
    return {
        name: lambda block, delay, make=make: forecast(  # type: ignore[misc]
            make(), block.x, block.y, delay
        )
        for name, make in models.items()
    }


def forecast(model: Any, x: Any, y: Any, delay: int = 0) -> FloatArray:
    """Predictions of a River model that learns a round ``delay`` rounds later.

    NaN from the round on in which it breaks down.
    """
    out = np.full(len(y), np.nan)
    due = DelayedLabels(delay, x.shape[1]).push(x, y)
    known_rows, known_labels = due.x.tolist(), due.y.tolist()
    for t, row in enumerate(x.tolist()):
        try:
            out[t] = model.predict_one(dict(enumerate(row)))
            if due.learnable[t]:
                model.learn_one(dict(enumerate(known_rows[t])), known_labels[t])
        except (np.linalg.LinAlgError, OverflowError):
            break
    return out
