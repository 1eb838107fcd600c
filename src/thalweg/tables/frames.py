"""Data frames of other libraries as chunks, by narwhals, which is imported only here.

pandas (nullable types too), polars eager and lazy, pyarrow tables, DuckDB relations and
whatever else narwhals knows. Cells are read as those of a Parquet file: text, times and
missing values mean what they mean there.
"""

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.exceptions import NarwhalsError

from thalweg.calendar.row_clock import ALMOST_A_DAY, as_stamps
from thalweg.calendar.time_grid import as_whole_times
from thalweg.errors import StreamError
from thalweg.tables.arrow_cells import ArrowCells
from thalweg.tables.cell_formats import FormatSettings, detect_formats
from thalweg.tables.chunk import FRAME, Chunk
from thalweg.tables.column_format import ColumnFormat
from thalweg.tables.timestamps import TimeArray
from thalweg.tables.validation import read_numbers, read_timestamps
from thalweg.types import FloatArray

INDEX = "__index_level_"
"""What pyarrow calls an index of pandas that has no name: it is left out."""


def read_frame(frame: Any) -> Chunk | None:
    """All rows of a data frame as one chunk; None where it is no data frame.

    A lazy frame or a relation is collected. An index of pandas that has a name becomes
    a column, as it does in a file.
    """
    with _translate_errors():
        native = nw.from_native(frame, pass_through=True, allow_series=False)
        if not isinstance(native, nw.DataFrame | nw.LazyFrame):
            return None
        if isinstance(native, nw.LazyFrame):
            native = native.collect(backend="pyarrow")
        table = native.to_arrow().combine_chunks()
    if not table.num_rows:
        raise StreamError("The data frame has no rows.")
    names = [str(name) for name in table.column_names]
    columns = [
        pa.concat_arrays(column.chunks) if column.num_chunks != 1 else column.chunk(0)
        for column in table.columns
    ]
    pairs = zip(names, map(ArrowCells, columns), strict=True)
    cells = {name: cells for name, cells in pairs if not name.startswith(INDEX)}
    if not cells:
        raise StreamError("The data frame has no columns.")
    return Chunk(FRAME, 0, cells).with_sample()


def read_rows(frame: Any) -> list[dict[str, Any]]:
    """The rows of a data frame as dicts."""
    rows: list[dict[str, Any]] = _collect(frame).rows(named=True)
    return rows


def split_column(frame: Any, name: str) -> tuple[Any, list[Any]]:
    """The frame without a column, and that column's values."""
    native = nw.from_native(frame)
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    _require_column(native, name)
    return native.drop(name).to_native(), native[name].to_list()


def series_like(frame: Any, values: FloatArray, name: str) -> Any:
    """``values`` as a Series of the library that ``frame`` is of, with its index.

    A lazy frame of polars gives one of polars, a DuckDB relation one of pyarrow.
    """
    made = _from_columns(frame, {name: values})
    return nw.from_native(made, eager_only=True)[name].to_native()


def frame_like(frame: Any, columns: Mapping[str, FloatArray]) -> Any:
    """Columns as a data frame of the library that ``frame`` is of, with its index."""
    return _from_columns(frame, columns)


def frame_index(frame: Any) -> Any:
    """The index of a data frame of pandas; None where it has none."""
    native = nw.from_native(frame, pass_through=True, allow_series=False)
    return nw.maybe_get_index(native) if isinstance(native, nw.DataFrame) else None


DEFAULT_ID = "unique_id"
"""The column of ids that may be left out where there is one series."""


