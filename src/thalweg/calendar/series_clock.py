"""The times of a series as places on a grid of equal steps, also where some are odd.

A forecaster asks for rows in equal steps. Files have repeated hours where summer time
ends, late rows and gaps: what is wrong with a few rows is mended and counted; where
most steps are uneven, rows count as steps, and times mean nothing to the forecast. Rows
on a weekday on which the first rows had none are left out and counted.
"""

from typing import Annotated, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from thalweg.calendar.row_clock import Time, find_series_grid
from thalweg.calendar.row_places import PlacedRows, place_rows
from thalweg.calendar.time_grid import TimeGrid, Times
from thalweg.rules import Condition, OneOf
from thalweg.types import FloatArray

NUMBER_TOLERANCE = 1e-2
"""How far steps of numbers may be from their median, as a share of it."""


class RowTimes(NamedTuple):
    """The times of rows as a file gives them; None where it gives none."""

    instants: Any = None  # (T,) datetime64[ns] in UTC, or float64
    offsets: Any = None  # (T,) timedelta64[ns], or None

    def take(self, rows: Any) -> "RowTimes":
        """The times of some rows."""
        return RowTimes(*(None if part is None else part[rows] for part in self))

    def join(self, later: "RowTimes") -> "RowTimes":
        """Both, one after the other."""
        return RowTimes(
            *(
                None if a is None or b is None else np.concatenate([a, b])
                for a, b in zip(self, later, strict=True)
            )
        )

    def local(self) -> Times:
        """Times by local clocks."""
        if self.offsets is None:
            return np.asarray(self.instants)
        zero = np.timedelta64(0, "ns")
        offsets = np.where(np.isnat(self.offsets), zero, self.offsets)
        return np.asarray(self.instants + offsets)


OF_KIND = Condition(
    "TimeGrid.has_fields(grid_fields) if kind == 'grid' else grid_fields is None",
    "the fields of a grid, if times are on one",
)


class SeriesClock(NamedTuple):
    """The grid of one series, found in its first rows, and where its last row is."""

    kind: Annotated[str, OneOf(("rows", "grid", "numbers"))] = "rows"
    grid_fields: Annotated[Any, OF_KIND] = None  # of a TimeGrid, or None
    step: float = 0.0  # of times that are numbers; 0 where there is none
    last_number: float = np.nan  # the time of the last row, where times are numbers
    is_local: bool = False  # whether times are those of local clocks, not of UTC
    # Nanoseconds that local clocks were ahead at the last row.
    offset: Time | None = None
    last_time: Time | None = None  # nanoseconds since 1970 of the last row
    position: Time = -1  # of the last row on the grid, -1 before the first
    left_out: int = 0  # rows whose place on the grid was taken already
    on_absent_weekdays: int = 0  # rows left out, on weekdays that are not of the grid

    @property
    def grid(self) -> TimeGrid | None:
        """The grid of the rows; None where rows count as steps."""
        return None if self.grid_fields is None else TimeGrid(*self.grid_fields)

    def start(self, times: RowTimes) -> Self:
        """With the grid that the first rows show; the first row is the grid's first."""
        instants = times.instants
        if instants is None or len(instants) < 2:
            return self
        if instants.dtype.kind != "M":
            step = _even_step(instants)
            return self._replace(kind="numbers", step=step) if step else self
        local = None if times.offsets is None else times.local()
        grid, is_local = find_series_grid(instants, local)
        if grid is None:
            return self
        return self._replace(kind="grid", grid_fields=tuple(grid), is_local=is_local)

    def place(self, times: RowTimes, count: int) -> PlacedRows:
        """The places of ``count`` rows after the last one; others are left out."""
        if self.grid is None:
            rows = np.arange(count)
            return PlacedRows(rows, rows + 1, rows[:0])
        stamps = times.local() if self.is_local else times.instants
        return place_rows(self.grid, stamps, self.position)

    def advance(self, times: RowTimes, placed: PlacedRows, count: int) -> Self:
        """The clock at the last of ``count`` rows, which were learnt."""
        absent, steps = len(placed.absent), placed.steps
        clock = self._replace(
            left_out=self.left_out + count - len(placed.rows) - absent,
            on_absent_weekdays=self.on_absent_weekdays + absent,
            position=self.position + (int(steps[-1]) if len(steps) else 0),
        )
        if times.instants is None or not count:
            return clock
        if times.instants.dtype.kind != "M":
            return clock._replace(last_number=float(times.instants[-1]))
        clock = clock._replace(last_time=int(times.instants.max().astype(np.int64)))
        if times.offsets is None or np.isnat(times.offsets[-1]):
            return clock
        return clock._replace(offset=int(times.offsets[-1].astype(np.int64)))

    def is_later(self, times: RowTimes) -> npt.NDArray[np.bool_] | None:
        """Which rows come after the last one learnt; None if times do not show it."""
        instants = times.instants
        if instants is None:
            return None
        if instants.dtype.kind != "M":
            known = not np.isnan(self.last_number)
            return np.asarray(instants > self.last_number) if known else None
        if self.last_time is None:
            return None
        return np.asarray(instants.astype(np.int64) > self.last_time)

    def times_ahead(self, steps: int) -> Any:
        """The times of the next steps, datetime64[ns] or numbers; None: not known.

        Where times have an offset they are local times at the last one seen.
        """
        ahead = np.arange(1, steps + 1)
        if self.kind == "numbers":
            return self.last_number + self.step * ahead
        if self.grid is None:
            return None
        stamps = self.grid.times(self.position + ahead)
        if self.offset is not None and not self.is_local:
            stamps = stamps + np.timedelta64(self.offset, "ns")
        return stamps


def _even_step(numbers: FloatArray) -> float:
    """The step of numbers; 0 where it is uneven."""
    steps = np.diff(numbers)
    step = float(np.median(steps))
    is_even = step > 0 and (np.abs(steps - step) <= NUMBER_TOLERANCE * step).all()
    return step if is_even else 0.0
