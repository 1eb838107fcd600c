"""The state of an encoder: everything that depends on the rows seen so far."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from thalweg.calendar.row_clock import RowClock, Stamps
from thalweg.errors import PersistenceError, StreamError
from thalweg.preprocessing.past_check import is_possible_past
from thalweg.preprocessing.past_features import PastState
from thalweg.tables.cells import Categorical
from thalweg.tables.column_format import PARTS, ColumnFormat
from thalweg.tables.date_literals import DATE_ORDERS
from thalweg.tables.literals import ALL_STYLES
from thalweg.tables.missing_codes import ColumnRange, are_possible_ranges
from thalweg.tables.recipe import AUTO, Recipe
from thalweg.tables.schema import InputColumn, Schema
from thalweg.tables.timestamps import CALENDAR_FEATURES, YEAR_FEATURES, Timestamps
from thalweg.types import FloatArray

MIN_CELLS, MAX_REPEAT_SHARE = 50, 0.01
"""A column looks like identifiers if, of so many cells, no larger share repeats."""


class OneHot(NamedTuple):
    """The one-hot features of some cells."""

    features: FloatArray  # (T, categories + 1), NaN where text is missing
    levels: tuple[str, ...]  # with a feature of their own, in the features' order
    is_other: npt.NDArray[np.bool_]  # (T,) whether the level has no feature of its own


def one_hot(
    column: Categorical, levels: Sequence[str], categories: int, adds: bool = True
) -> OneHot:
    """Encode some text, given the levels that have a feature already.

    Levels that appear take the next features, as long as there are some; unless
    ``adds``, each is encoded as if it alone appeared.
    """
    feature_of = {level: feature for feature, level in enumerate(levels)}
    next_feature = min(len(feature_of), categories)
    for level in column.levels:
        if adds and len(feature_of) < categories:
            feature_of.setdefault(level, len(feature_of))
    # The code -1 of missing text finds the last entry.
    unknown = categories if adds else next_feature
    feature = np.array(
        [*(feature_of.get(level, unknown) for level in column.levels), categories]
    )
    features = np.zeros((len(column.codes), categories + 1))
    features[np.arange(len(features)), feature[column.codes]] = 1.0
    features[column.codes < 0] = np.nan
    is_other = (column.codes >= 0) & (feature[column.codes] == categories)
    return OneHot(features, tuple(feature_of), is_other)


class TextColumn(NamedTuple):
    """The state of the one-hot encoding of one column."""

    name: str
    levels: tuple[str, ...] = ()  # with a feature, in order of first appearance
    # Since the first level without a feature of its own, which counts:
    cells: int = 0  # that were known; 0 while every level has a feature
    repeats: int = 0  # of those, the ones whose level has a feature

    def update(self, encoded: OneHot) -> Self:
        """The state after more cells."""
        after = self._replace(levels=encoded.levels)
        if not (self.cells or encoded.is_other.any()):
            return after
        known = ~np.isnan(encoded.features[:, 0])
        if not self.cells:  # Cells before the first level without a feature are out.
            known[: encoded.is_other.argmax()] = False
        cells = int(known.sum())
        repeats = cells - int(encoded.is_other.sum())
        return after._replace(cells=self.cells + cells, repeats=self.repeats + repeats)

    def feature_names(self, categories: int) -> tuple[str, ...]:
        """What each feature of the column stands for."""
        spare = range(len(self.levels), categories)
        return (
            *(f"{self.name}={level}" for level in self.levels),
            *(f"{self.name}=(unused {feature + 1})" for feature in spare),
            f"{self.name}=(other)",
        )

    def unused_features(self, categories: int) -> tuple[str, ...]:
        """The names of those features that were 0 in every row so far."""
        names = self.feature_names(categories)
        return names[len(self.levels) : categories if self.cells else categories + 1]

    def looks_like_identifiers(self) -> bool:
        """Whether levels without a feature hardly ever repeat one that has."""
        is_rare = self.repeats <= MAX_REPEAT_SHARE * self.cells
        return self.cells >= MIN_CELLS and is_rare

    def note(self, categories: int) -> str | None:
        """A sentence for the user if there are more levels than features."""
        if not self.cells:
            return None
        if not self.looks_like_identifiers():
            return (
                f"Column {self.name!r} has more than {categories} levels: the later "
                f"ones share a feature, unless --categories allows for more."
            )
        return (
            f"Column {self.name!r} looks like identifiers, which are of no use as a "
            f"feature: it has more than {categories} levels, and the first "
            f"{categories} hardly come again."
        )


_DAY = 24 * 3600 * 10**9
"""Nanoseconds of a day, more than any offset from UTC."""
_MAX_ROWS = 2**53
"""Float64 counts no further."""


class EncoderState(NamedTuple):
    """What an encoder carries from chunk to chunk, in types that files can hold."""

    schema: Schema | None  # None before the first chunk
    text_columns: tuple[TextColumn, ...]  # of the inputs that are text, in their order
    past_targets: FloatArray  # (≤ longest lag, k) the latest targets, oldest first
    rows: int  # seen so far
    known_targets: FloatArray  # (k,) rounds whose target was known
    min_targets: FloatArray  # (k,) the smallest of those targets
    max_targets: FloatArray  # (k,) the largest
    # The time of the last row: a float, or nanoseconds since 1970 and ahead of UTC.
    last_time: Any = None  # None: rows have no time
    last_offset: Any = None  # None: the time was written without an offset
    time_has_offset: bool | None = None  # None: no time of the column was known
    calendar_has_offset: bool | None = None
    clock: RowClock = RowClock()
    past: PastState | None = None  # None: no features are made of the past
    ranges: tuple[ColumnRange, ...] = ()  # by which codes are found; none: they stay

    @classmethod
    def initial(cls, recipe: Recipe) -> Self:
        """The state before the first row."""
        k = len(recipe.targets)
        unseen = np.full(k, np.inf)
        state = cls(None, (), np.zeros((0, k)), 0, np.zeros(k), unseen, -unseen)
        if not recipe.has_past_features:
            return state
        return state._replace(past=PastState.initial(k, recipe.delay))

    def with_schema(self, schema: Schema) -> Self:
        """The state once the first row has decided what the columns are."""
        names = (name for name, kind in schema.inputs if kind == "text")
        text = tuple(map(TextColumn, names))
        return self._replace(schema=schema, text_columns=text, ranges=schema.ranges)

    def with_targets(
        self, y: FloatArray, dropped: int, lags: tuple[int, ...]
    ) -> tuple[Self, list[FloatArray]]:
        """The state after more rows with targets y, and their lagged targets.

        The first ``dropped`` rows become no rounds, for they lack a past. The lagged
        targets are, for each lag, the targets that many rows before each other row,
        (T, k).
        """
        rounds, all_targets = y[dropped:], np.vstack([self.past_targets, y])
        start, stop = len(all_targets) - len(rounds), len(all_targets)
        after = self._replace(
            past_targets=all_targets[max(stop - max(lags, default=0), 0) :],
            rows=self.rows + len(y),
            known_targets=self.known_targets
            + np.count_nonzero(~np.isnan(rounds), axis=0),
            min_targets=np.fmin(
                self.min_targets, np.fmin.reduce(rounds, axis=0, initial=np.inf)
            ),
            max_targets=np.fmax(
                self.max_targets, np.fmax.reduce(rounds, axis=0, initial=-np.inf)
            ),
        )
        if not len(rounds):
            return after, [rounds for _ in lags]
        return after, [all_targets[start - lag : stop - lag] for lag in lags]

    def with_past(
        self, y: FloatArray, times: Stamps, delay: int
    ) -> tuple[Self, FloatArray, Stamps]:
        """The state after more rows with targets y (T, k) at these local times.

        Returns the features (T, 2 k) of their past, and the times without gaps, too.
        """
        assert self.past is not None
        clock, filled = self.clock.advance(times)
        past, features = self.past.advance(y, filled, clock, delay)
        return self._replace(clock=clock, past=past), features, filled

    def with_time(self, time: Timestamps | FloatArray) -> Self:
        """The state after rows at these times."""
        if not isinstance(time, Timestamps):
            return self._replace(last_time=float(time[-1]))
        known = np.flatnonzero(time.is_known())
        if not len(known):
            return self
        last_time, last_offset = time.as_integers(int(known[-1]))
        return self._replace(
            last_time=last_time,
            last_offset=last_offset,
            time_has_offset=_has_offset(time, self.time_has_offset),
        )

    def with_calendar(self, time: Timestamps) -> Self:
        """The state after more times of the calendar's column."""
        known = _has_offset(time, self.calendar_has_offset)
        return self._replace(calendar_has_offset=known)

    def latest_time(self) -> Timestamps | FloatArray | None:
        """The time of the last row, (1,); None where rows have no time."""
        if self.last_time is None or self.schema is None:
            return None
        if self.schema.time == "time":
            return Timestamps.from_integers(int(self.last_time), self.last_offset)
        return np.array([self.last_time])


