"""The SQLite file of ``KeyedModels``: models by key, and the place in the source.

Both change in one transaction, in WAL mode with synchronous=FULL: after a crash the
file is that of some commit, never between two.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from thalweg.errors import PersistenceError, StorageError

APPLICATION = int.from_bytes(b"thal", "big")
"""SQLite's mark for whose file this is."""
LAYOUT = 1
SCHEMA = (
    "CREATE TABLE models (key TEXT PRIMARY KEY, model BLOB NOT NULL)",
    "CREATE TABLE source (name TEXT PRIMARY KEY, value BLOB)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {LAYOUT}",
)
MODEL = "INSERT OR REPLACE INTO models VALUES (?, ?)"
SOURCE = "INSERT OR REPLACE INTO source VALUES (?, ?)"


class Database:
    """An open file. The caller sees to it that there is one writer only."""

    def __init__(self, path: Path, settings: bytes) -> None:
        self.path = path
        self._process = os.getpid()
        with self._named():
            self._sql = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False
            )
        try:
            self._prepare(settings)
        except BaseException:
            self._sql.close()
            raise

    @property
    def settings(self) -> bytes:
        """What was given when the file was made."""
        return self._blob("SELECT value FROM source WHERE name = 'settings'") or b""

    @property
    def offset(self) -> int | None:
        """How far the source was read; None before the first commit."""
        with self._named():
            found = self._one("SELECT value FROM source WHERE name = 'offset'")
        if found is not None and not isinstance(found, int):
            raise PersistenceError(f"{self.path} holds an offset that is no number.")
        return found

    def model(self, key: str) -> bytes | None:
        """What was last committed for ``key``."""
        return self._blob("SELECT model FROM models WHERE key = ?", key)

    def keys(self) -> list[str]:
        """All keys in the file."""
        with self._named():
            return [key for (key,) in self._sql.execute("SELECT key FROM models")]

    def commit(self, models: Iterable[tuple[str, bytes]], offset: int | None) -> None:
        """Write models and offset; on the disk when this returns."""
        with self._named(), self._transaction():
            self._sql.executemany(MODEL, models)
            self._sql.execute(SOURCE, ("offset", offset))

    def close(self) -> None:
        """Let go of the file."""
        with self._named():
            self._sql.close()

    def _prepare(self, settings: bytes) -> None:
        with self._named():
            # A file from elsewhere may come with functions in its schema.
            self._sql.execute("PRAGMA trusted_schema = OFF")
            empty = self._one("SELECT count(*) FROM sqlite_master") == 0
            mark = self._one("PRAGMA application_id")
            if mark != APPLICATION and (mark != 0 or not empty):
                raise PersistenceError(
                    f"{self.path} is a database, but not one of KeyedModels."
                )
            if self._one("PRAGMA journal_mode = WAL") != "wal":
                raise StorageError(f"{self.path} lies where SQLite has no WAL mode.")
            self._sql.execute("PRAGMA synchronous = FULL")
            if empty:
                with self._transaction():
                    for statement in SCHEMA:
                        self._sql.execute(statement)
                    self._sql.execute(SOURCE, ("settings", settings))
            layout = self._one("PRAGMA user_version")
        if layout != LAYOUT:
            raise PersistenceError(
                f"{self.path} has layout {layout}, and this thalweg reads {LAYOUT}. "
                "Open it with the thalweg that wrote it, or a newer one."
            )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._sql.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._sql.execute("COMMIT")
        except BaseException:
            if self._sql.in_transaction:
                self._sql.execute("ROLLBACK")
            raise

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Turn what SQLite says into our errors, with the name of the file."""
        if os.getpid() != self._process:  # two processes on one connection damage it
            raise StorageError(f"{self.path} was opened before a fork. Open it anew.")
        try:
            yield
        except (sqlite3.OperationalError, sqlite3.ProgrammingError) as error:
            raise StorageError(f"{self.path} cannot be used: {error}.") from error
        except sqlite3.Error as error:
            raise PersistenceError(
                f"{self.path} is damaged or no database: {error}. "
                "Restore it from a copy."
            ) from error

    def _one(self, statement: str, *values: object) -> object:
        row = self._sql.execute(statement, values).fetchone()
        return None if row is None else row[0]

    def _blob(self, statement: str, *values: object) -> bytes | None:
        with self._named():
            found = self._one(statement, *values)
        if found is not None and not isinstance(found, bytes):
            raise PersistenceError(f"{self.path} holds a model that is no model.")
        return found
