"""The encoder: chunks of a table in, features and targets out, however it is cut."""

from collections.abc import Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from thalweg.autoregression.past_features import TargetPast
from thalweg.calendar.row_clock import CLOCK_ROWS, NO_TIME, Stamps
from thalweg.calendar.weekdays import DAY, week_sentence
from thalweg.errors import StreamError
from thalweg.rules import require, restore_snapshot
from thalweg.tables.chunk import Chunk
from thalweg.tables.encoder_state import (
    EncoderState,
    check_targets,
    feature_count,
    one_hot,
)
from thalweg.tables.missing_codes import (
    code_notes,
    marker_features,
    marker_name,
    replace_codes,
)
from thalweg.tables.recipe import AUTO, Recipe
from thalweg.tables.schema import Schema
from thalweg.tables.time_parts import split_joined
from thalweg.tables.timestamps import (
    CALENDAR_FEATURES,
    YEAR_FEATURES,
    Timestamps,
    calendar_features,
)
from thalweg.tables.validation import (
    read_any_times,
    read_categories,
    read_numbers,
    read_sorted_times,
    read_timestamps,
)
from thalweg.types import FloatArray

MAX_NAMED_COLUMNS = 5


def feature_notes(
    state: EncoderState, recipe: Recipe, used_names: Sequence[str]
) -> list[str]:
    """What the features are, and which column holds the times."""
    schema = state.schema
    if schema is None or not recipe.has_past_features:
        return []
    notes = [f"Features: {_enumerate(_parts(state, recipe, used_names))}."]
    grid = state.clock.grid
    if grid is not None and grid.weekdays:
        notes.append(week_sentence(grid.weekdays))
    if schema.inputs:
        notes.append(
            f"A column that is known only after {' and '.join(recipe.targets)} must be "
            f"left out: name those to use, --features."
        )
    time = None if split_joined(schema.time_column) else schema.time_column
    if time is not None and recipe.time == AUTO and not state.clock.backward_row:
        notes.append(f"Column {time!r} holds the times of the rows.")
    return notes


def backward_notes(state: EncoderState) -> list[str]:
    """A sentence about times that go back, if they do."""
    row, schema = state.clock.backward_row, state.schema
    if not row or schema is None:
        return []
    return [
        f"Column {schema.time_column!r} is taken for the times of the rows, and goes "
        f"back in row {row:,}: rows are taken in their order. If that is not the order "
        f"of time, sort them, oldest first; if they are several series in a file, name "
        f"the columns that tell them apart: --key NAMES."
    ]


def _parts(state: EncoderState, recipe: Recipe, used_names: Sequence[str]) -> list[str]:
    assert state.schema is not None and state.past is not None
    names = [column.name for column in state.schema.inputs]
    parts = []
    if len(names) > MAX_NAMED_COLUMNS:
        parts.append(f"{len(names):,} columns of the same row")
    elif names:
        word = "column" if len(names) == 1 else "columns"
        quoted = ", ".join(map(repr, names))
        parts.append(f"the {word} {quoted} of the same row")
    for target, past in zip(recipe.targets, state.past.targets, strict=True):
        seasons = sorted({*past.search.seasons} - {1})
        values = ["its last values"]
        if seasons:
            ago = " and ".join(f"{season:,}" for season in seasons)
            values.append(f"those {ago} rows ago")
        parts.append(f"a forecast of {target} from {' and '.join(values)}")
        parts.append(f"the mean of {target} {_mean_name(past)}")
    if recipe.given_calendar is not None:
        parts.append(f"hour, weekday and time of year of {recipe.given_calendar!r}")
    elif set(YEAR_FEATURES) & set(used_names):
        parts.append("the time of year")
    return parts


def _mean_name(past: TargetPast) -> str:
    """Which rows the mean of a phase is of."""
    grid, cycle = past.search.grid, past.search.seasons.cycle
    if grid is None:
        return "of the last rows" if cycle == 1 else f"of every {cycle:,}th row"
    if grid.months:
        name = {1: "month", 3: "quarter"}.get(grid.months, "part of the year")
        return f"in the same {name}"
    if grid.step >= 7 * DAY:
        return "in the same week of the year"
    if grid.step == DAY:
        return "on the same weekday"
    name = "hour" if grid.step == DAY // 24 else "time"
    length = cycle * grid.step
    return f"at the same {name} of the {'week' if length == 7 * DAY else 'day'}"


def _enumerate(parts: Sequence[str]) -> str:
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


