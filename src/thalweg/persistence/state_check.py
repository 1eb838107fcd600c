"""Whether a state is one that its learner could have.

Kernels check nothing, so every state is compared with what the learner's own ``init``
gives (learners/own_state.py) before it is written and after it is read, and so are its
numbers with what rounds can lead to: a checksum is no proof that a learner ever had
them.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from thalweg.checks import MAX_MAGNITUDE
from thalweg.domains import Domain
from thalweg.errors import InvalidParameterError, PersistenceError
from thalweg.kernels import ud_factor
from thalweg.learners import Learner
from thalweg.learners.finiteness import non_finite_fields
from thalweg.learners.own_state import LENGTHS, experts_of
from thalweg.types import FloatArray

ROUNDING = 1e-6
"""Limit of the distance of a sum of weights from 1: rounding of single precision."""


def check_state(learner: Learner[Any], state: Any) -> None:
    """Raise ``PersistenceError`` unless ``state`` is one of this learner's."""
    name = type(learner).__name__
    theta: Any = getattr(state, "theta", None)
    is_point = isinstance(theta, np.ndarray) and theta.ndim > 0 and theta.size > 0
    if not is_point or theta.dtype.kind != "f":
        raise PersistenceError(f"{name} has a θ that is no point: {theta!r:.80}")
    _check_settings(learner, theta, _size(state))
    try:
        hash(learner)  # without one, states of a learner are not compared
        learner.check_state(state)
    except (InvalidParameterError, TypeError) as error:
        raise PersistenceError(str(error).rstrip(".")) from None
    _check_numbers(learner, state)


def _check_settings(learner: Learner[Any], theta: FloatArray, size: int) -> None:
    """Raise where a domain or a length among the settings does not fit the state."""
    for field in fields(learner):  # type: ignore[arg-type]
        value = getattr(learner, field.name)
        is_domain = isinstance(value, Domain)
        if is_domain and value.dimension not in (None, theta.size):
            raise PersistenceError(
                f"θ has {theta.size} coordinates, its domain {value.dimension}"
            )
        # Asked before ``init``, which would make arrays as long as a file claims.
        if field.name in LENGTHS and value > size:
            raise PersistenceError(f"{field.name} = {value} is longer than the state")
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Learner):
                _check_settings(part, theta, size)


def _size(state: Any) -> int:
    """The number of numbers in a state, with those of its experts."""
    return sum(map(_size, state)) if isinstance(state, tuple) else np.size(state)


def _check_numbers(learner: Learner[Any], state: Any) -> None:
    """Raise where a number is one that no rounds can have led to."""
    name = type(learner).__name__
    for field, value in non_finite_fields(learner, state):
        raise PersistenceError(f"the {field} of {name} is not finite: it holds {value}")
    for field, value in zip(state._fields, state, strict=True):
        rule = NUMBER_RULES.get(field)
        is_count = isinstance(value, int | float | np.number)
        if (is_count and value < 0) or (rule is not None and not rule(value)):
            raise PersistenceError(
                f"the {field} of {name} holds numbers that no rounds lead to: "
                f"{value!r:.80}"
            )
    if getattr(state, "experts", ()):
        for expert, own in zip(experts_of(learner, state), state.experts, strict=True):
            _check_numbers(expert, own)


def _is_legal_data(values: FloatArray) -> bool:
    """Whether the values are those of rounds, in their own dtype."""
    largest = MAX_MAGNITUDE[values.dtype] * (1 + np.finfo(values.dtype).eps)
    return bool((np.abs(values) <= largest).all())


def _is_normalised(log_weights: FloatArray) -> bool:
    """Whether the weights sum to one."""
    return bool(abs(np.logaddexp.reduce(log_weights)) <= ROUNDING)


def _is_increasing(rounds: FloatArray) -> bool:
    """Whether these are rounds in their order, from the first one on."""
    return bool(rounds[0] > 0 and (np.diff(rounds) > 0).all())


def _is_ud_factor(factor: FloatArray) -> bool:
    """Whether the pivots and the rows below the triangle are not negative."""
    pivots, below = np.diagonal(factor), factor[-ud_factor.EXTRA_ROWS :]
    return bool((pivots >= 0).all() and (below >= 0).all())


def _has_positive_diagonal(information: FloatArray) -> bool:
    return bool((np.diagonal(information) > 0).all())


NUMBER_RULES: dict[str, Callable[[Any], bool]] = {
    "x": _is_legal_data,
    "y": _is_legal_data,
    "last": _is_legal_data,
    "log_weights": _is_normalised,
    "active_from": _is_increasing,
    "factor": _is_ud_factor,
    "information": _has_positive_diagonal,
}
"""What holds of the numbers of a state, by the name of the field."""
