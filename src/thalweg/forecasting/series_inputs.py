"""Inputs of a forecaster: values with times, and rows of covariates."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from thalweg import checks, models
from thalweg.calendar.time_grid import (
    Times,
    as_times,
    as_whole_times,
    has_offset,
)
from thalweg.checks import MAX_MAGNITUDE
from thalweg.errors import StreamError
from thalweg.models.named_rows import read_chunk
from thalweg.types import FloatArray

NAIVE, WHOLE = "none", "whole numbers"
"""In place of a zone: times without one, and whole numbers."""
LARGEST = MAX_MAGNITUDE[np.dtype(np.float64)]


class Series(NamedTuple):
    """Values in order of time."""

    y: FloatArray  # (T,) NaN where one is missing
    times: Times | None  # (T,)
    zone: str | None = None  # of the times; NAIVE, WHOLE, or None without times
    clock_times: Times | None = None  # (T,) as clocks of the zone show them

    def before(self, first: int) -> "Series":
        """The first rows alone."""
        return self._take(slice(first))

    def after(self, first: int) -> "Series":
        """Without the first rows."""
        return self._take(slice(first, None))

    def by_clock(self) -> "Series":
        """With times as clocks of the zone show them."""
        return self._replace(times=self.clock_times)

    def join(self, later: "Series") -> "Series":
        """Both, one after the other."""
        times, clock_times = (
            None if one is None or other is None else np.append(one, other)
            for one, other in (
                (self.times, later.times),
                (self.clock_times, later.clock_times),
            )
        )
        return Series(np.append(self.y, later.y), times, self.zone, clock_times)

    def _take(self, rows: slice) -> "Series":
        times, clock_times = (
            None if part is None else part[rows]
            for part in (self.times, self.clock_times)
        )
        return Series(self.y[rows], times, self.zone, clock_times)


class GivenRows(NamedTuple):
    """Features given with values."""

    x: FloatArray  # (T, m)
    names: tuple[str, ...] | None  # None where they came without names


def as_series(y: Any, times: Any = None) -> Series:
    """One value or many, with their times: ``times``, or the index of a Series."""
    if times is None:
        times = index_times(y)
    _refuse_frame(y)
    array = y
    if y is None or (isinstance(y, Sequence) and any(value is None for value in y)):
        array = [
            np.nan if value is None else value for value in ([y] if y is None else y)
        ]
    elif hasattr(y, "to_numpy"):
        array = _as_floats(y)
    values = np.atleast_1d(checks.check_numbers("values y", array)).astype(np.float64)
    if values.ndim != 1:
        raise StreamError(
            f"A forecaster takes one series, (T,) values. Got shape {values.shape}."
        )
    is_bad = np.isinf(values) | (np.abs(values) > LARGEST)
    if is_bad.any():
        at = int(is_bad.argmax())
        raise StreamError(
            f"Row {at} of y (counted from 0) must be finite and at most {LARGEST:g} in "
            f"size, or NaN where it is missing. Got {values[at]} instead."
        )
    stamps, zone, clock_times = read_times(times)
    if stamps is not None and len(stamps) != len(values):
        raise StreamError(
            f"A forecaster needs one time for each value. Got {len(values)} values and "
            f"{len(stamps)} times."
        )
    return Series(values, stamps, zone, clock_times)


def read_times(times: Any) -> tuple[Times | None, str | None, Times | None]:
    """Times as instants, their zone, and as clocks of that zone show them."""
    if times is None:
        return None, None, None
    if hasattr(times, "dt") and hasattr(times, "index"):  # a Series of pandas
        times = times.array
    zone = getattr(getattr(times, "dtype", None), "tz", None)
    if zone is not None and hasattr(times, "tz_localize"):
        stamps = as_times(times.tz_convert("UTC").tz_localize(None))
        return stamps, str(zone), as_times(times.tz_localize(None))
    array = np.atleast_1d(np.asarray(times))
    if array.dtype.kind in "iu":
        return as_whole_times(array), WHOLE, None
    zones = {str(value.tzinfo) for value in array.flat if _has_zone(value)}
    stamps = as_times(times)
    if zones:
        local = [v.replace(tzinfo=None) if _has_zone(v) else v for v in array.flat]
        return stamps, sorted(zones)[0], as_times(local)
    texts = array.astype(str) if array.dtype.kind in "UO" else ()
    is_zoned = any(has_offset(text) for text in texts)
    return stamps, "UTC" if is_zoned else NAIVE, stamps


def _has_zone(value: Any) -> bool:
    return getattr(value, "tzinfo", None) is not None


def as_given_rows(x: Any, rows: int, names: tuple[str, ...] | None) -> GivenRows:
    """Features of ``rows`` rows: arrays, dicts or data frames of numbers.

    ``names`` are those of earlier rows, which determine the order; None before the
    first row with names.
    """
    if x is None:
        return GivenRows(np.empty((rows, 0)), names)
    given: dict[str, Any]
    if isinstance(x, Mapping):
        chunk, given = None, {str(key): [value] for key, value in x.items()}
    else:
        chunk = read_chunk(x)
        given = {} if chunk is None else models.columns.number_columns(chunk)
    if given:
        order = tuple(given) if names is None else names
        if set(order) != set(given):
            raise StreamError(
                f"The features of a forecaster are {', '.join(order)}. "
                f"Got {', '.join(given)} instead."
            )
        x, names = np.column_stack([given[name] for name in order]), order
    array = checks.check_numbers("features x", x).astype(np.float64)
    if array.ndim < 2 and rows and array.size % rows == 0:
        array = array.reshape(rows, -1)
    if array.ndim != 2 or len(array) != rows:
        raise StreamError(
            f"A forecaster needs one row of features for each value. Got {rows} values "
            f"and features of shape {array.shape}."
        )
    is_bad = np.abs(array) > LARGEST
    if is_bad.any():
        row, column = np.argwhere(is_bad)[0].tolist()
        name = column if names is None else names[column]
        raise StreamError(
            f"Feature {name} of row {row} (counted from 0) must be finite and at most "
            f"{LARGEST:g} in size, or NaN where it is missing. Got "
            f"{array[row, column]} instead."
        )
    return GivenRows(np.ascontiguousarray(array), names)


def fill_features(
    given: FloatArray, before: FloatArray | None, names: Sequence[str],
    known: Sequence[bool],
) -> FloatArray:  # fmt: skip
    """Features (T, m) with the row before in place of what is missing.

    ``before`` is the last row of earlier ones. What is known in advance, or has no row
    before it, must not be missing.
    """
    is_missing = np.isnan(given)
    is_first = is_missing.cumprod(axis=0).astype(bool)
    is_refused = is_missing & np.asarray(known, bool)
    if before is None:
        is_refused |= is_first
    if is_refused.any():
        row, column = np.argwhere(is_refused)[0].tolist()
        rule = "is known in advance" if known[column] else "has no value before it"
        raise StreamError(
            f"Feature {names[column]} is missing in row {row} (counted from 0), where "
            f"it {rule}. Fill it in, or leave the feature out."
        )
    rows = np.where(is_missing, 0, np.arange(1, len(given) + 1)[:, None])
    last = np.maximum.accumulate(rows, axis=0)
    first = np.zeros(given.shape[1]) if before is None else before
    padded = np.concatenate([first[None], given])
    return np.ascontiguousarray(np.take_along_axis(padded, last, axis=0))


def require_same_times(x: Any, series: Series) -> None:
    """Raise where features have an index of times that is not that of the values."""
    times = index_times(x)
    if times is None or series.times is None:
        return
    own = read_times(times)[0]
    assert own is not None
    if len(own) != len(series.times):
        return
    if (own != series.times).any():
        row = int((own != series.times).argmax())
        raise StreamError(
            "The features x have times of their own, and in row "
            f"{row} (counted from 0) theirs is {own[row]}, where that of y is "
            f"{series.times[row]}. Align them, or pass x.to_numpy() if rows are in "
            "order."
        )


def _refuse_frame(y: Any) -> None:
    columns = getattr(y, "columns", None)
    if columns is not None and not callable(columns):
        names = [str(name) for name in columns]
        raise StreamError(
            f"A forecaster takes one series. Got a data frame of the columns "
            f"{', '.join(names):.80}: choose one, such as df[{names[0]!r}]."
            if names
            else "A forecaster takes one series. Got a data frame without columns."
        )


def _as_floats(y: Any) -> Any:
    """A Series of any library; missing values of nullable types become NaN."""
    try:
        return np.asarray(y.to_numpy(), np.float64)
    except (TypeError, ValueError):
        return np.asarray(y)


def index_times(y: Any) -> Any:
    """The index of a Series of pandas, if it is one of times."""
    index = getattr(y, "index", None)
    if index is None or callable(index):
        return None
    if hasattr(index, "to_timestamp"):  # a PeriodIndex
        index = index.to_timestamp()
    dtype = getattr(index, "dtype", None)
    return index if getattr(dtype, "kind", "") == "M" else None