class ChunkNumbers(NamedTuple):
    """All rows of a chunk as they were given, those that lags lack a past for too."""

    columns: list[FloatArray]  # (T,) each column of numbers, NaN where missing
    targets: FloatArray  # (T, k) NaN where not known
    stamps: Stamps | None  # (T,) local times; None where the rows have none


class EncodedRows(NamedTuple):
    """Rounds made of the rows of a chunk; none at all while lags lack a past."""

    x: FloatArray  # (T, n) features
    y: FloatArray  # (T, k) targets, NaN where not known
    time: Timestamps | FloatArray | None  # (T,)
    rows: npt.NDArray[np.int64]  # (T,) the data row of each round, from 0
    given: ChunkNumbers


class Encoder:
    """Turns chunks into rounds as a recipe says, and remembers what that needs.

    Column types are decided by the first row, levels of text get their one-hot features
    in order of appearance, and lags reach over the edges of chunks: x and y are the
    same to the last bit however the rows are cut. A chunk that is refused leaves the
    encoder as it was. ``state`` is never changed in place: it is a snapshot.
    """

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.state = EncoderState.initial(recipe)
        self._source = "the stream"

    def encode(self, chunk: Chunk, are_questions: bool = False) -> EncodedRows:
        """The rounds of a chunk, which follows the chunk before.

        With ``are_questions`` a row without targets is no row that has passed: it asks
        for the one that comes next.
        """
        recipe = self.recipe
        before, chunk = self._prepare(chunk)
        dropped = min(max(recipe.longest_lag - before.rows, 0), len(chunk))
        time = _read_time(chunk, recipe, before)
        y = np.empty((len(chunk), len(recipe.targets)))
        for k, target in enumerate(recipe.targets):
            y[:, k] = read_numbers(chunk, target, recipe.missing)
        after, lagged_targets = before.with_targets(y, dropped, recipe.fixed_lags)
        after, features, columns = _encode_columns(chunk, recipe, after)
        stamps = _stamps(time, len(chunk))
        given = ChunkNumbers(
            columns, y, stamps if isinstance(time, Timestamps) else None
        )
        if recipe.has_past_features:
            after, past = _encode_past(recipe, after, y, stamps, are_questions)
            features.append(past)
        if time is not None:
            after, time = after.with_time(time), time[dropped:]
        x = np.hstack([*(column[dropped:] for column in features), *lagged_targets])
        self.state, self._source = after, chunk.source
        end = chunk.first_row + len(chunk)
        rows = np.arange(chunk.first_row + dropped, end)
        return EncodedRows(x, y[dropped:], time, rows, given)

    def encode_features(self, chunk: Chunk) -> FloatArray:
        """Features (T, n) of the next rows, whose targets come later: ``set_label``."""
        recipe = self.recipe
        state, chunk = self._prepare(chunk, are_queries=True)
        after, features, _ = _encode_columns(chunk, recipe, state)
        if recipe.has_past_features:
            stamps = _stamps(_read_time(chunk, recipe, state), len(chunk))
            unknown = np.full((len(chunk), len(recipe.targets)), np.nan)
            after, past = _encode_past(recipe, after, unknown, stamps, False)
            features.append(past)
        self.state = after._replace(rows=state.rows + len(chunk))
        return np.hstack(features)

    def set_label(self, age: int, label: FloatArray) -> None:
        """Note the targets (k,) of a row, which was the last one or ``age`` - 1 before.

        It is too late for a row that features have been made of without them.
        """
        past = self.state.past
        if past is None or age > len(past.values):
            return
        values = past.values.copy()
        values[-age] = label
        self.state = self.state._replace(past=past._replace(values=values))

    def encode_queries(self, chunk: Chunk) -> FloatArray:
        """Features (T, n) of rows to be predicted, each as if it came next.

        Each is encoded from what is known now, as T calls of one row would, and the
        encoder stays as it was. Targets and the time of the rows are not needed.
        """
        recipe = self.recipe
        state, chunk = self._prepare(chunk, are_queries=True)
        assert state.schema is not None
        if state.rows < recipe.longest_lag:
            raise StreamError(
                f"The lags need {recipe.longest_lag:,} earlier rows. There were "
                f"{state.rows:,}."
            )
        _, features, _ = _encode_columns(chunk, recipe, state, adds_levels=False)
        if state.past is not None:
            time = None
            if state.schema.time == "time":
                time = read_any_times(chunk, state.schema.time_column or "")
            features.append(_query_past(recipe, state, _stamps(time, len(chunk))))
        past = state.past_targets
        lagged = [
            np.tile(past[len(past) - lag], (len(chunk), 1)) for lag in recipe.fixed_lags
        ]
        return np.hstack([*features, *lagged])

    def _prepare(
        self, chunk: Chunk, are_queries: bool = False
    ) -> tuple[EncoderState, Chunk]:
        """The state with a schema, and the chunk as it is read: codes are missing."""
        recipe, state = self.recipe, self.state
        if state.schema is None:
            state = state.with_schema(Schema.from_first_chunk(recipe, chunk))
        assert state.schema is not None
        if are_queries:
            state.schema.check_queries(recipe, chunk)
        else:
            state.schema.check_chunk(recipe, chunk)
        chunk = chunk.with_formats(state.schema.formats)
        ranges, chunk = replace_codes(chunk, state.ranges)
        return state._replace(ranges=ranges), chunk

    def schema(self, first: Chunk) -> Schema:
        """The columns that are read; before any row, as this chunk decides them."""
        return self.state.schema or Schema.from_first_chunk(self.recipe, first)

    def count_features(self, first: Chunk) -> int:
        """How many features a round has; counted without making any."""
        return feature_count(self.schema(first), self.recipe)

    def column_features(self) -> tuple[str, ...]:
        """The names of the features that are columns of the same row."""
        state, recipe = self.state, self.recipe
        if state.schema is None:
            return ()
        names: list[str] = []
        text = iter(state.text_columns)
        for name, kind in state.schema.inputs:
            if kind == "text":
                names += next(text).feature_names(recipe.categories)
            else:
                marked = name in state.schema.markers
                names += [name, marker_name(name)] if marked else [name]
        return tuple(names)

    def _row_features(self) -> tuple[str, ...]:
        """The names of the features that come of a row and its time alone."""
        state, recipe = self.state, self.recipe
        if state.schema is None:
            return ()
        calendar = () if recipe.given_calendar is None else CALENDAR_FEATURES
        year = YEAR_FEATURES if state.schema.has_year_features(recipe) else ()
        return (*self.column_features(), *calendar, *year)

    def feature_names(self) -> tuple[str, ...]:
        """The name of each feature in x; none before the first chunk."""
        recipe = self.recipe
        if self.state.schema is None:
            return ()
        names = [*self._row_features()]
        for target in recipe.targets if recipe.has_past_features else ():
            names += [
                f"forecast of {target} by its past",
                f"mean of {target} at such times",
            ]
        for lag in recipe.fixed_lags:
            names += (f"{target} lag {lag}" for target in recipe.targets)
        return tuple(names)

    def past_forecasts(self) -> tuple[int, ...]:
        """The feature that is a forecast by the past, of each target; if there are."""
        recipe, first = self.recipe, len(self._row_features())
        targets = len(recipe.targets) if recipe.has_past_features else 0
        return tuple(range(first, first + 2 * targets, 2))

    def used_feature_names(self) -> tuple[str, ...]:
        """The names of features that could be other than 0 so far."""
        unused = {
            name
            for column in self.state.text_columns
            for name in column.unused_features(self.recipe.categories)
        }
        if not self.state.clock.is_daily() and self.recipe.given_calendar is None:
            unused.update(YEAR_FEATURES)
        return tuple(name for name in self.feature_names() if name not in unused)

    def notes(self) -> tuple[str, ...]:
        """Sentences about the columns, the order of the rows, and codes."""
        state = self.state
        return (*self.column_notes(), *backward_notes(state), *code_notes(state.ranges))

    def column_notes(self) -> tuple[str, ...]:
        """Sentences about features, and columns that were left out or cut short."""
        state = self.state
        if state.schema is None:
            return ()
        text = (column.note(self.recipe.categories) for column in state.text_columns)
        return (
            *feature_notes(state, self.recipe, self.used_feature_names()),
            *state.schema.notes,
            *(note for note in text if note is not None),
        )

    def last_time(self) -> Timestamps | FloatArray | None:
        """The time of the last row, (1,); None where rows have no time."""
        return self.state.latest_time()

    def check_targets(self) -> None:
        """Raise if the rows so far are too few, or if a target never changes."""
        check_targets(self.state, self.recipe, self._source)

    @classmethod
    def restore(cls, recipe: Recipe, state: EncoderState) -> Self:
        """An encoder that continues from the ``state`` of another of the same recipe.

        Raises PersistenceError unless an encoder of this recipe could have that state.
        """
        named = all(type(name) is str for name in recipe.columns)
        require(named, "recipe", "of names of columns", recipe.columns)
        encoder, scope = cls(recipe), (SimpleNamespace(recipe=recipe),)
        encoder.state = restore_snapshot(EncoderState, state, "encoder", scope)
        schema = encoder.state.schema
        if schema is not None:
            count = feature_count(schema, recipe)
            require(count > 0, "encoder.schema", "of one feature or more", schema)
        return encoder


