"""The SQLite file of ``KeyedModels``: models by key, and the offset in their source.

Both change in one transaction, in WAL mode with synchronous=FULL: after a crash the
file holds what some commit left, never something between two.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thalweg.errors import InvalidParameterError, PersistenceError, StorageError
from thalweg.learners import Learner
from thalweg.losses import LinearLoss
from thalweg.persistence.format import SavedModel, dumps, loads
from thalweg.persistence.snapshots import Condition, Count, OneOf, validate_snapshot

APPLICATION_ID = int.from_bytes(b"thal", "big")
"""The number in the header of a SQLite file that marks it as one of KeyedModels."""
SCHEMA_VERSION = 1
MAX_SEQ = 2**63 - 1
"""Largest sequence number: SQLite holds integers of 64 bits."""
SCHEMA = (
    "CREATE TABLE models (key TEXT PRIMARY KEY, model BLOB NOT NULL)",
    "CREATE TABLE source (name TEXT PRIMARY KEY, value BLOB)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
INSERT_MODEL = "INSERT OR REPLACE INTO models VALUES (?, ?)"
INSERT_SOURCE = "INSERT OR REPLACE INTO source VALUES (?, ?)"


class KeyedState(NamedTuple):
    """All that changes in the model of one key."""

    state: Any = None  # the learner's; None before the first round
    rounds: int = 0
    seq: int = -1  # of the round learnt last
    prediction: Any = None  # that was made in that round


class KeyedSettings(NamedTuple):
    """The settings that all keys of a file share, and the encoding of their models."""

    learner: Learner[Any]
    loss: LinearLoss
    intercept: bool

    def encode(self, model: KeyedState) -> bytes:
        """The model of one key as bytes, which would be a file of their own."""
        extra = {"intercept": self.intercept, **model._asdict()}
        return dumps(SavedModel(self.learner, self.loss, extra.pop("state"), extra))

    def decode(self, data: bytes, name: str) -> KeyedState:
        """The model in ``data``; refused where it was made with other settings."""
        learner, loss, state, extra = loads(data, name)
        if (learner, loss, extra.get("intercept")) != self:
            raise PersistenceError(
                f"{name} was made with {learner!r}, {loss!r} and intercept="
                f"{extra.get('intercept')}. Give these, or another path."
            )
        fields = {field: extra.get(field, "") for field in KeyedState._fields[1:]}
        model = KeyedState(state, **fields)
        try:
            validate_snapshot(_rules(model), model)
        except PersistenceError as error:
            raise PersistenceError(
                f"{name} is no model of KeyedModels: {error}."
            ) from None
        return model


class KeyedStore:
    """An open SQLite file. The caller sees to it that there is one writer only."""

    def __init__(self, path: Path, settings: bytes) -> None:
        self.path = path
        self._process = os.getpid()
        with self._translate_errors():
            self._connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False
            )
        try:
            self._prepare(settings)
        except BaseException:
            self._connection.close()
            raise

    def check_process(self) -> None:
        """Raise in a forked child: two processes on one connection damage the file."""
        if os.getpid() != self._process:
            raise StorageError(f"{self.path} was opened before a fork. Open it anew.")

    def read_settings(self) -> bytes:
        """The settings that were given when the file was made."""
        return (
            self._read_blob("SELECT value FROM source WHERE name = 'settings'") or b""
        )

    def read_offset(self) -> int | None:
        """How far the source was read; None before the first commit."""
        with self._translate_errors():
            offset = self._read_one("SELECT value FROM source WHERE name = 'offset'")
        if offset is not None and not isinstance(offset, int):
            raise PersistenceError(f"{self.path} holds an offset that is no number.")
        return offset

    def read_model(self, key: str) -> bytes | None:
        """What was last committed for ``key``."""
        return self._read_blob("SELECT model FROM models WHERE key = ?", key)

    def keys(self) -> list[str]:
        """All keys in the file."""
        with self._translate_errors():
            rows = self._connection.execute("SELECT key FROM models")
            return [key for (key,) in rows]

    def commit(self, models: Iterable[tuple[str, bytes]], offset: int | None) -> None:
        """Write models and offset; they are on the disk when this returns."""
        with self._translate_errors(), self._transaction():
            self._connection.executemany(INSERT_MODEL, models)
            self._connection.execute(INSERT_SOURCE, ("offset", offset))

    def close(self) -> None:
        """Close the file."""
        with self._translate_errors():
            self._connection.close()

    def _prepare(self, settings: bytes) -> None:
        """Check whose file it is, and make the tables of a new one."""
        with self._translate_errors():
            # A file from elsewhere may come with functions in its schema.
            self._connection.execute("PRAGMA trusted_schema = OFF")
            is_empty = self._read_one("SELECT count(*) FROM sqlite_master") == 0
            application = self._read_one("PRAGMA application_id")
            if application != APPLICATION_ID and (application != 0 or not is_empty):
                raise PersistenceError(
                    f"{self.path} is a database, but not one of KeyedModels."
                )
            if self._read_one("PRAGMA journal_mode = WAL") != "wal":
                raise StorageError(f"{self.path} lies where SQLite has no WAL mode.")
            self._connection.execute("PRAGMA synchronous = FULL")
            if is_empty:
                with self._transaction():
                    for statement in SCHEMA:
                        self._connection.execute(statement)
                    self._connection.execute(INSERT_SOURCE, ("settings", settings))
            version = self._read_one("PRAGMA user_version")
        if version != SCHEMA_VERSION:
            raise PersistenceError(
                f"{self.path} has layout {version}, and this thalweg reads "
                f"{SCHEMA_VERSION}. Open it with the thalweg that wrote it, or a newer "
                "one."
            )

    def _transaction(self) -> "Transaction":
        return Transaction(self._connection)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise SQLite's errors as ours, with the name of the file."""
        self.check_process()
        try:
            yield
        except (sqlite3.OperationalError, sqlite3.ProgrammingError) as error:
            raise StorageError(f"{self.path} cannot be used: {error}.") from error
        except sqlite3.Error as error:
            raise PersistenceError(
                f"{self.path} is damaged or no database: {error}. "
                "Restore it from a copy."
            ) from error

    def _read_one(self, statement: str, *values: object) -> object:
        row = self._connection.execute(statement, values).fetchone()
        return None if row is None else row[0]

    def _read_blob(self, statement: str, *values: object) -> bytes | None:
        with self._translate_errors():
            blob = self._read_one(statement, *values)
        if blob is not None and not isinstance(blob, bytes):
            raise PersistenceError(f"{self.path} holds a model that is no model.")
        return blob


