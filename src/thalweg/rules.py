"""Records in files, and the rules that their values obey.

There is one mechanism for whatever is saved, and no component writes its own:

1. All that changes in a component is a NamedTuple with annotated fields. Where the type
   says too little, a rule stands beside it::

       class ImputerState(NamedTuple):
           sums: Annotated[FloatArray, Array(("features",))]
           imputed: Annotated[int, Count("rounds * features")]

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
   ``FloatArray``           an array of float64 with an axis; NaN is allowed
   ``int``                  an integer from 0 to 2⁵³, as every count is
   ``Annotated[int, ...]``  an integer of which the rules say the range
   ``Annotated[X, ...]``    what X asks for, if it obeys the rules
   ``float``                a float; NaN is allowed
   ``str``, ``bool``        of this type exactly
   ``Any``                  anything: a rule has to follow
   =======================  =====================================================

3. ``validate_snapshot(ImputerState, state, name, scope)`` asks for the rules. Where
   a rule has text in the place of a number, it is an expression of names: those of the
   fields of the record, then of the records around it, of the attributes of the objects
   in ``scope`` (such as the component with its settings), and of the record's module.
   ``restore_snapshot`` does so too where it is given a scope.

Whatever is wrong raises ``PersistenceError`` with the path of the field in it. To add a
field is to add it to the NamedTuple, with a rule where its type says too little.
"""

import ast
import builtins
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from types import CodeType, ModuleType, NoneType, SimpleNamespace, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
import numpy.typing as npt

from thalweg.errors import PersistenceError
from thalweg.types import array_entry

MAX_COUNT = 2**53
"""Largest number of rounds, and of any count: float64 counts no further."""
T = TypeVar("T")
Bound = Any
"""A number, or an expression of one."""
UNIONS = (UnionType, Union)


def restore_snapshot(
    kind: type[T], value: Any, name: str = "", scope: tuple[Any, ...] | None = None
) -> T:
    """``value``, as read from a file, as a NamedTuple of the class ``kind``.

    ``name`` is what errors call the whole; a field's name is joined to it by a dot.
    With a ``scope``, be it empty, rules with expressions are asked for as well.
    """
    restored: T = _restore(kind, value, name)
    if scope is not None:
        validate_snapshot(kind, restored, name, scope)
    return restored


def validate_snapshot(
    rule: Any, snapshot: Any, name: str = "", scope: tuple[Any, ...] = ()
) -> None:
    """Raise ``PersistenceError`` unless the snapshot, or a part of it, obeys the rule.

    A rule is a ``ValueRule``, an expression of one, a mapping of fields to rules, a
    tuple of rules, or an annotation, such as a class of records. Names in expressions
    are looked up in the objects of ``scope``; ``name`` is as for ``restore_snapshot``.
    """
    rule = _evaluate(rule, scope) if type(rule) is str else rule
    if isinstance(rule, ValueRule):
        rule.resolve(scope).validate(snapshot, name)
    elif isinstance(rule, Mapping):
        require(hasattr(snapshot, "_fields"), name, "a record of fields", snapshot)
        for field, inner in rule.items():
            part = getattr(snapshot, field)
            validate_snapshot(inner, part, join_names(name, field), scope)
    elif type(rule) is tuple:
        require(len(snapshot) == len(rule), name, f"{len(rule)} parts", snapshot)
        for k, (inner, part) in enumerate(zip(rule, snapshot, strict=True)):
            validate_snapshot(inner, part, f"{name}[{k}]", scope)
    else:
        _validate_annotated(rule, snapshot, name, scope)


