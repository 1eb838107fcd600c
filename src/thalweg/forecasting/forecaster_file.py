"""``Forecaster`` in a file: its settings, what it found out, and what it has learnt.

docs/file-format.md, "What Forecaster saves".
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np

from thalweg import persistence
from thalweg.calendar.row_clock import GRID_ROWS, are_times, as_stamps
from thalweg.calendar.season_finder import Seasons
from thalweg.calendar.time_grid import TimeGrid
from thalweg.checks import MAX_MAGNITUDE
from thalweg.errors import InvalidParameterError, PersistenceError, StreamError
from thalweg.forecasting.series_inputs import Series
from thalweg.kernels.forecaster import forecaster_layout
from thalweg.learners import LastValue
from thalweg.losses import SquaredError
from thalweg.preprocessing.forecaster_check import state_checks
from thalweg.preprocessing.forecaster_state import (
    ForecasterSettings,
)
from thalweg.rules import Array, Condition, Count, restore_snapshot, validate_snapshot
from thalweg.types import FloatArray

FIELD = "forecaster"
"""The name in a file's ``extra`` by which it is a file of ``Forecaster``."""
LAYOUT = forecaster_layout.STATE.version + 2
"""The version of a file's record: raised with that of the packed state, by one since a
grid of times has weekdays, and by one since the first rows are kept."""
MAX_GIVEN = 64
"""Limit of the number of covariates: time of a round and size of a state grow with
their square."""
LARGEST = MAX_MAGNITUDE[np.dtype(np.float64)]


class FirstRows(NamedTuple):
    """The first rows of a series with times, as they came."""

    values: FloatArray  # (k, 1 + m) y, then covariates
    times: Any  # k integers, nanoseconds since 1970
    clock_times: Any  # the same as clocks of the zone show them; empty: not known

    @classmethod
    def of(cls, series: Series, given: FloatArray) -> Self:
        """The rows of a series, with covariates (k, m)."""
        times, clock_times = (
            () if part is None else tuple(as_stamps(part).tolist())
            for part in (series.times, series.clock_times)
        )
        return cls(np.column_stack([series.y, given]), times, clock_times)

    def series(self, zone: str | None) -> Series:
        """The values with their times."""
        times, clock_times = (
            np.array(part, np.int64).view("datetime64[ns]") if part else None
            for part in (self.times, self.clock_times)
        )
        return Series(self.values[:, 0], times, zone, clock_times)

    def is_possible(self, given: int) -> bool:
        """Whether a file may hold them, with so many covariates."""
        count, numbers = len(self.values), np.abs(self.values)
        times = [self.times, self.clock_times] if self.clock_times else [self.times]
        return (
            0 < count < GRID_ROWS
            and self.values.shape == (count, 1 + given)
            and all(are_times(part, count) for part in times)
            and all((np.diff(part) > 0).all() for part in times[:1])
            and not bool((numbers > LARGEST).any())
        )


class Progress(NamedTuple):
    """Facts about the series that a forecaster has found, beside what it has learnt."""

    seasons: Seasons = Seasons()
    grid: Any = None  # a TimeGrid; None: without times, or after the first one
    zone: str | None = None  # of the times: series_inputs.py; None: without times
    by_clock: bool = False  # times are those of the zone's clocks, else those of UTC
    names: tuple[str, ...] | None = None  # of covariates; None: they have no names
    given: int = 0  # number of covariates
    # The first rows, in which seasons are searched, and which are learnt again with the
    # effects of future covariates: y, then covariates. Room for more follows. None: no
    # more searches.
    history: FloatArray | None = None
    # The first rows as they came, while there are too few to decide on the grid.
    first_rows: FirstRows | None = None


class ForecasterFileContents(NamedTuple):
    """All that a file holds of a ``Forecaster``."""

    settings: dict[str, Any]
    progress: Progress
    packed: FloatArray | None  # None before the first value


class _Record(NamedTuple):
    """The fields of ``ForecasterFileContents`` as a file holds them."""

    horizon: int
    season: Any
    lags: Any
    calendar: bool
    known: Any
    progress: Progress
    packed: FloatArray | None
    layout: int


