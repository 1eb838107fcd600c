"""What callers give, in the shape that learners take."""

import math
from typing import Any

import numpy as np

from thalweg import checks
from thalweg.errors import StreamError
from thalweg.learners import Learner
from thalweg.losses import LinearLoss
from thalweg.models.live_state import Held
from thalweg.preprocessing.imputer import without_missing
from thalweg.types import Block, FloatArray


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


def as_features(x: Any) -> FloatArray:
    """The features of one round, (1, n)."""
    row = checks.check_numbers("features", x)
    if row.ndim != 1:
        raise StreamError(
            f"Online needs one row of features a round. Got shape {row.shape}."
        )
    return row[None]


def as_number(value: Any) -> Any:
    """An int as a float, as kernels read it; anything else as it is."""
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return value


def as_rounds(
    learner: Learner[Any], held: Held, intercept: bool,
    x: Any, y: Any, weight: Any, elapsed: Any,
) -> tuple[Any, Block]:  # fmt: skip
    """The state to play from, and the rounds as it takes them."""
    features = _with_one(checks.check_numbers("features", x), held.width, intercept)
    targets = checks.check_numbers("targets", y)
    block, state = Block(features, targets, weight, elapsed), held.state
    return _first(learner, features, targets) if state is None else state, block


def as_question(
    learner: Learner[Any], held: Held, intercept: bool, x: Any, loss: LinearLoss
) -> tuple[Any, FloatArray]:  # fmt: skip
    """The state to ask, and one round's features as it takes them."""
    features = _with_one(as_features(x), held.width, intercept)
    state = held.state
    if state is None:
        state = _first(learner, features, np.zeros(1))
    block = Block(features, np.zeros((1, *state.theta.shape[1:])))
    if held.imputer is not None:
        checks.check_block(without_missing(block), loss, state.theta)
        block = Block(held.imputer.complete(features), block.y)
    return state, checks.check_block(block, loss, state.theta).x[0]


def _with_one(x: FloatArray, width: int | None, intercept: bool) -> FloatArray:
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


def _first(learner: Learner[Any], x: FloatArray, y: FloatArray) -> Any:
    """The state before the rounds x and y, from θ = 0."""
    if y.ndim not in (1, 2):
        raise StreamError(
            f"Online needs one target a round, or a row of them. Got y of shape "
            f"{y.shape}."
        )
    return learner.init(np.zeros((x.shape[1], *y.shape[1:])))
