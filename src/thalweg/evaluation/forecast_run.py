"""A forecaster on one series of a table, with its backtest: what a file keeps of it."""

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from thalweg.errors import PersistenceError
from thalweg.evaluation.backtest_scores import BacktestScores, BacktestSnapshot
from thalweg.evaluation.series_clock import (
    ClockSnapshot,
    PlacedRows,
    RowTimes,
    SeriesClock,
)
from thalweg.models.forecast import Forecast
from thalweg.models.forecaster import Forecaster
from thalweg.models.model_file import imputer_rules
from thalweg.persistence import SavedModel, restore_snapshot
from thalweg.persistence.snapshots import Array, Component, Condition, Count
from thalweg.preprocessing.imputer import Imputer, ImputerState
from thalweg.types import FloatArray

TAIL = 500
"""The last values that are kept one by one, for charts."""
PIECE_NUMBERS = 500_000
"""Forecasts that are held at once: rows of a piece times steps of the horizon."""
GRID_ROWS = 1000
"""The first rows, in which the grid of times is found."""
FIELD = "forecast_run"
"""The name in a file's ``extra`` by which a forecast goes on."""


class ForecastSettings(NamedTuple):
    """What the forecasts of all series of a table have in common."""

    horizon: int
    features: tuple[str, ...] = ()
    known: tuple[str, ...] = ()  # those that are known in advance
    season: tuple[int, ...] | None = None
    interval: float = 0.9


class TimedRows(NamedTuple):
    """Consecutive rows of one series."""

    y: FloatArray  # (T,) NaN where missing
    times: RowTimes
    x: FloatArray  # (T, m) NaN where missing

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Any) -> "TimedRows":
        """Some of the rows, given as a slice or as indices."""
        return TimedRows(self.y[rows], self.times.take(rows), self.x[rows])

    def join(self, later: "TimedRows") -> "TimedRows":
        """Both, one after the other."""
        x = np.concatenate([self.x, later.x])
        return TimedRows(np.append(self.y, later.y), self.times.join(later.times), x)


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

    Rows may come in any pieces, the first of which has ``GRID_ROWS`` if there are so
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
        self.imputer = Imputer("impute", ImputerState.initial(len(settings.features)))
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
            self.clock.start(rows.times.take(slice(GRID_ROWS)))
            if self.clock.grid is not None:
                self.forecaster.start_grid(self.clock.grid)
        both = rows if later is None else rows.join(later)
        placed = self.clock.place(both.times, len(both))
        count = int(np.searchsorted(placed.rows, len(rows)))
        kept, piece = both.take(placed.rows), max(PIECE_NUMBERS // self.horizon, 1)
        for start in range(0, count, piece):
            stop = min(start + piece, count)
            times = None if placed.times is None else placed.times[start:stop]
            ahead = slice(stop, stop + self.horizon)
            steps = placed.steps[ahead] - placed.steps[stop - 1]
            future = self._known_ahead(kept.x[ahead], steps, kept.x[stop - 1])
            self._play_piece(kept.take(slice(start, stop)), times, future)
        absent = placed.absent[placed.absent < len(rows)]
        learnt = PlacedRows(placed.rows[:count], None, placed.steps[:count], absent)
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
        self, rows: TimedRows, stamps: Any, future: FloatArray | None
    ) -> None:
        x = None
        if self.settings.features:
            # A row without a value is learnt from too: its features are observed.
            x, _ = self.imputer.impute(rows.x, np.zeros(len(rows)))
        interval = self.settings.interval
        backtest = self.forecaster.run(rows.y, x, stamps, interval, future)
        self.scores.add(backtest)
        times = backtest.times if stamps is not None else rows.times.instants
        self._add_to_tail(backtest.y, times)

    def _add_to_tail(self, y: FloatArray, times: Any) -> None:
        stamps = np.full(len(y), np.nan)
        if times is not None:
            is_time = times.dtype.kind == "M"
            stamps = (times.astype(np.int64) if is_time else times).astype(np.float64)
        self.tail = np.append(self.tail, y)[-TAIL:].copy()
        self.tail_times = np.append(self.tail_times, stamps)[-TAIL:].copy()
