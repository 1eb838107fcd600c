"""What callers give, in the shape that learners take."""

from typing import Any

import numpy as np

from thalweg.errors import StreamError
from thalweg.learners import Learner
from thalweg.types import FloatArray


def as_row(x: Any) -> Any:
    """A list of numbers as the array that kernels take; anything else as it is."""
    if type(x) is list or type(x) is tuple:
        try:
            found = np.array(x)
        except ValueError:  # ragged
            return x
        if found.dtype.kind in "fi":
            return found.astype(np.float64)
    return x


def as_features(x: FloatArray, width: int | None, intercept: bool) -> FloatArray:
    """The rounds, a constant feature appended; ``width`` is then theirs, if known."""
    if x.ndim != 2:
        raise StreamError(
            f"Online needs one row of features a round. Got shape {x.shape}."
        )
    known = None if width is None else width - intercept
    if known not in (None, x.shape[1]):
        raise StreamError(
            f"The model has learnt from {known} features a round. "
            f"Got {x.shape[1]} instead."
        )
    return np.column_stack([x, np.ones(len(x), x.dtype)]) if intercept else x


def first_state(learner: Learner[Any], x: FloatArray, y: FloatArray) -> Any:
    """The state before the rounds x and y, from θ = 0."""
    if y.ndim not in (1, 2):
        raise StreamError(
            f"Online needs one target a round, or a row of them. Got y of shape "
            f"{y.shape}."
        )
    return learner.init(np.zeros((x.shape[1], *y.shape[1:])))
