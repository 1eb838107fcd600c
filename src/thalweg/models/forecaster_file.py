"""``Forecaster`` in a file: its settings, what it found out, and what it has learnt.

docs/file-format.md, "What Forecaster saves".
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from thalweg import persistence
from thalweg.checks import MAX_MAGNITUDE
from thalweg.errors import InvalidParameterError, PersistenceError, StreamError
from thalweg.kernels import exponential_smoothing
from thalweg.kernels.forecaster.analogues import MAX_HISTORY_VALUE
from thalweg.kernels.forecaster.forecaster_layout import (
    CHANGE_COUNT,
    COUNTRIES,
    COUNTRY,
    DAY,
    DEVIATION_COUNT,
    EFFECT_COUNT,
    HISTORY_START,
    IS_FROZEN,
    ORIGIN_COUNT,
    ROUNDS,
    ROW_OF_DAY,
    STATE,
    USUAL_COUNT,
    VALUE_COUNT,
)
from thalweg.kernels.tracker.tracker_layout import DELAY, ERROR_COUNT
from thalweg.learners import LastValue
from thalweg.losses import SquaredError
from thalweg.persistence.snapshots import (
    Array,
    Condition,
    Count,
    restore_snapshot,
    validate_snapshot,
)
from thalweg.preprocessing.forecaster_state import (
    ForecasterSettings,
    ForecasterState,
    modelled_steps,
    state_size,
)
from thalweg.preprocessing.seasons import Seasons
from thalweg.preprocessing.time_grid import TimeGrid
from thalweg.types import FloatArray

FIELD = "forecaster"
"""The name in a file's ``extra`` by which it is a file of ``Forecaster``."""
LAYOUT = STATE.version + 1
"""The version of a file's record: raised with that of the packed state, and by one
since a grid of times has weekdays."""
MAX_TIME = 2**63 - 1
MAX_GIVEN = 64
"""Given features at most: a round costs their square, and a state as well."""
MAX_MONTHS = 12_000
MAX_ROUNDS = 2**52
LARGEST = MAX_MAGNITUDE[np.dtype(np.float64)]


class Progress(NamedTuple):
    """What a forecaster found out about its series, beside what it has learnt."""

    seasons: Seasons = Seasons()
    first_time: Any = None  # an int, nanoseconds since 1970; None: without times
    grid: Any = None  # a TimeGrid; None: without times, or after the first one
    zone: str | None = None  # of the times: series_inputs.py; None: without times
    by_clock: bool = False  # times are those of the zone's clocks, else those of UTC
    names: tuple[str, ...] | None = None  # of given features; None: they have none
    given: int = 0  # how many there are
    # The first rows, among which seasons are looked for, and which are learnt again
    # with what is found out of known features: y, then features. Room for more follows.
    # None: nothing more is looked for.
    history: FloatArray | None = None
    # Whether the first rows are too few to show if weekdays lack rows: weekdays.py.
    awaits_weekdays: bool = False


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
) -> persistence.SavedModel:
    """The forecaster as a file holds it, with others beside it by name."""
    settings, progress, packed = contents
    record = _Record(**settings, progress=progress, packed=packed, layout=LAYOUT)
    extra = {FIELD: record, **others}
    return persistence.SavedModel(LastValue(), SquaredError(), None, extra)


