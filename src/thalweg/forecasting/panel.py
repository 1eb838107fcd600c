"""The series of a long frame, each on the grid of its times."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thalweg.calendar.frequency import parse_frequency
from thalweg.calendar.row_clock import as_stamps, find_series_grid
from thalweg.calendar.time_grid import TimeGrid, Times
from thalweg.errors import StreamError
from thalweg.forecasting.grid_rows import place_on_grid
from thalweg.forecasting.series_inputs import Series, fill_features
from thalweg.models.named_rows import load_frames
from thalweg.types import FloatArray

if TYPE_CHECKING:
    from thalweg.tables.frames import LongFrame


MAX_MESSAGES = 5
"""Limit of the number of refused series whose messages are printed in full."""


class SeriesRows(NamedTuple):
    """The rows of one id, in order of time."""

    id: Any
    row: int  # of the data frame: one of this id
    y: FloatArray  # (T,)
    times: Times  # (T,)
    given: FloatArray  # (T, m)


class PanelRows(NamedTuple):
    """The rows of one id on the grid of its times."""

    y: FloatArray  # (T,)
    times: Times  # (T,) of the grid
    stamps: Times  # (T,) as given, those of the grid where a row is missing
    given: FloatArray  # (T, m)
    grid: TimeGrid
    has_calendar: bool  # False where times are whole numbers

    def first_grid(self) -> TimeGrid:
        """The grid from the first known value on."""
        first = self.times[~np.isnan(self.y)][:1]
        return self.grid._replace(first=int(as_stamps(first)[0]))

    def times_ahead(self, steps: int) -> Times:
        """The times of the next steps."""
        return self.grid.times(len(self.y) + np.arange(steps))


class Panel:
    """The series of a long frame, one after the other."""

    def __init__(
        self, df: Any, id_col: str, time_col: str, target_col: str, freq: Any,
        owner: str,
    ) -> None:  # fmt: skip
        self.frame: LongFrame = load_frames().LongFrame(df, id_col, time_col)
        self.y = self.frame.numbers(target_col)
        others = self.frame.other_columns
        self.features = tuple(name for name in others if name != target_col)
        whole = self.frame.is_whole
        self._step = None if freq is None else parse_frequency(freq, owner, whole)
        self._known = np.zeros(len(self.features), bool)

    def __iter__(self) -> Iterator[SeriesRows]:
        columns = [self.frame.numbers(name) for name in self.features]
        given = np.column_stack(columns) if columns else np.empty((len(self.y), 0))
        for name, rows in _rows_by_id(self.frame).items():
            yield SeriesRows(
                name, int(rows[0]), self.y[rows], self.frame.times[rows], given[rows]
            )

    def place(self, series: SeriesRows) -> PanelRows:
        """The rows of a series, with those that are missing.

        Features that are not known in advance and missing are as they were before.
        """
        if np.isnan(series.y).all():
            raise StreamError("all its values are missing.")
        known = [
            name for name, flag in zip(self.features, self._known, strict=True) if flag
        ]
        _require_features(series.given[:, self._known], known)
        given = fill_features(series.given, None, self.features, self._known.tolist())
        shown, _ = find_series_grid(series.times, is_strict=True)
        grid = shown if self._step is None else self._step.grid(series.times)
        if grid is None:
            raise StreamError(
                "it has one row, which does not show how far apart rows are. Say so "
                "with 'freq'."
            )
        placed = place_on_grid(grid, Series(series.y, series.times), given, 0)
        y, times = placed.series.y, placed.series.times
        if self._step is not None and len(y) > 2 * len(series.y):
            _require_rows(shown, grid, len(series.y), len(y))
        assert times is not None
        stamps = times.copy()
        own = series.times[~grid.is_absent_weekday(series.times)]
        stamps[grid.positions(own)] = own
        has_calendar = not self.frame.is_whole
        return PanelRows(y, times, stamps, placed.given, grid, has_calendar)

    def positions(self, names: Sequence[str]) -> list[int]:
        """Where features with these names stand."""
        for name in names:
            if name not in self.features:
                raise StreamError(
                    f"The feature {name!r}, known in advance, is not among those of "
                    f"the data frame: {', '.join(self.features) or 'none'}."
                )
        self._known = np.array([name in names for name in self.features], bool)
        return np.flatnonzero(self._known).tolist()


class FutureRows:
    """Rows of features that are known in advance."""

    def __init__(self, X_df: Any, id_col: str, time_col: str, panel: Panel) -> None:
        frame: LongFrame = load_frames().LongFrame(
            X_df, id_col, time_col, like=panel.frame
        )
        if frame.is_whole != panel.frame.is_whole:
            raise StreamError(
                f"The column {time_col!r} of X_df must have the type that it has in df."
            )
        others = frame.other_columns
        if not others:
            raise StreamError(
                f"X_df must have features beside {id_col!r} and {time_col!r}."
            )
        panel.positions(others)  # which refuses what is no feature of the past
        self.features = tuple(name for name in panel.features if name in others)
        self._x = np.column_stack([frame.numbers(name) for name in self.features])
        self._frame, self._rows = frame, _rows_by_id(frame)

    def rows(self, name: Any, past: PanelRows, h: int) -> FloatArray:
        """The features of the next ``h`` rows of a series, (h, k)."""
        rows = self._rows.get(name, np.empty(0, np.int64))
        rows = rows[~past.grid.is_absent_weekday(self._frame.times[rows])]
        at = past.grid.positions(self._frame.times[rows]) - len(past.y)
        ahead = past.times_ahead(h)
        chosen = np.empty((h, len(self.features)))
        for step in range(h):
            if step not in at:
                text = self._frame.time_text(ahead[step])
                raise StreamError(f"X_df has no row for it at {text}.")
            found = rows[at == step]
            if len(found) > 1:
                first, second = map(self._frame.time_text, self._frame.times[found[:2]])
                raise StreamError(
                    f"X_df has two rows for one coming row, {first} and {second}. Drop "
                    "one of them."
                )
            chosen[step] = self._x[found[0]]
        _require_features(chosen, self.features)
        return chosen


def _rows_by_id(frame: "LongFrame") -> dict[Any, Any]:
    """The rows of each id in order of time; ids are sorted, as in statsforecast."""
    ids = frame.ids()
    distinct = list(dict.fromkeys(ids))
    try:
        distinct.sort()
    except TypeError:  # ids of several types have no order: that of their first rows
        pass
    code_of = {name: code for code, name in enumerate(distinct)}
    codes = np.array([code_of[name] for name in ids])
    order = np.lexsort((frame.times, codes))
    times, codes = frame.times[order], codes[order]
    is_double = (codes[1:] == codes[:-1]) & (times[1:] == times[:-1])
    if is_double.any():
        at = int(is_double.argmax())
        time = frame.time_text(times[at])
        if not frame.has_ids:
            raise StreamError(
                f"Two rows are at {time}. Name the column of the series' ids with "
                "'id_col', or drop one of them."
            )
        raise StreamError(
            f"Series {distinct[codes[at]]!r} has two rows at {time}. Drop one of them."
        )
    ends = np.searchsorted(codes, np.arange(1, len(distinct)))
    return dict(zip(distinct, np.split(order, ends), strict=True))


def _require_rows(
    shown: TimeGrid | None, asked: TimeGrid, rows: int, all_rows: int
) -> None:
    """Raise where ``freq`` leaves most rows missing, and times show longer steps."""
    if shown is not None and shown.step > 1.5 * asked.step:
        raise StreamError(
            f"with rows {asked} apart, as 'freq' says, {all_rows - rows} of {all_rows} "
            f"are missing. Most rows are {shown} apart: leave 'freq' out, or resample "
            "them."
        )


def _require_features(given: FloatArray, names: Sequence[str]) -> None:
    is_missing = np.isnan(given)
    if is_missing.any():
        column = int(is_missing.any(axis=0).argmax())
        raise StreamError(
            f"the feature {names[column]!r} is missing in "
            f"{int(is_missing[:, column].sum())} of {len(given)} rows. Fill it in, or "
            "leave the column out."
        )


class Refusals:
    """Refusals of single series, raised together after the last one."""

    def __init__(self) -> None:
        self._messages: list[str] = []
        self._ids: list[str] = []

    @contextmanager
    def of(self, name: Any) -> Iterator[None]:
        """Remember a refusal, and which series it is about."""
        try:
            yield
        except StreamError as error:
            text = "The series" if name is None else f"Series {name!r}"
            self._messages.append(f"{text}: {error}")
            self._ids.append(repr(name))

    def raise_any(self) -> None:
        """Raise if there is one: the first few in full, the others by name."""
        shown, others = self._messages[:MAX_MESSAGES], self._ids[MAX_MESSAGES:]
        if others:
            shown.append(f"Also refused: {', '.join(others)}.")
        if shown:
            raise StreamError(" ".join(shown))