def saved_forecaster(
    contents: ForecasterFileContents, **others: Any
) -> "persistence.SavedModel":
    """The forecaster as a file holds it, with others beside it by name."""
    settings, progress, packed = contents
    record = _Record(**settings, progress=progress, packed=packed, layout=LAYOUT)
    extra = {FIELD: record, **others}
    return persistence.SavedModel(LastValue(), SquaredError(), None, extra)


def restore_forecaster(
    saved: "persistence.SavedModel",
    name: str,
    sizes_of: Callable[[dict[str, Any], Progress | None], ForecasterSettings | None],
) -> ForecasterFileContents:
    """The forecaster of a file; ``PersistenceError`` where any of it is wrong.

    ``name`` is what errors call the file. ``sizes_of`` checks settings, and says what
    sizes a state has with this progress.
    """
    if FIELD not in saved.extra:
        raise PersistenceError(f"{name} holds no Forecaster.")
    try:
        record = restore_snapshot(_Record, saved.extra[FIELD], FIELD)
        if record.layout != LAYOUT:
            raise PersistenceError(
                f"its layout is version {record.layout}, and this thalweg reads "
                f"version {LAYOUT}: train the forecaster again"
            )
        progress = _restore_progress(record.progress)
        settings = record._asdict()
        for name in ("progress", "packed", "layout"):
            del settings[name]
        rounds = 0
        sizes = sizes_of(settings, None if record.packed is None else progress)
        if record.packed is not None and sizes is not None:
            rounds = _validate_packed(record.packed, sizes, progress)
        if progress.history is not None:
            rule = Array(
                (rounds, 1 + progress.given), -LARGEST, LARGEST, may_be_nan=True
            )
            validate_snapshot(rule, progress.history, f"{FIELD}.progress.history")
    except (PersistenceError, InvalidParameterError, StreamError) as error:
        message = str(error).rstrip(".")
        raise PersistenceError(f"{name} cannot be loaded: {message}.") from None
    return ForecasterFileContents(settings, progress, record.packed)


def _restore_progress(progress: Progress) -> Progress:
    """The progress with a grid of its own class, if all is as it may be."""
    grid = progress.grid
    if grid is not None:
        fields = dict(grid) if hasattr(grid, "keys") else {}
        is_grid = set(fields) == set(TimeGrid._fields)
        is_grid = is_grid and TimeGrid(**fields).is_possible()
        name = f"{FIELD}.progress.grid"
        validate_snapshot(Condition(is_grid, "a grid of times"), grid, name)
        grid = TimeGrid(**fields)
    first_rows = progress.first_rows
    is_legal = first_rows is None or first_rows.is_possible(progress.given)
    name = f"{FIELD}.progress.first_rows"
    validate_snapshot(Condition(is_legal, "rows with times"), first_rows, name)
    is_legal = progress.zone is None or type(progress.zone) is str
    is_legal = is_legal and type(progress.by_clock) is bool
    rule = Condition(is_legal, "a zone or None")
    validate_snapshot(rule, progress.zone, f"{FIELD}.progress.zone")
    validate_snapshot(Count(MAX_GIVEN), progress.given, f"{FIELD}.progress.given")
    names = progress.names
    is_legal = names is None or len(names) == len(set(names)) == progress.given
    rule = Condition(is_legal, f"{progress.given} different names or None")
    validate_snapshot(rule, names, f"{FIELD}.progress.names")
    season, cycle = progress.seasons
    is_legal = 1 <= season <= cycle < 2**31
    name = f"{FIELD}.progress.seasons"
    validate_snapshot(Condition(is_legal, "two periods"), progress.seasons, name)
    return progress._replace(grid=grid)


def _validate_packed(
    packed: FloatArray, sizes: ForecasterSettings, progress: Progress
) -> int:
    """Raise unless kernels can go on from the state; returns how many rows it has seen.

    Kernels check nothing: numbers that they use as indices have to be right.
    """
    rounds = 0
    for check in state_checks(packed, sizes, progress.seasons):
        name = ".".join(filter(None, (FIELD, "packed", check.field)))
        validate_snapshot(Condition(check.is_right, check.expected), check.value, name)
        rounds = int(check.value) if check.field == "rounds" else rounds
    return rounds
