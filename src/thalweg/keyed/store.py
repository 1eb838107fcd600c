"""The SQLite file of ``KeyedModels``: models by key, rows, the offset in their source.

Rows that were learnt since a model was written are in the log (row_log.py). All of it
changes in one transaction, in WAL mode with synchronous=FULL: after a crash the file
holds what some commit left, never something between two. What describes the bytes of
models (persistence/raw_values.py) is stored once, in the table ``layouts``.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from thalweg.errors import PersistenceError, StorageError
from thalweg.keyed.rows import SEQ

APPLICATION_ID = int.from_bytes(b"thal", "big")
"""The number in the header of a SQLite file that marks it as one of KeyedModels."""
DATABASE_START = b"SQLite format 3\0"
"""How a file of SQLite begins."""
SCHEMA_VERSION = 3
PAGE_BYTES = 16384
"""Size of a new file's pages: models of 1 to 100 kB are written 1.5 to 2 times as fast
as with SQLite's 4096."""
LAYOUTS = "CREATE TABLE layouts (id INTEGER PRIMARY KEY, layout TEXT NOT NULL UNIQUE)"
ROW_LOG = (
    "CREATE TABLE row_log (segment INTEGER PRIMARY KEY, written_at REAL NOT NULL, "
    "rows BLOB NOT NULL)"
)
SET_VERSION = f"PRAGMA user_version = {SCHEMA_VERSION}"
SCHEMA = (
    "CREATE TABLE models (key TEXT PRIMARY KEY, layout INTEGER, written_at REAL, "
    "segment INTEGER, model BLOB NOT NULL)",
    "CREATE TABLE source (name TEXT PRIMARY KEY, value BLOB)",
    LAYOUTS,
    ROW_LOG,
    f"PRAGMA application_id = {APPLICATION_ID}",
    SET_VERSION,
)
FROM_VERSION_2 = (
    "ALTER TABLE models ADD COLUMN segment INTEGER",
    ROW_LOG,
    SET_VERSION,
)
MIGRATIONS = {
    # Its models are files by themselves.
    1: (
        "ALTER TABLE models ADD COLUMN layout INTEGER",
        "ALTER TABLE models ADD COLUMN written_at REAL",
        LAYOUTS,
        *FROM_VERSION_2,
    ),
    2: FROM_VERSION_2,
}
"""Makes a file of an earlier version one of this version."""
INSERT_MODEL = (
    "INSERT INTO models (key, layout, written_at, segment, model) "
    "VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET layout = excluded.layout, "
    "written_at = excluded.written_at, segment = excluded.segment, "
    "model = excluded.model"
)
INSERT_SEGMENT = "INSERT INTO row_log VALUES (?, ?, ?)"
INSERT_SOURCE = "INSERT OR REPLACE INTO source VALUES (?, ?)"
SELECT_MODEL = (
    "SELECT model, segment, models.layout, layouts.layout FROM models "
    "LEFT JOIN layouts ON layouts.id = models.layout WHERE key = ?"
)
SET_ASIDE = (
    "CREATE TABLE IF NOT EXISTS set_aside (kind TEXT NOT NULL, name TEXT NOT NULL, "
    "reason TEXT NOT NULL, record BLOB)"
)
RECORDS = {
    "model": ("models", "key", "model"),
    "segment": ("row_log", "segment", "rows"),
    "source": ("source", "name", "value"),
}
"""Of each kind of record its table, the column of its name and that of its bytes."""
NO_TIMES: dict[str, float] = {}
NO_SEGMENTS: dict[int, bytes] = {}
FULL_CODES = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)
"""What SQLite says where a disk is full, and where a file may grow no further."""


Row = tuple[str, bytes | memoryview, str | None]
"""The fields of a ``StoredModel``, which takes longer to make."""


class StoredModel(NamedTuple):
    """What the file holds of one key."""

    key: str
    data: bytes
    layout: str | None = None  # of ``data``; None: it is a file that describes itself
    segment: int = 0  # rows of later segments of the log are not in ``data``


class SetAside(NamedTuple):
    """A record that could not be read, and that nothing reads any more."""

    kind: str  # one of ``RECORDS``
    name: str  # a key, or the number of a segment
    reason: str  # why it cannot be read


