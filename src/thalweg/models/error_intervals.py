"""Prediction intervals of models whose learner has none of its own.

They are made of the model's last one-step errors, y minus prediction, whatever the
learner is: kernels/error_intervals.py. A Tracker has its own.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.errors import UnsupportedLossError
from thalweg.kernels.error_intervals import ERROR_WINDOW, interval_offsets
from thalweg.learners import Learner
from thalweg.losses import LinearLoss, SquaredError
from thalweg.types import Block, FloatArray, Interval, Trace

RECORD = "interval"
"""The name under which runs record intervals."""
RECORDED_COVERAGE = 0.9
"""Coverage of recorded intervals; a Tracker has a setting of its own."""


def stores_errors(learner: Learner[Any], loss: LinearLoss) -> bool:
    """Whether a model of this learner stores its errors for intervals."""
    return isinstance(loss, SquaredError) and RECORD not in learner.records


def require_errors(what: str, learner: Learner[Any], loss: LinearLoss) -> None:
    """Raise ``UnsupportedLossError`` unless the model stores its errors."""
    if not stores_errors(learner, loss):
        raise UnsupportedLossError(
            f"{what} needs SquaredError, whose errors intervals are made of. "
            f"Got {loss!r} instead."
        )


class LearntRounds(NamedTuple):
    """Rounds that a model has predicted, and which of them it has learnt."""

    block: Block
    prediction: FloatArray  # (T,) or (T, k)
    learnable: npt.NDArray[np.bool_] | None = None  # (T,); None where all rows are

    def errors_after(self, errors: FloatArray | None) -> FloatArray | None:
        """The last errors, (m, k), oldest first; ``errors`` are those before.

        A round that was skipped, or has weight 0, adds none. None: none are known.
        """
        learnt = self._is_learnt()
        recent: Any = slice(-ERROR_WINDOW, None)
        if learnt is not None:
            recent = np.flatnonzero(learnt)[recent]
        new = _by_target(self.block.y, recent) - _by_target(self.prediction, recent)
        if errors is not None:
            new = np.concatenate([errors, new])
        return new[-ERROR_WINDOW:] if len(new) else None

    def intervals(self, errors: FloatArray | None) -> FloatArray:
        """The interval of each round, (T, 2) or (T, k, 2): its low and high end."""
        rounds, learnt = len(self.block), self._is_learnt()
        if learnt is None:
            learnt = np.ones(rounds, np.bool_)
        prediction = _by_target(self.prediction)
        new = (_by_target(self.block.y) - prediction)[learnt]
        known: npt.NDArray[np.int_] = np.cumsum(learnt) - learnt
        if errors is not None:
            new, known = np.concatenate([errors, new]), known + len(errors)
        offsets = _offsets(new, known, RECORDED_COVERAGE)
        return (prediction[..., None] + offsets).reshape(*self.prediction.shape, 2)

    def _is_learnt(self) -> npt.NDArray[np.bool_] | None:
        """(T,) whether each round adds an error; None where all do."""
        weight, learnable = self.block.weight, self.learnable
        if weight is None:
            return learnable
        is_weighted = np.asarray(weight, np.float64) > 0
        return is_weighted if learnable is None else is_weighted & learnable


def interval_at(
    prediction: Any, errors: FloatArray | None, coverage: float
) -> Interval:
    """The interval around a prediction after these errors, of k targets each.

    The prediction is a number or any number of them, of k > 1 targets (..., k).
    """
    if errors is None:
        errors = np.empty((0, 1))
    offsets = _offsets(errors, np.array([len(errors)]), float(coverage))[0]
    low, high = offsets.T if len(offsets) > 1 else offsets[0]
    return Interval(prediction, prediction + low, prediction + high)


def separate_interval(
    learner: Learner[Any], loss: LinearLoss, record: Sequence[str]
) -> tuple[tuple[str, ...], bool]:
    """The names that the learner is to record, and whether the model adds intervals."""
    names = (record,) if isinstance(record, str) else tuple(record or ())
    if RECORD not in names or RECORD in learner.records:
        return names, False
    require_errors(f"Online.run(record=({RECORD!r},))", learner, loss)
    return tuple(name for name in names if name != RECORD), True


def with_intervals(
    trace: Trace, rounds: LearntRounds, errors: FloatArray | None
) -> Trace:
    """The trace with the intervals of these rounds; ``errors`` are those before."""
    return replace(trace, extras={**trace.extras, RECORD: rounds.intervals(errors)})


def _offsets(
    errors: FloatArray, known: npt.NDArray[np.int_], coverage: float
) -> FloatArray:
    offsets = np.empty((len(known), errors.shape[1], 2))
    interval_offsets(np.ascontiguousarray(errors), known, coverage, offsets)
    return offsets


def _by_target(values: Any, rows: Any = slice(None)) -> FloatArray:
    """These rows with one column for each target, (T, k)."""
    chosen = np.asarray(np.asarray(values)[rows], np.float64)
    return chosen.reshape(len(chosen), math.prod(chosen.shape[1:]))