def _read_time(
    chunk: Chunk, recipe: Recipe, before: EncoderState
) -> Timestamps | FloatArray | None:
    """The times of the rows; None if they have none.

    Times of a column that is named never go back; others may, or be missing.
    """
    schema = before.schema
    if schema is None or schema.time_column is None:
        return None
    if recipe.time == AUTO:
        if schema.time == "number":
            return read_numbers(chunk, schema.time_column, "skip")
        return read_any_times(chunk, schema.time_column)
    return read_sorted_times(
        chunk,
        schema.time_column,
        schema.time,
        before.latest_time(),
        before.time_has_offset,
    )


def _encode_past(
    recipe: Recipe, state: EncoderState, y: FloatArray, stamps: Stamps,
    are_questions: bool,
) -> tuple[EncoderState, FloatArray]:  # fmt: skip
    """The state after, and the features of every row that its past gives."""
    features = list[FloatArray]()
    is_question = np.asarray(np.isnan(y).all(axis=1) & are_questions)
    for start, stop in _equal_runs(is_question):
        rows = slice(start, stop)
        if is_question[start]:
            made = _query_past(recipe, state, stamps[rows])
        else:
            state, made = _advance_past(recipe, state, y[rows], stamps[rows])
        features.append(made)
    return state, np.vstack(features)


