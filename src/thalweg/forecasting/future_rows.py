"""Features known in advance: the rows to come that a forecast is given."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from thalweg import checks, models
from thalweg.calendar.time_grid import Times
from thalweg.errors import StreamError
from thalweg.forecasting.forecaster_file import Progress
from thalweg.forecasting.series_inputs import LARGEST, index_times, read_times
from thalweg.models.named_rows import read_chunk
from thalweg.types import FloatArray


def read_future(future: Any, names: tuple[str, ...], h: int) -> FloatArray:
    """The first ``h`` rows of features known in advance, (h, k), in this order."""
    chunk = read_chunk(future)
    if isinstance(future, Mapping):
        given = {str(key): np.atleast_1d(value) for key, value in future.items()}
    elif chunk is not None:
        given = models.columns.number_columns(chunk, names)
    else:
        array = checks.check_numbers("'future'", future).astype(np.float64)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2 or array.shape[1] != len(names):
            raise StreamError(
                f"'future' must have a column for each of {', '.join(names)}. "
                f"Got shape {array.shape}."
            )
        given = {name: array[:, k] for k, name in enumerate(names)}
    absent = [name for name in names if name not in given]
    if absent:
        raise StreamError(
            f"'future' lacks the feature {absent[0]!r}, which is known in advance."
        )
    rows = np.column_stack([np.asarray(given[name], np.float64) for name in names])
    if len(rows) < h:
        raise StreamError(f"'future' must have {h} rows. Got {len(rows)}.")
    if not (np.abs(rows[:h]) <= LARGEST).all():
        row, column = np.argwhere(~(np.abs(rows[:h]) <= LARGEST))[0].tolist()
        raise StreamError(
            f"Feature {names[column]} of row {row} of 'future' (counted from 0) must "
            f"be finite. Got {rows[row, column]} instead."
        )
    return rows[:h]


def require_coming_times(future: Any, progress: Progress, rounds: int, h: int) -> None:
    """Raise where ``future`` has an index of times that are not those to come."""
    times, grid = _row_times(future, progress), progress.grid
    if times is None or grid is None:
        return
    own, coming = times[:h], grid.times(rounds + np.arange(h))
    at, is_off = grid.nearest_positions(own)
    is_off |= at != rounds + np.arange(h)
    if is_off.any():
        row = int(is_off.argmax())
        raise StreamError(
            f"Row {row} (counted from 0) of 'future' is at {own[row]}, and the "
            f"forecast's row is at {coming[row]}. Align them, or pass an array."
        )


def without_absent_weekdays(future: Any, progress: Progress) -> Any:
    """``future``, where it has times, without rows on weekdays that are no rows of the
    series."""
    times, grid = _row_times(future, progress), progress.grid
    if times is None or grid is None or not grid.weekdays:
        return future
    return future[~grid.is_absent_weekday(times)]


def _row_times(future: Any, progress: Progress) -> Times | None:
    """The times in the index of ``future``, as the forecaster counts them."""
    instants, _, clock_times = read_times(index_times(future))
    return clock_times if progress.by_clock else instants
