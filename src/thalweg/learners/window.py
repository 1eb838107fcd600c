"""Least squares over a sliding window of rounds."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.learners.base import Learner
from thalweg.learners.feature_changes import FeatureChange
from thalweg.losses import Loss, Round, SquaredError
from thalweg.types import FloatArray


class WindowState(NamedTuple):
    """The state of a sliding window: a ring buffer, zero in rows not yet filled."""

    theta: FloatArray  # (n,) or (n, k) θ_t, the point played next
    x: FloatArray  # (window, n) √w x of the last rounds
    y: FloatArray  # (window,) or (window, k) √w y of the same
    rounds: int  # t - 1; round t's row is (t - 1) mod window


@dataclass(frozen=True)
class SlidingWindow(Learner[WindowState]):
    r"""Least squares over the last rounds, all of them with the same weight.

    Also known as: sliding-window RLS, finite-window RLS, rectangular window.

    .. math:: \theta_{t+1} = \arg\min_\theta \tfrac{\varepsilon}{2} \|\theta\|^2
              + \sum_{i > t - m} \tfrac{w_i}{2} (x_i \cdot \theta - y_i)^2

    The common alternative to a forgetting factor. It is solved afresh in every round,
    which costs O((m+n)n²), by an orthogonal method: no rounding errors accumulate.

    ``window`` is m ≥ 1, in rounds, also those of weight zero; ``elapsed`` has no
    effect. ``ridge`` is ε ≥ 0 and shrinks θ to zero, not to the start, which is
    forgotten with the first round; with ε = 0 the solution of least norm is taken.
    Features that are removed are removed from all rows of the window, so that from the
    next round on θ is the fit without them; those added are zero in these rows.

    Departure: no entry of θ is beyond the largest legal number, 1e150 in float64, so
    that predictions are finite.
    """

    accepts: ClassVar[tuple[type[Loss], ...]] = (SquaredError,)

    window: int = 100
    ridge: float = 1e-8

    def __post_init__(self) -> None:
        checks.require_interval(self, "window", "[1, inf)")
        checks.require_interval(self, "ridge", "[0, inf)")
        if self.window != int(self.window):
            raise InvalidParameterError(
                "The 'window' parameter of SlidingWindow must be a whole number. "
                f"Got {self.window!r} instead."
            )

    def init(self, theta: Any) -> WindowState:
        theta = checks.check_start(self, theta)
        checks.require_ridge_in_range(self, theta)
        m, (n, *targets) = int(self.window), theta.shape
        x, y = np.zeros((m, n), theta.dtype), np.zeros((m, *targets), theta.dtype)
        return WindowState(theta, x, y, rounds=0)

    def update(self, state: WindowState, f: Round) -> WindowState:
        f = self.check_round(state, f)
        theta, x, y = state.theta, state.x.copy(), state.y.copy()
        row, scale = state.rounds % len(x), math.sqrt(f.weight)
        x[row], y[row] = scale * f.x, scale * f.y
        prior = math.sqrt(self.ridge) * np.eye(len(theta), dtype=theta.dtype)
        rows = np.concatenate([prior, x])
        targets = np.concatenate([np.zeros_like(theta), y])
        theta = _least_squares(rows, targets)
        return WindowState(theta, x, y, state.rounds + 1)

    def _change_features(
        self, state: WindowState, change: FeatureChange
    ) -> WindowState:
        # The rows in the window gain or lose a column; the next θ is the fit to them.
        theta, x = change.apply(state.theta), change.apply(state.x, axis=1)
        return state._replace(theta=theta, x=x)


def _least_squares(rows: FloatArray, targets: FloatArray) -> FloatArray:
    """The θ of least norm that minimises |rows θ - targets|², within legal numbers."""
    theta = np.linalg.lstsq(rows, targets)[0]
    if not np.isfinite(theta).all():
        theta = _least_squares_in_own_units(rows, targets)
    limit = checks.MAX_MAGNITUDE[theta.dtype]
    return np.asarray(np.clip(theta, -limit, limit))


def _least_squares_in_own_units(rows: FloatArray, targets: FloatArray) -> FloatArray:
    """The same with the largest entries near 1, for what would overflow on the way.

    Units are powers of two, so that nothing is rounded; what overflows is infinite.
    """
    (_, row_unit), (_, target_unit) = (
        np.frexp(np.abs(values).max()) for values in (rows, targets)
    )
    theta = np.linalg.lstsq(np.ldexp(rows, -row_unit), np.ldexp(targets, -target_unit))
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(theta[0], target_unit - row_unit))