def _advance_past(
    recipe: Recipe, state: EncoderState, y: FloatArray, stamps: Stamps
) -> tuple[EncoderState, FloatArray]:
    """The state after rows, and the features that the past of each gives."""
    assert state.schema is not None
    rows = state.clock.rows + np.arange(len(y))
    after, features, times = state.with_past(y, stamps, recipe.delay)
    if not state.schema.has_year_features(recipe):
        return after, features
    is_used = (rows >= CLOCK_ROWS) & after.clock.is_daily()
    year = np.where(is_used[:, None], _year_features(times), 0.0)
    return after, np.hstack([year, features])


def _query_past(recipe: Recipe, state: EncoderState, stamps: Stamps) -> FloatArray:
    """The features that the past gives of rows, each as if it came next."""
    assert state.schema is not None and state.past is not None
    times = state.clock.fill(stamps)
    features = state.past.query(times, state.clock, recipe.delay)
    if not state.schema.has_year_features(recipe):
        return features
    year = _year_features(times)
    return np.hstack([year if state.clock.is_daily() else 0 * year, features])


def _year_features(times: Stamps) -> FloatArray:
    features = calendar_features(times.view("datetime64[ns]"))
    return np.nan_to_num(features[:, -len(YEAR_FEATURES) :])


def _equal_runs(flags: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Start and stop of each run of equal flags."""
    edges = [0, *(np.flatnonzero(np.diff(flags)) + 1).tolist(), len(flags)]
    return list(pairwise(edges))


def _stamps(time: Timestamps | FloatArray | None, rows: int) -> Stamps:
    """Local times as integers; of rows without, none."""
    if not isinstance(time, Timestamps):
        return np.full(rows, NO_TIME)
    return time.local_times().astype("datetime64[ns]").view(np.int64)


def _encode_columns(
    chunk: Chunk, recipe: Recipe, state: EncoderState, adds_levels: bool = True
) -> tuple[EncoderState, list[FloatArray], list[FloatArray]]:
    """The state after, the features of every row that need no lag, and the columns of
    numbers.

    ``adds_levels``: a level of text that appears takes a feature from the next.
    """
    assert state.schema is not None
    features, columns = list[FloatArray](), list[FloatArray]()
    before, after = iter(state.text_columns), []
    for name, kind in state.schema.inputs:
        if kind == "number":
            setting = chunk.setting("text", name)
            hint = f" If the column is text, say so: {setting}."
            numbers = read_numbers(chunk, name, recipe.missing, hint)
            columns.append(numbers)
            features.append(numbers[:, None])
            if name in state.schema.markers:
                features.append(marker_features(numbers))
            continue
        column = next(before)
        text = read_categories(chunk, name, recipe.missing)
        encoded = one_hot(text, column.levels, recipe.categories, adds_levels)
        features.append(encoded.features)
        after.append(column.update(encoded))
    state = state._replace(text_columns=tuple(after))
    if recipe.given_calendar is not None:
        time = read_timestamps(
            chunk, recipe.given_calendar, recipe.missing, state.calendar_has_offset
        )
        features.append(calendar_features(time.local_times()))
        state = state.with_calendar(time)
    return state, features, columns