class Transaction:
    """All that is executed in its ``with`` block is committed, or none of it.

    A class, because a generator that an interrupt has left would be closed at some
    later time, and would roll back the transaction of that time.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._roll_back()  # what an interrupt has left
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is None:
                self._connection.execute("COMMIT")
        finally:
            self._roll_back()

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


def _rules(model: KeyedState) -> dict[str, Any]:
    """What the fields of a key's model must be, before its first round and after."""
    if model.state is None:
        fields = KeyedState()._asdict()
        return {name: OneOf((value,)) for name, value in fields.items()}
    is_number = isinstance(model.prediction, np.ndarray | np.floating)
    is_count = type(model.rounds) is int and model.rounds >= 1
    return {
        "rounds": Condition(is_count, "a whole number from 1"),
        "seq": Count(MAX_SEQ),
        "prediction": Condition(is_number, "a number, or an array of them"),
    }


def check_key(key: object) -> None:
    """Raise unless ``key`` is a string that SQLite can hold."""
    try:
        if isinstance(key, str) and key.encode():
            return
    except UnicodeEncodeError:  # half of a pair of surrogates
        pass
    raise InvalidParameterError(
        f"A key of KeyedModels is a string that is not empty. Got {key!r} instead."
    )


def check_seq(seq: Any) -> int:
    """``seq`` as an int, if it is a whole number that SQLite can hold."""
    is_whole = isinstance(seq, int | np.integer) and not isinstance(seq, bool)
    if not is_whole or not 0 <= seq <= MAX_SEQ:
        raise InvalidParameterError(
            f"A seq of KeyedModels is a whole number from 0 to 2⁶³ - 1. "
            f"Got {seq!r} instead."
        )
    return int(seq)
