"""Cells in pyarrow's arrays, typed or text, which mean what ``ListedCells`` define."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from thalweg.errors import StreamError
from thalweg.tables import literals
from thalweg.tables.cells import Coded, ListedCells, MisfitError
from thalweg.tables.literals import Kind
from thalweg.tables.moments import Moments, OffsetArray, TimeArray
from thalweg.types import FloatArray


class ArrowCells:
    """One column of a chunk.

    ``if_missing`` is the kind of a column of text whose first cell is missing.
    """

    def __init__(self, values: Any, if_missing: Kind = "text") -> None:
        if types.is_dictionary(values.type):
            values = values.dictionary_decode()
        if types.is_large_string(values.type) or types.is_string_view(values.type):
            values = values.cast(pa.string())
        self.values = values
        self.if_missing = if_missing

    def __len__(self) -> int:
        return len(self.values)

    def cut(self, start: int, stop: int) -> "ArrowCells":
        """The cells from ``start`` to before ``stop``."""
        return ArrowCells(self.values[start:stop], self.if_missing)

    def kind(self) -> Kind:
        """What the column's type says it is; of text, what its first cell says."""
        if types.is_string(self.values.type):
            first = self.values[0].as_py() or ""
            return (
                self.if_missing if literals.is_missing(first) else literals.kind(first)
            )
        if _is_time(self.values.type):
            return "time"
        return "number" if _is_number(self.values.type) else "other"

    def numbers(self) -> FloatArray:
        """As float64, NaN where missing."""
        if types.is_string(self.values.type):
            return self._numbers_of_text()
        if not _is_number(self.values.type):
            return self._if_all_missing().numbers()
        return _floats(self.values)

    def times(self) -> Moments:
        """As moments, each with the offset that it is written with or its zone has."""
        if types.is_string(self.values.type):
            return self._times_of_text()
        if not _is_time(self.values.type):
            return self._if_all_missing().times()
        zone = getattr(self.values.type, "tz", None)
        try:
            instants = _ticks(self.values, zone)
            offsets = None if zone is None else _of_zone(self.values, instants)
            return Moments(instants, offsets)
        except pa.ArrowInvalid:  # in the year 9999, say
            return ArrowCells(self.values.cast(pa.string())).times()

    def words(self) -> Coded:
        """As text."""
        if types.is_string(self.values.type) or _is_number(self.values.type):
            levels, codes = self._levels()
            coded = levels.words()
            return Coded(coded.codes[codes], coded.levels)
        if not _is_time(self.values.type):
            return self._if_all_missing().words()
        return ArrowCells(self.values.cast(pa.string())).words()

    def _numbers_of_text(self) -> FloatArray:
        try:
            found = _floats(self.values)
            # Anything but plain numbers, such as inf, is left to our own rules.
            if np.count_nonzero(~np.isfinite(found)) == self.values.null_count:
                return found
        except pa.ArrowInvalid:
            pass
        return np.asarray(self._level_by_level(ListedCells.numbers))

    def _times_of_text(self) -> Moments:
        for zone in (None, "UTC"):  # without an offset in any cell; with one in all
            try:
                instants = _ticks(self.values, zone)
                offsets = None if zone is None else _written(self.values)
                return Moments(instants, offsets)
            except pa.ArrowInvalid:
                continue
        found: Moments = self._level_by_level(ListedCells.times)
        return found

    def _level_by_level(self, read: Callable[[ListedCells], Any]) -> Any:
        levels, codes = self._levels()
        try:
            return read(levels)[codes]
        except MisfitError as misfit:
            # Levels come in order of first appearance: the first wrong one is in the
            # first wrong cell.
            first = int(np.argmax(codes == misfit.position))
            raise MisfitError(first, misfit.value) from None

    def _levels(self) -> tuple[ListedCells, Any]:
        """Each different cell once, and for each cell which of them it is."""
        encoded = self.values.dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        # The last level is what the code -1 finds.
        return ListedCells([*encoded.dictionary.to_pylist(), None]), codes

    def _if_all_missing(self) -> ListedCells:
        """What a column of another type is all the same if no cell is known."""
        known = pc.invert(self.values.is_null(nan_is_null=True))
        known = known.to_numpy(zero_copy_only=False)
        if known.any():
            value = self.values[int(known.argmax())]
            shown = value.cast(pa.string()) if _is_time(value.type) else value
            raise MisfitError(int(known.argmax()), shown.as_py())
        return ListedCells([None] * len(self))


def _floats(values: Any) -> FloatArray:
    if types.is_boolean(values.type):
        values = values.cast(pa.int8())
    floats = pc.cast(values, pa.float64(), safe=False)
    return np.asarray(floats.to_numpy(zero_copy_only=False), np.float64)


def _ticks(values: Any, zone: str | None) -> TimeArray:
    if getattr(values.type, "unit", "") != "ns":
        # From microseconds on pyarrow looks whether nanoseconds can hold a time; on
        # other ways versions 18 to 22 do not.
        values = values.cast(pa.timestamp("us", zone))
    ticks = values.cast(pa.timestamp("ns", zone))
    return np.asarray(ticks.to_numpy(zero_copy_only=False), "datetime64[ns]")


def _written(times: Any) -> OffsetArray:
    """The offset at the end of each text, all of which have one: Z, +02 or +02:00."""
    ends = pc.replace_substring_regex(
        pc.utf8_slice_codeunits(times, len("2024-01-31")), "^[^Z+-]*", ""
    ).dictionary_encode()
    # The last level is what the code -1 of a missing time finds.
    ahead = [*map(literals.ahead, ends.dictionary.to_pylist()), literals.NOT_A_TIME]
    codes = ends.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(np.array(ahead, np.int64)[codes]).view("timedelta64[ns]")


def _of_zone(times: Any, instants: TimeArray) -> OffsetArray:
    """How far the clocks of a column's zone were ahead of UTC."""
    if times.type.tz == "UTC":  # needs no table of zones
        return instants - instants
    try:
        wall = pc.local_timestamp(times)
    except pa.ArrowInvalid:
        zone = repr(times.type.tz)
        raise StreamError(f"The time zone {zone} is not known here.") from None
    return np.asarray(_ticks(wall, None) - instants)


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
