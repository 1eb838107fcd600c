"""The seasons and weekdays of a forecaster, and learning anew where they change.

Where neither settings nor calendar say them, seasons are looked for in the values so
far, the *history*. With others than before a new state learns the history again. All
functions return new states and progress, and change none.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from thalweg.errors import StreamError
from thalweg.models.forecast import PlayedForecasts
from thalweg.models.forecaster_file import Progress
from thalweg.models.series_inputs import NAIVE, WHOLE, Series
from thalweg.preprocessing.forecaster_state import ForecasterSettings, ForecasterState
from thalweg.preprocessing.public_holidays import DayGrid, find_day_grid
from thalweg.preprocessing.seasons import Seasons, calendar_seasons, find_seasons
from thalweg.preprocessing.time_grid import TimeGrid
from thalweg.preprocessing.weekdays import DAY, find_weekdays
from thalweg.types import FloatArray

HISTORY = 4096
"""Values among which seasons are looked for, where the calendar does not give them."""
FIRST_SEARCH, SEARCH_GROWTH = 24, 1.5
"""Seasons are looked for after 24 rounds, then 36, 54 and so on."""
WEEKDAY_ROWS = 22
"""Where the first call shows daily rows on fewer days than these, three weeks and one,
weekdays without values are looked for once there are so many."""
MAX_REPEATED = 1000
"""Where features are known in advance, the first rows are learnt again at each such
search, with the effects of features as they are known by then, up to so many rows."""


class SeasonLearning(NamedTuple):
    """What a forecaster is told, as in its own settings."""

    horizon: int
    season: int | tuple[int, ...] | None
    lags: tuple[int, ...]
    calendar: bool
    known: Any

    def sizes(self, progress: Progress) -> ForecasterSettings:
        """What decides the size of a state."""
        known = self.known_flags(progress)
        days = self._day_grid(progress)
        return ForecasterSettings(
            self.horizon, self.lags, progress.given, known, days=days
        )

    def _day_grid(self, progress: Progress) -> DayGrid | None:
        """Where days begin, if holidays are looked at."""
        if not self.calendar or progress.grid is None or progress.zone == WHOLE:
            return None
        offset = 0 if progress.by_clock else zone_offset(progress.zone, progress.grid)
        return find_day_grid(progress.grid, offset)

    def with_weekdays(
        self, state: ForecasterState, progress: Progress, series: Series
    ) -> tuple[ForecasterState, Progress]:
        """Look for weekdays without rows, once those of three weeks are there or to be
        learnt; where there are some, learn the values of the other days again."""
        if series.times is None:
            return state, progress
        y, grid = _history(progress, state)[0], progress.grid
        days = grid.times(np.arange(len(y) + 1))
        later = series.times[series.times >= days[-1]]
        if not len(later) or grid.nearest_positions(later[-1:])[0] < WEEKDAY_ROWS - 1:
            return state, progress
        known = np.append(days[:-1][~np.isnan(y)], later)
        weekdays = find_weekdays(known.astype(np.int64))
        progress = progress._replace(awaits_weekdays=False)
        if not weekdays:
            return state, progress
        grid = grid._replace(weekdays=weekdays)
        history = progress.history[: len(y)]  # type: ignore[index]
        history = history[~grid.is_absent_weekday(days[:-1])]
        progress = progress._replace(grid=grid, history=history)
        seasons = self._settled_seasons(progress) or progress.seasons
        progress = progress._replace(seasons=seasons)
        return self._replay(state, progress), progress

    def with_seasons(self, progress: Progress, rounds: int) -> Progress:
        """With the seasons that the settings or the calendar say; else a history."""
        fixed = self._settled_seasons(progress)
        is_needed = fixed is None or progress.awaits_weekdays
        is_needed = is_needed or any(self.known_flags(progress))
        is_needed = is_needed or _awaits_grid(progress)
        if progress.history is None and rounds == 0 and is_needed:
            progress = progress._replace(history=np.empty((0, 1 + progress.given)))
        return progress if fixed is None else progress._replace(seasons=fixed)

    def _settled_seasons(self, progress: Progress) -> Seasons | None:
        """The seasons by the settings or the calendar; None: what the values show."""
        if self.season is not None:
            periods = (self.season,) if isinstance(self.season, int) else self.season
            return Seasons(min(periods), max(periods))
        if not self.calendar or progress.grid is None or progress.zone == WHOLE:
            return None
        seasons = calendar_seasons(progress.grid)
        return None if seasons == Seasons() else seasons

    def play(
        self, state: ForecasterState | None, progress: Progress, y: FloatArray,
        given: FloatArray, level: float | None,
    ) -> tuple[ForecasterState, Progress, list[PlayedForecasts]]:  # fmt: skip
        """Play rows up to each search for seasons; what was played, with a level.

        ``given`` may have more rows than y: those that are known of later ones.
        """
        played, start = [], 0
        if (
            state is None
            or state.seasons != progress.seasons
            or state.settings != self.sizes(progress)
        ):
            state = self._replay(state, progress)
        progress = self._with_needed_history(progress, state)
        stops = _searches(state.rounds, len(y)) if progress.history is not None else []
        if stops:  # all of it is learnt or nothing
            state = state.copy()
        for stop in [*stops, len(y)]:
            rows = slice(start, stop)
            if progress.history is not None:
                progress = _with_history(progress, state.rounds, y[rows], given[rows])
            known_rows = given[start : stop + self.horizon]
            result = state.play(y[rows], known_rows, level)
            if result is not None:
                played.append(PlayedForecasts(*result, state.seasons))
            if stop in stops and progress.history is not None:
                state, progress = self._search(state, progress)
                progress = self._with_needed_history(progress, state)
            start = stop
        return state, progress, played

    def _search(
        self, state: ForecasterState, progress: Progress
    ) -> tuple[ForecasterState, Progress]:
        """Look for seasons in the history, and learn it again with what is found."""
        y, given = _history(progress, state)
        has_known = any(state.settings.known)
        if self._settled_seasons(progress) is None:
            values = state.without_effects(y, given) if has_known else y
            progress = progress._replace(seasons=find_seasons(values))
        if progress.seasons != state.seasons:
            return self._replay(state, progress), progress
        if has_known and state.rounds <= MAX_REPEATED:
            state = state.learn_again(y, given)
        return state, progress

    def _with_needed_history(
        self, progress: Progress, state: ForecasterState
    ) -> Progress:
        """Without the history, once nothing more is looked for in it."""
        if progress.history is None:
            return progress
        rows = HISTORY if self._settled_seasons(progress) is None else 0
        if any(state.settings.known):
            rows = max(rows, MAX_REPEATED)
        if progress.awaits_weekdays:
            rows = max(rows, WEEKDAY_ROWS)
        if _awaits_grid(progress):
            return progress
        if state.rounds < rows:
            return progress
        return progress._replace(history=None, awaits_weekdays=False)

    def _replay(
        self, state: ForecasterState | None, progress: Progress
    ) -> ForecasterState:
        """A new state with these seasons, which has learnt the history."""
        new = ForecasterState(self.sizes(progress), progress.seasons)
        if state is not None and progress.history is not None and state.rounds:
            y, given = _history(progress, state)
            new.play(y, given)
            if any(new.settings.known):
                new = new.learn_again(y, given)
        return new

    def known_flags(self, progress: Progress) -> tuple[bool, ...]:
        """Of each given feature, whether it is known in advance."""
        count, known = progress.given, self.known
        if isinstance(known, bool):
            return (known,) * count
        labels: Sequence[Any] = progress.names or range(count)
        flags = [False] * count
        for name in known:
            if isinstance(name, int) and 0 <= name < count:
                flags[name] = True
                continue
            if name not in labels:
                raise StreamError(
                    f"The feature {name!r}, known in advance, is not among those "
                    f"given: {', '.join(map(str, labels)) or 'none'}."
                )
            flags[list(labels).index(name)] = True
        return tuple(flags)


def awaits_weekdays(progress: Progress, rows: int) -> bool:
    """Whether later rows are to show which weekdays lack rows."""
    grid = progress.grid
    if grid is None or rows >= WEEKDAY_ROWS or progress.zone == WHOLE:
        return False
    return grid.step == DAY and not grid.months and not grid.weekdays


def _awaits_grid(progress: Progress) -> bool:
    """Whether rows have times, and too few came to say how far they are apart."""
    return progress.zone not in (None, WHOLE) and progress.grid is None


def zone_offset(zone: str | None, grid: TimeGrid) -> int:
    """How far clocks of the zone were ahead of UTC at the grid's first time, in
    nanoseconds; 0 of times without a zone. (That they are changed twice a year is left
    out of account: holidays then begin an hour late.)"""
    if zone is None or zone in (NAIVE, WHOLE):
        return 0
    try:
        seconds = grid.first / 1e9
        ahead = datetime.fromtimestamp(seconds, ZoneInfo(zone)).utcoffset()
    except (ZoneInfoNotFoundError, ValueError, OverflowError, OSError):
        return 0
    return 0 if ahead is None else int(ahead.total_seconds()) * 10**9


def _history(
    progress: Progress, state: ForecasterState
) -> tuple[FloatArray, FloatArray]:
    """All values of the state's rounds, and their given features."""
    assert progress.history is not None
    history = progress.history[: state.rounds]
    y, given = history[:, 0], history[:, 1:]
    return np.ascontiguousarray(y), np.ascontiguousarray(given)


def _searches(rounds: int, rows: int) -> list[int]:
    """After which of the next rows seasons are looked for."""
    stops, at = [], float(FIRST_SEARCH)
    while at < HISTORY * SEARCH_GROWTH:
        stops.append(min(int(at), HISTORY))
        at *= SEARCH_GROWTH
    return [stop - rounds for stop in stops if rounds < stop <= rounds + rows]


def _with_history(
    progress: Progress, rounds: int, y: FloatArray, given: FloatArray
) -> Progress:
    """With rows written to the history, which is made longer where it is full."""
    history = progress.history
    assert history is not None
    if len(history) < rounds + len(y):
        longer = np.full((2 * (rounds + len(y)), history.shape[1]), np.nan)
        longer[:rounds] = history[:rounds]
        history = longer
    history[rounds : rounds + len(y), 0] = y
    history[rounds : rounds + len(y), 1:] = given
    return progress._replace(history=history)