def restore_forecaster(
    saved: persistence.SavedModel,
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
    grid, first_time = progress.grid, progress.first_time
    if grid is not None:
        fields = dict(grid) if hasattr(grid, "keys") else {}
        is_grid = set(fields) == set(TimeGrid._fields) and all(
            _is_time(value) for value in fields.values()
        )
        is_grid = is_grid and fields["step"] > 0 and 0 <= fields["months"] <= MAX_MONTHS
        is_grid = is_grid and 0 <= fields["day"] <= 31
        is_grid = is_grid and TimeGrid(**fields).has_possible_weekdays()
        name = f"{FIELD}.progress.grid"
        validate_snapshot(Condition(is_grid, "a grid of times"), grid, name)
        grid = TimeGrid(**fields)
    is_legal = first_time is None or _is_time(first_time)
    name = f"{FIELD}.progress.first_time"
    validate_snapshot(Condition(is_legal, "a time or None"), first_time, name)
    is_legal = progress.zone is None or type(progress.zone) is str
    is_legal = is_legal and type(progress.by_clock) is bool
    is_legal = is_legal and type(progress.awaits_weekdays) is bool
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
    name = f"{FIELD}.packed"
    validate_snapshot(Array((state_size(sizes, progress.seasons),)), packed, name)
    state = ForecasterState(sizes, progress.seasons, packed)
    views: Any = state.views
    rule = Array((1,), 0, MAX_ROUNDS, whole=True)
    validate_snapshot(rule, views.counters[ROUNDS : ROUNDS + 1], f"{name}.rounds")
    counts = {
        "counters": views.counters[
            [
                DEVIATION_COUNT,
                VALUE_COUNT,
                CHANGE_COUNT,
                EFFECT_COUNT,
                ORIGIN_COUNT,
                HISTORY_START,
            ]
        ],
        "profile": views.profile[1],
        "cycle_profile": views.cycle_profile[1],
        "phase_means": views.phase_means[1],
        "smoothing": views.smoothing[[exponential_smoothing.ROUNDS]],
        "error_counts": views.error_counts,
        "group_counts": views.group_counts,
        "step_counters": views.step_counters[:, ERROR_COUNT],
        "total_counters": views.total_counters[:, ERROR_COUNT],
        "day_counters": views.day_counters[[DAY, USUAL_COUNT] if sizes.days else []],
        "week_counts": views.week_counts,
        "date_counts": views.date_counts,
    }
    for field, array in counts.items():
        rule = Array(array.shape, 0, state.rounds, whole=True)
        validate_snapshot(rule, array, f"{name}.{field}")
    is_zero = Condition(views.counters[IS_FROZEN] == 0, "0")
    validate_snapshot(is_zero, views.counters[IS_FROZEN], f"{name}.is_frozen")
    _validate_days(views, sizes, state.rounds, name)
    # Of the two values in a finite number, one may be NaN.
    history = views.history.view(np.float32)
    is_legal = (np.abs(history) <= np.float32(MAX_HISTORY_VALUE)).all()
    validate_snapshot(
        Condition(is_legal, "pairs of values"), history, f"{name}.history"
    )
    for kind in ("step", "total"):
        counters, errors = (
            getattr(views, f"{kind}_{f}") for f in ("counters", "errors")
        )
        _validate_errors(counters, errors, sizes.horizon, f"{name}.{kind}")
    return state.rounds


def _validate_days(
    views: Any, sizes: ForecasterSettings, rounds: int, name: str
) -> None:
    """Raise unless the day is that of the rounds, and the country one that there is."""
    if sizes.days is None:
        return
    rows, counters = sizes.days.first_row + rounds, views.day_counters
    expected = divmod(rows, sizes.days.rows)
    is_right = (counters[DAY], counters[ROW_OF_DAY]) == expected
    rule = Condition(is_right, f"day and row {expected}")
    validate_snapshot(rule, counters, f"{name}.day_counters")
    country = Array((1,), 0, COUNTRIES, whole=True)
    validate_snapshot(country, counters[COUNTRY : COUNTRY + 1], f"{name}.country")


def _validate_errors(
    counters: FloatArray, errors: FloatArray, horizon: int, name: str
) -> None:
    """Raise unless windows of errors are as those of such a horizon.

    Their second rows are the first rows in order, as a search there has to find them.
    """
    is_right = (counters[:, DELAY] == modelled_steps(horizon) - 1).all()
    rule = Condition(is_right, "one less than each step")
    validate_snapshot(rule, counters[:, DELAY], f"{name}_counters")
    counts = counters[:, ERROR_COUNT].astype(np.int64)
    is_right = all(
        (np.sort(ring[:count]) == ordered[:count]).all()
        for count, (ring, ordered) in zip(counts, errors, strict=True)
    )
    rule = Condition(is_right, "errors, then the same in order")
    validate_snapshot(rule, errors, f"{name}_errors")


def _is_time(value: Any) -> bool:
    return type(value) is int and abs(value) <= MAX_TIME
