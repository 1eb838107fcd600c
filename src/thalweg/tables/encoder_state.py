"""The state of an encoder: everything that depends on the rows seen so far."""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from thalweg.autoregression.past_features import PastState
from thalweg.calendar.row_clock import RowClock, Stamps
from thalweg.errors import StreamError
from thalweg.rules import Array, Condition, Count, Given
from thalweg.tables.cells import Categorical
from thalweg.tables.missing_codes import ColumnRange
from thalweg.tables.recipe import Recipe
from thalweg.tables.schema import Schema
from thalweg.tables.timestamps import CALENDAR_FEATURES, YEAR_FEATURES, Timestamps
from thalweg.types import FloatArray

MIN_CELLS, MAX_REPEAT_SHARE = 50, 0.01
"""Minimum number of cells of a column of identifiers, and limit of the share of those
that repeat an earlier one."""


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


FEW_LEVELS = Condition(
    "len(levels) <= recipe.categories", "no more than the recipe's categories"
)


class TextColumn(NamedTuple):
    """The state of the one-hot encoding of one column."""

    name: str
    # With a feature, in order of first appearance.
    levels: Annotated[tuple[str, ...], FEW_LEVELS] = ()
    # Since the first level without a feature of its own, which counts: cells that were
    # known (0 while every level has a feature), and those whose level has a feature.
    cells: Annotated[int, Count("rows")] = 0
    repeats: Annotated[int, Count("cells")] = 0

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

# Rules of files, by the ``recipe`` of the encoder.
TARGETS = "len(recipe.targets)"
OF_ROWS = Condition("schema is not None or rows == 0", "that of the first rows")
OF_TEXT = Condition(
    "[one.name for one in text_columns] == (schema.names_of('text') if schema else [])",
    "the text columns of the schema",
)
LAGGED = Array(("min(rows, recipe.longest_lag)", TARGETS), may_be_nan=True)
OF_TIME_COLUMN = Condition("has_legal_time()", "a time of the column of times")
OF_PAST_ROWS = Condition(
    "clock.rows == rows if past else clock == RowClock()", "that of the rows, if any"
)
AS_IN_RECIPE = Condition(
    "(past is not None) == recipe.has_past_features", "what the recipe asks for"
)
OF_RECIPE = Given(seen="rows", delay="recipe.delay", k=TARGETS)
OF_SCHEMA = Condition(
    "not schema or [one.name for one in ranges] == [one.name for one in schema.ranges]",
    "of the columns of the schema",
)


class EncoderState(NamedTuple):
    """What an encoder carries from chunk to chunk, in types that files can hold."""

    schema: Annotated[Schema | None, OF_ROWS]  # None before the first chunk
    # Of the inputs that are text, in their order.
    text_columns: Annotated[tuple[TextColumn, ...], OF_TEXT]
    # (≤ longest lag, k) the latest targets, oldest first
    past_targets: Annotated[FloatArray, LAGGED]
    rows: int  # seen so far
    # (k,) rounds whose target was known, the smallest of those targets, the largest
    known_targets: Annotated[FloatArray, Array((TARGETS,), 0.0, "rows")]
    min_targets: Annotated[FloatArray, Array((TARGETS,), may_be_nan=True)]
    max_targets: Annotated[FloatArray, Array((TARGETS,), may_be_nan=True)]
    # The time of the last row: a float, or nanoseconds since 1970 and ahead of UTC.
    last_time: Annotated[Any, OF_TIME_COLUMN] = None  # None: rows have no time
    # None: the time was written without an offset
    last_offset: Annotated[int, Count(_DAY - 1, 1 - _DAY)] | None = None
    time_has_offset: bool | None = None  # None: no time of the column was known
    calendar_has_offset: bool | None = None
    clock: Annotated[RowClock, OF_PAST_ROWS] = RowClock()
    # None: no features are made of the past
    past: Annotated[PastState | None, AS_IN_RECIPE, OF_RECIPE] = None
    # By which codes are found; none: they stay.
    ranges: Annotated[tuple[ColumnRange, ...], OF_SCHEMA] = ()

    def has_legal_time(self) -> bool:
        """Whether the last time is one of the column of times."""
        kind, last = None if self.schema is None else self.schema.time, self.last_time
        if kind == "time" and last is not None:
            # The smallest integer of all is NaT, which is no time.
            return type(last) is int and abs(last) <= np.iinfo(np.int64).max
        return type(last) is float if kind == "number" else last is None

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
        text = tuple(map(TextColumn, schema.names_of("text")))
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
