"""``Forecaster`` in a file: its settings, what it found out, and what it has learnt.

docs/file-format.md, "What Forecaster saves".
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from thalweg import persistence
from thalweg.autoregression.forecaster_state import (
    ForecasterSettings,
)
from thalweg.calendar.row_clock import GRID_ROWS, Time, as_stamps
from thalweg.calendar.season_finder import Seasons, SeasonSearch
from thalweg.calendar.time_grid import TimeGrid
from thalweg.checks import MAX_MAGNITUDE
from thalweg.errors import InvalidParameterError, PersistenceError, StreamError
from thalweg.forecasting.series_inputs import Series
from thalweg.kernels.forecaster import forecaster_layout
from thalweg.learners import LastValue
from thalweg.losses import SquaredError
from thalweg.rules import Array, Condition, Count, restore_snapshot
from thalweg.types import FloatArray

FIELD = "forecaster"
"""The name in a file's ``extra`` by which it is a file of ``Forecaster``."""
LAYOUT = forecaster_layout.STATE.version + 3
"""The version of a file's record: raised with that of the packed state, by one since a
grid of times has weekdays, by one since the first rows are kept, and by one since the
search for seasons is a record."""
MAX_GIVEN = 64
"""Limit of the number of covariates: time of a round and size of a state grow with
their square."""
LARGEST = MAX_MAGNITUDE[np.dtype(np.float64)]


# Rules of files, in which a series has ``given`` covariates.
VALUES = Array((None, "1 + given"), -LARGEST, LARGEST, may_be_nan=True)
FEW = f"0 < len(values) < {GRID_ROWS}"
INCREASING = Condition(
    "len(times) == len(values) and [*times] == sorted({*times})",
    "one time for each row, in order",
)
AS_MANY = "len(clock_times) in (0, len(values))"
NAMES = Condition(
    "names is None or len(names) == len({*names}) == given",
    "different names of all covariates",
)


class FirstRows(NamedTuple):
    """The first rows of a series with times, as they came."""

    # (k, 1 + m) y, then covariates
    values: Annotated[FloatArray, VALUES, Condition(FEW, "of few rows")]
    times: Annotated[tuple[Time, ...], INCREASING]
    # The same as clocks of the zone show them; empty: not known.
    clock_times: Annotated[tuple[Time, ...], Condition(AS_MANY, "as many, or none")]

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


class Progress(NamedTuple):
    """Facts about the series that a forecaster has found, beside what it has learnt."""

    search: SeasonSearch = SeasonSearch()
    grid: TimeGrid | None = None  # None: without times, or after the first one
    zone: str | None = None  # of the times: series_inputs.py; None: without times
    by_clock: bool = False  # times are those of the zone's clocks, else those of UTC
    # Of covariates; None: they have no names.
    names: Annotated[tuple[str, ...] | None, NAMES] = None
    given: Annotated[int, Count(MAX_GIVEN)] = 0  # number of covariates
    # The first rows, in which seasons are searched, and which are learnt again with the
    # effects of future covariates: y, then covariates. Room for more follows. None: no
    # more searches.
    history: FloatArray | None = None
    # The first rows as they came, while there are too few to decide on the grid.
    first_rows: FirstRows | None = None

    @property
    def seasons(self) -> Seasons:
        """The lengths of season and cycle."""
        return self.search.seasons


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
        record = restore_snapshot(_Record, saved.extra[FIELD], FIELD, ())
        if record.layout != LAYOUT:
            raise PersistenceError(
                f"its layout is version {record.layout}, and this thalweg reads "
                f"version {LAYOUT}: train the forecaster again"
            )
        settings, rounds = record._asdict(), 0
        progress, packed, _ = map(settings.pop, ("progress", "packed", "layout"))
        sizes = sizes_of(settings, None if packed is None else progress)
        if packed is not None and sizes is not None:
            sizes.packed_rule(progress.seasons).validate(packed, f"{FIELD}.packed")
            rounds = int(packed[forecaster_layout.ROUNDS])
        if progress.history is not None:
            rule = replace(VALUES, shape=(rounds, 1 + progress.given))
            rule.validate(progress.history, f"{FIELD}.progress.history")
    except (PersistenceError, InvalidParameterError, StreamError) as error:
        message = str(error).rstrip(".")
        raise PersistenceError(f"{name} cannot be loaded: {message}.") from None
    return ForecasterFileContents(settings, progress, packed)