def _validate_annotated(
    kind: Any, value: Any, name: str, scope: tuple[Any, ...]
) -> None:
    """Ask for all rules in an annotation, of a value of the annotated type."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is None and hasattr(kind, "_fields"):
        scope = (value, sys.modules[kind.__module__], *scope)
        for field, hint in annotations_of(kind).items():
            part = getattr(value, field)
            _validate_annotated(hint, part, join_names(name, field), scope)
    elif origin is Annotated:
        rules = rules_of(kind)
        for given in (rule for rule in rules if isinstance(rule, Given)):
            scope = (given.evaluate(scope), *scope)
        _validate_annotated(inner[0], value, name, scope)
        for rule in rules:  # They may rely on legal parts.
            if not isinstance(rule, Given):
                validate_snapshot(rule, value, name, scope)
    elif origin in UNIONS and value is not None:
        _validate_annotated(_other_than_none(inner), value, name, scope)
    elif origin is tuple:
        for k, part in enumerate(value):
            _validate_annotated(inner[0], part, f"{name}[{k}]", scope)


class ValueRule:
    """What is asked of a value; fields named in ``EXPRESSIONS`` may be expressions."""

    EXPRESSIONS: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def is_open(self) -> bool:
        """Whether a field is an expression, which needs a scope."""
        return any(map(_is_open, map(self.__getattribute__, self.EXPRESSIONS)))

    def resolve(self, scope: tuple[Any, ...]) -> Any:
        """The rule with values in the place of expressions."""
        if not self.is_open:
            return self
        fields = {name: getattr(self, name) for name in self.EXPRESSIONS}
        values = {name: _evaluate(value, scope) for name, value in fields.items()}
        return replace(self, **values)  # type: ignore[type-var]

    def validate(self, value: Any, name: str) -> None:
        """Raise ``PersistenceError`` unless the value obeys."""
        raise NotImplementedError


@dataclass(frozen=True)
class Count(ValueRule):
    """An integer from ``min`` to ``max``."""

    max: Bound = MAX_COUNT
    min: Bound = 0
    EXPRESSIONS = ("max", "min")

    def accepts(self, value: object) -> TypeGuard[int]:
        """Whether the value obeys."""
        return type(value) is int and self.min <= value <= self.max

    def accepts_all(self, values: npt.NDArray[np.integer[Any]]) -> bool:
        """Whether every entry of an array of integers obeys."""
        return not values.size or bool(
            values.min() >= self.min and values.max() <= self.max
        )

    def validate(self, value: Any, name: str) -> None:
        """Raise unless the value obeys."""
        rule = f"a whole number from {self.min} to {self.max}"
        require(self.accepts(value), name, rule, value)


@dataclass(frozen=True)
class Number(ValueRule):
    """A float from ``low`` to ``high``; NaN only where ``may_be_nan``."""

    low: Bound = -math.inf
    high: Bound = math.inf
    whole: bool = False
    may_be_nan: bool = False
    EXPRESSIONS = ("low", "high")

    def accepts(self, value: object) -> TypeGuard[float]:
        """Whether the value obeys."""
        if type(value) is not float or math.isnan(value):
            return type(value) is float and self.may_be_nan
        is_legal = math.isfinite(value) and self.low <= value <= self.high
        return is_legal and (not self.whole or value.is_integer())

    def validate(self, value: Any, name: str) -> None:
        """Raise unless the value obeys."""
        rule = "a float that is finite" + (" and not negative" if self.low == 0 else "")
        rule += " and whole" if self.whole else ""
        rule += f", at most {self.high:g}" if self.high != math.inf else ""
        require(self.accepts(value), name, rule, value)


@dataclass(frozen=True)
class Array(ValueRule):
    """An array of float64; it may have any shape (None), an axis any length (None).

    ``whole`` asks for whole numbers; NaN and infinities are refused unless
    ``may_be_nan``.
    """

    shape: tuple[Bound, ...] | None
    low: Bound = -math.inf
    high: Bound = math.inf
    whole: bool = False
    may_be_nan: Bound = False
    EXPRESSIONS = ("shape", "low", "high", "may_be_nan")

    def validate(self, value: Any, name: str) -> None:
        """Raise unless the array obeys."""
        shape = np.shape(value) if self.shape is None else self.shape
        sides = "×".join("any" if side is None else str(side) for side in shape)
        kind = "numbers" if self.may_be_nan else "finite numbers"
        right = isinstance(value, np.ndarray) and value.dtype == np.float64
        right = right and len(value.shape) == len(shape)
        right = right and all(
            side in (None, length)
            for side, length in zip(shape, value.shape, strict=True)
        )
        right = right and (self.may_be_nan or np.isfinite(value).all())
        require(right, name, f"{sides} {kind}, of float64", value)
        known = value[~np.isnan(value)]
        right = ((known >= self.low) & (known <= self.high)).all()
        right = right and (not self.whole or (known == np.floor(known)).all())
        kind = "whole numbers" if self.whole else "numbers"
        require(right, name, f"{kind} from {self.low:g} to {self.high:.17g}", value)


@dataclass(frozen=True)
class Packed(ValueRule):
    """A buffer of ``layout`` with these dimensions, as kernels can go on from.

    ``given`` are further names in the ranges that the layout declares.
    """

    layout: Any  # a Layout: kernels/compiler/layout.py
    dimensions: Any  # a mapping, or an expression of one
    given: Any = None  # a mapping
    EXPRESSIONS = ("dimensions",)

    def validate(self, value: Any, name: str) -> None:
        """Raise unless size and numbers of the buffer obey."""
        size = self.layout.size(**self.dimensions)
        Array((size,), may_be_nan=True).validate(value, name)
        given = self.given or {}
        problems = self.layout.problems(value, given, **self.dimensions)
        for part, rule, numbers in problems:
            require(False, join_names(name, part), rule, numbers)


@dataclass(frozen=True)
class OneOf(ValueRule):
    """One of these values, of the same type."""

    choices: tuple[Any, ...]

    def validate(self, value: Any, name: str) -> None:
        """Raise unless the value obeys."""
        right = any(type(value) is type(one) and value == one for one in self.choices)
        rule = f"one of {', '.join(map(repr, self.choices))}"
        require(right, name, rule, value)


@dataclass(frozen=True)
class Condition(ValueRule):
    """What ``text`` says: an expression, or what was found out from several fields."""

    is_true: Any
    text: str
    EXPRESSIONS = ("is_true",)

    def validate(self, value: Any, name: str) -> None:
        """Raise unless the condition is true."""
        require(self.is_true, name, self.text, value)


class Given:
    """Values of further names, as expressions, for the rules of an annotated record."""

    def __init__(self, **names: str) -> None:
        self.names = names

    def evaluate(self, scope: tuple[Any, ...]) -> SimpleNamespace:
        """The names with their values."""
        values = {name: _evaluate(text, scope) for name, text in self.names.items()}
        return SimpleNamespace(**values)


def require(right: Any, name: str, rule: str, value: Any) -> None:
    """Raise unless ``right``, with the name of the value and the rule it breaks."""
    if not right:
        subject = f"its {name!r}" if name else "it"
        raise PersistenceError(f"{subject} must be {rule}. Got {value!r:.80} instead")


def obeys(kind: Any, value: Any, scope: tuple[Any, ...] = ()) -> bool:
    """Whether a record has values of the types and ranges that its class declares."""
    try:
        restore_snapshot(kind, value, "", scope)
    except PersistenceError:
        return False
    return True


def join_names(name: str, field: str) -> str:
    """The path of a field; either part may be empty."""
    return f"{name}.{field}" if name and field else name or field


def rules_of(kind: Any) -> tuple[Any, ...]:
    """The rules in an annotation."""
    if get_origin(kind) is not Annotated:
        return ()
    return tuple(rule for rule in get_args(kind)[1:] if rule is not None)


def _is_open(value: Any) -> bool:
    return any(map(_is_open, value)) if type(value) is tuple else type(value) is str


def _evaluate(value: Any, scope: tuple[Any, ...]) -> Any:
    """The value of an expression, or of each in a tuple; of others themselves."""
    if type(value) is tuple:
        return tuple(_evaluate(part, scope) for part in value)
    if type(value) is not str:
        return value
    code, names = _compile(value)
    return eval(code, {name: _look_up(name, value, scope) for name in names})


@lru_cache(maxsize=1024)
def _compile(expression: str) -> tuple[CodeType, frozenset[str]]:
    """The code of an expression, and the names that it uses."""
    tree = ast.parse(expression, mode="eval")
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    used = frozenset(node.id for node in names) - own
    return compile(tree, f"<rule {expression}>", "eval"), used


def _look_up(name: str, expression: str, scope: tuple[Any, ...]) -> Any:
    # A module must not hide what a record or a caller gives by the same name.
    places = sorted(scope, key=lambda place: isinstance(place, ModuleType))
    for place in (*places, builtins):
        if hasattr(place, name):
            return getattr(place, name)
    raise NameError(f"{name!r} in the rule {expression!r} is not known")


def _other_than_none(kinds: tuple[Any, ...]) -> Any:
    return next(kind for kind in kinds if kind is not NoneType)


def _restore(kind: Any, value: Any, name: str) -> Any:
    """``value`` if it is of the annotated type ``kind``."""
    if kind is Any:
        return value
    origin, inner = get_origin(kind), get_args(kind)
    if origin is None and hasattr(kind, "_fields"):
        return _restore_record(kind, value, name)
    if origin in UNIONS:
        return None if value is None else _restore(_other_than_none(inner), value, name)
    if origin is Annotated:
        if inner[0] is int:
            require(type(value) is int, name, "a whole number", value)
        else:
            value = _restore(inner[0], value, name)
        for rule in rules_of(kind):
            if isinstance(rule, ValueRule) and not rule.is_open:
                rule.validate(value, name)
        return value
    if origin is tuple:
        require(type(value) is tuple, name, "a tuple", value)
        return tuple(
            _restore(inner[0], part, f"{name}[{k}]") for k, part in enumerate(value)
        )
    if array_entry(kind) is not None:
        right = isinstance(value, np.ndarray) and value.dtype == np.float64
        require(right and value.ndim > 0, name, "an array of float64", value)
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
    value = value._asdict() if type(value) is kind else value
    require(isinstance(value, Mapping), name, f"the fields of {kind.__name__}", value)
    for field in value:
        if field not in kind._fields:
            raise PersistenceError(
                f"its {join_names(name, field)!r:.80} is no field of {kind.__name__}"
            )
    restored, hints = {}, annotations_of(kind)
    for field in kind._fields:
        if field in value:
            restored[field] = _restore(
                hints[field], value[field], join_names(name, field)
            )
        elif field not in kind._field_defaults:
            raise PersistenceError(f"it comes without {join_names(name, field)!r}")
    return kind(**restored)


@lru_cache(maxsize=256)
def annotations_of(kind: Any) -> dict[str, Any]:
    """The annotations of a record's fields, with their rules."""
    return get_type_hints(kind, include_extras=True)
