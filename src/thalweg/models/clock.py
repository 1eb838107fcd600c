"""Elapsed time as models take it: numbers, durations or time stamps, in rounds.

A duration counts in units of the first one that is positive, and so does the time
between two stamps: if rows come every ten minutes, an hour's gap counts as six rounds.
The rule uses no later rows, and the result does not depend on how rows are cut.
"""

from datetime import UTC, date, timedelta
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.errors import StreamError
from thalweg.models.named_rows import FRAME_LIBRARIES
from thalweg.rules import Count

NANOSECONDS = np.dtype("timedelta64[ns]")


MAX_NANOSECONDS = 2**63 - 1
"""Largest time that NumPy can hold."""


class ClockState(NamedTuple):
    """The time that rows take, as far as it is known, in nanoseconds."""

    # The first positive time between two rows.
    unit: Annotated[int, Count(MAX_NANOSECONDS, 1)] | None = None
    # The last time stamp, since 1970.
    latest: Annotated[int, Count(MAX_NANOSECONDS, -MAX_NANOSECONDS)] | None = None


class ElapsedTime(NamedTuple):
    """Times since the rows before, in rounds, and the clock after them."""

    elapsed: Any  # (T,) or a number
    clock: ClockState


def measure_elapsed(clock: ClockState, elapsed: Any) -> ElapsedTime:
    """``elapsed`` in rounds: numbers as they are, durations and stamps by the clock."""
    times = _as_times(elapsed)
    if times is None:
        return ElapsedTime(elapsed, clock)
    flat, is_new = np.atleast_1d(times), clock == ClockState()
    if times.dtype.kind == "m" and is_new and len(flat) and np.isnat(flat[0]):
        # As differences of times have it: there is no row before the first.
        flat = flat.copy()
        flat[0] = 0
        is_first = True
    else:
        is_first = times.dtype.kind == "M" and clock.latest is None
    if np.isnat(flat).any():
        first = int(np.isnat(flat).argmax())
        raise StreamError(f"The elapsed time of round {first} is missing (NaT).")
    if times.dtype.kind == "m":
        gaps, latest = flat.astype(NANOSECONDS).astype(np.int64), clock.latest
    else:
        stamps = flat.astype("datetime64[ns]").astype(np.int64)
        before = stamps[0] if clock.latest is None else clock.latest
        gaps, latest = np.diff(stamps, prepend=before), int(stamps[-1])
    if (gaps < 0).any():
        first = int((gaps < 0).argmax())
        raise StreamError(
            f"The time of round {first} goes back by "
            f"{np.timedelta64(-int(gaps[first]), 'ns').astype('timedelta64[us]')}."
        )
    positive = gaps[gaps > 0]
    unit = clock.unit or (int(positive[0]) if len(positive) else None)
    rounds = gaps / (unit or 1)
    if is_first:  # There is no row before it: it counts as one round.
        rounds[0] = 1.0
    result = rounds if times.ndim else float(rounds[0])
    return ElapsedTime(result, ClockState(unit, latest))


def _as_times(elapsed: Any) -> npt.NDArray[Any] | None:
    """Durations or time stamps as an array of NumPy's types; None for numbers."""
    if elapsed is None or type(elapsed) in (int, float):
        return None
    if isinstance(elapsed, timedelta | date | np.timedelta64 | np.datetime64):
        return np.asarray(_without_zone(elapsed))
    if type(elapsed).__module__.partition(".")[0] in FRAME_LIBRARIES:
        array = np.asarray(elapsed)
        if array.dtype.kind in "mM":
            return array
    first = _first(elapsed)
    if not isinstance(first, timedelta | date | np.timedelta64 | np.datetime64):
        return None
    if isinstance(elapsed, np.ndarray) and elapsed.dtype.kind in "mM":
        return elapsed
    return np.array([_without_zone(value) for value in elapsed])


def _first(elapsed: Any) -> Any:
    """The first of several times; None where there is none."""
    try:
        return next(iter(elapsed), None)
    except TypeError:
        return None


def _without_zone(value: Any) -> Any:
    """One time as NumPy takes it: that of a zone in UTC."""
    if isinstance(value, np.timedelta64 | np.datetime64):
        return value
    if isinstance(value, timedelta):
        return np.timedelta64(value)
    if getattr(value, "tzinfo", None) is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value)
