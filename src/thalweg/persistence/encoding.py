"""Encoding of values as JSON, with their arrays as raw bytes after it.

=======================  =====================================================
value                    JSON
=======================  =====================================================
None, bool, int, str     itself; an int has at most 64 bits
float                    itself, as ``repr`` writes it; ``{"float": "inf"}``
tuple                    a list
array                    ``{"array": dtype, "order", "shape", "offset"}``
NumPy scalar             ``{"scalar": dtype, "offset"}``
learner, loss, domain    ``{"class": name, "settings": {...}}``
state of a learner       ``{"state": name, "layout": 1, "fields": {...}}``
other NamedTuple         ``{"record": {...}}``, read as a dict: rules.py
=======================  =====================================================

``layout`` is the ``layout_version`` of a state whose class declares one: the version of
what lies where in its packed arrays. A state of another version is refused. ``fields``
are those of the class's ``stored_kind``, where it declares one: ``to_stored`` makes it
of a state, and ``from_stored`` a state of it.
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from thalweg.errors import PersistenceError, UnsupportedLossError
from thalweg.losses import Loss
from thalweg.persistence.registry import (
    RENAMED_CLASSES,
    RENAMED_FIELDS,
    SETTINGS,
    STATES,
)

DTYPES = ("|b1", "<i4", "<i8", "<f4", "<f8")
NOT_FINITE = ("nan", "inf", "-inf")
LAYOUT_VERSION = "layout_version"
"""Class attribute of a state with packed arrays, which states without have not."""
STORED_KIND = "stored_kind"
"""Class attribute of a state that is stored in another form: a NamedTuple."""
MAX_DEPTH = 32
"""Levels of nesting; a mixture of mixtures takes six."""
MAX_AXES = 8


class Writer:
    """Turns values into JSON and collects the bytes of their arrays."""

    def __init__(self) -> None:
        self.arrays: list[bytes] = []
        self.size = 0

    def write(self, value: Any, depth: int = 0) -> Any:
        """``value`` as what ``json.dumps`` takes."""
        _check_depth(depth)
        if value is None or type(value) in (bool, str, int):
            return _short(value)
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value)
        if type(value) is tuple:
            return [self.write(part, depth + 1) for part in value]
        if _is_record(value):
            return {"record": self._fields(value, depth)}
        return self._object(value, depth)

    def _array(self, value: Any) -> dict[str, Any]:
        dtype = value.dtype.newbyteorder("<").str
        if dtype not in DTYPES:
            raise PersistenceError(f"arrays of {value.dtype} cannot be saved")
        at = self.size
        # BLAS sums in another order where an array lies in another order.
        order = "F" if value.flags.fnc else "C"
        self.arrays.append(value.astype(dtype).tobytes(order))
        self.size += value.nbytes
        if isinstance(value, np.generic):
            return {"scalar": dtype, "offset": at}
        shape = list(value.shape)
        return {"array": dtype, "order": order, "shape": shape, "offset": at}

    def _object(self, value: Any, depth: int) -> dict[str, Any]:
        kind = type(value)
        name = kind.__name__
        if STATES.get(name) is kind:
            version = getattr(kind, LAYOUT_VERSION, None)
            layout = {} if version is None else {"layout": version}
            if hasattr(kind, STORED_KIND):
                value = value.to_stored()
            return {"state": name, **layout, "fields": self._fields(value, depth)}
        if SETTINGS.get(name) is kind:
            settings = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
            written = {n: self.write(v, depth + 1) for n, v in settings.items()}
            return {"class": name, "settings": written}
        error = UnsupportedLossError if isinstance(value, Loss) else PersistenceError
        raise error(
            f"{name} is not one of thalweg's own classes of settings and cannot be "
            "saved: a file holds numbers, never code."
        )

    def _fields(self, value: Any, depth: int) -> dict[str, Any]:
        parts = value if type(value) is dict else value._asdict()
        return {name: self.write(part, depth + 1) for name, part in parts.items()}


class Reader:
    """Turns JSON back into values; each array is taken from ``data`` once."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.at = 0

    def read(self, node: Any, depth: int = 0) -> Any:
        """The value that ``node`` stands for."""
        _check_depth(depth)
        if isinstance(node, list):
            return tuple(self.read(part, depth + 1) for part in node)
        if not isinstance(node, dict):
            return _short(node)
        if "array" in node or "scalar" in node:
            return self._array(node)
        if "class" in node:
            return self._settings(node, depth)
        if "state" in node:
            return self._state(node, depth)
        if isinstance(node.get("record"), dict):
            return {n: self.read(v, depth + 1) for n, v in node["record"].items()}
        if node.get("float") in NOT_FINITE:
            return float(node["float"])
        raise PersistenceError(
            f"its header holds an unknown kind of value: {node!r:.80}"
        )

    def _array(self, node: dict[str, Any]) -> Any:
        scalar = "scalar" in node
        dtype = node.get("scalar" if scalar else "array")
        shape, order = node.get("shape", []), node.get("order", "C")
        if dtype not in DTYPES or order not in ("C", "F") or not _is_shape(shape):
            raise PersistenceError(f"its header describes no array: {node!r:.80}")
        size = np.dtype(dtype).itemsize * math.prod(shape)
        end = self.at + size
        # One array begins where the last one ended, so all of them together are no
        # larger than the file.
        if node.get("offset") != self.at or end > len(self.data):
            raise PersistenceError(f"an array lies outside its place: {node!r:.80}")
        chunk, self.at = self.data[self.at : end], end
        if dtype == "|b1" and not set(chunk.tobytes()) <= {0, 1}:
            raise PersistenceError("a truth value is neither true nor false")
        try:
            raw: Any = np.ndarray(tuple(shape), dtype, buffer=chunk, order=order)
        except (ValueError, OverflowError):  # 0 × 2⁶² numbers
            raise PersistenceError(f"no array has the shape {shape}") from None
        array = np.array(raw, np.dtype(dtype).newbyteorder("="), order="K")
        return array[()] if scalar else array

    def _settings(self, node: dict[str, Any], depth: int) -> Any:
        kind = _class_of_name(SETTINGS, node["class"])
        defaults = {
            field.name: field.default is not MISSING
            for field in fields(kind)
            if field.init
        }
        settings = _with_new_names(kind, node.get("settings"))
        given = self._parts(kind, settings, defaults, depth)
        try:
            with np.errstate(all="ignore"):
                return kind(**given)
        except Exception as error:  # whatever a setting no one has tried may lead to
            raise PersistenceError(f"{kind.__name__} refuses: {error}") from None

    def _state(self, node: dict[str, Any], depth: int) -> Any:
        kind = _class_of_name(STATES, node["state"])
        _check_layout(kind, node.get("layout", 1))
        form = getattr(kind, STORED_KIND, kind)
        defaults = {name: name in form._field_defaults for name in form._fields}
        named = _with_new_names(kind, node.get("fields"))
        stored = form(**self._parts(kind, named, defaults, depth))
        return stored if form is kind else kind.from_stored(stored)

    def _parts(
        self, kind: type[Any], node: Any, defaults: dict[str, bool], depth: int
    ) -> dict[str, Any]:
        """The fields of ``kind``; those that came later may be missing."""
        if not isinstance(node, dict):
            raise PersistenceError(f"{kind.__name__} comes without its fields")
        needed = {name for name, default in defaults.items() if not default}
        if not needed <= set(node) <= set(defaults):
            raise PersistenceError(
                f"{kind.__name__} has other fields in this version: "
                f"{', '.join(defaults)}. The file has {', '.join(node):.80}"
            )
        return {name: self.read(value, depth + 1) for name, value in node.items()}


