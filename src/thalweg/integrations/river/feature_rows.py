"""Rows of River, dicts by key, as rows of numbers: keys may come and go.

Keys are whatever a dict takes: text, whole numbers, tuples. Each has a place from the
round on in which it was first learnt; a key that a row lacks counts as 0. New keys come
behind the others in the order of their text, so that the order of a dict does not
matter.
"""

import struct
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
from river.utils import dataframe

from thalweg.checks import MAX_MAGNITUDE, is_legal
from thalweg.errors import StreamError
from thalweg.models import Classifier, Online
from thalweg.types import FloatArray

Model = TypeVar("Model", Online, Classifier)

MAX_VALUE = MAX_MAGNITUDE[np.dtype(np.float64)]
UNREADABLE = (KeyError, struct.error, TypeError, ValueError, OverflowError)
"""Exceptions for a row with other keys, or with values that are not numbers."""


class FeatureRows:
    """Reads rows of numbers by key into one array, which the next row overwrites.

    ``width`` is the length of that array: as many places as there are keys, or one more
    where there is no key yet and the model needs a feature. The first key takes it.

    Of a plain dict with ``len(x) == size``, ``pack(*get(x))`` is the fast path of
    ``read``, for estimators in which a call of it would take too long. It raises one of
    ``UNREADABLE`` for a row that takes the slow path. Other dicts have values for keys
    that they lack (``Counter``), or even add them (``defaultdict``).
    """

    __slots__ = ("_known", "_what", "get", "keys", "pack", "row", "size", "width")

    def __init__(
        self, keys: Sequence[Hashable] = (), least_width: int = 0, what: str = "feature"
    ) -> None:
        self._what = what  # in messages
        self.keys, self._known = tuple(keys), frozenset(keys)
        self.width = max(len(keys), least_width)
        # Of one key alone ``itemgetter`` gives no tuple: it is then read twice.
        names = self.keys * 2 if len(keys) == 1 else self.keys
        self.get: Any = itemgetter(*names) if keys else None
        places = np.zeros(max(len(names), self.width))
        write = struct.Struct(f"{len(names)}d").pack_into
        # Arguments before a ``*`` would be copied to a list, then to a tuple.
        self.pack: Any = partial(write, places.data, 0)
        self.row = places[: self.width]
        self.size = len(keys) if keys else -1  # of rows that ``read`` reads

    def __reduce__(self) -> Any:  # A Struct cannot be pickled.
        return FeatureRows, (self.keys, self.width, self._what)

    def read(self, x: Mapping[Any, Any]) -> FloatArray | None:
        """The row (width,) of a dict with exactly these keys and numbers; else None."""
        if type(x) is not dict or len(x) != self.size:
            return None
        try:
            self.pack(*self.get(x))
        except UNREADABLE:
            return None
        return self.row

    def read_any(self, x: Mapping[Any, Any]) -> FloatArray:
        """``read`` where it can, which lets NaN pass, else ``complete``."""
        row = self.read(x)
        return self.complete(x) if row is None else row

    def complete(self, x: Mapping[Any, Any]) -> FloatArray:
        """The row (width,), 0 for keys that x lacks; raises where it has no number.

        Keys that are not known are left out.
        """
        values = [x.get(key, 0.0) for key in self.keys]
        try:
            self.pack(*values, *values[: len(values) == 1])
            is_plain = is_legal(self.row)
        except UNREADABLE:
            is_plain = False
        if not is_plain:  # find out which it is
            self.row[: len(values)] = [
                _as_number(self._what, key, value)
                for key, value in zip(self.keys, values, strict=True)
            ]
        return self.row

    def arrange(self, keys: Sequence[Hashable], values: FloatArray) -> FloatArray:
        """Rows (T, width) of values (T, m) by key, 0 for keys that are not given."""
        rows = np.zeros((len(values), self.width))
        places = {key: place for place, key in enumerate(self.keys)}
        for column, key in enumerate(keys):
            if key in places:
                rows[:, places[key]] = values[:, column]
        return rows

    def new_keys(self, keys: Collection[Hashable]) -> list[Hashable]:
        """Those of ``keys`` that have no place yet, in the order of their text."""
        if self._known.issuperset(keys):
            return []
        new = [key for key in keys if key not in self._known]
        return sorted(new, key=lambda key: (str(key), type(key).__name__))

    def with_keys(self, keys: Iterable[Hashable]) -> "FeatureRows":
        """The same with places for further keys."""
        return FeatureRows((*self.keys, *keys), self.width, self._what)


def with_places(
    rows: FeatureRows, model: Model, keys: Collection[Hashable]
) -> tuple[FeatureRows, Model]:
    """The rows and the model with a place for each of these keys.

    Where there are new ones both are copies, so that the caller can take them once a
    round is learnt. There may be as many as ``max_features`` of the learner says, or as
    the first row has.
    """
    new = rows.new_keys(keys)
    if not new:
        return rows, model
    after = rows.with_keys(new)
    added = list(range(rows.width, after.width))
    if added and model.rounds:
        limit = type(model.learner).max_features
        if after.width > limit:
            raise StreamError(
                f"{type(model.learner).__name__} takes at most {limit:,} features that "
                f"come one after the other. Got one more, "
                f"{after.keys[max(limit, rows.width)]!r:.80}."
            )
        model = model.clone()
        model.add_features(added)
    return after, model


def read_frame(frame: Any) -> tuple[list[Hashable], FloatArray]:
    """The names of a data frame's columns, and its numbers (T, m).

    ``frame`` is any that River takes, by ``dataframe.into_frame``.
    """
    names = list(frame.columns)
    try:
        values = dataframe.to_numpy(frame)
    except (TypeError, ValueError, OverflowError):
        values = np.empty((len(frame), len(names)))
        for column, name in enumerate(names):
            cells = frame[:, column].to_list()
            values[:, column] = [_as_number("feature", name, cell) for cell in cells]
    is_large = ~(np.abs(values) <= MAX_VALUE)  # or missing
    if is_large.any():
        row, column = np.argwhere(is_large)[0]
        _as_number("feature", names[column], float(values[row, column]))
    return names, values


def _as_number(what: str, key: Hashable, value: Any) -> float:
    """The value of a feature or target, which must be a legal number."""
    try:
        number = struct.unpack("d", struct.pack("d", value))[0]
    except UNREADABLE:
        is_text = what == "feature" and type(value) is str
        hint = " OneHotEncoder makes numbers of text." if is_text else ""
        raise StreamError(
            f"The {what} {key!r} must be a number. Got {value!r:.80} instead.{hint}"
        ) from None
    if not abs(number) <= MAX_VALUE:
        raise StreamError(
            f"The {what} {key!r} must be finite and at most {MAX_VALUE:g} in size. "
            f"Got {number!r} instead."
        )
    return float(number)
