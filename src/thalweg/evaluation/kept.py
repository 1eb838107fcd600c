"""What a file holds of a run, held to what a run could have left.

A checksum is no proof that a run was ever there, and kernels check nothing: whatever
is resumed is refused by name unless it is of the type, size and range of its own.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from thalweg.errors import PersistenceError
from thalweg.learners import Learner
from thalweg.types import FloatArray

LONGEST = 2**53
"""Rounds of a run at most: float64 counts no further."""
Check = Callable[[Learner[Any], Any], None]
"""Raises ``PersistenceError`` unless a state is one of the learner's."""


def need(right: Any, what: str) -> None:
    """Raise unless ``what`` was found right."""
    if not right:
        raise PersistenceError(f"its {what} could not have come of a run")


def parts(what: str, value: Any, count: int) -> tuple[Any, ...]:
    """A tuple of so many parts."""
    need(type(value) is tuple and len(value) == count, what)
    return tuple(value)


def whole(what: str, value: Any, most: int = LONGEST) -> int:
    """A count from 0 to ``most``."""
    need(type(value) is int and 0 <= value <= most, what)
    return int(value)


def amount(what: str, value: Any) -> float:
    """A number that is finite and not negative."""
    need(type(value) is float and 0 <= value < math.inf, what)
    return float(value)


def numbers(what: str, value: Any, shape: tuple[int, ...]) -> FloatArray:
    """An array of float64 and of this shape."""
    need(isinstance(value, np.ndarray) and value.dtype == np.float64, what)
    need(value.shape == shape, what)
    return np.ascontiguousarray(value)


def finite(what: str, value: Any, shape: tuple[int, ...]) -> FloatArray:
    """The same, and no number in it is NaN or infinite."""
    found = numbers(what, value, shape)
    need(np.isfinite(found).all(), what)
    return found
