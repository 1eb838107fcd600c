"""Snapshots of a run: all that changes, as NamedTuples, and the way back.

Every component of a run declares a NamedTuple ``Snapshot`` whose fields have the names
of its attributes. ``snapshot`` collects them, ``restore`` assigns them again, through
all components inside; nothing else is to be written for a new field. ``persistence``
writes NamedTuples field by field, and reads them as mappings of names to values.

What is restored comes from a file, and a checksum does not prove that a run wrote it;
kernels check nothing. So each field must be of its annotated type, and every component
adds in ``validate`` which sizes and ranges are possible. Anything else is refused by
name.
"""

import math
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

import numpy as np

from thalweg.errors import InvalidParameterError, PersistenceError
from thalweg.learners import Learner
from thalweg.persistence.state_check import check_state

MAX_ROUNDS = 2**53
"""Upper limit of the rounds of a run, and of any count: float64 counts no further."""


class Component:
    """A part of a run whose changing attributes are the fields of ``Snapshot``.

    An attribute may be a number, a string, an array that is never changed in place, a
    ``Component``, a list of components, or an object whose ``state`` is a NamedTuple.
    """

    Snapshot: ClassVar[Any]  # a NamedTuple class

    def snapshot(self) -> Any:
        """All that changes, as a ``Snapshot``."""
        kind = self.Snapshot
        return kind(
            *(_attribute_snapshot(getattr(self, name)) for name in kind._fields)
        )

    def restore(self, snapshot: Any, name: str = "run") -> None:
        """Continue from a snapshot, given as it was taken or as a file gives it.

        Raises ``PersistenceError`` unless a component with these settings could have
        left it. ``name`` is what errors call it.
        """
        kind = self.Snapshot
        values, hints = _values(snapshot, kind, name), get_type_hints(kind)
        for field, value in zip(kind._fields, values, strict=True):
            label = field.replace("_", " ")
            self._restore_field(field, value, hints[field], label)
        self.validate()

    def validate(self) -> None:
        """Raise ``PersistenceError`` where sizes or ranges are impossible."""

    def _restore_field(self, field: str, value: Any, hint: Any, label: str) -> None:
        current = getattr(self, field)
        if isinstance(current, Component):
            current.restore(value, label)
        elif isinstance(current, list):
            parts = value if type(value) is tuple else ()
            require(len(parts) == len(current), label)
            for component, part in zip(current, parts, strict=True):
                component.restore(part, label)
        elif hasattr(current, "state"):
            current.state = typed(hint, value, label)
        else:
            setattr(self, field, typed(hint, value, label))


def require(condition: Any, name: str) -> None:
    """Raise ``PersistenceError`` about ``name`` unless the condition holds."""
    if not condition:
        raise PersistenceError(f"its {name} could not have come of a run")


def require_finite(array: Any, shape: tuple[int, ...], name: str) -> None:
    """Raise unless an array has this shape and neither NaN nor infinity."""
    require(array.shape == shape and np.isfinite(array).all(), name)


def require_amount(value: float, name: str) -> None:
    """Raise unless a number is finite and not negative."""
    require(0 <= value < math.inf, name)


def require_state(learner: Learner[Any], state: Any, features: int, name: str) -> None:
    """Raise unless the learner could have this state of so many features."""
    try:
        check_state(learner, state)
    except InvalidParameterError as error:
        raise PersistenceError(str(error).rstrip(".")) from None
    require(state.theta.shape == (features,), name)
    require(state.theta.dtype == np.float64, name)


def typed(kind: Any, value: Any, name: str) -> Any:
    """``value`` if it is of the annotated type ``kind``; mappings become NamedTuples.

    Integers of a snapshot are counts, from 0 to ``MAX_ROUNDS``; arrays are float64.
    """
    if hasattr(kind, "_fields"):
        hints, values = get_type_hints(kind), _values(value, kind, name)
        pairs = zip(kind._fields, values, strict=True)
        return kind(*(typed(hints[field], part, name) for field, part in pairs))
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin is UnionType:
        other = next(part for part in inner if part is not NoneType)
        return None if value is None else typed(other, value, name)
    if origin is tuple:
        require(type(value) is tuple, name)
        return tuple(typed(inner[0], part, name) for part in value)
    if origin is np.ndarray:
        require(isinstance(value, np.ndarray) and value.dtype == np.float64, name)
        return np.ascontiguousarray(value)
    require(type(value) is kind, name)
    require(kind is not int or 0 <= value <= MAX_ROUNDS, name)
    return value


def snapshot_field(snapshot: Any, kind: Any, field: str) -> Any:
    """One field of a snapshot that is given as it was taken or as a file gives it."""
    return _values(snapshot, kind, field)[kind._fields.index(field)]


def _attribute_snapshot(attribute: Any) -> Any:
    if isinstance(attribute, Component):
        return attribute.snapshot()
    if isinstance(attribute, list):
        return tuple(component.snapshot() for component in attribute)
    return getattr(attribute, "state", attribute)


def _values(snapshot: Any, kind: Any, name: str) -> tuple[Any, ...]:
    """The values of the fields of ``kind``, in their order."""
    if isinstance(snapshot, Mapping):
        require(set(snapshot) == set(kind._fields), name)
        return tuple(snapshot[field] for field in kind._fields)
    require(type(snapshot) is kind, name)
    return tuple(snapshot)