def _has_offset(time: Timestamps, before: bool | None) -> bool | None:
    """Whether a column's times have an offset: all of them do, or none."""
    return bool(time.has_offset().any()) if time.is_known().any() else before


def check_targets(state: EncoderState, recipe: Recipe, source: str) -> None:
    """Raise if the rows were too few to learn from, or if a target never changed."""
    check_row_count(state.rows, recipe, source)
    for i, target in enumerate(recipe.targets):
        low, known = float(state.min_targets[i]), int(state.known_targets[i])
        if not known:
            raise StreamError(f"The target {target!r} of {source} is always missing.")
        if low == state.max_targets[i]:
            raise StreamError(
                f"The target {target!r} of {source} is {low!r} in all {known:,} rows: "
                f"there is nothing to learn."
            )


def check_row_count(rows: int, recipe: Recipe, source: str) -> None:
    """Raise if there are too few rows in all for the lags of the recipe."""
    needed = recipe.longest_lag + 2
    if rows >= needed:
        return
    has = "one row" if rows == 1 else f"{rows:,} rows"
    if not recipe.fixed_lags:
        raise StreamError(f"{source} has {has}; at least two are needed.")
    raise StreamError(
        f"{source} has {has}; with lags up to {recipe.longest_lag:,}, at least "
        f"{needed:,} are needed."
    )


