"""Columns of a chunk, checked for learners: refusals name row, line and column."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from thalweg.checks import MAX_MAGNITUDE
from thalweg.errors import StreamError
from thalweg.imputer import (
    ACCEPTING_POLICIES,
    POLICY_RULES,
    MissingPolicy,
)
from thalweg.tables.cells import Categorical, CellError
from thalweg.tables.chunk import Chunk
from thalweg.tables.column_format import PLAIN
from thalweg.tables.timestamps import Timestamps, join_timestamps
from thalweg.types import FloatArray

_MAX_SIZE = MAX_MAGNITUDE[np.dtype(np.float64)]


def read_numbers(
    chunk: Chunk, name: str, missing: MissingPolicy, hint: str = ""
) -> FloatArray:
    """A column of numbers that learners accept, NaN where missing."""
    values = chunk.numbers(name, hint)
    sizes = np.abs(values)
    if (sizes <= _MAX_SIZE).all():
        return values
    is_large = sizes > _MAX_SIZE
    if is_large.any():
        first = int(is_large.argmax())
        raise StreamError(
            f"{chunk.location(first)}: {name!r} is {float(values[first])!r}. Numbers "
            f"must be finite and at most {_MAX_SIZE:g} in size."
        )
    _check_missing(chunk, name, np.isnan(values), missing)
    return values


YES, NO = ("yes", "true", "y", "t", "on"), ("no", "false", "n", "f", "off")
"""Texts of 1 and of 0, in small letters."""


def are_flags(texts: Sequence[str] | None) -> bool:
    """Whether all texts say yes or no; None: they are not all text."""
    return bool(texts) and {text.lower() for text in texts or ()} <= {*YES, *NO}


def read_flags(chunk: Chunk, name: str) -> FloatArray:
    """A column of yes and no as ones and zeros, NaN where missing."""
    column = chunk.categories(name)
    for code, level in enumerate(column.levels):
        if not are_flags([level]):
            first = int((column.codes == code).argmax())
            raise StreamError(
                f"{chunk.location(first)}: {name!r} is {level!r}, which says neither "
                f"yes nor no, as the rows before."
            )
    values = np.array([float(level.lower() in YES) for level in column.levels])
    return np.append(values, np.nan)[column.codes]


def read_categories(chunk: Chunk, name: str, missing: MissingPolicy) -> Categorical:
    """A column of text."""
    column = chunk.categories(name)
    _check_missing(chunk, name, column.codes < 0, missing)
    return column


def read_timestamps(
    chunk: Chunk, name: str, missing: MissingPolicy, has_offset: bool | None
) -> Timestamps:
    """A column of times, all with an offset from UTC or all without.

    ``has_offset`` says how it was in the chunks before; None if no time was known.
    """
    times = chunk.timestamps(name)
    _check_missing(chunk, name, ~times.is_known(), missing)
    _check_offsets(chunk, name, times, has_offset)
    return times


def read_any_times(chunk: Chunk, name: str) -> Timestamps:
    """A column of times that nobody has named: what is no time counts as missing."""
    times = Timestamps(np.full(len(chunk), np.datetime64("NaT", "ns")))
    if name not in chunk.cells:
        return times
    known = chunk.formats.get(name, PLAIN)
    parts, start = [times[:0]], 0
    while start < len(chunk):
        cells = chunk.cells[name].slice_rows(start, len(chunk))
        try:
            parts.append(known.timestamps(cells))
            break
        except CellError as error:
            before = known.timestamps(cells.slice_rows(0, error.position))
            parts += [before, times[:1]]
            start += error.position + 1
    return join_timestamps(parts)


def read_sorted_times(
    chunk: Chunk,
    name: str,
    kind: str | None,
    latest: Timestamps | FloatArray | None,
    has_offset: bool | None,
) -> Timestamps | FloatArray:
    """A column of times or numbers that never go back, nor behind ``latest``.

    ``latest`` is the time of the row before, of this run or of the one that it
    continues. No time may be missing.
    """
    values: Timestamps | FloatArray
    if kind == "number":
        values = read_numbers(chunk, name, "skip")
    else:
        values = read_timestamps(chunk, name, "skip", has_offset)
    order, before = _sort_key(values), None if latest is None else _sort_key(latest)
    unknown = order != order  # NaN and NaT alike
    if unknown.any():
        raise StreamError(
            f"{chunk.location(int(unknown.argmax()))}: {name!r} is missing. Every row "
            f"needs its time."
        )
    # The first row ever has nothing before it but itself.
    goes_back = order < np.append(order[0] if before is None else before, order[:-1])
    if goes_back.any():
        first = int(goes_back.argmax())
        earlier = latest if first == 0 else values[first - 1 : first]
        row = chunk.first_row + first
        raise StreamError(
            f"{chunk.location(first)}: {name!r} goes back to "
            f"{_time_text(values[first : first + 1])} from {_time_text(earlier)} in "
            f"{f'row {row:,}' if row else 'the run before'}. Sort the rows by "
            f"{name!r} first."
        )
    return values


def _sort_key(times: Timestamps | FloatArray) -> npt.NDArray[np.generic]:
    return times.instants if isinstance(times, Timestamps) else times


def _time_text(time: Timestamps | FloatArray | None) -> str:
    """One time or number as text."""
    if isinstance(time, Timestamps):
        return time.isoformat()[0]
    return repr(float(np.ravel(time)[0]))  # type: ignore[arg-type]


def _check_offsets(
    chunk: Chunk, name: str, times: Timestamps, before: bool | None
) -> None:
    """Raise unless all times have an offset or none has: others have no order."""
    known, has_offset = times.is_known(), times.has_offset()
    if not known.any():
        return
    expected = has_offset[known.argmax()] if before is None else before
    differs = known & (has_offset != expected)
    if differs.any():
        first = int(differs.argmax())
        ways = ("with", "without") if has_offset[first] else ("without", "with")
        raise StreamError(
            f"{chunk.location(first)}: {name!r} is "
            f"{times[first : first + 1].isoformat()[0]}, {ways[0]} an offset from UTC, "
            f"and the rows before are {ways[1]} one. Write all of them one way."
        )


def _check_missing(
    chunk: Chunk, name: str, is_missing: npt.NDArray[np.bool_], missing: MissingPolicy
) -> None:
    if not POLICY_RULES[missing].accepts and is_missing.any():
        options = " or ".join(
            chunk.setting("missing", policy) for policy in ACCEPTING_POLICIES
        )
        raise StreamError(
            f"{chunk.location(int(is_missing.argmax()))}: {name!r} is missing. Fill it "
            f"in, or say what to do: {options}."
        )
