"""River's linear regressions, as baselines."""

from collections.abc import Callable
from typing import Any

from river import linear_model, optim

SMOOTHING = 0.99
"""Smoothing of the Bayesian regression: it forgets as least squares at this discount
does."""


def river_models() -> dict[str, Callable[[], Any]]:
    """Constructors by name: River's default, one with AdaGrad, and the Bayesian."""
    return {
        "River linear": linear_model.LinearRegression,
        "River linear, AdaGrad": lambda: linear_model.LinearRegression(
            optim.AdaGrad(0.1), intercept_lr=0.1
        ),
        "River Bayesian": lambda: linear_model.BayesianLinearRegression(
            smoothing=SMOOTHING
        ),
    }
