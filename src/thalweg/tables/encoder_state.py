"""The state of an encoder: everything that depends on the rows seen so far."""

from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from thalweg.calendar.row_clock import RowClock, Stamps
from thalweg.errors import StreamError
from thalweg.preprocessing.past_features import PastState
from thalweg.rules import Array, Condition, Count, Given
from thalweg.tables.missing_codes import ColumnRange
from thalweg.tables.one_hot import TextColumn
from thalweg.tables.recipe import Recipe
from thalweg.tables.schema import Schema
from thalweg.tables.timestamps import CALENDAR_FEATURES, YEAR_FEATURES, Timestamps
from thalweg.types import FloatArray

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
