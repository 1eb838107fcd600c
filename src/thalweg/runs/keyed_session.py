"""A run over a table: a session for the rows of each key; of one series, of ()."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np

from thalweg.errors import InvalidParameterError, StreamError
from thalweg.evaluation.classification_study import AnyStudy
from thalweg.runs.memory import require_keyed_memory
from thalweg.runs.prediction_columns import PredictedRows, PredictionColumns
from thalweg.runs.session import Session, missing_notes
from thalweg.tables import Chunk, EncoderState, Recipe
from thalweg.tables.class_labels import ClassLabels, Task
from thalweg.tables.encoder import backward_notes
from thalweg.tables.key_choice import refuse_time_as_key
from thalweg.tables.missing_codes import code_notes
from thalweg.tables.row_keys import (
    IntArray,
    Key,
    key_text,
    require_key_count,
    split_by_key,
)
from thalweg.tables.schema import Schema, refuse_unknown_columns


class SessionRows(NamedTuple):
    """The rows of one key in a chunk."""

    key: Key
    rows: IntArray  # positions in the chunk
    chunk: Chunk  # these rows alone, which follow those of the key before


class KeyedSession:
    """The sessions of all keys. What columns hold is decided by the first rows of all.

    Each session is that of a run over the rows of its key alone, to the last bit.
    Without key columns there is one session, of the key ().
    """

    def __init__(
        self, recipe: Recipe, keys: tuple[str, ...] = (), task: Task = "auto"
    ) -> None:
        self.keys = keys
        self.sessions: dict[Key, Session] = {}
        self.changed: set[Key] = set()  # since the last checkpoint
        self.played: list[Key] = []  # those of the last rows
        self.rows = 0  # of the whole stream, seen so far
        self.earlier_rows = 0  # of those, the rows that came before this source
        # Decides what columns hold; of a single series it is the session.
        self._first = Session(recipe, task)
        self._classes: tuple[ClassLabels, ...] | None = None
        if not keys:
            self.sessions[()] = self._first
        for name in keys:
            if name in recipe.columns:
                raise InvalidParameterError(
                    f"--key cannot name {name!r}, which is a target, a feature or the "
                    f"time."
                )

    @classmethod
    def of_sessions(
        cls, sessions: Mapping[Key, Session], keys: tuple[str, ...],
        classes: tuple[ClassLabels, ...],
    ) -> Self:  # fmt: skip
        """The run that a checkpoint was taken of."""
        first = next(iter(sessions.values()))
        session = cls(first.recipe, keys)
        session._first, session.sessions = first, dict(sessions)
        session._classes = classes if keys else None
        session.rows, session.earlier_rows = first.rows, first.earlier_rows
        return session

    @property
    def recipe(self) -> Recipe:
        """Which columns are what; of classes it is known after the first rows."""
        return self._first.recipe

    @property
    def classes(self) -> tuple[ClassLabels, ...]:
        """The classes of the targets, with those that have a column; none: numbers."""
        return self._first.classes if self._classes is None else self._classes

    @property
    def has_rows(self) -> bool:
        """Whether any row was played, now or before."""
        return any(one.runs for one in self.sessions.values())

    def set_live(self, is_live: bool) -> None:
        """Say whether rows come as they happen: one without a target asks for it."""
        for one in (self._first, *self.sessions.values()):
            one.rows_are_questions = is_live

    def columns(self) -> PredictionColumns:
        """The columns of the predictions; before the first row without a time."""
        schema = self.schema()
        has_time = schema is not None and schema.time_column is not None
        return PredictionColumns(self.recipe.targets, has_time, self.keys, self.classes)

    def schema(self) -> Schema | None:
        """The columns that are read; None before any row."""
        return self._first.encoder.state.schema

    def columns_read(self, first: Chunk) -> tuple[Schema, tuple[str, ...]]:
        """The columns that are read, and the targets whose cells are text.

        Before any row it is as this chunk decides them.
        """
        schema = self.schema() or self._first.encoder.schema(self._without_keys(first))
        return schema, self._first.text_targets(first)

    def start_source(self) -> None:
        """Go on with a source whose rows all come after those seen."""
        self.earlier_rows = self.rows
        for session in self.sessions.values():
            session.start_source()

    def seen_rows(self) -> int:
        """The rows of this source that were seen."""
        return self.rows - self.earlier_rows

    def play(self, chunk: Chunk) -> list[PredictedRows]:
        """Predict and learn the next rows; returns those of each series."""
        if self.keys and self._classes is None:
            self._decide_columns(chunk)
        played = []
        for key, members, part in self.split(chunk):
            before = self.sessions[key].seen_rows() if key in self.sessions else 0
            session = self._session(key, part)
            predicted = session.play(part)._replace(key=key)
            # The rows are numbered as those of the table.
            places = predicted.rows - 1 - session.earlier_rows - before
            rows = self.earlier_rows + chunk.first_row + members[places] + 1
            played.append(predicted._replace(rows=np.asarray(rows, np.int64)))
        self.played = [one.key for one in played]
        self.changed.update(self.played)
        self.rows = self.earlier_rows + chunk.first_row + len(chunk)
        return played

    def split(self, chunk: Chunk) -> Iterator[SessionRows]:
        """The rows of each key, after those of it that this source had before."""
        if not self.keys:
            yield SessionRows((), np.arange(len(chunk), dtype=np.intp), chunk)
            return
        refuse_unknown_columns(self.keys, chunk.cells, chunk.source)
        for key, members in split_by_key(chunk, self.keys):
            session = self.sessions.get(key)
            before = 0 if session is None else session.seen_rows()
            yield SessionRows(key, members, chunk.take_rows(members, before, self.keys))

    def verify_rows(self, chunk: Chunk, verified: dict[Key, int]) -> None:
        """Take rows that were seen before; raises where any of a key has changed.

        ``verified`` counts those of each key, and is updated.
        """
        for key, _, part in self.split(chunk):
            session = self.sessions.get(key)
            if session is None:
                raise StreamError(
                    f"{chunk.source} has changed since the run saw its first "
                    f"{self.seen_rows():,} rows: {key_text(key)!r} was no key then."
                )
            before = verified.get(key, 0)
            session.verify_rows(replace(part, first_row=before))
            verified[key] = before + len(part)

    def check_row_count(self, last: Chunk) -> None:
        """Raise if the rows until the last chunk are too few for a first round."""
        if not self.keys:
            self._first.check_row_count(last)

    def check_targets(self, source: str) -> None:
        """Raise if no target of any series ever changes."""
        if not self.keys:
            self._first.check_targets()
            return
        if all(one.rows <= 1 for one in self.sessions.values()):
            raise StreamError(
                f"Every series that --key {','.join(self.keys)} tells apart has one "
                f"row. Name the columns that say which series a row belongs to, not "
                f"which row it is."
            )
        if all(_target_refusal(one) for one in self.sessions.values()):
            raise StreamError(
                f"No series of {source} has a target that changes: there is nothing "
                f"to learn."
            )

    def scored_rounds(self) -> int:
        """Rounds that were scored, of all series; of the target with the fewest."""
        return sum(one.scored_rounds() for one in self.sessions.values())

    def studies(self, title: str, notes: Sequence[str] | None = None) -> list[AnyStudy]:
        """The results of a single series so far, of every target."""
        return self.sessions[()].studies(title, notes)

    def has_digest(self) -> bool:
        """Whether it is known if the rows seen before have changed."""
        return all(one.digest.state is not None for one in self.sessions.values())

    def notes(self, is_echoed: bool = False) -> tuple[str, ...]:
        """Sentences about what was decided of the columns.

        ``is_echoed``: classes were printed with the first predictions, and rows that
        lack a number are asked for.
        """
        sessions = self.sessions.values()
        ordered = (s for s in sessions if not s.encoder.state.clock.backward_row)
        # The columns are those of the first series in order; codes and missing values
        # are counted in all.
        first = next(ordered, None) or next(iter(sessions), None)
        if first is None:
            return ()
        states = [one.encoder.state for one in sessions]
        notes = (
            *first.encoder.column_notes(),
            *self._order_notes(states),
            *code_notes([one for state in states for one in state.ranges]),
        )
        if is_echoed:
            return notes
        runs = [run for one in sessions for run in one.runs[:1]]
        classes = (one.sentence() for one in self.classes)
        return (*classes, *notes, *missing_notes(first.recipe, states, runs))

    def _order_notes(self, states: Sequence[EncoderState]) -> list[str]:
        if not self.keys:
            return backward_notes(states[0])
        rows = [state.clock.backward_row for state in states]
        keys = [key for key, row in zip(self.sessions, rows, strict=True) if row]
        if not keys:
            return []
        return [
            f"Times go back in {len(keys):,} of {len(rows):,} series, first in "
            f"{key_text(keys[0])} (row {next(filter(None, rows)):,} of it): rows are "
            f"taken in their order. Sort them by time, oldest first; if one is several "
            f"series, name all columns that tell them apart: --key."
        ]

    def _session(self, key: Key, part: Chunk) -> Session:
        session = self.sessions.get(key)
        if session is None:
            require_key_count(len(self.sessions) + 1, self.keys, part.source)
            session = self.sessions[key] = self._first.sibling()
        return session

    def _decide_columns(self, chunk: Chunk) -> None:
        """Decide what the columns hold, by the first rows whatever their key."""
        refuse_unknown_columns(
            (*self.keys, *self.recipe.columns), chunk.cells, chunk.source
        )
        first = self._first
        self._classes = first.decide_columns(self._without_keys(chunk))
        schema = first.encoder.state.schema
        assert schema is not None
        if schema.time_column is None and self.recipe.time is not None:
            refuse_time_as_key(chunk, self.keys)
        count = sum(1 for _ in split_by_key(chunk, self.keys))
        features = first.encoder.count_features(chunk)
        delay, classes = self.recipe.delay, self._classes
        require_keyed_memory(chunk.source, features, delay, count, classes)

    def _without_keys(self, chunk: Chunk) -> Chunk:
        return chunk.take_rows(np.arange(len(chunk)), chunk.first_row, self.keys)


def _target_refusal(session: Session) -> bool:
    try:
        session.check_targets()
    except StreamError:
        return True
    return False