def feature_count(schema: Schema, recipe: Recipe) -> int:
    """How many features a round has; counted without making them."""
    per_input = (recipe.categories + 1 if kind == "text" else 1
                 for _, kind in schema.inputs)  # fmt: skip
    calendar = 0 if recipe.given_calendar is None else len(CALENDAR_FEATURES)
    year = len(YEAR_FEATURES) * schema.has_year_features(recipe)
    past = 2 if recipe.has_past_features else len(recipe.fixed_lags)
    columns = sum(per_input) + len(schema.markers)
    return columns + calendar + year + past * len(recipe.targets)


def validate_snapshot(state: EncoderState, recipe: Recipe) -> None:
    """Raise PersistenceError unless an encoder of this recipe could have this state.

    A file may hold anything, and may claim any number of categories: types, shapes and
    ranges are checked before anything is made of them.
    """
    rows = _count(state.rows, _MAX_ROWS, "rows")
    _require(all(isinstance(name, str) for name in recipe.columns), "columns")
    if state.schema is None:
        _require(rows == 0 and not state.text_columns, "columns")
    else:
        _validate_schema(state.schema, recipe)
        _validate_text(state, state.schema, recipe)
        names = [one.name for one in state.schema.ranges]
        right = [one.name for one in state.ranges] == names
        _require(right and are_possible_ranges(state.ranges, names), "codes")
    _validate_targets(state, recipe)
    _validate_times(state, recipe)


