"""Whether a state is one that a learner's ``init`` and ``update`` could have given.

Kernels check nothing: a state of another learner, or with an array of another shape,
would make them read and write memory that is not theirs. Every public call that takes a
state asks first, in well under a microsecond for most learners.
"""

from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from thalweg.domains import Ball, Domain
from thalweg.errors import InvalidParameterError
from thalweg.types import FloatArray

Shape = tuple[int, ...]
ARRAY = np.ndarray
ALIGNMENT = 8
"""Alignment of the fields of a packed state, in numbers (kernels/compiler/layout.py).
Padding makes lengths polynomials in the number of features n only for n that have the
same remainder: a state is compared with three small ones of its own remainder."""
LENGTHS = ("window", "delay")
"""Settings that are the length of an array of the state."""


class PartSpec(NamedTuple):
    """The required type and shape of a part of a state."""

    dtype: np.dtype[Any] | None  # None for a number, or the states of experts
    shape: Shape
    kinds: type | tuple[type, ...]  # of numbers


class StateSpec(NamedTuple):
    """The required parts of a state, given its θ."""

    kind: type
    parts: tuple[PartSpec, ...]
    grows: bool = False  # whether arrays have one entry for each expert of a history
    has_experts: bool = False  # whether the last part holds the states of experts


def check_own_state(learner: Any, state: Any) -> None:
    """Raise ``InvalidParameterError`` unless ``state`` is one of the learner's."""
    theta = getattr(state, "theta", None)
    if type(theta) is not ARRAY:
        raise _refusal(learner, state)
    try:
        spec = _state_spec(learner, theta.shape, theta.dtype)
    except TypeError:  # settings without a hash, of a learner made elsewhere
        return
    if spec is None:
        return
    kind, parts, grows, has_experts = spec
    if type(state) is not kind:
        raise _refusal(learner, state)
    if grows:
        parts = _grown_parts(parts, state)
    for part, (dtype, shape, kinds) in zip(state, parts, strict=True):  # type: ignore[call-overload]
        if dtype is None:
            if isinstance(part, kinds):
                continue
        elif type(part) is ARRAY and part.shape == shape and part.dtype == dtype:
            continue
        raise _misfit(learner, state, parts)
    if has_experts:
        _check_experts(learner, state, theta)


def _check_experts(learner: Any, state: Any, theta: FloatArray) -> None:
    """Check the states of a mixture's experts; each has a θ like the mixture's."""
    experts = experts_of(learner, state)
    if len(experts) != len(state.experts) or not experts:
        raise InvalidParameterError(
            f"The state of {type(learner).__name__} must hold one state for each of "
            f"its {len(experts)} experts. Got {len(state.experts)} instead."
        )
    for expert, own in zip(experts, state.experts, strict=True):
        expert.check_state(own)
        if own.theta.shape != theta.shape or own.theta.dtype != theta.dtype:
            raise InvalidParameterError(
                f"An expert of {type(learner).__name__} must have a θ of shape "
                f"{theta.shape} and {theta.dtype}. Got shape {own.theta.shape} and "
                f"{own.theta.dtype} instead."
            )


def experts_of(learner: Any, state: Any) -> tuple[Any, ...]:
    """The learners whose states a state holds; of a history all are the same."""
    single = (getattr(learner, "expert", None),)
    return getattr(learner, "experts", None) or single * len(state.experts)


def _grown_parts(parts: tuple[PartSpec, ...], state: Any) -> tuple[PartSpec, ...]:
    """The parts of a history of as many experts as the state holds."""
    count = len(state[-1]) if isinstance(state[-1], tuple) else 0
    first, *others = parts
    grown = (
        part._replace(shape=(count, *part.shape[1:])) if part.dtype else part
        for part in others
    )
    return (first, *grown)


@lru_cache(maxsize=1024)
def _state_spec(learner: Any, shape: Shape, dtype: np.dtype[Any]) -> StateSpec | None:
    """From a state of the learner's own; None for learners that are made elsewhere.

    Theirs may grow as they like, and no kernel sees them.
    """
    if not type(learner).init.__module__.startswith("thalweg."):
        return None
    try:
        k, rest = divmod(shape[0] - 1, ALIGNMENT)
        sizes = (rest + 1 + ALIGNMENT * j for j in range(3))
        minimal = _minimal_learner(learner)
        states = [minimal.init(np.zeros((n, *shape[1:]), dtype)) for n in sizes]
    except Exception:  # whatever settings that no one has tried may lead to
        return StateSpec(type(None), ())  # it has no state with such a θ
    numbers = {int: (int, np.integer), float: (int, float, np.integer, np.floating)}
    return StateSpec(
        type(states[0]),
        tuple(
            PartSpec(parts[0].dtype, _extrapolate_shape(k, parts), ())
            if isinstance(parts[0], np.ndarray)
            else PartSpec(None, (), numbers.get(type(parts[0]), type(parts[0])))
            for parts in zip(*states, strict=True)
        ),
        hasattr(learner, "expert"),
        isinstance(states[0][-1], tuple),
    )


def _extrapolate_shape(k: int, parts: tuple[FloatArray, ...]) -> Shape:
    """The shape at k of the polynomials with these shapes at 0, 1 and 2.

    Lengths are such polynomials, of degree two at most: three small states give the
    shapes of a large one, and a file that claims a large n costs no memory.
    """
    lengths = zip(*(part.shape for part in parts), strict=True)
    return tuple(
        zero + k * (one - zero) + k * (k - 1) // 2 * (two - 2 * one + zero)
        for zero, one, two in lengths
    )


def _minimal_learner(learner: Any, is_expert: bool = False) -> Any:
    """The learner in a ball, so that it can start from zero, with experts of short
    windows: the shapes of its own arrays stay the same."""
    if not is_dataclass(learner):
        return learner
    settings: dict[str, Any] = {}
    for field in fields(learner):
        value = getattr(learner, field.name)
        if isinstance(value, Domain):
            settings[field.name] = Ball(1.0)
        elif hasattr(value, "check_state"):
            settings[field.name] = _minimal_learner(value, is_expert=True)
        elif isinstance(value, tuple):
            experts = (_minimal_learner(part, is_expert=True) for part in value)
            settings[field.name] = tuple(experts)
        elif is_expert and field.name in LENGTHS:
            settings[field.name] = min(value, 1)
    return replace(learner, **settings) if settings else learner  # type: ignore[type-var]


def _refusal(learner: Any, state: Any) -> InvalidParameterError:
    kind = type(state).__name__
    return InvalidParameterError(
        f"{type(learner).__name__} plays from a state that its init gave. Got "
        f"{state!r:.100} of type {kind} instead."
    )


def _misfit(
    learner: Any, state: Any, parts: tuple[PartSpec, ...]
) -> InvalidParameterError:
    """The message for a state of the right kind with a part that does not fit."""
    rules, gifts = [], []
    for name, part, (dtype, shape, _) in zip(state._fields, state, parts, strict=True):
        is_array = isinstance(part, np.ndarray)
        rules.append(f"{name} {shape} {dtype}" if dtype else name)
        gifts.append(f"{name} {part.shape} {part.dtype}" if is_array else name)
    return InvalidParameterError(
        f"{type(learner).__name__} plays from a state that its init gave, here of "
        f"{', '.join(rules)}. Got {', '.join(gifts)} instead."
    )
