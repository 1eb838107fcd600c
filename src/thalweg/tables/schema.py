"""Columns of a table: their names, and which of them a run reads as what."""

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, NamedTuple, Self

from thalweg.errors import StreamError
from thalweg.imputer import POLICY_RULES
from thalweg.rules import Condition, OneOf
from thalweg.tables.cell_formats import (
    DetectedFormats,
    FormatSettings,
    detect_formats,
    holds_times,
    unread_date,
)
from thalweg.tables.cells import CellError
from thalweg.tables.chunk import Chunk
from thalweg.tables.column_format import TIME_EXAMPLES, ColumnFormat
from thalweg.tables.date_detection import TIME_NAMES
from thalweg.tables.literals import Kind
from thalweg.tables.missing_codes import (
    ColumnRange,
    first_ranges,
    marked_columns,
    marker_note,
)
from thalweg.tables.recipe import AUTO, Recipe
from thalweg.tables.time_parts import joined_note, part_names

_SPELLINGS = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae"}
"""Letters with other common spellings; ß is ss without its case."""
MIN_PART = 2
"""Letters that a part of a name needs to be recognised."""


def closest_name(name: str, names: Iterable[str]) -> str | None:
    """The one of ``names`` that a user may have meant by ``name``; None if none is.

    Names are compared without case, accents, brackets, blanks and marks: ``last kwh``
    is ``Last [kWh]``, and ``Groesse`` is ``Größe``. Then a name that begins with the
    one that was given, or is contained in it, and then the most similar one.
    """
    wanted = _spellings(name)
    spellings = {other: _spellings(other) for other in names}
    for other, forms in spellings.items():
        if wanted & forms:
            return other
    for is_like in (str.startswith, str.__contains__):
        for other, forms in spellings.items():
            if _is_part(wanted, forms, is_like) or _is_part(forms, wanted, is_like):
                return other
    by_form = {form: other for other, forms in spellings.items() for form in forms}
    for form in sorted(wanted):
        near = difflib.get_close_matches(form, by_form, n=1)
        if near:
            return by_form[near[0]]
    return None


def _is_part(parts: set[str], wholes: set[str], is_like: object) -> bool:
    assert callable(is_like)
    return any(
        len(part) >= MIN_PART and bool(is_like(whole, part))
        for part in parts
        for whole in wholes
    )


def _spellings(name: str) -> set[str]:
    """The name in bare small letters: with accents left out, and spelt out."""
    small = unicodedata.normalize("NFC", name).casefold()
    spelt = "".join(_SPELLINGS.get(letter, letter) for letter in small)
    bare = unicodedata.normalize("NFKD", small)
    forms = {re.sub(r"[\W_]", "", form) for form in (spelt, _without_marks(bare))}
    return {form for form in forms if form} or {small}


def _without_marks(text: str) -> str:
    return "".join(letter for letter in text if not unicodedata.combining(letter))


_UNNAMED = re.compile(r"|column [0-9]+|Unnamed: [0-9]+|__index_level_[0-9]+__")
_MAX_NAMES_IN_MESSAGE = 12


class InputColumn(NamedTuple):
    """A column that becomes one or more features."""

    name: str
    kind: Annotated[str, OneOf(("number", "text"))]


# Rules of files, by the ``recipe`` of the encoder.
DISTINCT_INPUTS = Condition(
    "len({one.name for one in inputs}) == len(inputs)", "of different columns"
)
TIME_COLUMN = Condition(
    "(time_column is None) == (time is None)"
    f" and recipe.time in ({AUTO!r}, time_column)",
    "the column of times",
)
MARKED_NUMBERS = Condition(
    "len(set(markers)) == len(markers) and {*markers} <= {*names_of('number')}",
    "different columns of numbers",
)
RANGES_OF_NUMBERS = Condition(
    "len({one.name for one in ranges}) == len(ranges)"
    " and {one.name for one in ranges} <= {*recipe.targets, *names_of('number')}",
    "of different columns of numbers",
)


