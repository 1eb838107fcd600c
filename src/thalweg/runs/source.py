"""A table that a command reads: opened as often as needed, scanned at most once."""

from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thalweg import tables
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.imputer import POLICY_RULES, RUN_POLICY
from thalweg.tables import LineErrors, Recipe, Scan, Table
from thalweg.tables.scan import scan_table
from thalweg.tables.scanned_columns import NO_TIME, ScanOptions
from thalweg.tables.schema import Schema, recipe_formats

CHUNK_ROWS = 8192
"""Rows that are read at once: a Ctrl-C waits for the rest of them, a second at most."""
KEYED_CHUNK_ROWS = 32_768
"""The same for runs by key: each key of a chunk costs a call, however few its rows."""
STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Source:
    """A file, a pipe or standard input, and how it is read."""

    given: str  # as the command line has it
    reading: dict[str, Any]  # settings of ``read_table``
    times: tuple[str, ...] = ()  # columns that are joined to the times of rows
    path: str | None = None  # of a copy of what ``given`` names
    title: str | None = None  # instead of the file's name

    @property
    def name(self) -> str:
        """What results call it."""
        if self.title is not None:
            return self.title
        path = self.path or self.given
        return "standard input" if path == STANDARD_INPUT else Path(path).name

    @property
    def stem(self) -> str:
        """The name without what says its format."""
        is_file = self.path is not None or Path(self.given).is_file()
        name = Path(self.path or self.given).name
        return (name.lstrip(".").split(".")[0] or "stream") if is_file else "stdin"

    @property
    def is_file(self) -> bool:
        """Whether it can be read more than once."""
        return Path(self.path or self.given).is_file()

    def open(self, chunk_rows: int = CHUNK_ROWS) -> Table:
        """The table, from its first row on."""
        path = self.path or self.given
        table = tables.read_table(path, chunk_rows=chunk_rows, **self.reading)
        return table.join_times(self.times)

    def open_quietly(self) -> Table:
        """The table without blank rows, for a scan: malformed lines are not printed."""
        reading = self.reading
        if reading.get("errors") is not None:
            reading = reading | {"errors": LineErrors(lambda sentence: None)}
        return replace(self, reading=reading).open().drop_blank_rows()

    def as_file(self) -> "Source":
        """The source as one that can be read more than once."""
        if self.given != STANDARD_INPUT:
            return self
        path = tables.spool_standard_input(self.reading["format"] or "csv")
        return replace(self, path=path, reading=self.reading | {"errors": None})

    def with_times(self, parts: tuple[str, ...]) -> "Source":
        """The source with the columns joined that its times were joined of before."""
        return replace(self, times=parts or self.times)


def new_recipe(settings: dict[str, Any]) -> Recipe:
    """The recipe of a new run, with ``RUN_POLICY`` unless it says otherwise.

    Codes for missing values are missing, but where a missing value is refused: that
    would name a cell that holds a number.
    """
    missing = settings.get("missing", RUN_POLICY)
    codes = "missing" if POLICY_RULES[missing].accepts else "keep"
    return Recipe(**({"missing": missing, "codes": codes} | settings))


def refuse_other_source(command: str, before: str, name: str) -> None:
    """Raise if a source is another one than before: which rows are new is not clear."""
    if name != before:
        raise InvalidParameterError(
            f"The {command} to be resumed was on {before}. Got {name} instead: say "
            f"--next if its rows come after those, --from-start if it begins with them."
        )


def scan_source(
    source: Source, recipe: Recipe, keys: tuple[str, ...] | None,
    schema: Schema | None = None, has_values: bool = False,
) -> Scan | None:  # fmt: skip
    """What a file holds, if that is to be known before its rows are played.

    ``schema`` is that of a run that is resumed, which says what its columns are;
    ``has_values`` asks for all that a forecast wants to know. A pipe can be read only
    once.
    """
    time = recipe.given_time or recipe.given_calendar
    time = time if schema is None else schema.time_column
    has_times = recipe.time is not None and (schema is None or time is not None)
    is_wanted = has_values or has_times or (keys and schema is None)
    if not source.is_file or not is_wanted:
        return None
    if {*recipe.targets, *(recipe.features or ()), time} & {*(keys or ())}:
        return None  # The run will refuse such a key.
    options = ScanOptions(
        recipe.targets,
        time if has_times else NO_TIME,
        keys,
        recipe.features,
        recipe_formats(recipe),
        None if schema is None else schema.formats,
        codes=recipe.codes,
        text=recipe.text,
        has_values=has_values,
    )
    with nullcontext() if has_values else suppress(StreamError):
        # What is wrong with a row, the run will say.
        return scan_table(source.open_quietly, options)
    return None
