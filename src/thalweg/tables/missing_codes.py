"""Codes for missing values, such as -999 and 9999, and markers of columns of many gaps.

What a missing value means is decided in imputer.py. A number is a candidate if it is
made of nines (99, 999, 9999 and so on, also 99.9 and -99.99) or is one that programs
write where a value is missing (-1e9, -32768, the largest number of 32 bits). A
candidate is taken as missing if it lies far outside of all other values of its column:
those of the first rows, from which the formats of columns are decided, and those of all
rows before it. Far is, in multiples of the range of the other values, counted from the
nearest of them,

- 5 for a positive candidate, as real values have long tails upwards, and 10 for 99,
  which occurs by chance: it is a code among answers from 1 to 9, say;
- 1 for a positive candidate that comes ``MIN_REPEATS`` times in the first rows, which
  an outlier does not;
- 1 for a negative candidate, and 0.5 where no other value is negative.

Candidates themselves do not count as other values, so that a first code does not hide
those after it. There have to be ``MIN_VALUES`` other values, not all the same; of a
pipe codes before that are kept. So 9999 remains a price where others are 4000, and 999
a count among 980 and 1010. What decides is a ``ColumnRange``, which is saved with a
run.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.errors import StreamError
from thalweg.rules import Condition, Count
from thalweg.tables.cells import CellError, Cells, PythonCells
from thalweg.tables.chunk import Chunk
from thalweg.tables.column_format import PLAIN
from thalweg.types import FloatArray

MIN_VALUES = 10
"""Other values of a column that have to be known."""
MIN_REPEATS = 5
"""A candidate that comes so often in the first rows is no outlier."""
FAR, FAR_TWO_DIGITS, FAR_REPEATED = 5.0, 10.0, 1.0
FAR_NEGATIVE, FAR_BELOW_ZERO = 1.0, 0.5
"""Multiples of the range of other values, as the module says."""
KEEP_CODES = "--codes keep"
"""How to keep codes."""
_MAX_CODES_IN_NOTE = 3


def _candidates() -> FloatArray:
    """All numbers that may be codes, in order, also as rounded to 32 bits."""
    whole = [float("9" * digits) for digits in range(2, 10)]
    tenths = [float("9" * digits + ".9") for digits in range(2, 7)]
    # 99.99 and 999.99 are prices.
    hundredths = [float("9" * digits + ".99") for digits in range(2, 7)]
    extremes = [1e9, 1e10, 1e20, 1e30, 1e31, 2147483647.0, 3.4028234663852886e38]
    positive = [*whole, *tenths, *hundredths[2:], *extremes, 9.969209968386869e36]
    negative = [*whole, *tenths, *hundredths, *extremes, 32768.0, 2147483648.0]
    values = np.array([*positive, *(-value for value in negative)])
    return np.unique([*values, *values.astype(np.float32).astype(np.float64)])


CANDIDATES = _candidates()


OF_CODES = Condition("len(counts) == len(codes)", "one for each code")


class ColumnRange(NamedTuple):
    """The other values of a column, and the codes that were taken as missing."""

    name: str
    values: int = 0  # how many were seen, at most MIN_VALUES
    low: float = np.inf
    high: float = -np.inf
    repeated: tuple[float, ...] = ()  # candidates that come often in the first rows
    codes: tuple[float, ...] = ()  # taken as missing so far
    # How often each of them was.
    counts: Annotated[tuple[Annotated[int, Count(min=1)], ...], OF_CODES] = ()

    @classmethod
    def from_sample(cls, name: str, numbers: FloatArray) -> "ColumnRange":
        """The range before the first row, of rows that may be looked at."""
        candidates = numbers[_is_candidate(numbers)]
        codes, counts = np.unique(candidates, return_counts=True)
        repeated = tuple(codes[counts >= MIN_REPEATS].tolist())
        after, _ = cls(name).advance(numbers)
        # Fewer are counted once more, when they are read.
        values = after.values if after.values >= MIN_VALUES else 0
        return cls(name, values, after.low, after.high, repeated)

    def advance(
        self, numbers: FloatArray
    ) -> tuple["ColumnRange", npt.NDArray[np.bool_]]:
        """The range after more rows, and which of their numbers are codes, (T,)."""
        is_candidate = _is_candidate(numbers)
        if not is_candidate.any():
            known = np.count_nonzero(np.isfinite(numbers))
            return self._widen(numbers, int(known)), is_candidate
        others = np.where(is_candidate | ~np.isfinite(numbers), np.nan, numbers)
        low = np.fmin.accumulate(np.append(self.low, others))[1:]
        high = np.fmax.accumulate(np.append(self.high, others))[1:]
        counted = self.values + np.cumsum(~np.isnan(others))
        is_code = is_candidate & (counted >= MIN_VALUES) & (high > low)
        with np.errstate(invalid="ignore", over="ignore"):
            is_code &= self._is_far(numbers, low, high)
        after = self._widen(others, int(counted[-1]) - self.values)
        return after._count(numbers[is_code]), is_code

    def _is_far(
        self, numbers: FloatArray, low: FloatArray, high: FloatArray
    ) -> npt.NDArray[np.bool_]:
        spread = high - low
        above = np.where(numbers < 100, FAR_TWO_DIGITS, FAR)
        above[np.isin(numbers, self.repeated)] = FAR_REPEATED
        below = np.where(low >= 0, FAR_BELOW_ZERO, FAR_NEGATIVE)
        is_above = (numbers > 0) & (numbers - high > above * spread)
        is_below = (numbers < 0) & (low - numbers > below * spread)
        return np.asarray(is_above | is_below)

    def _widen(self, others: FloatArray, known: int) -> "ColumnRange":
        finite = others[np.isfinite(others)]
        if not len(finite):
            return self
        low, high = float(finite.min()), float(finite.max())
        return self._replace(
            values=min(self.values + known, MIN_VALUES),
            low=min(self.low, low),
            high=max(self.high, high),
        )

    def _count(self, found: FloatArray) -> "ColumnRange":
        counts = dict(zip(self.codes, self.counts, strict=True))
        for code in found.tolist():
            counts[code] = counts.get(code, 0) + 1
        return self._replace(codes=tuple(counts), counts=tuple(counts.values()))


def first_ranges(chunk: Chunk, names: Sequence[str]) -> tuple[ColumnRange, ...]:
    """The ranges of these columns of numbers, as the first rows of a table have them.

    Of a pipe no rows may be looked at: its ranges begin with its rows.
    """
    return tuple(_first_range(chunk, name) for name in names)


def sample_gaps(chunk: Chunk, name: str, known: ColumnRange | None) -> int | None:
    """How many of the first rows lack a number, codes included; None of a pipe.

    ``known`` is the range of the column, where codes are taken as missing.
    """
    if chunk.sample is None:
        return None
    numbers = _sample_numbers(chunk, name)
    missing = int(np.isnan(numbers).sum())
    return missing if known is None else missing + int(known.advance(numbers)[1].sum())


def replace_codes(
    chunk: Chunk, ranges: Sequence[ColumnRange]
) -> tuple[tuple[ColumnRange, ...], Chunk]:
    """The ranges after the rows of a chunk, and the chunk with codes as missing.

    A column that does not hold numbers stays as it is: whoever reads it says why.
    """
    after, cells = list[ColumnRange](), dict[str, Cells]()
    for one in ranges:
        if one.name in chunk.cells:
            with suppress(StreamError):
                numbers = chunk.numbers(one.name)
                one, is_code = one.advance(numbers)
                if is_code.any():
                    numbers = np.where(is_code, np.nan, numbers)
                cells[one.name] = PythonCells(numbers)
        after.append(one)
    if not cells:
        return tuple(after), chunk
    return tuple(after), replace(chunk, cells={**chunk.cells, **cells})


def code_notes(ranges: Sequence[ColumnRange]) -> list[str]:
    """A sentence about each column in which codes were taken as missing.

    Several ranges may be of one column, one of each key.
    """
    totals: dict[str, dict[float, int]] = {}
    for one in ranges:
        counts = totals.setdefault(one.name, {})
        for code, count in zip(one.codes, one.counts, strict=True):
            counts[code] = counts.get(code, 0) + count
    return [_code_note(name, counts) for name, counts in totals.items() if counts]


def ranges_from_fields(fields: Any) -> tuple[ColumnRange, ...]:
    """The ranges that JSON holds as lists."""
    ranges = []
    for one in fields:
        parts: list[Any] = [tuple(p) if isinstance(p, list) else p for p in one]
        ranges.append(ColumnRange(*parts))
    return tuple(ranges)


def without_counts(ranges: Sequence[ColumnRange]) -> tuple[ColumnRange, ...]:
    """The ranges at the start of another command, which counts its own codes."""
    return tuple(one._replace(codes=(), counts=()) for one in ranges)


def _is_candidate(numbers: FloatArray) -> npt.NDArray[np.bool_]:
    places = np.minimum(CANDIDATES.searchsorted(numbers), len(CANDIDATES) - 1)
    return np.asarray(CANDIDATES[places] == numbers)


def _first_range(chunk: Chunk, name: str) -> ColumnRange:
    first = ColumnRange(name)
    if chunk.sample is None:
        return first
    try:
        numbers = _sample_numbers(chunk, name)
    except CellError:  # The cell is named when its row is read.
        return first
    return ColumnRange.from_sample(name, numbers)


def _sample_numbers(chunk: Chunk, name: str) -> FloatArray:
    assert chunk.sample is not None
    style = chunk.formats.get(name, PLAIN).number_style
    return chunk.sample[name].numbers(style)


def _code_note(name: str, counts: Mapping[float, int]) -> str:
    codes = [f"{code:.12g}" for code in counts]
    listed = ", ".join(codes[:_MAX_CODES_IN_NOTE])
    if len(codes) > _MAX_CODES_IN_NOTE:
        listed += " and others"
    total = sum(counts.values())
    verb = ("lies", "is") if total == 1 else ("lie", "are")
    return (
        f"{name!r}: {total:,} {'value' if total == 1 else 'values'} of {listed} "
        f"{verb[0]} far outside of all others and {verb[1]} taken as missing; "
        f"{KEEP_CODES} to keep them."
    )


MIN_SHARE, MIN_GAPS = 0.05, 20


def marked_columns(
    chunk: Chunk, names: Sequence[str], ranges: Sequence[ColumnRange] = ()
) -> tuple[str, ...]:
    """Which of these columns of numbers have a marker; codes in ranges are gaps.

    A marker (also: missing indicator) lets a model learn what a gap itself says: a
    sensor that fails in the heat, a question that is left out. Under a policy that
    marks gaps, a column of numbers has one if, of the first rows of a file or of a data
    frame, at least ``MIN_GAPS`` and a share of ``MIN_SHARE`` are missing. Of a pipe
    only the first row may be looked at, so that there are none.
    """
    if chunk.sample is None:
        return ()
    rows = len(next(iter(chunk.sample.values())))
    range_of = {one.name: one for one in ranges}
    marked = []
    for name in names:
        if marker_name(name) in chunk.cells:
            continue
        gaps = sample_gaps(chunk, name, range_of.get(name))
        if gaps is not None and gaps >= max(MIN_GAPS, MIN_SHARE * rows):
            marked.append(name)
    return tuple(marked)


def marker_name(column: str) -> str:
    """The name of the marker feature of a column."""
    return f"{column} missing"


def marker_features(numbers: FloatArray) -> FloatArray:
    """1 where a number is missing, and 0 where not, (T, 1)."""
    return np.isnan(numbers).astype(np.float64)[:, None]


def marker_note(names: Sequence[str]) -> list[str]:
    """A sentence that says which columns have a marker, if any."""
    if not names:
        return []
    listed = ", ".join(map(repr, names))
    what = "Column" if len(names) == 1 else "Columns"
    has = "has" if len(names) == 1 else "have"
    return [f"{what} {listed} {has} many gaps: a feature says where."]
