"""``Forecaster`` in a file: its settings, what it found out, and what it has learnt.

docs/file-format.md, "What Forecaster saves".
"""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from thalweg import persistence
from thalweg.errors import InvalidParameterError, PersistenceError
from thalweg.learners import LastValue
from thalweg.losses import SquaredError
from thalweg.persistence.snapshots import (
    Array,
    Condition,
    restore_snapshot,
    validate_snapshot,
)
from thalweg.preprocessing.seasons import Seasons
from thalweg.preprocessing.time_grid import TimeGrid
from thalweg.types import FloatArray

FIELD = "forecaster"
"""The name in a file's ``extra`` by which it is a file of ``Forecaster``."""
LAYOUT_VERSION = 1
MAX_TIME = 2**63 - 1


class Progress(NamedTuple):
    """What a forecaster found out about its series, beside what it has learnt."""

    seasons: Seasons = Seasons()
    first_time: Any = None  # an int, nanoseconds since 1970; None: without times
    grid: Any = None  # a TimeGrid; None: without times, or after the first one
    names: tuple[str, ...] | None = None  # of given features; None: they have none
    given: int = 0  # how many there are
    # The first rows, among which seasons are looked for: y, then features. Room for
    # more follows. None: they need not be looked for, or were.
    history: FloatArray | None = None


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


def write_forecaster(
    path: str | os.PathLike[str], contents: ForecasterFileContents
) -> None:
    """Save the forecaster to a file."""
    settings, progress, packed = contents
    record = _Record(
        **settings, progress=progress, packed=packed, layout=LAYOUT_VERSION
    )
    saved = persistence.SavedModel(LastValue(), SquaredError(), None, {FIELD: record})
    persistence.save(path, saved)


def read_forecaster(
    path: str | os.PathLike[str], state_size: Callable[[dict[str, Any], Progress], int]
) -> ForecasterFileContents:
    """The forecaster in a file; ``PersistenceError`` where any of it is wrong.

    ``state_size`` says how many numbers a state has with these settings.
    """
    saved = persistence.load(path)
    if FIELD not in saved.extra:
        raise PersistenceError(f"{path} holds no Forecaster.")
    try:
        record = restore_snapshot(_Record, saved.extra[FIELD], FIELD)
        progress = _restore_progress(record.progress)
        settings = record._asdict()
        for name in ("progress", "packed", "layout"):
            del settings[name]
        if record.layout != LAYOUT_VERSION:
            raise PersistenceError(
                f"its layout is version {record.layout}, and this thalweg reads "
                f"version {LAYOUT_VERSION}: train the forecaster again"
            )
        if record.packed is not None:
            size = state_size(settings, progress)
            validate_snapshot(Array((size,)), record.packed, f"{FIELD}.packed")
    except (PersistenceError, InvalidParameterError) as error:
        message = str(error).rstrip(".")
        raise PersistenceError(f"{path} cannot be loaded: {message}.") from None
    return ForecasterFileContents(settings, progress, record.packed)


def _restore_progress(progress: Progress) -> Progress:
    """The progress with a grid of its own class, if all is as it may be."""
    grid, first_time, history = progress.grid, progress.first_time, progress.history
    if grid is not None:
        fields = dict(grid) if hasattr(grid, "keys") else grid._asdict()
        is_grid = set(fields) == set(TimeGrid._fields) and all(
            _is_time(value) for value in fields.values()
        )
        is_grid = is_grid and fields["step"] > 0 and 0 <= fields["months"] <= 12
        name = f"{FIELD}.progress.grid"
        validate_snapshot(Condition(is_grid, "a grid of times"), grid, name)
        grid = TimeGrid(**fields)
    is_legal = first_time is None or _is_time(first_time)
    name = f"{FIELD}.progress.first_time"
    validate_snapshot(Condition(is_legal, "a time or None"), first_time, name)
    if history is not None:
        rule = Array((None, 1 + progress.given), may_be_nan=True)
        validate_snapshot(rule, history, f"{FIELD}.progress.history")
    season, cycle = progress.seasons
    is_legal = 1 <= season <= cycle < 2**31
    name = f"{FIELD}.progress.seasons"
    validate_snapshot(Condition(is_legal, "two periods"), progress.seasons, name)
    return progress._replace(grid=grid)


def _is_time(value: Any) -> bool:
    return type(value) is int and abs(value) <= MAX_TIME
