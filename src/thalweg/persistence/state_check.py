"""Whether a state is one that its learner could have.

Kernels check nothing, so a state with a factor too small for its θ would make them
read memory that is not theirs. Every state is compared with those of the learner's own
``init`` before it is written and after it is read, and so are its numbers with what
rounds can lead to: a checksum is no proof that a learner ever had them.
"""

from collections.abc import Callable
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from thalweg.checks import MAX_MAGNITUDE
from thalweg.domains import Ball, Domain
from thalweg.errors import PersistenceError
from thalweg.kernels import ud_factor
from thalweg.learners import Learner, RecursiveLeastSquares
from thalweg.learners.finiteness import non_finite_fields
from thalweg.persistence.registry import state_of
from thalweg.types import FloatArray

ALIGNMENT = 8
"""Alignment of the fields of a packed state, in numbers (kernels/compiler/layout.py).
Padding makes lengths polynomials in the number of features n only for n that have the
same remainder: a state is compared with three small ones of its own remainder."""
ROUNDING = 1e-6
"""Limit of the distance of a sum of weights from 1: rounding of single precision."""
LENGTHS = ("window", "delay")
"""Settings that are the length of an array of the state."""


class FieldSpec(NamedTuple):
    """Dtype and shape that a field of a state must have, by the learner's ``init``."""

    dtype: np.dtype[Any] | None  # None for a plain number
    shapes: tuple[tuple[int, ...], ...]  # of three small numbers of features
    whole: bool  # whether a plain number is an integer


def check_state(learner: Learner[Any], state: Any) -> None:
    """Raise ``PersistenceError`` unless ``state`` is one of this learner's."""
    _check_nested(learner, state, None)


def _check_nested(
    learner: Learner[Any], state: Any, mixture_theta: FloatArray | None
) -> None:
    """``check_state``; the state of an expert has a θ like that of its mixture."""
    name, own = type(learner).__name__, state_of(type(learner))
    if type(state) is not own:
        raise PersistenceError(f"{name} has no state of kind {type(state).__name__}")
    theta = state.theta
    if not isinstance(theta, np.ndarray) or theta.ndim == 0 or theta.size == 0:
        raise PersistenceError(f"{name} has a θ that is no point: {theta!r:.80}")
    if mixture_theta is not None:
        shape, dtype = mixture_theta.shape, mixture_theta.dtype
        if (theta.shape, theta.dtype) != (shape, dtype):
            raise PersistenceError(
                f"an expert of kind {name} has a θ unlike the mixture's"
            )
    _check_lengths(learner, state)
    count = _check_experts(learner, state)
    first = (len(theta) - 1) % ALIGNMENT + 1
    specs = _field_specs(learner, first, theta.shape[1:], theta.dtype)
    for field, spec in specs.items():
        entries = None if field == "theta" else count
        if not _fits_spec(getattr(state, field), spec, len(theta), entries):
            raise PersistenceError(
                f"the {field} of {name} does not fit its settings and its θ"
            )
    _check_numbers(learner, state)
    check_values = getattr(learner, "check_state", None)
    if check_values is not None:  # for values that a kernel would use as an index
        check_values(state)


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


def _check_lengths(learner: Learner[Any], state: Any) -> None:
    """Raise where a domain or a length among the settings does not fit the state."""
    state_size = sum(np.size(part) for part in state if not isinstance(part, tuple))
    for field in fields(learner):  # type: ignore[arg-type]
        value = getattr(learner, field.name)
        is_domain = isinstance(value, Domain)
        if is_domain and value.dimension not in (None, state.theta.size):
            raise PersistenceError(
                f"θ has {state.theta.size} coordinates, its domain {value.dimension}"
            )
        # Asked before ``init``, which would make arrays as long as a file claims.
        if field.name in LENGTHS and value > state_size:
            raise PersistenceError(f"{field.name} = {value} is longer than the state")


def _check_experts(learner: Learner[Any], state: Any) -> int | None:
    """Check the states within; their number where it may grow, as in a history."""
    single = isinstance(getattr(learner, "expert", None), Learner)
    if not single and not hasattr(learner, "experts"):
        return None
    states = state.experts if isinstance(state.experts, tuple) else ()
    experts = (learner.expert,) * len(states) if single else learner.experts  # type: ignore[attr-defined]
    if not states or len(states) != len(experts):
        raise PersistenceError(f"{len(states)} states for {len(experts)} experts")
    for expert, expert_state in zip(experts, states, strict=True):
        _check_nested(expert, expert_state, state.theta)
    return len(states) if single else None


def _fits_spec(value: Any, spec: FieldSpec, n: int, count: int | None) -> bool:
    """Whether a field of a state of n features is as its spec says.

    ``count`` is the number of entries where one is stored for each expert.
    """
    if spec.dtype is None:
        whole = int | np.integer
        return isinstance(value, whole if spec.whole else whole | float | np.floating)
    if not isinstance(value, np.ndarray):
        return False
    k = (n - 1) // ALIGNMENT
    shape = tuple(
        _extrapolate_length(k, *lengths) for lengths in zip(*spec.shapes, strict=True)
    )
    if count is not None:  # a history stores one entry for each of its experts
        shape = (count, *shape[1:])
    return bool(value.dtype == spec.dtype and value.shape == shape)


def _extrapolate_length(k: int, zero: int, one: int, two: int) -> int:
    """The value at k of the polynomial with these values at 0, 1 and 2.

    Lengths are such polynomials, of degree two at most: three small states give the
    shapes of a large one, and a file that claims a large n costs no memory.
    """
    return zero + k * (one - zero) + k * (k - 1) // 2 * (two - 2 * one + zero)


@lru_cache(maxsize=1024)
def _field_specs(
    learner: Learner[Any], first: int, targets: tuple[int, ...], dtype: np.dtype[Any]
) -> dict[str, FieldSpec]:
    """By field, from states of ``first`` features, and of 8 and 16 more."""
    minimal = _minimal_learner(learner)
    sizes = (first, first + ALIGNMENT, first + 2 * ALIGNMENT)
    try:
        states = [minimal.init(np.zeros((n, *targets), dtype)) for n in sizes]
    except Exception as error:  # whatever a setting no one has tried may lead to
        raise PersistenceError(f"{type(learner).__name__} refuses θ: {error}") from None
    return {
        name: FieldSpec(
            getattr(part, "dtype", None),
            tuple(np.shape(getattr(state, name)) for state in states),
            isinstance(part, int),
        )
        for name, part in zip(states[0]._fields, states[0], strict=True)
        if not isinstance(part, tuple)
    }


def _minimal_learner(learner: Learner[Any]) -> Learner[Any]:
    """The learner in a ball with plain experts, so that it can start from zero.

    Neither changes the shapes of the arrays that are its own.
    """
    settings: dict[str, Any] = {}
    for field in fields(learner):  # type: ignore[arg-type]
        value = getattr(learner, field.name)
        if isinstance(value, Domain):
            settings[field.name] = Ball(1.0)
        elif isinstance(value, Learner):
            settings[field.name] = RecursiveLeastSquares()
        elif isinstance(value, tuple):
            settings[field.name] = (RecursiveLeastSquares(),) * len(value)
    return replace(learner, **settings) if settings else learner  # type: ignore[type-var]
