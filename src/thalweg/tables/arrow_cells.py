"""Cells in pyarrow's arrays, typed or text, which mean what ``PythonCells`` define."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from thalweg.errors import StreamError
from thalweg.tables.cells import Categorical, CellError, PythonCells, known_texts
from thalweg.tables.date_literals import (
    NOT_A_TIME,
    DateOrder,
    is_three_numbers,
    parse_date,
    parse_offset,
)
from thalweg.tables.literals import (
    PATTERNS,
    POWER_OF_SUFFIX,
    SEPARATORS,
    SUFFIX_STYLES,
    Kind,
    NumberStyle,
    is_missing,
    text_kind,
)
from thalweg.tables.timestamps import OffsetArray, TimeArray, Timestamps
from thalweg.types import FloatArray

_ISO_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_MAX_INSTANT = 2**63 - 24 * 3600 * 10**9
"""Nanoseconds to which a clock can be added."""


def nanoseconds(values: Any, zone: str | None) -> TimeArray:
    """Times or ISO texts as nanoseconds; ArrowInvalid where one is no time."""
    if getattr(values.type, "unit", "") != "ns":
        # Only from microseconds does pyarrow check that nanoseconds can hold a time;
        # versions 18 to 22 do not check it from other units.
        values = values.cast(pa.timestamp("us", zone))
    times = values.cast(pa.timestamp("ns", zone))
    return np.asarray(times.to_numpy(zero_copy_only=False), "datetime64[ns]")


def starts_with_iso(texts: Any) -> bool:
    """Whether the first text that is not missing begins like an ISO time."""
    known = texts.drop_null()
    return len(known) > 0 and _ISO_DAY.match(known[0].as_py()) is not None


def dates_with_clocks(texts: Any, order: DateOrder) -> TimeArray | None:
    """The times of texts that are all three numbers, a blank and a clock; else None.

    Rows have few different dates and few different clocks, each of which is read once.
    What a text means is said in ``date_literals``; tests compare the two.
    """
    known = texts.drop_null()
    if not len(known) or " " not in known[0].as_py():
        return None
    parts = pc.split_pattern(texts, " ", max_splits=1)
    try:
        dates, clocks = (pc.list_element(parts, i).dictionary_encode() for i in (0, 1))
    except pa.ArrowInvalid:  # A text has no blank.
        return None
    days = [_instant(text, order) for text in dates.dictionary.to_pylist()]
    hours = [_clock(text) for text in clocks.dictionary.to_pylist()]
    if None in days or None in hours:
        return None
    day_codes, clock_codes = (
        part.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        for part in (dates, clocks)
    )
    # The code -1 of a missing time finds the last level.
    instants = np.array([*days, NOT_A_TIME], np.int64)[day_codes]
    instants += np.array([*hours, 0], np.int64)[clock_codes]
    return np.asarray(instants.view("datetime64[ns]"))


def _instant(date: str, order: DateOrder) -> int | None:
    parsed = parse_date(date, order) if is_three_numbers(date) else None
    is_legal = parsed is not None and abs(parsed.instant) < _MAX_INSTANT
    return parsed.instant if parsed is not None and is_legal else None


def _clock(text: str) -> int | None:
    """Nanoseconds since midnight; None with an offset, or where it is no clock."""
    parsed = parse_date(f"1970-01-01 {text}")
    return parsed.instant if parsed and parsed.offset == NOT_A_TIME else None


class ArrowCells:
    """One column of a chunk.

    ``kind_if_missing`` is the kind of a column of text whose first cell is missing.
    """

    def __init__(self, values: Any, kind_if_missing: Kind = "text") -> None:
        if types.is_dictionary(values.type):
            values = values.dictionary_decode()
        if types.is_large_string(values.type) or types.is_string_view(values.type):
            values = values.cast(pa.string())
        self.values = values
        self.kind_if_missing = kind_if_missing

    def __len__(self) -> int:
        return len(self.values)

    def slice_rows(self, start: int, stop: int) -> "ArrowCells":
        """The cells from ``start`` to before ``stop``."""
        return ArrowCells(self.values[start:stop], self.kind_if_missing)

    def take_rows(self, rows: npt.NDArray[np.intp]) -> "ArrowCells":
        """The cells of some rows, in this order."""
        return ArrowCells(self.values.take(pa.array(rows)), self.kind_if_missing)

    def kind(self) -> Kind:
        """What the column holds by its type; of text, by its first cell."""
        if types.is_string(self.values.type):
            first = self.values[0].as_py() or ""
            return self.kind_if_missing if is_missing(first) else text_kind(first)
        if _is_time(self.values.type):
            return "time"
        return "number" if _is_number(self.values.type) else "other"

    def numbers(self, style: NumberStyle = "plain") -> FloatArray:
        """The cells as float64, NaN where missing."""
        if types.is_string(self.values.type):
            return self._parse_numbers(style)
        if not _is_number(self.values.type):
            return self._as_all_missing().numbers()
        return _floats(self.values)

    def timestamps(self, order: DateOrder = "month first") -> Timestamps:
        """The cells as times, each with its offset: as written, or of its zone."""
        if types.is_string(self.values.type):
            return self._parse_times(order)
        if types.is_integer(self.values.type) or types.is_floating(self.values.type):
            times: Timestamps = self._parse_levels(PythonCells.timestamps)
            return times
        if not _is_time(self.values.type):
            return self._as_all_missing().timestamps()
        zone = getattr(self.values.type, "tz", None)
        try:
            instants = nanoseconds(self.values, zone)
            offsets = None if zone is None else _zone_offsets(self.values, instants)
            return Timestamps(instants, offsets)
        except pa.ArrowInvalid:  # in the year 9999, say
            return ArrowCells(self.values.cast(pa.string())).timestamps()

    def categories(self) -> Categorical:
        """The cells as text."""
        if types.is_string(self.values.type) or _is_number(self.values.type):
            levels, codes = self._levels()
            column = levels.categories()
            return Categorical(column.codes[codes], column.levels)
        if not _is_time(self.values.type):
            return self._as_all_missing().categories()
        return ArrowCells(self.values.cast(pa.string())).categories()

    def distinct_texts(self) -> list[str] | None:
        """Each text that is not missing once, in order; None if cells are no text."""
        if not types.is_string(self.values.type):
            return None
        return known_texts(self.values.unique().to_pylist())

    def _parse_numbers(self, style: NumberStyle) -> FloatArray:
        try:
            numbers = _floats(_plain_texts(self.values, style))
            # Anything but finite numbers, such as inf, is left to our own rules.
            if np.count_nonzero(~np.isfinite(numbers)) == self.values.null_count:
                return numbers
        except pa.ArrowInvalid:
            pass
        return np.asarray(self._parse_levels(lambda cells: cells.numbers(style)))

    def _parse_times(self, order: DateOrder) -> Timestamps:
        # Without an offset in any cell, then with one in all. A cast that fails takes
        # a hundred times as long as one that does not.
        for zone in (None, "UTC") if starts_with_iso(self.values) else ():
            try:
                instants = nanoseconds(self.values, zone)
                offsets = None if zone is None else _text_offsets(self.values)
                return Timestamps(instants, offsets)
            except pa.ArrowInvalid:
                continue
        dates = dates_with_clocks(self.values, order)
        if dates is not None:
            return Timestamps(dates)
        times: Timestamps = self._parse_levels(lambda cells: cells.timestamps(order))
        return times

    def _parse_levels(self, read: Callable[[PythonCells], Any]) -> Any:
        """What ``PythonCells`` read, each different cell once."""
        levels, codes = self._levels()
        try:
            return read(levels)[codes]
        except CellError as error:
            # Levels come in order of first appearance: the first wrong one is in the
            # first wrong cell.
            first = int(np.argmax(codes == error.position))
            raise CellError(first, error.value) from None

    def _levels(self) -> tuple[PythonCells, Any]:
        """Each different cell once, and for each cell which of them it is."""
        encoded = self.values.dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        # The code -1 finds the last level.
        return PythonCells([*encoded.dictionary.to_pylist(), None]), codes

    def _as_all_missing(self) -> PythonCells:
        """A column of an unfit type, which is read only if every cell is missing."""
        known = pc.invert(self.values.is_null(nan_is_null=True))
        known = known.to_numpy(zero_copy_only=False)
        if known.any():
            value = self.values[int(known.argmax())]
            value = value.cast(pa.string()) if _is_time(value.type) else value
            raise CellError(int(known.argmax()), value.as_py())
        return PythonCells([None] * len(self))


def _plain_texts(values: Any, style: NumberStyle) -> Any:
    """Texts of numbers as pyarrow reads them; ArrowInvalid where one is none."""
    if style == "plain":
        return values
    matches = pc.match_substring_regex(values, f"^(?:{PATTERNS[style]})$")
    if pc.all(matches).as_py() is False:
        raise pa.ArrowInvalid("a cell is written in another way")
    bare = pc.replace_substring_regex(values, SEPARATORS[style], "")
    bare = pc.replace_substring(pc.replace_substring(bare, ",", "."), "(", "-")
    if style in SUFFIX_STYLES:
        for suffix, power in POWER_OF_SUFFIX.items():
            bare = pc.replace_substring(bare, suffix, power)
    return bare


def _floats(values: Any) -> FloatArray:
    if types.is_boolean(values.type):
        values = values.cast(pa.int8())
    floats = pc.cast(values, pa.float64(), safe=False)
    return np.asarray(floats.to_numpy(zero_copy_only=False), np.float64)


def _text_offsets(times: Any) -> OffsetArray:
    """The offset at the end of each text, all of which have one: Z, +02 or +02:00."""
    ends = pc.replace_substring_regex(
        pc.utf8_slice_codeunits(times, len("2024-01-31")), "^[^Z+-]*", ""
    ).dictionary_encode()
    # The code -1 of a missing time finds the last level.
    offsets = [*map(parse_offset, ends.dictionary.to_pylist()), NOT_A_TIME]
    codes = ends.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(np.array(offsets, np.int64)[codes]).view("timedelta64[ns]")


def _zone_offsets(times: Any, instants: TimeArray) -> OffsetArray:
    """How far the clocks of a column's time zone were ahead of UTC."""
    if times.type.tz == "UTC":  # This needs no database of time zones.
        return instants - instants
    try:
        local = pc.local_timestamp(times)
    except pa.ArrowInvalid:
        zone = repr(times.type.tz)
        raise StreamError(f"The time zone {zone} is not known here.") from None
    return np.asarray(nanoseconds(local, None) - instants)


def _is_number(kind: Any) -> bool:
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)
    )


def _is_time(kind: Any) -> bool:
    return bool(types.is_timestamp(kind) or types.is_date(kind))