class Schema(NamedTuple):
    """The columns that are read, decided by a table's first row and never changed."""

    # In the order of the features.
    inputs: Annotated[tuple[InputColumn, ...], DISTINCT_INPUTS]
    # Of the column of times.
    time: Annotated[str, OneOf(("number", "time"))] | None
    notes: tuple[str, ...]  # sentences about columns that were left out
    formats: tuple[ColumnFormat, ...] = ()  # of columns that are not written plainly
    # The one that is named, or was found.
    time_column: Annotated[str | None, TIME_COLUMN] = None
    # Inputs with a feature that says where they lack.
    markers: Annotated[tuple[str, ...], MARKED_NUMBERS] = ()
    # By which codes are found, before any row.
    ranges: Annotated[tuple[ColumnRange, ...], RANGES_OF_NUMBERS] = ()

    def names_of(self, kind: str) -> list[str]:
        """The names of the inputs of a kind."""
        return [name for name, own in self.inputs if own == kind]

    @classmethod
    def from_first_chunk(cls, recipe: Recipe, chunk: Chunk) -> Self:
        """The schema that the first rows decide."""
        refuse_unknown_columns(recipe.columns, chunk.cells, chunk.source)
        found = chunk.found
        formats, format_notes = found[1:] if found else _detect_formats(recipe, chunk)
        chunk = chunk.with_formats(formats)
        time = _time_column(recipe, chunk)
        if recipe.features is None:
            inputs, notes = _usable_columns(recipe, chunk, time)
        else:
            inputs, notes = _requested_columns(recipe, chunk), ()
        has_past = recipe.fixed_lags or recipe.has_past_features
        if not (inputs or has_past or recipe.given_calendar):
            raise StreamError(
                f"{chunk.source} has no column to learn from. Earlier targets can "
                f"serve as features: {chunk.setting('lags', '1')}."
            )
        ranges = _first_ranges(recipe, chunk, inputs)
        markers = _marked_inputs(recipe, chunk, inputs, ranges)
        notes = (*format_notes, *notes, *marker_note(markers))
        kind = _time_kind(time, chunk)
        joined = None if time is None else joined_note(time, chunk.cells)
        notes = notes if joined is None else (joined, *notes)
        return cls(inputs, kind, notes, formats, time, markers, ranges)

    def has_year_features(self, recipe: Recipe) -> bool:
        """Whether the position in the year is a feature, without having been named."""
        return (
            recipe.has_past_features and recipe.calendar == AUTO and self.time == "time"
        )

    def check_chunk(self, recipe: Recipe, chunk: Chunk) -> None:
        """Raise if a later chunk, of another file perhaps, lacks a column."""
        names = (name for name, _ in self.inputs)
        refuse_unknown_columns((*recipe.columns, *names), chunk.cells, chunk.source)

    def check_queries(self, recipe: Recipe, chunk: Chunk) -> None:
        """Raise if rows to be predicted lack a column that becomes features."""
        named = recipe.given_calendar
        calendar = () if named is None else (named,)
        names = (name for name, _ in self.inputs)
        refuse_unknown_columns((*names, *calendar), chunk.cells, chunk.source)

    def refuse_other_columns(self, recipe: Recipe, chunk: Chunk) -> None:
        """Raise if there is a column that would be a feature, and was none before."""
        known = {name for name, _ in self.inputs}.union(recipe.columns)
        known.add(self.time_column or "")
        if recipe.features is not None:
            return
        for name in chunk.cells:
            if name in known or is_unnamed(name):
                continue
            if chunk.kind(name) in ("number", "text"):
                raise StreamError(
                    f"The model has no feature {name!r}. It has "
                    f"{_enumeration([name for name, _ in self.inputs])}."
                )


def is_unnamed(name: str) -> bool:
    """Whether it stands for a column without a name, most often pandas' index."""
    return _UNNAMED.fullmatch(name) is not None


def refuse_unknown_columns(
    names: Sequence[str], columns: Mapping[str, Any], source: str
) -> None:
    """Raise if a name is not that of a column; the message names the nearest one."""
    for name in names:
        if name not in columns:
            known = [other for other in columns if not part_names(other, columns)]
            near = closest_name(name, known)
            question = "" if near is None else f"Did you mean {near!r}? "
            hint = f"{question}It has {_enumeration(known)}."
            # "the data frame", say, where it is no file that has a name.
            start = f"The {source[4:]}" if source.startswith("the ") else source
            raise StreamError(f"{start} has no column {name!r}. {hint}")


def _enumeration(names: Sequence[str]) -> str:
    first = ", ".join(map(repr, names[:_MAX_NAMES_IN_MESSAGE]))
    more = len(names) - _MAX_NAMES_IN_MESSAGE
    return first if more <= 0 else f"{first} and {more} more"


def _kind(recipe: Recipe, chunk: Chunk, name: str) -> Kind:
    return "text" if name in recipe.text else chunk.kind(name)


def find_time_column(
    chunk: Chunk, used: Sequence[str], apart: Sequence[str] = ()
) -> str | None:
    """The column that holds the times of the rows, by the first of them.

    It is the first column of times; else the first of numbers that is called as times
    are (``TIME_NAMES``), which holds them if its numbers rise within each series.
    Columns that are ``used`` are something else, and those ``apart`` are no part of a
    joined time either.
    """
    names = [
        name
        for name in chunk.cells
        if name not in used and not {*part_names(name, chunk.cells)} & {*apart}
    ]
    times = (name for name in names if chunk.kind(name) == "time")
    numbers = (
        name
        for wanted in TIME_NAMES
        for name in names
        if name.strip().lower() == wanted and chunk.kind(name) == "number"
    )
    return next(chain(times, numbers), None)


