"""A forecaster on one series of a table, with its backtest: what a file keeps of it."""

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from thalweg.calendar.row_clock import (
    FILE_ROWS,
    as_stamps,
    find_row_grid,
    is_possible_grid,
)
from thalweg.calendar.time_grid import TimeGrid
from thalweg.calendar.weekdays import DAY
from thalweg.errors import PersistenceError
from thalweg.evaluation.backtest_scores import BacktestScores, BacktestSnapshot
from thalweg.forecasting.forecast import Forecast
from thalweg.forecasting.forecaster import Forecaster
from thalweg.forecasting.grid_rows import fill_gaps, require_short_gaps
from thalweg.models.model_file import imputer_rules
from thalweg.persistence import SavedModel, restore_snapshot
from thalweg.persistence.snapshots import Array, Component, Condition, Count, OneOf
from thalweg.preprocessing.imputer import RUN_POLICY, Imputer, ImputerState
from thalweg.tables.timestamps import RowTimes, TimedRows
from thalweg.types import FloatArray

NUMBER_TOLERANCE = 1e-2
"""How far steps of numbers may be from their median, as a share of it."""


class ClockSnapshot(NamedTuple):
    """All that is known of the times of a series."""

    kind: str  # "rows", "grid" or "numbers"
    grid_fields: Any  # of a TimeGrid, or None
    step: float  # of times that are numbers; 0 where there is none
    last_number: float  # the time of the last row, where times are numbers
    is_local: bool  # whether times are those of local clocks, not of UTC
    offset: (
        Any  # an int or None: nanoseconds that local clocks were ahead at the last row
    )
    last_time: Any  # an int or None: nanoseconds since 1970 of the last row
    position: Any  # an int: of the last row on the grid, -1 before the first
    left_out: int  # rows whose place on the grid was taken already
    on_absent_weekdays: int  # rows left out, on weekdays that are not of the grid


class PlacedRows(NamedTuple):
    """Which rows have a place on the grid, and where it is."""

    rows: npt.NDArray[np.int64]  # of those given, in order
    steps: npt.NDArray[np.int64]  # of each row from the last known one, 1 for the next
    absent: npt.NDArray[np.int64]  # rows on weekdays that are not of the grid


class SeriesClock(Component):
    """The grid of one series, found in its first rows, and where its last row is.

    A forecaster asks for rows in equal steps. Files have repeated hours where summer
    time ends, late rows and gaps: what is wrong with a few rows is mended and counted;
    where most steps are uneven, rows count as steps, and times mean nothing to the
    forecast. Rows on a weekday on which the first rows had none are left out and
    counted.
    """

    Snapshot: ClassVar[Any] = ClockSnapshot

    def __init__(self) -> None:
        self.kind = "rows"
        self.grid_fields: tuple[int, ...] | None = None
        self.step, self.last_number = 0.0, float("nan")
        self.is_local = False
        self.offset: int | None = None
        self.last_time: int | None = None
        self.position, self.left_out, self.on_absent_weekdays = -1, 0, 0

    @property
    def grid(self) -> TimeGrid | None:
        """The grid of the rows; None where rows count as steps."""
        return None if self.grid_fields is None else TimeGrid(*self.grid_fields)

    def start(self, times: RowTimes) -> None:
        """Find the grid in the first rows; the first row is the grid's first."""
        instants = times.instants
        if instants is None or len(instants) < 2:
            return
        if instants.dtype.kind != "M":
            self._start_numbers(instants)
            return
        grid = find_row_grid(as_stamps(instants))
        if times.offsets is not None and (grid is None or grid.step >= DAY):
            local = find_row_grid(as_stamps(times.local()))
            self.is_local = local is not None
            grid = local or grid
        if grid is not None:
            self.kind, self.grid_fields = "grid", tuple(grid)

    def place(self, times: RowTimes, count: int) -> PlacedRows:
        """The places of ``count`` rows after the last one; others are left out."""
        rows = np.arange(count)
        grid = self.grid
        if grid is None:
            return PlacedRows(rows, rows + 1, rows[:0])
        stamps = times.local() if self.is_local else times.instants
        positions, _ = grid.nearest_positions(stamps)
        is_absent = grid.is_absent_weekday(stamps)
        positions[is_absent] = -1
        before = np.maximum.accumulate(np.append(self.position, positions))[:-1]
        kept = np.flatnonzero(positions > before)
        return PlacedRows(
            kept, positions[kept] - self.position, np.flatnonzero(is_absent)
        )

    def advance(self, times: RowTimes, placed: PlacedRows, count: int) -> None:
        """Advance to the last of ``count`` rows, which were learnt."""
        self.left_out += count - len(placed.rows) - len(placed.absent)
        self.on_absent_weekdays += len(placed.absent)
        if len(placed.steps):
            self.position += int(placed.steps[-1])
        if times.instants is None or not count:
            return
        if times.instants.dtype.kind != "M":
            self.last_number = float(times.instants[-1])
            return
        self.last_time = int(times.instants.max().astype(np.int64))
        if times.offsets is not None and not np.isnat(times.offsets[-1]):
            self.offset = int(times.offsets[-1].astype(np.int64))

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

    def rules(self, snapshot: ClockSnapshot) -> Iterator[tuple[str, Any]]:
        """A grid is one that can be, and times are whole numbers."""
        yield "kind", OneOf(("rows", "grid", "numbers"))
        fields, is_grid = snapshot.grid_fields, snapshot.kind == "grid"
        is_right = (fields is not None) == is_grid and is_possible_grid(fields)
        yield "grid_fields", Condition(is_right, "a grid")
        for field in ("offset", "last_time", "position"):
            value = getattr(snapshot, field)
            is_whole = type(value) is int and abs(value) < 2**63
            is_legal = is_whole or (value is None and field != "position")
            yield field, Condition(is_legal, "a whole number")

    def _start_numbers(self, numbers: FloatArray) -> None:
        steps = np.diff(numbers)
        step = float(np.median(steps))
        if step > 0 and (np.abs(steps - step) <= NUMBER_TOLERANCE * step).all():
            self.kind, self.step = "numbers", step


