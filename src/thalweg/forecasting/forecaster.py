"""``Forecaster``: the next values of a series, which learns from each new one."""

import copy
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg import checks, persistence
from thalweg.autoregression.forecaster_state import ForecasterSettings, ForecasterState
from thalweg.calendar.season_finder import HISTORY, Seasons
from thalweg.calendar.time_grid import TimeGrid
from thalweg.errors import StreamError
from thalweg.forecasting.forecast import (
    Backtest,
    Forecast,
    ForecastZone,
    make_backtest,
)
from thalweg.forecasting.forecaster_file import (
    MAX_GIVEN,
    ForecasterFileContents,
    Progress,
    restore_forecaster,
    saved_forecaster,
)
from thalweg.forecasting.forecaster_settings import (
    as_counts,
    as_known,
    as_periods,
    require_count,
)
from thalweg.forecasting.future_rows import (
    read_future,
    require_coming_times,
    without_absent_weekdays,
)
from thalweg.forecasting.grid_rows import in_zone, rows_to_learn
from thalweg.forecasting.season_learning import SeasonLearning
from thalweg.forecasting.series_inputs import (
    LARGEST,
    Series,
    as_given_rows,
    as_series,
    fill_features,
    require_same_times,
)
from thalweg.models.inputs import NUMBERS
from thalweg.models.model_lock import ModelLock
from thalweg.types import FloatArray, Interval

MAX_HORIZON = 4_000
"""Limit of the number of steps: such a state takes 150 MB, and its size grows
with their square."""


