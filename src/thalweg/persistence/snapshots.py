"""Snapshots: all that a component remembers, as a NamedTuple, in a file and back.

There is one mechanism for whatever is saved, and no component writes its own:

1. All that changes in a component is a NamedTuple with annotated fields::

       class ImputerState(NamedTuple):
           sums: FloatArray  # (n,)
           imputed: int

   It may hold other NamedTuples, and is saved as it is:
   ``SavedModel(..., extra={"run": snapshot})``, or with ``snapshot._asdict()``.
   A file holds its fields by their names.

2. A file gives back mappings of names to values that anybody could have made up: a
   checksum does not prove that thalweg wrote it, and kernels check nothing.
   ``restore_snapshot(ImputerState, value)`` makes the NamedTuple again if every value
   is of the annotated type:

   =======================  =====================================================
   annotation               value
   =======================  =====================================================
   a NamedTuple class       its fields; one with a default may be missing
   ``tuple[X, ...]``        a tuple of any length
   ``X | None``             None, or what X asks for
   ``Literal["a", "b"]``    one of these
   ``FloatArray``           an array of float64, of any shape; NaN is allowed
   ``int``                  an integer from 0 to 2⁵³, as every count is
   ``Annotated[X, rule]``   what this rule asks for, see 3
   ``float``                a float; NaN is allowed
   ``str``, ``bool``        of this type exactly
   ``Any``                  anything: a rule has to follow
   =======================  =====================================================

3. ``validate_snapshot(rule, snapshot)`` asks for the sizes and ranges that are possible
   with the settings at hand. A rule is one of those below, a mapping of fields to
   rules, or a tuple of rules.

Whatever is wrong raises ``PersistenceError`` with the path of the field in it. Classes
derived from ``Component`` get ``snapshot`` and ``restore`` from their ``Snapshot``
class, and give their rules in ``rules``. To add a field is to add it to the NamedTuple,
with a rule where its type says too little.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeGuard,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
import numpy.typing as npt

from thalweg import persistence
from thalweg.errors import InvalidParameterError, PersistenceError
from thalweg.learners import Learner
from thalweg.types import array_entry

MAX_COUNT = 2**53
"""Largest number of rounds, and of any count: float64 counts no further."""
T = TypeVar("T")


def restore_snapshot(kind: type[T], value: Any, name: str = "") -> T:
    """``value``, as read from a file, as a NamedTuple of the class ``kind``.

    ``name`` is what errors call the whole; a field's name is joined to it by a dot.
    """
    restored: T = _restore(kind, value, name)
    return restored


def validate_snapshot(rule: Any, snapshot: Any, name: str = "") -> None:
    """Raise ``PersistenceError`` unless the snapshot, or a part of it, obeys the rule.

    ``name`` is as for ``restore_snapshot``.
    """
    if isinstance(rule, Rule):
        rule.validate(snapshot, name)
    elif isinstance(rule, Mapping):
        require(hasattr(snapshot, "_fields"), name, "a record of fields", snapshot)
        for field, inner in rule.items():
            validate_snapshot(inner, getattr(snapshot, field), _join(name, field))
    else:
        require(len(snapshot) == len(rule), name, f"{len(rule)} parts", snapshot)
        for k, (inner, part) in enumerate(zip(rule, snapshot, strict=True)):
            validate_snapshot(inner, part, f"{name}[{k}]")


class Component:
    """An object whose changing attributes are the fields of its ``Snapshot``.

    An attribute may be a number, a string, an array that is never changed in place, a
    ``Component``, a list of components, or an object whose ``state`` is a NamedTuple.
    """

    Snapshot: ClassVar[Any]  # a NamedTuple class

    def snapshot(self) -> Any:
        """All that changes, as a ``Snapshot``."""
        kind = self.Snapshot
        values = (_attribute_snapshot(getattr(self, name)) for name in kind._fields)
        return kind(*values)

    def restore(self, snapshot: Any, name: str = "") -> None:
        """Continue from a ``Snapshot`` of a component with the same settings.

        Raises ``PersistenceError`` if no such component could have left it. ``name`` is
        as for ``restore_snapshot``.
        """
        for field, rule in self.rules(snapshot):
            validate_snapshot(rule, getattr(snapshot, field), _join(name, field))
        for field in self.Snapshot._fields:
            self._restore_field(field, getattr(snapshot, field), _join(name, field))

    def rules(self, snapshot: Any) -> Iterable[tuple[str, Any]]:
        """Names of fields, each with a rule that says more than its type.

        Each is asked for before the next one is made, which may rely on it.
        """
        return ()

    def _restore_field(self, field: str, value: Any, name: str) -> None:
        current = getattr(self, field)
        if isinstance(current, Component):
            current.restore(value, name)
        elif isinstance(current, list):
            require(len(value) == len(current), name, f"{len(current)} parts", value)
            for k, (component, part) in enumerate(zip(current, value, strict=True)):
                component.restore(part, f"{name}[{k}]")
        elif hasattr(current, "state"):
            current.state = value
        else:
            setattr(self, field, value)


def _attribute_snapshot(attribute: Any) -> Any:
    if isinstance(attribute, Component):
        return attribute.snapshot()
    if isinstance(attribute, list):
        return tuple(component.snapshot() for component in attribute)
    return getattr(attribute, "state", attribute)


@dataclass(frozen=True)
class Count:
    """An integer from 0 to ``max``."""

    max: int = MAX_COUNT

    def accepts(self, value: object) -> TypeGuard[int]:
        """Whether the value obeys."""
        return type(value) is int and 0 <= value <= self.max

    def accepts_all(self, values: npt.NDArray[np.integer[Any]]) -> bool:
        """Whether every entry of an array of integers obeys."""
        return not values.size or bool(values.min() >= 0 and values.max() <= self.max)

    def validate(self, value: Any, name: str) -> None:
        """Raise unless the value obeys."""
        rule = f"a whole number from 0 to {self.max}"
        require(self.accepts(value), name, rule, value)


@dataclass(frozen=True)
class Number:
    """A float from ``low`` to ``high``; NaN only where ``may_be_nan``."""

    low: float = -math.inf
    high: float = math.inf
    may_be_nan: bool = False

    def accepts(self, value: object) -> TypeGuard[float]:
        """Whether the value obeys."""
        return type(value) is float and (
            (math.isfinite(value) and self.low <= value <= self.high)
            or (self.may_be_nan and math.isnan(value))
        )

    def validate(self, value: Any, name: str) -> None:
        """Raise unless the value obeys."""
        rule = "a float that is finite" + (" and not negative" if self.low == 0 else "")
        require(self.accepts(value), name, rule, value)


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

    def validate(self, value: Any, name: str) -> None:
        """Raise unless the array obeys."""
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


@dataclass(frozen=True)
class OneOf:
    """One of these values, of the same type."""

    choices: tuple[Any, ...]

    def validate(self, value: Any, name: str) -> None:
        """Raise unless the value obeys."""
        right = any(type(value) is type(one) and value == one for one in self.choices)
        rule = f"one of {', '.join(map(repr, self.choices))}"
        require(right, name, rule, value)


@dataclass(frozen=True)
class StateOf:
    """A state of ``learner`` with so many features, of float64."""

    learner: Learner[Any]
    features: int

    def validate(self, value: Any, name: str) -> None:
        """Raise unless the state obeys."""
        try:
            persistence.state_check.check_state(self.learner, value)
        except (PersistenceError, InvalidParameterError) as error:
            why = str(error).rstrip(".")
            raise PersistenceError(
                f"its {name!r} is no state to go on from: {why}"
            ) from None
        theta, shape = value.theta, (self.features,)
        right = theta.shape == shape and theta.dtype == np.float64
        kind = type(self.learner).__name__
        rule = f"a state of {kind} with {self.features} features, of float64"
        require(right, name, rule, theta)


@dataclass(frozen=True)
class Condition:
    """What ``text`` says, where ``is_true`` was found out from several fields."""

    is_true: Any
    text: str

    def validate(self, value: Any, name: str) -> None:
        """Raise unless the condition is true."""
        require(self.is_true, name, self.text, value)


Rule = Count | Number | Array | OneOf | StateOf | Condition


def require(right: Any, name: str, rule: str, value: Any) -> None:
    """Raise unless ``right``, with the name of the value and the rule it breaks."""
    if not right:
        subject = f"its {name!r}" if name else "it"
        raise PersistenceError(f"{subject} must be {rule}. Got {value!r:.80} instead")


def _join(name: str, field: str) -> str:
    return f"{name}.{field}" if name else field


def _restore(kind: Any, value: Any, name: str) -> Any:
    """``value`` if it is of the annotated type ``kind``."""
    if kind is Any:
        return value
    if hasattr(kind, "_fields"):
        return _restore_record(kind, value, name)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        other = next(part for part in inner if part is not NoneType)
        return None if value is None else _restore(other, value, name)
    if origin is Annotated:
        validate_snapshot(inner[1], value, name)
        return value
    if origin is tuple:
        require(type(value) is tuple, name, "a tuple", value)
        return tuple(
            _restore(inner[0], part, f"{name}[{k}]") for k, part in enumerate(value)
        )
    if array_entry(kind) is not None:
        right = isinstance(value, np.ndarray) and value.dtype == np.float64
        require(right, name, "an array of float64", value)
        return np.ascontiguousarray(value)
    if origin is Literal:
        OneOf(inner).validate(value, name)
    elif kind is int:
        Count().validate(value, name)
    else:
        require(type(value) is kind, name, f"a {kind.__name__}", value)
    return value


def _restore_record(kind: Any, value: Any, name: str) -> Any:
    """A NamedTuple of the class ``kind`` from the fields that a file holds."""
    require(isinstance(value, Mapping), name, f"the fields of {kind.__name__}", value)
    for field in value:
        if field not in kind._fields:
            raise PersistenceError(
                f"its {_join(name, field)!r:.80} is no field of {kind.__name__}"
            )
    restored, hints = {}, _annotations(kind)
    for field in kind._fields:
        if field in value:
            restored[field] = _restore(hints[field], value[field], _join(name, field))
        elif field not in kind._field_defaults:
            raise PersistenceError(f"it comes without {_join(name, field)!r}")
    return kind(**restored)


@lru_cache(maxsize=256)
def _annotations(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)