TAIL = 500
"""The last values that are kept one by one, for charts."""
PIECE_NUMBERS = 500_000
"""Forecasts that are held at once: rows of a piece times steps of the horizon."""
FIELD = "forecast_run"
"""The name in a file's ``extra`` by which a forecast goes on."""


class ForecastSettings(NamedTuple):
    """What the forecasts of all series of a table have in common."""

    horizon: int
    features: tuple[str, ...] = ()
    known: tuple[str, ...] = ()  # those that are known in advance
    season: tuple[int, ...] | None = None
    interval: float = 0.9


class ForecastRunSnapshot(NamedTuple):
    """All that changes in the forecasts of one series, beside its forecaster."""

    rows: int  # of the table, learnt so far; those left out are counted
    clock: ClockSnapshot
    imputer: ImputerState
    scores: BacktestSnapshot
    tail: FloatArray  # (≤ TAIL,) the last values on the grid
    tail_times: FloatArray  # (≤ TAIL,) their times: nanoseconds or numbers, or NaN


class ForecastRun(Component):
    """Learns the rows of one series, and scores what it forecast from each of them.

    Rows may come in any pieces, the first of which has ``FILE_ROWS`` if there are so
    many.
    Features that are missing are filled with their mean so far.
    """

    Snapshot: ClassVar[Any] = ForecastRunSnapshot

    def __init__(
        self, settings: ForecastSettings, forecaster: Forecaster | None = None
    ) -> None:
        self.settings, self.horizon = settings, settings.horizon
        self.forecaster = forecaster or Forecaster(
            settings.horizon, settings.season, known=self._known_positions()
        )
        self.rows = 0
        self.clock = SeriesClock()
        self.imputer = Imputer(RUN_POLICY, ImputerState.initial(len(settings.features)))
        self.scores = BacktestScores(settings.horizon)
        self.tail: FloatArray = np.empty(0)
        self.tail_times: FloatArray = np.empty(0)

    def play(self, rows: TimedRows, later: TimedRows | None = None) -> None:
        """Learn the next rows, the first of all of which has a value.

        ``later`` are rows that follow, from which features are known in advance.
        """
        if not len(rows):
            return
        if not self.forecaster.rounds:
            self.clock.start(rows.times.take(slice(FILE_ROWS)))
            if self.clock.grid is not None:
                self.forecaster.start_grid(self.clock.grid)
        first = self.clock.position + 1  # the place of the next row
        both = rows if later is None else rows.join(later)
        placed = self.clock.place(both.times, len(both))
        count = int(np.searchsorted(placed.rows, len(rows)))
        kept, piece = both.take(placed.rows), max(PIECE_NUMBERS // self.horizon, 1)
        for start in range(0, count, piece):
            stop = min(start + piece, count)
            places = self.clock.position + placed.steps[start:stop]
            ahead = slice(stop, stop + self.horizon)
            steps = placed.steps[ahead] - placed.steps[stop - 1]
            future = self._known_ahead(kept.x[ahead], steps, kept.x[stop - 1])
            piece_rows = kept.take(slice(start, stop))
            first = self._play_piece(piece_rows, places, first, future)
        absent = placed.absent[placed.absent < len(rows)]
        learnt = PlacedRows(placed.rows[:count], placed.steps[:count], absent)
        self.clock.advance(rows.times, learnt, len(rows))
        self.rows += len(rows)

    def skip(self, count: int) -> None:
        """Count rows of the table before the first value, which teach nothing."""
        self.rows += count

    def forecast(self, future: TimedRows | None = None) -> Forecast:
        """The next values; ``future`` are rows without a value, with what is known."""
        settings = self.settings
        known = self._known_positions()
        if not known:
            return self.forecaster.forecast(interval=settings.interval)
        x = np.full((settings.horizon, len(settings.features)), np.nan)
        if future is not None and len(future):
            placed = self.clock.place(future.times, len(future))
            ahead = (placed.steps >= 1) & (placed.steps <= settings.horizon)
            x[placed.steps[ahead] - 1] = future.x[placed.rows[ahead]]
        x[:, known] = self.imputer.complete(x)[:, known]
        return self.forecaster.forecast(future=x[:, known], interval=settings.interval)

    def saved_model(self, **others: Any) -> SavedModel:
        """The forecaster as ``Forecaster.load`` reads it, with all else beside it."""
        fields = {
            "settings": self.settings._asdict(),
            "run": self.snapshot(),
        }
        return self.forecaster.saved_model(**{FIELD: fields}, **others)

    @classmethod
    def from_saved_model(cls, saved: SavedModel, name: str) -> Self:
        """The run of a file's contents, which goes on to the last bit."""
        forecaster = Forecaster.from_saved_model(saved, name)
        fields = saved.extra.get(FIELD)
        try:
            if not isinstance(fields, dict) or set(fields) != {"settings", "run"}:
                raise PersistenceError(
                    "it holds a Forecaster, but no forecast of a file"
                )
            settings = restore_snapshot(
                ForecastSettings, fields["settings"], "settings"
            )
            if settings.horizon != forecaster.horizon:
                raise PersistenceError("its horizons differ")
            run = cls(settings, forecaster)
            run.restore(restore_snapshot(ForecastRunSnapshot, fields["run"], "run"))
        except PersistenceError as error:
            raise PersistenceError(f"{name} cannot be resumed: {error}.") from None
        return run

    def rules(self, snapshot: ForecastRunSnapshot) -> Iterator[tuple[str, Any]]:
        """Every part is of the same rows."""
        yield "rows", Count()
        yield "imputer", imputer_rules(len(self.settings.features), snapshot.rows)
        length = len(snapshot.tail)
        yield "tail", Condition(length <= TAIL, f"at most {TAIL} values")
        yield "tail", Array((length,), may_be_nan=True)
        yield "tail_times", Array((length,), may_be_nan=True)

    def _known_positions(self) -> list[int]:
        """The positions of the features that are known in advance, in order."""
        names, known = self.settings.features, self.settings.known
        return [k for k, name in enumerate(names) if name in known]

    def _known_ahead(
        self, x: FloatArray, steps: Any, before: FloatArray
    ) -> FloatArray | None:
        """What is known of the next steps, (k, known); a missing row is as the one
        before it, as a forecaster has it."""
        known = self._known_positions()
        if not known or not len(steps):
            return None
        rows = np.concatenate([before[None], x])[:, known]
        at = np.searchsorted(steps, np.arange(1, steps[-1] + 1), "right")
        means = self.imputer.complete(np.full((1, x.shape[1]), np.nan))[:, known]
        ahead = np.where(np.isnan(rows[at]), means, rows[at])
        return np.asarray(ahead[: self.horizon])

    def _play_piece(
        self, rows: TimedRows, places: Any, first: int, future: FloatArray | None
    ) -> int:
        """Learn rows at rising places, and those absent from ``first`` on; returns the
        place after them."""
        x: FloatArray = np.empty((len(rows), 0))
        if self.settings.features:
            # A row without a value is learnt from too: its features are observed.
            x, _ = self.imputer.impute(rows.x, np.zeros(len(rows)))
        grid, times = self.clock.grid, rows.times.instants
        if grid is not None:
            require_short_gaps(places - first, grid, grid.times(places[-1:])[0])
        y, x = fill_gaps(places - first, rows.y, x, self.forecaster.last_given)
        backtest = self.forecaster.run(
            y, x if self.settings.features else None,
            interval=self.settings.interval, future=future,
        )  # fmt: skip
        self.scores.add(backtest)
        if grid is not None:
            times = grid.times(first + np.arange(len(y)))
        self._add_to_tail(y, times)
        return first + len(y)

    def _add_to_tail(self, y: FloatArray, times: Any) -> None:
        stamps = np.full(len(y), np.nan)
        if times is not None:
            is_time = times.dtype.kind == "M"
            stamps = (times.astype(np.int64) if is_time else times).astype(np.float64)
        self.tail = np.append(self.tail, y)[-TAIL:].copy()
        self.tail_times = np.append(self.tail_times, stamps)[-TAIL:].copy()