class Forecaster:
    """Forecasts of the next ``horizon`` values of a series, updated with each new one.

    >>> forecaster = Forecaster(horizon=24)
    >>> forecaster.update([3.0, 5.0, 4.0]).forecast().mean  # doctest: +SKIP

    There is nothing to fit and nothing to choose. Of every step it mixes ridge
    regressions of eight kinds (four memories, two limits of outliers) on last values,
    values of seasons before and seasonal profiles; one on products and hinges of these;
    the recursive forecast of the first step; analogues, what followed the origins of
    the past that were most like the newest one; the last value, and the values a season
    and a cycle ago. How good each has been lately decides (kernels/forecaster/). Where
    times show days, public holidays are found out and taken into account. Bands
    are as wide as such forecasts have turned out to be. Where 0 was among the values
    and nothing below it, as in counts and sales, no forecast and no band is below 0. A
    new value costs as much as some ten rounds of a Tracker for 24 steps, and no more
    after a million values.

    ``season`` is the period of the values in rows, or a pair of periods, (24, 168) for
    the day and the week of hourly values. None: that of the calendar where times are
    given and ``calendar`` is True, else what the values show, searched after 24, 36,
    54, … rows (calendar/season_finder.py). ``lags`` are further past values to use as
    features, 1 for the last one; the last three and those of the seasons always are.

    Covariates may be given with each value. Past covariates enter with their last
    values when a forecast is made; future covariates, named in ``known`` (positions or
    names; True: all), are known in advance, and the rows of ``future`` hold them. A
    forecaster of more than 16 steps has regressions for 16 of them, and the steps
    between use the next one's.

    Values may be missing (NaN or None), or whole rows where times are given: the season
    goes on, and nothing is learnt. Where daily times never fall on some weekdays, rows
    are the other days (calendar/weekdays.py), and so are those of forecasts; a
    later row on another day is left out with a warning.
    """

    def __init__(
        self, horizon: int, season: int | Sequence[int] | None = None,
        lags: Sequence[int] | None = None, calendar: bool = True,
        known: bool | Sequence[int | str] = (),
    ) -> None:  # fmt: skip
        self.horizon = require_count(self, "horizon", horizon, MAX_HORIZON)
        self.season = None if season is None else as_periods(self, season)
        self.lags = None if lags is None else as_counts(self, "lags", lags, HISTORY)
        self.calendar, self.known = calendar, as_known(known)
        checks.require_choice(self, "calendar", (False, True))
        self._learning = SeasonLearning(
            self.horizon, self.season, self.lags or (), self.calendar, self.known
        )
        self._learning.require_possible_size(given=0)
        self._lock = ModelLock()
        # Both change at once, so that no Ctrl-C falls in between.
        self._model: tuple[ForecasterState | None, Progress] = (None, Progress())

    def __repr__(self) -> str:
        return (
            f"Forecaster(horizon={self.horizon}, season={self.season}, "
            f"lags={self.lags}, calendar={self.calendar}, known={self.known!r})"
        )

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            contents = self._file_contents()
        return {"contents": contents}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        settings, progress, packed = pickled["contents"]
        self.__init__(**settings)  # type: ignore[misc]
        self._open(progress, packed)

    @property
    def rounds(self) -> int:
        """Rows since the first value, those without a value included."""
        state = self._model[0]
        return 0 if state is None else state.rounds

    @property
    def gaps(self) -> int:
        """Rows since the first value that had none, those not there included."""
        state = self._model[0]
        return 0 if state is None else state.rounds - state.values

    @property
    def seasons(self) -> Seasons:
        """The lengths of season and cycle, in rows; 1 where there is none."""
        return self._model[1].seasons

    @property
    def grid(self) -> TimeGrid | None:
        """The grid of the rows' times; None without times, or after the first row."""
        grid: TimeGrid | None = self._model[1].grid
        return grid

    @property
    def last_given(self) -> FloatArray | None:
        """The given features of the last row, (m,); None before the first."""
        state = self._model[0]
        return None if state is None else state.last_given

    @property
    def holidays(self) -> str | None:
        """The country whose public holidays the values follow, such as "US"; None where
        none was found, or days are not known."""
        state = self._model[0]
        return None if state is None else state.holiday_country

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the given features; None where they have none."""
        return self._model[1].names

    def start_grid(self, grid: TimeGrid) -> "Forecaster":
        """Say how far rows are apart, before the first one; returns the forecaster.

        The first row has to be the grid's first. Without this call the grid is the one
        that the times of the first 24 rows show, or of those that there are.
        """
        with self._lock:
            state, progress = self._model
            if state is not None:
                raise StreamError(
                    f"The forecaster has learnt {state.rounds} rows, and their grid of "
                    "times can no longer be set."
                )
            self._model = None, progress._replace(grid=grid, first_rows=None)
        return self

    def update(self, y: Any, x: Any = None, time: Any = None) -> "Forecaster":
        """Learn the next value, or several in order; returns the forecaster.

        ``y`` is a number, NaN or None where it is missing, or a series of numbers. Of a
        Series with a time index, the index gives the times. ``x`` are features, a row
        for each value; an index of times has to be that of the values. A feature that
        is missing (NaN) is as it was in the row before; those known in advance must not
        be missing. What is refused leaves the forecaster as it was.
        """
        if x is None and time is None and type(y) in NUMBERS and abs(y) <= LARGEST:
            with self._lock:
                state, progress = self._model
                # Where nothing is left to find out, the value goes straight in.
                if (
                    state is not None
                    and not progress.given
                    and progress.history is None
                    and progress.first_rows is None
                ):
                    state.learn(y)
                    return self
        self._learn(as_series(y, time), x)
        return self

    def run(
        self, y: Any, x: Any = None, time: Any = None, interval: float = 0.9,
        future: Any = None,
    ) -> Backtest:  # fmt: skip
        """Learn a series, and return the forecasts made after every value of it.

        They are those that ``forecast`` gives after each ``update``, to the last bit;
        but features known in advance beyond the last row count as their mean, unless
        ``future`` has rows of them, as for ``forecast``: then a series may be run in
        pieces. Where times show that rows are missing, the backtest has them, with NaN.
        """
        checks.require_argument("Forecaster.run", "interval", interval, "(0, 1)")
        backtest = self._learn(as_series(y, time), x, interval, future)
        assert backtest is not None
        return backtest

    def forecast(
        self, h: int | None = None, future: Any = None, interval: float = 0.9
    ) -> Forecast:
        """The next ``h`` values, as many as the horizon if None, with their bands.

        ``future`` holds a row for each of them, of the features that are ``known`` in
        advance; other columns are ignored, and may be left out of a data frame.
        """
        h = self.horizon if h is None else h
        checks.require_argument("Forecaster.forecast", "interval", interval, "(0, 1)")
        h = require_count("Forecaster.forecast", "h", h, self.horizon)
        with self._lock:
            state, progress = self._model
            if state is None or state.rounds == 0:
                raise StreamError(
                    "A forecaster needs a value before it can forecast. Call update."
                )
            mean = state.forecast(self._future_rows(progress, future, h))
            offsets, total_offsets = state.offsets(interval)
            times = None
            if progress.grid is not None:
                ahead = state.rounds + np.arange(h)
                times = progress.grid.times(ahead)
            lowest = 0.0 if state.starts_at_zero else -np.inf
        low, high = (mean[:, None] + offsets)[:h].T
        sums = np.cumsum(mean)
        total_low, total_high = (sums[:, None] + total_offsets)[:h].T
        low = np.maximum(low, lowest)
        # No sum is likely to lie where not even all values at the same end would be.
        least, largest = np.cumsum(low), np.cumsum(high)
        total_low = np.clip(total_low, least, largest)
        total_high = np.clip(total_high, least, largest)
        totals = Interval(sums[:h], total_low, total_high)
        zone = ForecastZone(progress.zone, progress.by_clock)
        return Forecast(mean[:h], low, high, totals, interval, zone.times(times), zone)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file; a failed write leaves the old file as it was."""
        persistence.save(path, self.saved_model())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Forecaster":
        """The forecaster in a file, which continues to the last bit."""
        return cls.from_saved_model(persistence.load(path), str(path))

    def saved_model(self, **others: Any) -> "persistence.SavedModel":
        """The contents of a file; ``others`` are stored beside them, by name."""
        with self._lock:
            contents = self._file_contents()
        return saved_forecaster(contents, **others)

    @classmethod
    def from_saved_model(
        cls, saved: "persistence.SavedModel", name: str
    ) -> "Forecaster":
        """The forecaster of a file's contents; ``name`` is what errors call them."""

        def sizes_of(
            settings: dict[str, Any], progress: Progress | None
        ) -> ForecasterSettings | None:
            checked = cls(**settings)
            return None if progress is None else checked._learning.sizes(progress)

        settings, progress, packed = restore_forecaster(saved, name, sizes_of)
        forecaster = cls(**settings)
        forecaster._open(progress, packed)
        return forecaster

    def clone(self) -> "Forecaster":
        """An independent copy."""
        return copy.deepcopy(self)

    def _file_contents(self) -> ForecasterFileContents:
        names = ("horizon", "season", "lags", "calendar", "known")
        settings = {name: getattr(self, name) for name in names}
        state, progress = self._model
        packed = None if state is None else state.packed.copy()
        if progress.history is not None:
            history = progress.history[: 0 if state is None else state.rounds]
            progress = progress._replace(history=history.copy())
        return ForecasterFileContents(settings, progress, packed)

    def _open(self, progress: Progress, packed: FloatArray | None) -> None:
        """Go on from what ``_file_contents`` gave."""
        state = None
        if packed is not None:
            state = ForecasterState(
                self._learning.sizes(progress), progress.seasons, packed
            )
        self._model = state, progress

    def _learn(
        self, series: Series, x: Any, level: float | None = None, future: Any = None
    ) -> Backtest | None:
        """Learn values in order, and return all forecasts where a level is given."""
        with self._lock:
            state, progress = self._model
            names = progress.names if state is not None else None
            given, names = as_given_rows(x, len(series.y), names)
            require_same_times(x, series)
            if state is None:
                if given.shape[1] > MAX_GIVEN:
                    raise StreamError(
                        f"A forecaster takes at most {MAX_GIVEN} features. "
                        f"Got {given.shape[1]}."
                    )
                self._learning.require_possible_size(given.shape[1])
                progress = progress._replace(names=names, given=given.shape[1])
            elif given.shape[1] != progress.given:
                raise StreamError(
                    f"The forecaster has learnt with {progress.given} features. "
                    f"Got {given.shape[1]} instead."
                )
            rounds = 0 if state is None else state.rounds
            given = self._filled_features(state, progress, given)
            progress = in_zone(progress, series)
            first = 0 if rounds else int(np.argmax(~np.isnan([*series.y, 0.0])))
            skipped, series, given = (
                series.before(first),
                series.after(first),
                given[first:],
            )
            last = None if state is None else state.last_given
            progress, series, given, old = rows_to_learn(
                progress, series, given, rounds, last
            )
            if old:  # earlier rows are learnt again
                state, rounds = None, 0
            if progress.by_clock:
                skipped = skipped.by_clock()
            progress = self._learning.with_seasons(progress, rounds)
            if future is not None:
                later = self._future_rows(progress, future, len(np.asarray(future)))
                given = np.concatenate([given, later])
            state, progress, played = self._learning.play(
                state, progress, series.y, given, level
            )
            self._model = state, progress
            if level is None:
                return None
            zone = ForecastZone(progress.zone, progress.by_clock)
            return make_backtest(played, skipped.join(series.after(old)), level, zone)

    def _filled_features(
        self, state: ForecasterState | None, progress: Progress, given: FloatArray
    ) -> FloatArray:
        """Features with what was there before in place of what is missing."""
        if not np.isnan(given).any():
            return given
        labels = progress.names or tuple(map(str, range(progress.given)))
        known = self._learning.known_flags(progress)
        before = None if state is None else state.last_given
        return fill_features(given, before, labels, known)

    def _future_rows(self, progress: Progress, future: Any, h: int) -> FloatArray:
        """The features known in advance, (h, m), with zeros for all others."""
        flags = self._learning.known_flags(progress)
        labels = progress.names or tuple(map(str, range(progress.given)))
        known = [name for name, flag in zip(labels, flags, strict=True) if flag]
        if not known:
            return np.empty((0, progress.given))
        if future is None:
            raise StreamError(
                f"Forecaster.forecast needs 'future', the {h} coming rows of the "
                f"features known in advance: {', '.join(known)}."
            )
        future = without_absent_weekdays(future, progress)
        rows = read_future(future, tuple(known), h)
        if progress.grid is not None and self._model[0] is not None:
            require_coming_times(future, progress, self._model[0].rounds, h)
        full = np.zeros((h, progress.given))
        full[:, list(flags)] = rows
        return full