class LongFrame:
    """A data frame of many series: each row has the id of its series and a time.

    Also known as: long format, tidy format, panel data. Times are datetimes, dates,
    ISO text, or whole numbers (``is_whole``). All come as datetime64[ns], a whole
    number k as k nanoseconds. Those of a zone come in UTC where rows are hours apart,
    so that no hour comes twice, and as clocks show them where rows are days apart, so
    that midnights stay midnights; or as they do in the frame ``like``.
    """

    def __init__(
        self, frame: Any, id_col: str, time_col: str, like: "LongFrame | None" = None
    ) -> None:
        rows = _with_start_of_periods(_collect(frame), time_col)
        # Without the column of ids that others name so, it is one series.
        self.has_ids = id_col in rows.columns or id_col != DEFAULT_ID
        for name in (id_col, time_col) if self.has_ids else (time_col,):
            _require_column(rows, name)
        chunk = read_frame(rows.to_native())
        assert chunk is not None
        self._formats: tuple[ColumnFormat, ...] = (
            detect_formats(chunk, (time_col,), FormatSettings()).formats
            if like is None
            else like._formats
        )
        self._rows, self._chunk = rows, chunk.with_formats(self._formats)
        self._id_col, self._time_col = id_col, time_col
        self.is_whole = bool(rows[time_col].dtype.is_integer())
        self._has_clock_times = False
        self.times = self._read_times(like)  # (T,)

    @property
    def other_columns(self) -> tuple[str, ...]:
        """The columns beside id and time, in order."""
        both = (self._id_col, self._time_col)
        return tuple(name for name in self._rows.columns if name not in both)

    def ids(self) -> list[Any]:
        """The id of each row; none may be missing."""
        if not self.has_ids:
            return [None] * len(self._rows)
        column = self._rows[self._id_col]
        self._require_all(self._id_col, column.is_null().to_numpy())
        ids: list[Any] = column.to_list()
        for row, name in enumerate(ids):
            if not isinstance(name, Hashable):
                raise StreamError(
                    f"{self._chunk.location(row)}: the id of a series is text, a "
                    f"number or a time. Got {name!r:.80} in {self._id_col!r} instead."
                )
        return ids

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers, NaN where missing."""
        _require_column(self._rows, name)
        return read_numbers(self._chunk, name, "skip")

    def time_text(self, time: np.datetime64) -> str:
        """A time as messages show it."""
        return str(time.astype(np.int64) if self.is_whole else time.astype("M8[s]"))

    def new_frame(
        self, rows: Any, times: Mapping[str, TimeArray], numbers: Mapping[str, Any]
    ) -> Any:
        """A frame of the same library: the ids of these rows, then times and numbers.

        Times have the type that they have in this frame, but for those of text, which
        become datetimes. Of a DuckDB relation it is a table of pyarrow.
        """
        backend, columns = self._rows.implementation, {}
        if self.has_ids:
            ids = self._rows[self._id_col][np.asarray(rows, np.int64).tolist()]
            columns[self._id_col] = ids
        for name, values in times.items():
            columns[name] = self._time_column(name, values)
        for name, values in numbers.items():
            array = np.ascontiguousarray(values, np.float64)
            columns[name] = nw.new_series(name, array, backend=backend)
        # Columns of pandas would be aligned by their index.
        parts = {name: nw.maybe_reset_index(part) for name, part in columns.items()}
        return nw.from_dict(parts).to_native()

    def _read_times(self, like: "LongFrame | None") -> TimeArray:
        name = self._time_col
        if self.is_whole:
            column = self._rows[name]
            self._require_all(name, column.is_null().to_numpy())
            return as_whole_times(column.to_numpy())
        if self._chunk.kind(name) == "number":
            raise StreamError(
                f"The column {name!r} must hold times or whole numbers. Got type "
                f"{self._rows[name].dtype} instead."
            )
        stamps = read_timestamps(self._chunk, name, "skip", None)
        self._require_all(name, ~stamps.is_known())
        steps = np.diff(as_stamps(np.unique(stamps.instants)))
        is_daily = len(steps) > 0 and bool(steps.min() >= ALMOST_A_DAY)
        self._has_clock_times = is_daily and stamps.offsets is not None
        if like is not None:
            self._has_clock_times = like._has_clock_times
        return stamps.local_times() if self._has_clock_times else stamps.instants

    def _time_column(self, name: str, times: TimeArray) -> Any:
        dtype = self._rows[self._time_col].dtype
        values = times.astype(np.int64) if self.is_whole else times
        made = nw.new_series(name, values, backend=self._rows.implementation)
        zone = getattr(dtype, "time_zone", None)
        if zone is not None:
            start = zone if self._has_clock_times else "UTC"
            made = made.dt.replace_time_zone(start).dt.convert_time_zone(zone)
        is_time = isinstance(dtype, nw.Date | nw.Datetime)
        return made.cast(dtype) if self.is_whole or is_time else made

    def _require_all(self, name: str, is_missing: Any) -> None:
        if is_missing.any():
            raise StreamError(
                f"{self._chunk.location(int(is_missing.argmax()))}: {name!r} is "
                "missing. Every row needs the id of its series and its time."
            )


def _collect(frame: Any) -> Any:
    """A frame of narwhals with its rows in memory and names that are text, an index
    of a name as a column.
    """
    with _translate_errors():
        return _collect_rows(frame)


def _collect_rows(frame: Any) -> Any:
    native = nw.from_native(frame, pass_through=True, allow_series=False)
    if not isinstance(native, nw.DataFrame | nw.LazyFrame):
        raise StreamError(
            f"A data frame is needed. Got {type(frame).__name__} instead."
        )
    if isinstance(native, nw.LazyFrame):
        is_polars = native.implementation is nw.Implementation.POLARS
        native = native.collect(backend="polars" if is_polars else "pyarrow")
    index = nw.maybe_get_index(native)
    if index is not None:
        has_name = any(name is not None for name in index.names)
        native = nw.from_native(native.to_native().reset_index(drop=not has_name))
    other = {name: str(name) for name in native.columns if not isinstance(name, str)}
    return native.rename(other) if other else native


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Raise errors of other libraries as ours."""
    try:
        yield
    except (pa.ArrowException, NarwhalsError) as error:
        message = " ".join(str(error).split()).rstrip(".")
        raise StreamError(f"The data frame cannot be read: {message:.200}.") from None


def _with_start_of_periods(frame: Any, name: str) -> Any:
    """The frame with times in place of periods of pandas: where each begins."""
    native = frame.to_native()
    dtype = getattr(native[name], "dtype", None) if name in frame.columns else None
    if not str(dtype).startswith("period["):
        return frame
    return nw.from_native(native.assign(**{name: native[name].dt.to_timestamp()}))


def _require_column(frame: Any, name: str) -> None:
    if name not in frame.columns:
        raise StreamError(
            f"The data frame has no column {name!r}. It has "
            f"{', '.join(map(repr, frame.columns[:12]))}."
        )


def _from_columns(frame: Any, columns: Mapping[str, FloatArray]) -> Any:
    native = nw.from_native(frame)
    backend = native.implementation
    if backend not in _EAGER:
        backend = nw.Implementation.PYARROW
    arrays = {name: np.ascontiguousarray(values) for name, values in columns.items()}
    made = nw.from_dict(arrays, backend=backend).to_native()
    index = nw.maybe_get_index(native) if isinstance(native, nw.DataFrame) else None
    if index is not None:
        made.index = index
    return made


_EAGER = (
    nw.Implementation.PANDAS,
    nw.Implementation.POLARS,
    nw.Implementation.PYARROW,
    nw.Implementation.MODIN,
    nw.Implementation.CUDF,
)
