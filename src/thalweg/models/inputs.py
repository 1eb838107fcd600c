"""Rows and numbers as callers give them, in the form that learners take."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg import checks, learners
from thalweg.errors import StreamError
from thalweg.imputer import without_missing
from thalweg.models.live_state import LiveState, ModelSettings
from thalweg.types import Block, FloatArray

if TYPE_CHECKING:
    from thalweg.models.columns import Columns

NUMBERS = frozenset({bool, int, float, *(np.dtype(k).type for k in "?bhilqBHILQefd")})
"""Types that kernels accept as a number; other types, such as text, are not checked."""

ONE_FEATURE_HINT = " One feature is a column: x.reshape(-1, 1)."


def as_row(x: Any, columns: "Columns | None" = None) -> Any:
    """A list or dict of numbers as the array that kernels take; all else as it is."""
    if type(x) is dict:
        reader = None if columns is None else columns.reader
        row = None if reader is None else reader.read(x)
        return x if row is None else row
    if type(x) is list or type(x) is tuple:
        try:
            row = np.array(x)
        except ValueError:  # ragged
            return x
        if row.dtype.kind in "fi":
            return row.astype(np.float64)
    return x


def as_features(x: Any) -> FloatArray:
    """The features of one round, (1, n)."""
    row = checks.check_numbers("features", x)
    if row.ndim != 1:
        raise StreamError(
            f"Online needs one row of features a round. Got shape {row.shape}."
        )
    return row[None]


def as_query_rows(x: Any) -> FloatArray:
    """The features of one or more rows to be predicted, (T, n)."""
    rows = checks.check_numbers("features", x)
    if rows.ndim not in (1, 2):
        raise StreamError(
            f"Online predicts one row of features, or several. Got shape {rows.shape}."
        )
    return rows if rows.ndim == 2 else rows[None]


def as_number(value: Any) -> Any:
    """An int as a float, as kernels read it; anything else as it is."""
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return value


def as_rounds(
    settings: ModelSettings, live: LiveState, columns: "Columns | None", x: Any, y: Any,
    weight: Any, elapsed: Any,
) -> tuple[Any, Block]:  # fmt: skip
    """The state to play from, and the rounds as it takes them.

    A feature that is a forecast from the past is declared to a Tracker at the start.
    """
    intercept = settings.intercept
    features = _append_intercept(
        checks.check_numbers("features", x), live.count_features(), intercept
    )
    targets = checks.check_numbers("targets", y)
    block, state = Block(features, targets, weight, elapsed), live.copy_state()
    if state is None:
        state, learner = initial_state(settings, features, targets), settings.learner
        given = () if columns is None else columns.encoder.past_forecasts()
        if given and isinstance(learner, learners.Tracker):
            state = learner.with_external_forecast(state, given)
    return state, block


def as_queries(
    settings: ModelSettings, live: LiveState, rows: FloatArray
) -> tuple[Any, FloatArray]:
    """The state to ask, and the rows (T, n) as it takes them."""
    features = _append_intercept(rows, live.count_features(), settings.intercept)
    state, loss = live.copy_state(), settings.loss
    if state is None:
        state = initial_state(settings, features, np.zeros(1))
    block = Block(features, np.zeros((len(rows), *state.theta.shape[1:])))
    imputer = live.imputer
    if imputer is not None:
        checks.check_block(without_missing(block), loss, state.theta)
        block = Block(imputer.complete(features), block.y)
    return state, checks.check_block(block, loss, state.theta).x


def _append_intercept(x: FloatArray, width: int | None, intercept: bool) -> FloatArray:
    """The rows with a constant feature, if any; they then have ``width`` features.

    ``width`` is None before the first round.
    """
    if x.ndim != 2:
        raise StreamError(
            f"Online needs one row of features a round. Got shape {x.shape}."
            f"{ONE_FEATURE_HINT if x.ndim == 1 and x.size > 1 else ''}"
        )
    known = None if width is None else width - intercept
    if known not in (None, x.shape[1]):
        raise StreamError(
            f"The model has learnt from {known} features a round. "
            f"Got {x.shape[1]} instead."
        )
    return np.column_stack([x, np.ones(len(x), x.dtype)]) if intercept else x


def initial_state(settings: ModelSettings, x: FloatArray, y: FloatArray) -> Any:
    """The state before the rounds x and y: from ``start``, or from θ = 0."""
    if y.ndim not in (1, 2):
        raise StreamError(
            f"Online needs one target a round, or a row of them. Got y of shape "
            f"{y.shape}."
        )
    shape, start = (x.shape[1], *y.shape[1:]), settings.start
    if start is None:
        return settings.learner.init(np.zeros(shape))
    if start.shape != shape:
        raise StreamError(
            f"The 'start' of Online has the shape {start.shape}. The rounds need "
            f"{shape}, a constant feature included."
        )
    return settings.learner.init(start)