class KeyedStore:
    """An open SQLite file. The caller sees to it that there is one writer only."""

    def __init__(self, path: Path, settings: bytes) -> None:
        self.path = path
        self._process = os.getpid()
        # By the layout, its id in the file. None: a file that describes itself.
        self._layout_ids: dict[str | None, int | None] = {None: None}
        with self._translate_errors():
            self._connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False
            )
        try:
            self._prepare(settings)
        except BaseException:
            self._connection.close()
            raise

    def is_own(self) -> bool:
        """Whether this process has opened the file, and not its parent."""
        return os.getpid() == self._process

    def check_process(self) -> None:
        """Raise in a forked child: two processes on one connection damage the file."""
        if not self.is_own():
            raise StorageError(f"{self.path} was opened before a fork. Open it again.")

    def read_settings(self) -> bytes:
        """The settings that were given when the file was made."""
        with self._translate_errors():
            found = self._read_one("SELECT value FROM source WHERE name = 'settings'")
        return found if isinstance(found, bytes) else b""

    def read_offset(self) -> int | None:
        """How far the source was read; None before the first commit."""
        with self._translate_errors():
            offset = self._read_one("SELECT value FROM source WHERE name = 'offset'")
        if offset is None or SEQ.accepts(offset):
            return offset
        raise PersistenceError(f"{self.path} holds an offset that is no number.")

    def read_model(self, key: str) -> StoredModel | None:
        """What was last committed for ``key``."""
        with self._translate_errors():
            row = self._connection.execute(SELECT_MODEL, (key,)).fetchone()
        if row is None:
            return None
        data, segment, number, layout = row
        is_text = layout is None if number is None else isinstance(layout, str)
        is_model = isinstance(data, bytes) and isinstance(segment, int | None)
        if not is_model or not is_text:
            raise PersistenceError(
                f"{self.path} holds a model of {key!r} that is no model."
            )
        return StoredModel(key, data, layout, segment or 0)

    def read_segment_number(self) -> int:
        """The number of the last segment of the log, which may be gone by now."""
        with self._translate_errors():
            number = self._read_one("SELECT value FROM source WHERE name = 'segment'")
        if number is not None and not isinstance(number, int):
            raise PersistenceError(f"{self.path} counts segments by {number!r:.40}.")
        return number or 0

    def read_log(self) -> Iterator[tuple[int, Any, Any]]:
        """The segments of the log in order, as they are: number, time and rows."""
        with self._translate_errors():
            select = "SELECT segment FROM row_log ORDER BY segment"
            numbers = self._connection.execute(select).fetchall()
            select = "SELECT segment, written_at, rows FROM row_log WHERE segment = ?"
            for number in numbers:
                yield self._connection.execute(select, number).fetchone()

    def set_aside(self, kind: str, name: str | int, reason: str) -> None:
        """Move a record that cannot be read to where nothing reads it."""
        table, column, record = RECORDS[kind]
        with self._translate_errors(), self._transaction():
            self._connection.execute(SET_ASIDE)
            self._connection.execute(
                f"INSERT INTO set_aside SELECT ?, {column}, ?, {record} FROM {table} "
                f"WHERE {column} = ?",
                (kind, reason, name),
            )
            delete = f"DELETE FROM {table} WHERE {column} = ?"
            self._connection.execute(delete, (name,))

    def read_set_aside(self) -> list[SetAside]:
        """The records that were set aside, in their order."""
        with self._translate_errors(), self._transaction():
            self._connection.execute(SET_ASIDE)
            select = "SELECT kind, name, reason FROM set_aside ORDER BY rowid"
            return [SetAside(*found) for found in self._connection.execute(select)]

    def keys(self) -> list[str]:
        """All keys in the file."""
        with self._translate_errors():
            rows = self._connection.execute("SELECT key FROM models")
            return [key for (key,) in rows]

    def count_keys(self) -> int:
        """How many keys the file has."""
        with self._translate_errors():
            return int(self._read_one("SELECT count(*) FROM models"))  # type: ignore[call-overload, no-any-return]

    def has_key(self, key: str) -> bool:
        """Whether the file has this key."""
        statement = "SELECT count(*) FROM models WHERE key = ?"
        with self._translate_errors():
            return self._read_one(statement, key) == 1

    def index_ages(self) -> None:
        """Make ``keys_written_before`` fast; commits are a little slower from then."""
        with self._translate_errors():
            self._connection.execute(
                "CREATE INDEX IF NOT EXISTS ages ON models (written_at)"
            )

    def keys_written_before(self, time: float) -> list[str]:
        """The keys whose models were last written before this time."""
        statement = "SELECT key FROM models WHERE written_at < ?"
        with self._translate_errors():
            return [key for (key,) in self._connection.execute(statement, (time,))]

    def commit(
        self,
        models: Iterable[Row],
        offset: int | None,
        time: float | None = None,
        dropped: Iterable[str] = (),
        times: Mapping[str, float] = NO_TIMES,
        segments: Mapping[int, bytes] = NO_SEGMENTS,
        segment_number: int = 0,
        first_segment: int = 0,
    ) -> None:
        """Write models and offset; they are on the disk when this returns.

        ``time`` is when they are written, by the caller's clock, unless ``times`` has
        another for a key; models of the keys ``dropped`` are removed. ``segments`` are
        rows for the log by number. The models hold all rows up to ``segment_number``,
        and no segment before ``first_segment`` is needed any longer.
        """
        ids = self._layout_ids.copy()
        with self._translate_errors(), self._transaction():
            rows = (
                (key, ids[layout] if layout in ids else self._add_layout(ids, layout),
                 times.get(key, time), segment_number, data)
                for key, data, layout in models
            )  # fmt: skip
            execute, execute_many = (
                self._connection.execute, self._connection.executemany,
            )  # fmt: skip
            execute_many(INSERT_MODEL, rows)
            keys = ((key,) for key in dropped)
            execute_many("DELETE FROM models WHERE key = ?", keys)
            execute("DELETE FROM row_log WHERE segment < ?", (first_segment,))
            logged = ((number, time, data) for number, data in segments.items())
            execute_many(INSERT_SEGMENT, logged)
            execute(INSERT_SOURCE, ("offset", offset))
            if segment_number:
                execute(INSERT_SOURCE, ("segment", segment_number))
        self._layout_ids = ids  # those of a transaction that failed are not there

    def _add_layout(self, ids: dict[str | None, int | None], layout: str | None) -> int:
        """The id of a layout that is not among ``ids``, which is written if new."""
        self._connection.execute(
            "INSERT OR IGNORE INTO layouts (layout) VALUES (?)", (layout,)
        )
        found = self._read_one("SELECT id FROM layouts WHERE layout = ?", layout)
        number: int = int(found)  # type: ignore[call-overload]
        ids[layout] = number
        return number

    def close(self) -> None:
        """Close the file."""
        with self._translate_errors():
            self._connection.close()

    def replace_settings(self, settings: bytes) -> None:
        """Write other settings than those that were given when the file was made."""
        self._execute_all((), settings)

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
            if is_empty:
                self._connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            if self._read_one("PRAGMA journal_mode = WAL") != "wal":
                raise StorageError(f"{self.path} lies where SQLite has no WAL mode.")
            self._connection.execute("PRAGMA synchronous = FULL")
            if is_empty:
                self._execute_all(SCHEMA, settings)
            version = self._read_one("PRAGMA user_version")
            if version in MIGRATIONS:
                self._execute_all(MIGRATIONS[version])
                version = SCHEMA_VERSION
        if version != SCHEMA_VERSION:
            raise PersistenceError(
                f"{self.path} has layout {version}, and this thalweg reads 1 to "
                f"{SCHEMA_VERSION}. Open it with the thalweg that wrote it, or a newer "
                "one."
            )

    def _execute_all(
        self, statements: Iterable[str], settings: bytes | None = None
    ) -> None:
        """Execute the statements, and write the settings, in one transaction."""
        with self._transaction():
            for statement in statements:
                self._connection.execute(statement)
            if settings is not None:
                self._connection.execute(INSERT_SOURCE, ("settings", settings))

    def _transaction(self) -> "Transaction":
        return Transaction(self._connection)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise SQLite's errors as ours, with the name of the file."""
        self.check_process()
        try:
            yield
        except (sqlite3.OperationalError, sqlite3.ProgrammingError) as error:
            if getattr(error, "sqlite_errorcode", None) in FULL_CODES:
                raise StorageError(
                    f"{self.path} cannot grow: {error}. Nothing is lost. Make room on "
                    "its disk, then go on."
                ) from error
            raise StorageError(f"{self.path} cannot be used: {error}.") from error
        except sqlite3.Error as error:
            raise PersistenceError(
                f"{self.path} is damaged or no database: {error}. "
                "Restore it from a copy."
            ) from error

    def _read_one(self, statement: str, *values: object) -> object:
        row = self._connection.execute(statement, values).fetchone()
        return None if row is None else row[0]


def require_database(path: Path) -> None:
    """Raise where ``path`` is a file that is no database, before anything is made.

    A file with two names (hard links) would have two locks, and two writers.
    """
    try:
        with path.open("rb") as file:
            start = file.read(len(DATABASE_START))
            names = os.fstat(file.fileno()).st_nlink
    except FileNotFoundError as error:
        if not path.parent.is_dir():
            raise StorageError(
                f"{path} cannot be made: there is no folder {path.parent}."
            ) from error
        return
    except OSError:
        return  # what opens it will say why it cannot
    if start and start != DATABASE_START:
        raise PersistenceError(
            f"{path} is no SQLite file, as KeyedModels makes them: it begins with "
            f"{start!r}. Give another path."
        )
    if names > 1:
        raise StorageError(
            f"{path} has {names} names (hard links), each of which could be opened by "
            "itself. Copy it, or remove the others."
        )


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