def _time_column(recipe: Recipe, chunk: Chunk) -> str | None:
    """The column of times: the one that is named, or the one that is found.

    A column of numbers is one of times if the scan of its table has found that they
    rise; a pipe is not scanned.
    """
    if recipe.time != AUTO or not recipe.targets:
        return recipe.given_time
    if chunk.found is not None:
        return chunk.found.time
    used = (*recipe.targets, *(recipe.features or ()), *recipe.text)
    found = find_time_column(chunk, used, recipe.targets)
    return found if found is not None and chunk.kind(found) == "time" else None


def _usable_columns(
    recipe: Recipe, chunk: Chunk, time: str | None
) -> tuple[tuple[InputColumn, ...], tuple[str, ...]]:
    """Every column of numbers or text, and notes about the others."""
    inputs, notes = [], []
    for name in chunk.cells:
        parts = part_names(time, chunk.cells)
        if name in (*recipe.targets, time, recipe.given_calendar, *parts):
            continue
        if part_names(name, chunk.cells):  # which are there themselves
            continue
        kind = _kind(recipe, chunk, name)
        if kind == "time":
            notes.append(
                f"Column {name!r} holds times and is left out; features can be made of "
                f"it: {chunk.setting('calendar', name)}."
            )
        elif kind == "other":
            notes.append(f"Column {name!r} holds neither numbers nor text: left out.")
        elif is_unnamed(name):
            notes.append(f"Column {name!r} has no name of its own and is left out.")
        elif (note := _unread_date_note(recipe, chunk, name, kind)) is not None:
            notes.append(note)
        else:
            inputs.append(InputColumn(name, kind))
    return tuple(inputs), tuple(notes)


def _first_ranges(
    recipe: Recipe, chunk: Chunk, inputs: Sequence[InputColumn]
) -> tuple[ColumnRange, ...]:
    if recipe.codes == "keep":
        return ()
    numbers = [name for name, kind in inputs if kind == "number"]
    return first_ranges(chunk, [*recipe.targets, *numbers])


def _marked_inputs(
    recipe: Recipe, chunk: Chunk, inputs: Sequence[InputColumn],
    ranges: Sequence[ColumnRange],
) -> tuple[str, ...]:  # fmt: skip
    if not POLICY_RULES[recipe.missing].marks_gaps:
        return ()
    numbers = [name for name, kind in inputs if kind == "number"]
    try:
        return marked_columns(chunk, numbers, ranges)
    except CellError:  # The cell is named when its row is read.
        return ()


def _detect_formats(recipe: Recipe, chunk: Chunk) -> DetectedFormats:
    names: Sequence[str] = (*chunk.cells,)
    if recipe.features is not None:
        found = names if recipe.time == AUTO else ()
        times = (name for name in found if holds_times(chunk, name, recipe.dayfirst))
        names = (*recipe.columns, *times)
    written = [name for name in dict.fromkeys(names) if name not in recipe.text]
    return detect_formats(chunk, written, recipe_formats(recipe))


def recipe_formats(recipe: Recipe) -> FormatSettings:
    """What a recipe says of the way in which a table is written."""
    given = (recipe.given_time, recipe.given_calendar)
    named = tuple(name for name in given if name is not None)
    return FormatSettings(recipe.dayfirst, recipe.decimal, named, can_skip=True)


def _unread_date_note(
    recipe: Recipe, chunk: Chunk, name: str, kind: Kind
) -> str | None:
    """A note if a column is text that looks like dates, which are of no use as text."""
    if kind != "text" or name in recipe.text:
        return None
    text = unread_date(chunk, name)
    if text is None:
        return None
    return (
        f"Column {name!r} looks like dates, and {text!r} cannot be read: left "
        f"out. Dates are written {TIME_EXAMPLES}; {chunk.setting('text', name)} makes "
        f"categories of them."
    )


def _requested_columns(recipe: Recipe, chunk: Chunk) -> tuple[InputColumn, ...]:
    inputs = tuple(
        InputColumn(name, _kind(recipe, chunk, name)) for name in recipe.features or ()
    )
    for name, kind in inputs:
        if kind == "time":
            raise StreamError(
                f"Column {name!r} of {chunk.source} holds times, which are no numbers. "
                f"Features can be made of them: {chunk.setting('calendar', name)}."
            )
        if kind == "other":
            raise StreamError(
                f"Column {name!r} of {chunk.source} holds neither numbers nor text."
            )
    return inputs


def _time_kind(time: str | None, chunk: Chunk) -> Kind | None:
    if time is None:
        return None
    # Anything but a number is read as a time, and refused there if it is none.
    return "number" if chunk.kind(time) == "number" else "time"
