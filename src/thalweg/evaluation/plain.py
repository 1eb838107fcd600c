"""Frozen dataclasses as plain lists, numbers and strings, and back, for JSON."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

SCALARS = {int, float, str}


def plain(value: Any) -> Any:
    """What JSON can hold. NaN and infinities, which it cannot, become their names."""
    if is_dataclass(value):
        return {part.name: plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value


def restored(kind: Any, value: Any) -> Any:
    """A ``kind`` from what ``plain`` made of it.

    Raises ValueError, TypeError or KeyError where it was something else.
    """
    if kind in SCALARS:
        return _scalar(kind, value)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        make: Any = kind
        # What an older file does not have yet is left to its default.
        parts = [one.name for one in fields(kind) if _is_there(one, value)]
        return make(**{name: restored(hints[name], value[name]) for name in parts})
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        other = next(part for part in inner if part is not NoneType)
        return None if value is None else restored(other, value)
    if origin is np.ndarray:
        integers = inner[1] == np.dtype[np.int64]
        entry = int if integers else float
        return np.array([_scalar(entry, part) for part in value], entry)
    if origin is tuple:
        kinds = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(restored(*part) for part in zip(kinds, value, strict=True))
    return {str(name): restored(inner[1], part) for name, part in value.items()}


def _is_there(part: Field[Any], value: Any) -> bool:
    return part.default is MISSING or part.name in value


def _scalar(kind: Any, value: Any) -> Any:
    # float('nan') is NaN: the names that plain gives are read by float itself.
    named = kind is float and value in ("nan", "inf", "-inf")
    expected = int | float if kind is float else kind
    if isinstance(value, bool) or not (named or isinstance(value, expected)):
        raise ValueError(f"{value!r} stands where a {kind.__name__} should")
    return kind(value)
