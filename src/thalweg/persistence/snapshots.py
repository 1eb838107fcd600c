"""Components: what changes in them is saved as a record of their fields (rules.py).

Classes derived from ``Component`` get ``snapshot`` and ``restore`` from their
``Snapshot`` class. Its rules may name the attributes of the component, and
``component`` itself where a field has the same name.
"""

import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, get_args, get_origin

import numpy as np

from thalweg import persistence
from thalweg.errors import InvalidParameterError, PersistenceError
from thalweg.rules import (
    ValueRule,
    annotations_of,
    join_names,
    require,
    rules_of,
    validate_snapshot,
)


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
        module = sys.modules[self.Snapshot.__module__]
        scope = (snapshot, self, module, SimpleNamespace(component=self))
        for field, hint in annotations_of(self.Snapshot).items():
            if isinstance(getattr(self, field), Component | list):
                # Such a part asks for its own rules, which name its own settings.
                hint = _without_parts(hint)
            part, path = getattr(snapshot, field), join_names(name, field)
            validate_snapshot(hint, part, path, scope)
        for field in self.Snapshot._fields:
            part, path = getattr(snapshot, field), join_names(name, field)
            self._restore_field(field, part, path)

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


def _without_parts(hint: Any) -> Any:
    """An annotation with its own rules, but not those of the fields of its records."""
    rules = rules_of(hint)
    kind = get_args(hint)[0] if rules else hint
    is_tuple = get_origin(kind) is tuple
    part = tuple[_without_parts(get_args(kind)[0]), ...] if is_tuple else Any  # type: ignore[misc]
    return Annotated[part, None, *rules]


def _attribute_snapshot(attribute: Any) -> Any:
    if isinstance(attribute, Component):
        return attribute.snapshot()
    if isinstance(attribute, list):
        return tuple(component.snapshot() for component in attribute)
    return getattr(attribute, "state", attribute)


@dataclass(frozen=True)
class StateOf(ValueRule):
    """A state of ``learner`` with ``n`` features, of float64."""

    learner: Any  # a Learner, or an expression of one, as is the number
    features: Any
    EXPRESSIONS = ("learner", "features")

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
