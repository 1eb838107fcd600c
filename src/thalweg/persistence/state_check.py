"""Whether a state is one that its learner could have.

Kernels check nothing, so a state with a factor too small for its θ would make them
read memory that is not theirs. Every state is held against the learner's own ``init``
before it is written and after it is read.
"""

from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from thalweg.domains import Ball, Domain
from thalweg.errors import PersistenceError
from thalweg.learners import Learner, RecursiveLeastSquares
from thalweg.persistence.registry import state_of
from thalweg.types import FloatArray

ALIGNMENT = 8
"""Fields of a packed state start at multiples of so many numbers, kernels/layout.py.
Padding makes lengths polynomials in the number of features n only for n that have the
same remainder: a state is held against three small ones of its own remainder."""
LENGTHS = ("window", "delay")
"""Settings that are the length of an array of the state."""


class Like(NamedTuple):
    """What a field of a state must be like, found from the learner's own states."""

    dtype: np.dtype[Any] | None  # None for a plain number
    shapes: tuple[tuple[int, ...], ...]  # of three small numbers of features
    whole: bool  # whether a plain number is an integer


def check_state(learner: Learner[Any], state: Any) -> None:
    """Raise ``PersistenceError`` unless ``state`` is one of this learner's."""
    _check(learner, state, None)


def _check(learner: Learner[Any], state: Any, like: FloatArray | None) -> None:
    name, own = type(learner).__name__, state_of(type(learner))
    if type(state) is not own:
        raise PersistenceError(f"{name} has no state of kind {type(state).__name__}")
    theta = state.theta
    if not isinstance(theta, np.ndarray) or theta.ndim == 0 or theta.size == 0:
        raise PersistenceError(f"{name} has a θ that is no point: {theta!r:.80}")
    if like is not None and (like.shape, like.dtype) != (theta.shape, theta.dtype):
        raise PersistenceError(f"an expert of kind {name} has a θ unlike the mixture's")
    _check_lengths(learner, state)
    count = _check_experts(learner, state)
    first = (len(theta) - 1) % ALIGNMENT + 1
    for field, rule in _rules(learner, first, theta.shape[1:], theta.dtype).items():
        found = getattr(state, field)
        if not _obeys(found, rule, len(theta), None if field == "theta" else count):
            raise PersistenceError(
                f"the {field} of {name} does not fit its settings and its θ"
            )
    look = getattr(learner, "check_state", None)
    if look is not None:  # for values that a kernel would use as an index
        look(state)


def _check_lengths(learner: Learner[Any], state: Any) -> None:
    held = sum(np.size(part) for part in state if not isinstance(part, tuple))
    for field in fields(learner):  # type: ignore[arg-type]
        value = getattr(learner, field.name)
        domain = isinstance(value, Domain)
        if domain and value.dimension not in (None, state.theta.size):
            raise PersistenceError(
                f"θ has {state.theta.size} coordinates, its domain {value.dimension}"
            )
        # Asked before ``init``, which would make arrays as long as a file claims.
        if field.name in LENGTHS and value > held:
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
    for expert, its in zip(experts, states, strict=True):
        _check(expert, its, state.theta)
    return len(states) if single else None


def _obeys(found: Any, rule: Like, n: int, count: int | None) -> bool:
    if rule.dtype is None:
        whole = int | np.integer
        return isinstance(found, whole if rule.whole else whole | float | np.floating)
    if not isinstance(found, np.ndarray):
        return False
    k = (n - 1) // ALIGNMENT
    shape = tuple(_at(k, *lengths) for lengths in zip(*rule.shapes, strict=True))
    if count is not None:  # a history keeps one entry for each of its experts
        shape = (count, *shape[1:])
    return bool(found.dtype == rule.dtype and found.shape == shape)


def _at(k: int, zero: int, one: int, two: int) -> int:
    """The value at k of the polynomial with these values at 0, 1 and 2.

    Lengths are such polynomials, of degree two at most: three small states tell the
    shapes of a large one, and a file that claims a large n costs no memory.
    """
    return zero + k * (one - zero) + k * (k - 1) // 2 * (two - 2 * one + zero)


@lru_cache(maxsize=1024)
def _rules(
    learner: Learner[Any], first: int, targets: tuple[int, ...], dtype: np.dtype[Any]
) -> dict[str, Like]:
    """By field, from states of ``first`` features, and of 8 and 16 more."""
    simple = _simplified(learner)
    sizes = (first, first + ALIGNMENT, first + 2 * ALIGNMENT)
    try:
        states = [simple.init(np.zeros((n, *targets), dtype)) for n in sizes]
    except Exception as error:  # whatever a setting no one has tried may lead to
        raise PersistenceError(f"{type(learner).__name__} refuses θ: {error}") from None
    return {
        name: Like(
            getattr(part, "dtype", None),
            tuple(np.shape(getattr(state, name)) for state in states),
            isinstance(part, int),
        )
        for name, part in zip(states[0]._fields, states[0], strict=True)
        if not isinstance(part, tuple)
    }


def _simplified(learner: Learner[Any]) -> Learner[Any]:
    """The learner in a ball with plain experts, so that it can start from zero.

    Neither changes the shapes of the arrays that it keeps itself.
    """
    simple: dict[str, Any] = {}
    for field in fields(learner):  # type: ignore[arg-type]
        value = getattr(learner, field.name)
        if isinstance(value, Domain):
            simple[field.name] = Ball(1.0)
        elif isinstance(value, Learner):
            simple[field.name] = RecursiveLeastSquares()
        elif isinstance(value, tuple):
            simple[field.name] = (RecursiveLeastSquares(),) * len(value)
    return replace(learner, **simple) if simple else learner  # type: ignore[type-var]
