"""Finiteness: predictions, losses and states hold no NaN, and only legal infinities.

Kernels check nothing, so every run is checked at its end, in one pass over predictions,
losses and θ. The other arrays of a state are checked where a model is saved or loaded
(persistence/state_check.py), and by ``Online.health``.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from thalweg.checks import MAX_MAGNITUDE
from thalweg.errors import NonFiniteError, ThalwegError
from thalweg.learners.own_state import experts_of
from thalweg.types import Block, FloatArray, Trace

FEW = 32
"""Limit of the number of values that are checked faster in Python."""


def require_finite_run(learner: Any, state: Any, trace: Trace) -> None:
    """Raise ``NonFiniteError`` unless predictions, losses and θ are finite."""
    for name, values in (("prediction", trace.prediction), ("loss", trace.loss)):
        if not is_finite(values):
            rounds = np.isfinite(values).reshape(len(values), -1).all(axis=1)
            first = int(rounds.argmin())
            raise _error(learner, f"in round {first}", f"its {name} is {values[first]}")
    if not is_finite(state.theta):
        index, value = _first_entry(state.theta, ~np.isfinite(state.theta))
        last = len(trace.loss) - 1
        raise _error(learner, f"after round {last}", f"its θ{index} is {value}")


def unsolvable_round(learner: Any, t: int, error: Exception) -> NonFiniteError:
    """The error for a round in which a linear solver gave up."""
    return _error(learner, f"in round {t}", f"its solver says: {error}")


def require_finite_prediction(learner: Any, prediction: Any) -> Any:
    """The prediction of a single call; ``NonFiniteError`` unless it is finite."""
    if not np.isfinite(prediction).all():
        raise NonFiniteError(
            f"{type(learner).__name__} is not finite: its prediction is {prediction}. "
            "Train the model again, or load it from a file."
        )
    return prediction


def limit_losses(trace: Trace, block: Block) -> None:
    """Limit losses to the square of the largest legal number, in place.

    A finite prediction can be so wrong that its squared error is infinite; sums of
    losses stay finite. A round of weight 0 costs 0 all the same.
    """
    loss = trace.loss
    limit = MAX_MAGNITUDE[loss.dtype] ** 2
    if not loss.max() <= limit:
        np.minimum(loss, limit, out=loss)
        if block.weight is not None:
            loss[block.weight == 0] = 0


def is_finite(values: FloatArray) -> bool:
    """Whether no number is NaN or infinite."""
    if values.size <= FEW:
        return all(map(math.isfinite, values.ravel().tolist()))
    return bool(np.isfinite(values).all())


def non_finite_fields(learner: Any, state: Any) -> Iterator[tuple[str, Any]]:
    """Name and first bad value of the fields with values that no such state can hold.

    Legal infinities are the D_j of a UD factor in directions without information, and
    those of the learner's own initial state. States of experts are not searched.
    """
    for name, value in zip(state._fields, state, strict=True):
        if isinstance(value, float) and not math.isfinite(value):
            yield name, value
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            continue
        bad = ~np.isfinite(value)
        if not bad.any():
            continue
        bad &= ~_infinite_by_right(learner, state, name)
        if bad.any():
            yield name, _first_entry(value, bad)[1]


def non_finite_names(learner: Any, state: Any, prefix: str = "") -> Iterator[str]:
    """Names of all such fields, those of experts as ``experts[1].theta``."""
    for name, _ in non_finite_fields(learner, state):
        yield prefix + name
    states = getattr(state, "experts", ())
    if states:
        own = experts_of(learner, state)
        for i, (expert, part) in enumerate(zip(own, states, strict=True)):
            yield from non_finite_names(expert, part, f"{prefix}experts[{i}].")


def _infinite_by_right(learner: Any, state: Any, name: str) -> Any:
    """Which entries of a field may be infinite, as they now are."""
    value = getattr(state, name)
    if name == "factor":
        return (value == np.inf) & np.eye(*value.shape, dtype=np.bool_)
    first = _infinite_in_start(learner, state.theta.shape, state.theta.dtype, name)
    return (value == np.inf) & first


@lru_cache(maxsize=256)
def _infinite_in_start(
    learner: Any, shape: tuple[int, ...], dtype: np.dtype[Any], name: str
) -> Any:
    """Which entries of a field are infinite in the learner's own start."""
    try:
        return np.isinf(getattr(learner.init(np.zeros(shape, dtype)), name))
    except ThalwegError:  # zero is no point of its domain
        return np.False_


def _first_entry(values: FloatArray, bad: Any) -> tuple[list[int], Any]:
    """Index and value of the first entry that is bad."""
    index = np.argwhere(bad)[0].tolist()
    return index, values[tuple(index)]


def _error(learner: Any, where: str, what: str) -> NonFiniteError:
    return NonFiniteError(
        f"{type(learner).__name__} is not finite {where} of the block: {what}. "
        "The state that the run began with is as it was."
    )
