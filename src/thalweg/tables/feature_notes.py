"""Sentences that say which features a run has, where they were not named."""

from collections.abc import Sequence

from thalweg.calendar.weekdays import DAY, week_sentence
from thalweg.preprocessing.past_features import TargetPast
from thalweg.tables.encoder_state import EncoderState
from thalweg.tables.recipe import AUTO, Recipe
from thalweg.tables.time_parts import split_joined
from thalweg.tables.timestamps import YEAR_FEATURES

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
    backward = state.clock.backward_row
    is_told = not backward and bool(split_joined(schema.time_column))
    if schema.time_column is not None and recipe.time == AUTO and not is_told:
        notes.append(
            backward_note(schema.time_column, backward)
            if backward
            else f"Column {schema.time_column!r} holds the times of the rows."
        )
    return notes


def backward_note(time: str, row: int) -> str:
    """A sentence about times that go back in a row, from 1."""
    return (
        f"Column {time!r} is taken for the times of the rows, and goes back in row "
        f"{row:,}: rows are taken in their order. If that is not the order of time, "
        f"sort them, oldest first; if they are several series in a file, name the "
        f"columns that tell them apart: --key NAMES."
    )


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