def _validate_schema(schema: Schema, recipe: Recipe) -> None:
    for column in schema.inputs:
        _require(isinstance(column, InputColumn), "columns")
        _require(isinstance(column.name, str), "columns")
        _require(column.kind in ("number", "text"), "columns")
    names = {column.name for column in schema.inputs}
    _require(len(names) == len(schema.inputs), "columns")
    _require(feature_count(schema, recipe) > 0, "features")
    _require(schema.time in (None, "number", "time"), "times")
    name = schema.time_column
    _require((name is None) == (schema.time is None), "times")
    _require(name is None or isinstance(name, str), "times")
    if recipe.time != AUTO:
        _require(name == recipe.time, "times")
    _require(_is_strings(schema.notes), "notes")
    _require(all(map(_is_format, schema.formats)), "columns")
    numbers = {name for name, kind in schema.inputs if kind == "number"}
    _require(_is_strings(schema.markers) and set(schema.markers) <= numbers, "columns")
    _require(len(set(schema.markers)) == len(schema.markers), "columns")
    _require(are_possible_ranges(schema.ranges, (*recipe.targets, *numbers)), "codes")


def _validate_text(state: EncoderState, schema: Schema, recipe: Recipe) -> None:
    columns = state.text_columns
    _require(all(isinstance(column, TextColumn) for column in columns), "levels")
    text = [name for name, kind in schema.inputs if kind == "text"]
    _require([column.name for column in columns] == text, "levels")
    for column in columns:
        _require(_is_strings(column.levels), "levels")
        _require(len(column.levels) <= recipe.categories, "levels")
        _count(column.repeats, _count(column.cells, state.rows, "levels"), "levels")


def _validate_targets(state: EncoderState, recipe: Recipe) -> None:
    k, past = len(recipe.targets), min(state.rows, recipe.longest_lag)
    _require(_is_floats(state.past_targets, (past, k)), "lags")
    for values in (state.known_targets, state.min_targets, state.max_targets):
        _require(_is_floats(values, (k,)), "targets")
    known = state.known_targets
    _require(bool(((known >= 0) & (known <= state.rows)).all()), "targets")


def _validate_times(state: EncoderState, recipe: Recipe) -> None:
    for flag in (state.time_has_offset, state.calendar_has_offset):
        _require(flag is None or type(flag) is bool, "times")
    offset, last = state.last_offset, state.last_time
    _require(offset is None or (type(offset) is int and abs(offset) < _DAY), "times")
    kind = None if state.schema is None else state.schema.time
    if kind == "time" and last is not None:
        # The smallest integer of all is NaT, which is no time.
        _require(type(last) is int and abs(last) <= np.iinfo(np.int64).max, "times")
    else:
        _require(type(last) is float if kind == "number" else last is None, "times")
    _require((state.past is not None) == recipe.has_past_features, "past")
    if state.past is not None:
        sizes = (len(recipe.targets), state.rows, recipe.delay)
        _require(is_possible_past(state.past, state.clock, *sizes), "past")
    else:
        _require(state.clock == RowClock(), "times")


def _require(condition: bool, part: str) -> None:
    if not condition:
        raise PersistenceError(f"its {part} could not have come of a run")


def _count(value: Any, maximum: int, part: str) -> int:
    _require(type(value) is int and 0 <= value <= maximum, part)
    return int(value)


def _is_format(value: Any) -> bool:
    return (
        isinstance(value, ColumnFormat)
        and isinstance(value.name, str)
        and value.kind in ("number", "text", "time")
        and value.number_style in ALL_STYLES
        and value.date_order in DATE_ORDERS
        and value.unix_unit in ("", *PARTS)
    )


def _is_strings(values: Any) -> bool:
    return type(values) is tuple and all(isinstance(value, str) for value in values)


def _is_floats(values: Any, shape: tuple[int, ...]) -> bool:
    return (
        isinstance(values, np.ndarray)
        and values.dtype == np.float64
        and values.shape == shape
    )
