"""Logistic loss of a linear score; also: log loss, binary cross-entropy."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy  # its parts are loaded when they are first used

from thalweg.errors import StreamError
from thalweg.kernels.losses import LOGISTIC, sigmoids
from thalweg.losses.base import Shape
from thalweg.losses.linear import LinearLoss
from thalweg.types import FloatArray


@dataclass(frozen=True)
class Logistic(LinearLoss):
    """f(θ) = log(1 + exp(x·θ)) - y x·θ for labels y in [0, 1].

    The prediction x·θ is the log-odds of the label 1; ``mean`` gives the probability.
    """

    code: ClassVar[int | None] = LOGISTIC

    def phi(self, p: Any, y: Any) -> Any:
        return np.logaddexp(0.0, p) - y * p

    def slope(self, p: Any, y: Any) -> Any:
        # expit(p) - y would round to 0 where the label is almost certain.
        return (1 - y) * _expit(p) - y * _expit(-np.asarray(p))

    def curvature(self, p: Any, y: Any) -> Any:
        return _expit(p) * _expit(-np.asarray(p))

    def curvature_range(self, low: Any, high: Any, y: Any) -> tuple[Any, Any]:
        # σ(1-σ) falls as |p| grows.
        nearest = np.clip(0.0, low, high)
        farthest = np.where(-np.asarray(low) > high, low, high)
        return self.curvature(farthest, y), self.curvature(nearest, y)

    def mean(self, prediction: Any) -> Any:
        """The probability of the label 1 at the prediction x·θ: σ(x·θ)."""
        score = np.asarray(prediction)
        out = np.empty(score.size)
        # Not SciPy's expit, whose last bit may differ from that of the kernels.
        sigmoids(score.ravel().astype(np.float64, copy=False), out)
        dtype = score.dtype if score.dtype.kind == "f" else np.float64
        return out.reshape(score.shape).astype(dtype, copy=False)[()]

    def best_prediction(self, y: Any) -> float:
        return float(scipy.special.logit(y))

    def shapes(self, theta: FloatArray) -> tuple[Shape | None, Shape]:
        return theta.shape[:1], ()

    def check_rounds(self, x: FloatArray | None, y: FloatArray) -> None:
        outside = (y < 0) | (y > 1)
        if outside.any():
            first = int(outside.argmax())
            raise StreamError(
                f"Logistic needs labels in [0, 1]. Round {first} has {y[first]}."
            )


def _expit(p: Any) -> Any:
    return scipy.special.expit(p)
