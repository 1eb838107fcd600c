"""Snapshots: what a component remembers, as a NamedTuple, out of a file and checked.

There is one mechanism for whatever is saved, and no component writes its own:

1. A component keeps all that changes in one NamedTuple, its state::

       class ImputerState(NamedTuple):
           sums: FloatArray  # (n,)
           imputed: int

2. A snapshot is a NamedTuple of such states, numbers, strings, arrays and tuples. It is
   saved as it is: ``Saved(..., extra={"run": snapshot})`` or
   ``Saved(..., extra=snapshot._asdict())``. A file holds its fields by their names.

3. A file gives back mappings of names to values that anybody could have made up.
   ``restore_snapshot(template, value)`` makes the NamedTuple again, and raises
   ``PersistenceError`` with the name of the field unless every value is like that of
   the ``template``: a NamedTuple of the same class with, at each field, either an
   example, such as the state of a component that was just made, or a rule::

       fresh = ImputerState(sums=np.zeros(n), imputed=0)
       imputer.state = restore_snapshot(fresh._replace(imputed=Count(rounds)), value)

   ======================  ========================================================
   in the template         in the snapshot
   ======================  ========================================================
   NamedTuple              a record of the same fields, each like the template's;
                           a field with a default may be missing, and is then that
   tuple                   a tuple as long, each part like the template's
   array                   an array of the same dtype and shape, all of it finite
   bool, str, None         a bool, a string, None
   int                     an integer from 0 to 2⁵³
   float                   a finite float
   ``Learner``             a state of this learner
   a rule of this module   what the rule says
   ======================  ========================================================

To add a field is to add it to the NamedTuple and to the value it starts with; where an
example says too little about its range, a rule goes into the template.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from thalweg.errors import InvalidParameterError, PersistenceError
from thalweg.learners import Learner
from thalweg.persistence.state_check import check_state

MAX_COUNT = 2**53
"""Largest number of rounds: float64 counts no further."""
T = TypeVar("T")


def restore_snapshot(template: T, value: Any, name: str = "") -> T:
    """``value``, as read from a file, in the form of ``template``.

    ``name`` is what errors call the whole; a field's name is joined to it by a dot.
    """
    restored: T = _restore(template, value, name)
    return restored


@dataclass(frozen=True)
class Count:
    """An integer from 0 to ``max``."""

    max: int = MAX_COUNT

    def restore(self, value: Any, name: str) -> Any:
        """The value, if it obeys."""
        right = type(value) is int and 0 <= value <= self.max
        return require(right, name, f"a whole number from 0 to {self.max}", value)


@dataclass(frozen=True)
class Number:
    """A float from ``low`` to ``high``; NaN only where ``may_be_nan``."""

    low: float = -math.inf
    high: float = math.inf
    may_be_nan: bool = False

    def restore(self, value: Any, name: str) -> Any:
        """The value, if it obeys."""
        right = type(value) is float and (
            (math.isfinite(value) and self.low <= value <= self.high)
            or (self.may_be_nan and math.isnan(value))
        )
        rule = "a float that is finite" + (" and not negative" if self.low == 0 else "")
        return require(right, name, rule, value)


@dataclass(frozen=True)
class Array:
    """An array of float64; an axis may be of any length (None).

    ``whole`` asks for whole numbers; NaN and infinities are refused unless
    ``may_be_nan``.
    """

    shape: tuple[int | None, ...]
    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    may_be_nan: bool = False

    def restore(self, value: Any, name: str) -> Any:
        """The array, in C order, if it obeys."""
        sides = "×".join("any" if side is None else str(side) for side in self.shape)
        kind = "numbers" if self.may_be_nan else "finite numbers"
        right = isinstance(value, np.ndarray) and value.dtype == np.float64
        right = right and len(value.shape) == len(self.shape)
        right = right and all(
            side in (None, length)
            for side, length in zip(self.shape, value.shape, strict=True)
        )
        right = right and (self.may_be_nan or np.isfinite(value).all())
        require(right, name, f"{sides} {kind}, of float64", value)
        known = value[~np.isnan(value)]
        right = ((known >= self.low) & (known <= self.high)).all()
        right = right and (not self.whole or (known == np.floor(known)).all())
        kind = "whole numbers" if self.whole else "numbers"
        require(right, name, f"{kind} from {self.low:g} to {self.high:.17g}", value)
        return np.ascontiguousarray(value)


@dataclass(frozen=True)
class OneOf:
    """One of these values, of the same type."""

    choices: tuple[Any, ...]

    def restore(self, value: Any, name: str) -> Any:
        """The value, if it obeys."""
        right = any(type(value) is type(one) and value == one for one in self.choices)
        rule = f"one of {', '.join(map(repr, self.choices))}"
        return require(right, name, rule, value)


@dataclass(frozen=True)
class NoneOr:
    """None, or what is like ``template``."""

    template: Any

    def restore(self, value: Any, name: str) -> Any:
        """The value, if it obeys."""
        return None if value is None else _restore(self.template, value, name)


@dataclass(frozen=True)
class TupleOf:
    """A tuple of ``min`` to ``max`` parts, each like ``template``."""

    template: Any
    min: int = 0
    max: int = MAX_COUNT

    def restore(self, value: Any, name: str) -> Any:
        """The value, if it obeys."""
        right = type(value) is tuple and self.min <= len(value) <= self.max
        rule = f"a tuple of {self.min} to {self.max} parts"
        require(right, name, rule, value)
        return tuple(
            _restore(self.template, part, f"{name}[{k}]")
            for k, part in enumerate(value)
        )


@dataclass(frozen=True)
class StateOf:
    """A state of ``learner`` with so many features."""

    learner: Learner[Any]
    features: int

    def restore(self, value: Any, name: str) -> Any:
        """The state, if it obeys."""
        _restore_state(self.learner, value, name)
        shape = value.theta.shape
        rule = f"a state of {self.features} features"
        require(shape == (self.features,), name, rule, shape)
        return value


Rule = Count | Number | Array | OneOf | NoneOr | TupleOf | StateOf


def require(right: Any, name: str, rule: str, value: Any) -> Any:
    """``value`` if it is ``right``; else an error that names it and the rule."""
    if right:
        return value
    where = f"its {name!r}" if name else "it"
    raise PersistenceError(f"{where} must be {rule}. Got {value!r:.80} instead")


def _restore(template: Any, value: Any, name: str) -> Any:
    if isinstance(template, Rule):
        return template.restore(value, name)
    if isinstance(template, Learner):
        return _restore_state(template, value, name)
    if isinstance(template, tuple):
        fields = getattr(template, "_fields", None)
        return (
            _restore_tuple(template, value, name)
            if fields is None
            else _restore_record(template, value, name)
        )
    if isinstance(template, np.ndarray):
        return _restore_array(template, value, name)
    if type(template) is int:
        return Count().restore(value, name)
    if type(template) is float:
        return Number().restore(value, name)
    right = type(value) is type(template)  # bool, str or None
    return require(right, name, f"a {type(template).__name__}", value)


def _restore_record(template: Any, value: Any, name: str) -> Any:
    """A NamedTuple of the template's class from the fields that a file holds."""
    kind = type(template)
    require(isinstance(value, Mapping), name, f"the fields of {kind.__name__}", value)
    restored, prefix = {}, f"{name}." if name else ""
    for field in kind._fields:
        if field in value:
            like = getattr(template, field)
            restored[field] = _restore(like, value[field], f"{prefix}{field}")
        elif field not in kind._field_defaults:
            raise PersistenceError(f"it comes without {f'{prefix}{field}'!r}")
    for field in value:
        if field not in kind._fields:
            raise PersistenceError(
                f"its {f'{prefix}{field}'!r:.80} is no field of {kind.__name__}"
            )
    return kind(**restored)


def _restore_tuple(template: tuple[Any, ...], value: Any, name: str) -> tuple[Any, ...]:
    right = type(value) is tuple and len(value) == len(template)
    require(right, name, f"a tuple of {len(template)} parts", value)
    pairs = zip(template, value, strict=True)
    return tuple(_restore(*pair, f"{name}[{k}]") for k, pair in enumerate(pairs))


def _restore_array(template: Any, value: Any, name: str) -> Any:
    if template.dtype == np.float64:
        return Array(template.shape).restore(value, name)
    right = isinstance(value, np.ndarray) and value.dtype == template.dtype
    right = right and value.shape == template.shape
    rule = f"an array of {template.dtype} and shape {template.shape}"
    return np.ascontiguousarray(require(right, name, rule, value))


def _restore_state(learner: Learner[Any], value: Any, name: str) -> Any:
    try:
        check_state(learner, value)
    except (PersistenceError, InvalidParameterError) as error:
        why = str(error).rstrip(".")
        raise PersistenceError(
            f"its {name!r} is no state to go on from: {why}"
        ) from None
    return value
