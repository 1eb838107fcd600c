"""A forecaster on one series of a table, with its backtest: what a file keeps of it."""

from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from thalweg.calendar.row_clock import GRID_ROWS
from thalweg.calendar.row_places import fill_gaps
from thalweg.calendar.series_clock import SeriesClock
from thalweg.errors import PersistenceError
from thalweg.evaluation.backtest_scores import BacktestScores, BacktestSnapshot
from thalweg.forecasting.forecast import Forecast
from thalweg.forecasting.forecaster import Forecaster
from thalweg.imputer import RUN_POLICY, Imputer, ImputerState
from thalweg.persistence import SavedModel
from thalweg.persistence.snapshots import Component
from thalweg.rules import Array, Condition, Given, restore_snapshot
from thalweg.tables.timestamps import TimedRows
from thalweg.types import FloatArray

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


SHORT = Condition(f"len(tail) <= {TAIL}", f"at most {TAIL} values")


class ForecastRunSnapshot(NamedTuple):
    """All that changes in the forecasts of one series, beside its forecaster."""

    rows: int  # of the table, learnt so far; those left out are counted
    clock: SeriesClock
    imputer: Annotated[
        ImputerState, Given(features="len(settings.features)", rounds="rows")
    ]
    scores: BacktestSnapshot
    # (≤ TAIL,) the last values on the grid
    tail: Annotated[FloatArray, Array((None,), may_be_nan=True), SHORT]
    # (≤ TAIL,) their times: nanoseconds or numbers, or NaN
    tail_times: Annotated[FloatArray, Array(("len(tail)",), may_be_nan=True)]


class ForecastRun(Component):
    """Learns the rows of one series, and scores what it forecast from each of them.

    Rows may come in any pieces, the first of which has 24, which show the grid of
    times, if there are as many. Features that are missing are filled with their mean so
    far.
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
            self.clock = self.clock.start(rows.times.take(slice(GRID_ROWS)))
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
        learnt = placed.until(len(rows))
        self.clock = self.clock.advance(rows.times, learnt, len(rows))
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
        last_given = self.forecaster.last_given
        y, x = fill_gaps(grid, first, places, rows.y, x, last_given)
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
