"""A run over many series in one table: a session for the rows of each key."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from thalweg.cli.forecasts.key_detection import refuse_time_as_key
from thalweg.cli.forecasts.row_keys import (
    IntArray,
    Key,
    key_text,
    require_key_count,
    split_by_key,
)
from thalweg.cli.runs.memory import require_keyed_memory
from thalweg.cli.runs.predictions import csv_lines
from thalweg.cli.runs.repeated_rows import RepeatedRows
from thalweg.cli.runs.row_digest import SourceDigest
from thalweg.cli.runs.session import Session
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.tables import Chunk, Recipe
from thalweg.tables.class_labels import Task
from thalweg.tables.schema import Schema, refuse_unknown_columns


class KeyedColumns(NamedTuple):
    """The columns of predictions by key: those of a run, and the key after the row."""

    keys: tuple[str, ...]
    columns: Any  # PredictionColumns

    @property
    def has_time(self) -> bool:
        """Whether there is a column of times."""
        return bool(self.columns.has_time)

    def names(self) -> list[str]:
        """Their names."""
        first, *others = self.columns.names()
        return [first, *self.keys, *others]

    def text_names(self) -> list[str]:
        """The names of columns that hold text."""
        return [*self.keys, *self.columns.text_names()]

    def header(self) -> str:
        """The first line."""
        return csv_lines([self.names()])

    def lines(self, predictions: Any, key: Key) -> Iterator[tuple[int, str]]:
        """The number of each row, and its line."""
        cells = csv_lines([key]).removesuffix("\n")
        for line in self.columns.lines(predictions).splitlines(keepends=True):
            row, _, rest = line.partition(",")
            yield int(row), f"{row},{cells},{rest}"


class KeyedSession:
    """The sessions of all keys. What columns hold is decided by the first rows of all.

    Each session is that of a run over the rows of its key alone, to the last bit.
    """

    def __init__(self, recipe: Recipe, keys: tuple[str, ...], task: Task) -> None:
        self.recipe, self.keys, self.task = recipe, keys, task
        self.sessions: dict[Key, Session] = {}
        self.changed: set[Key] = set()  # since the last checkpoint
        self.played: list[Key] = []  # those of the last rows
        self.rows = 0  # of this source, seen so far
        self.earlier_rows = 0  # of sources before
        self._schema: Schema | None = None
        self._verified: dict[Key, int] = {}  # rows that were verified
        self._repeated: dict[Key, RepeatedRows] = {}  # of this source
        for name in keys:
            if name in recipe.columns:
                raise InvalidParameterError(
                    f"--key cannot name {name!r}, which is a target, a feature or the "
                    f"time."
                )

    def columns(self) -> KeyedColumns:
        """The columns of the predictions."""
        session = next(iter(self.sessions.values()), None)
        return KeyedColumns(
            self.keys, (session or Session(self.recipe, self.task)).columns()
        )

    def schema(self) -> Schema | None:
        """The columns that are read; None before the first row."""
        known = next(iter(self.sessions.values()), None)
        return self._schema if known is None else known.encoder.state.schema

    def start_source(self) -> None:
        """Go on with a source whose rows all come after those seen."""
        self.earlier_rows += self.rows
        self.rows = 0
        self._repeated = {}
        for session in self.sessions.values():
            session.start_source()

    def play(self, chunk: Chunk) -> str:
        """Predict and learn the next rows; returns their lines, in order of rows."""
        names = (*self.keys, *self.recipe.columns)
        refuse_unknown_columns(names, chunk.cells, chunk.source)
        if self._schema is None:
            self._decide_schema(chunk)
        lines: list[tuple[int, str]] = []
        self.played = []
        for key, members in split_by_key(chunk, self.keys):
            session = self._session(key, chunk.source)
            before, members = session.seen_rows(), self._new_rows(key, chunk, members)
            if not len(members):
                continue
            predictions = session.play(chunk.take_rows(members, before, self.keys))
            places = predictions.rows - 1 - session.earlier_rows - before
            rows = self.earlier_rows + chunk.first_row + members[places] + 1
            numbered = predictions._replace(rows=np.asarray(rows, np.int64))
            lines += self.columns().lines(numbered, key)
            self.changed.add(key)
            self.played.append(key)
        self.rows = chunk.first_row + len(chunk)
        return "".join(line for _, line in sorted(lines))

    def verify_rows(self, chunk: Chunk) -> None:
        """Take rows that were seen before; raises where any of a key has changed."""
        for key, members in split_by_key(chunk, self.keys):
            session = self.sessions.get(key)
            if session is None:
                raise StreamError(
                    f"{chunk.source} has changed since the run saw its first "
                    f"{self.rows:,} rows: {key_text(key)!r} was no key then."
                )
            members = self._new_rows(key, chunk, members)
            if not len(members):
                continue
            before = self._verified.get(key, 0)
            session.verify_rows(chunk.take_rows(members, before, self.keys))
            self._verified[key] = before + len(members)

    def repeated_rows(self) -> int:
        """Rows at the start of this source that were passed over, of all keys."""
        return sum(one.count for one in self._repeated.values())

    def _new_rows(self, key: Key, chunk: Chunk, members: IntArray) -> IntArray:
        """The rows of a key that no source before has had, of those in a chunk."""
        repeated = self._repeated.get(key)
        if repeated is None:
            repeated = self._repeated[key] = RepeatedRows(self.sessions[key])
        return members[repeated.new_rows(chunk.take_rows(members, 0))]

    def check_targets(self, source: str) -> None:
        """Raise if no target of any key ever changes."""
        if all(one.rows <= 1 for one in self.sessions.values()):
            raise StreamError(
                f"Every series that --key {','.join(self.keys)} tells apart has one "
                f"row. Name the columns that say which series a row belongs to, not "
                f"which row it is."
            )
        refusals = [_target_refusal(session) for session in self.sessions.values()]
        if refusals and all(refusals):
            raise StreamError(
                f"No series of {source} has a target that changes: there is nothing "
                f"to learn."
            )

    def _session(self, key: Key, source: str) -> Session:
        session = self.sessions.get(key)
        if session is None:
            require_key_count(len(self.sessions) + 1, self.keys, source)
            session = Session(self.recipe, "regress")
            assert self._schema is not None
            session.encoder.state = session.encoder.state.with_schema(self._schema)
            session.digest = SourceDigest(self.recipe, session.encoder.state)
            self.sessions[key] = session
        return session

    def _decide_schema(self, chunk: Chunk) -> None:
        """Decide what the columns hold, by the first rows whatever their key."""
        plain = chunk.take_rows(np.arange(len(chunk)), chunk.first_row, self.keys)
        if self.sessions:
            self._schema = self.schema()
            return
        first = Session(self.recipe, self.task)
        if first.decide_classes(plain):
            raise InvalidParameterError(
                f"With --key {','.join(self.keys)} targets are numbers, and "
                f"{self.recipe.targets[0]!r} of {chunk.source} holds classes. Say "
                f"--regress to predict 0 and 1 as numbers, or --key none."
            )
        self._schema = Schema.from_first_chunk(self.recipe, plain)
        if self._schema.time_column is None and self.recipe.time is not None:
            refuse_time_as_key(chunk, self.keys)
        features = first.encoder.count_features(plain)
        keys = sum(1 for _ in split_by_key(chunk, self.keys))
        require_keyed_memory(chunk.source, features, self.recipe.delay, keys)


def _target_refusal(session: Session) -> bool:
    try:
        session.check_targets()
    except StreamError:
        return True
    return False
