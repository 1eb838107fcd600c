"""The seasons of a forecaster, and learning again where they change.

Where neither settings nor calendar determine them, seasons are searched in the values
so far, the *history*. If they change, a new state learns the history again. All
functions return new states and progress, and leave their arguments as they are.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from thalweg.autoregression.forecaster_state import (
    ForecasterSettings,
    ForecasterState,
    state_size,
)
from thalweg.calendar.public_holidays import DayGrid, find_day_grid
from thalweg.calendar.season_finder import SEARCHES, Seasons, SeasonSearch
from thalweg.calendar.time_grid import TimeGrid
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.forecasting.forecast import PlayedForecasts
from thalweg.forecasting.forecaster_file import Progress
from thalweg.forecasting.series_inputs import NAIVE, WHOLE
from thalweg.types import FloatArray

MAX_STATE_BYTES = 2**28
"""Limit of the size of a state without seasons: that of 480 lags at 24 steps."""
MAX_REPEATED = 1000
"""Limit of the number of first rows that are learnt again at each such search with the
newest estimates of the effects of future covariates."""


class SeasonLearning(NamedTuple):
    """The settings of a forecaster."""

    horizon: int
    season: int | tuple[int, ...] | None
    lags: tuple[int, ...]
    calendar: bool
    known: Any

    def require_possible_size(self, given: int) -> None:
        """Raise where a state with this number of covariates would be too large."""
        flags = (False,) * given
        sizes = ForecasterSettings(self.horizon, self.lags, given, flags)
        size = 8 * state_size(sizes, Seasons())
        if size > MAX_STATE_BYTES:
            raise InvalidParameterError(
                f"A Forecaster of {self.horizon:,} steps, {len(self.lags):,} lags and "
                f"{given} features has a state of {size:,} bytes, more than "
                f"{MAX_STATE_BYTES:,}. Use fewer steps, lags or features."
            )

    def sizes(self, progress: Progress) -> ForecasterSettings:
        """The settings that determine the size of a state."""
        known = self.known_flags(progress)
        days = self._day_grid(progress)
        return ForecasterSettings(
            self.horizon, self.lags, progress.given, known, days=days
        )

    def _day_grid(self, progress: Progress) -> DayGrid | None:
        """Where days begin, if holidays are used."""
        if not self.calendar or progress.grid is None or progress.zone == WHOLE:
            return None
        offset = 0 if progress.by_clock else zone_offset(progress.zone, progress.grid)
        return find_day_grid(progress.grid, offset)

    def with_seasons(self, progress: Progress, rounds: int) -> Progress:
        """With the seasons that the settings or the calendar say; else a history."""
        search = progress.search
        if self.season is not None:
            periods = (self.season,) if isinstance(self.season, int) else self.season
            search = SeasonSearch(Seasons(min(periods), max(periods)), is_settled=True)
        elif self.calendar and progress.zone != WHOLE:
            search = search.on_grid(progress.grid, is_final=True)
        is_needed = not search.is_settled or any(self.known_flags(progress))
        if progress.history is None and rounds == 0 and is_needed:
            progress = progress._replace(history=np.empty((0, 1 + progress.given)))
        return progress._replace(search=search)

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
        stops = []
        if progress.history is not None:
            ahead = (search - state.rounds for search in SEARCHES)
            stops = [stop for stop in ahead if 0 < stop <= len(y)]
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
        """Search for seasons in the history, and learn it again with those found."""
        y, given = _history(progress, state)
        has_known = any(state.settings.known)
        if not progress.search.is_settled:
            values = state.without_effects(y, given) if has_known else y
            progress = progress._replace(search=progress.search.in_values(values))
        if progress.seasons != state.seasons:
            return self._replay(state, progress), progress
        if has_known and state.rounds <= MAX_REPEATED:
            state = state.learn_again(y, given)
        return state, progress

    def _with_needed_history(
        self, progress: Progress, state: ForecasterState
    ) -> Progress:
        """Without the history, once it is not searched any more."""
        if progress.history is None:
            return progress
        is_repeated = any(state.settings.known) and state.rounds < MAX_REPEATED
        if is_repeated or not progress.search.is_settled:
            return progress
        return progress._replace(history=None)

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


def zone_offset(zone: str | None, grid: TimeGrid) -> int:
    """The offset of the zone's clocks from UTC at the grid's first time, in
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