def _is_record(value: Any) -> bool:
    """Whether ``value`` is a NamedTuple, but no state of a learner; or read as one."""
    kind = type(value)
    if kind is dict:
        return True
    is_named_tuple = isinstance(value, tuple) and hasattr(kind, "_fields")
    return is_named_tuple and STATES.get(kind.__name__) is not kind


def _class_of_name(known: Mapping[str, type[Any]], name: Any) -> type[Any]:
    if isinstance(name, str):
        name = RENAMED_CLASSES.get(name, name)
    if not isinstance(name, str) or name not in known:
        raise PersistenceError(f"this version has no class called {name!r:.80}")
    return known[name]


def _with_new_names(kind: type[Any], settings: Any) -> Any:
    """Settings or fields as a file names them, by their names in this version."""
    new_names = RENAMED_FIELDS.get(kind.__name__, {})
    if not isinstance(settings, dict):
        return settings
    return {new_names.get(name, name): value for name, value in settings.items()}


def _check_layout(kind: type[Any], version: Any) -> None:
    """Refuse packed arrays in which something else lies where this version looks."""
    current = getattr(kind, LAYOUT_VERSION, 1)
    if type(version) is not int or version != current:
        raise PersistenceError(
            f"its state was saved with layout {version!r:.20} of {kind.__name__}; this "
            f"version reads layout {current}: load it with the thalweg that wrote it, "
            "or train the model again"
        )


def _short(value: Any) -> Any:
    """``value`` if JSON readers in every language can hold it."""
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise PersistenceError("an integer has more than 64 bits")
    if type(value) is float and not math.isfinite(value):
        raise PersistenceError("a number in its header is too large")
    return value


def _is_shape(shape: Any) -> bool:
    return (
        isinstance(shape, list)
        and len(shape) <= MAX_AXES
        and all(type(side) is int and 0 <= side < 2**63 for side in shape)
    )


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise PersistenceError(f"it is nested deeper than {MAX_DEPTH} levels")
