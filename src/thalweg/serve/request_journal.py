"""Idempotency keys, in the file of the models: a request is learnt once.

An idempotency key stands for sequence numbers: the server gives each row of the request
the next number of its key, and the same ones when the request is repeated. Then the
rule of a repeated ``seq`` applies to both: nothing is learnt again.

The numbers are on the disk before the first row is learnt. So after a crash the numbers
of a request are known, but not whether all, some or none of its rows were learnt.
``open_requests`` gives these requests: only the last ones, as each commit of the
journal follows the previous commit of the models.
"""

import hashlib
import json
import logging
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from thalweg.errors import PersistenceError, StorageError
from thalweg.serve.request_body import Row

SCHEMA = """
CREATE TABLE IF NOT EXISTS requests (
  number INTEGER PRIMARY KEY,
  idempotency_key TEXT NOT NULL UNIQUE,
  digest BLOB NOT NULL,
  seqs TEXT NOT NULL,
  rows TEXT
)"""
MALFORMED_JSON_ERRORS = (RecursionError, TypeError, ValueError)
"""What text that is no JSON of rows may lead to."""
MAX_WAIT_S = 30.0
"""Seconds that SQLite waits for another connection to this file."""
logger = logging.getLogger(__name__)


class JournalEntry(NamedTuple):
    """A request with an idempotency key."""

    idempotency_key: str
    digest: bytes  # of what was asked for
    rows: tuple[Row, ...]  # with their sequence numbers


def request_digest(path: str, body: bytes) -> bytes:
    """A digest of a request, by which another one under the same key is found out."""
    return hashlib.sha256(path.encode() + b"\x00" + body).digest()


class RequestJournal:
    """The table of requests, with a connection of its own to the file of the models."""

    def __init__(self, path: Path, capacity: int) -> None:
        self.path, self.capacity = path, capacity
        with self._translate_errors():
            self._connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=MAX_WAIT_S
            )
            self._connection.execute("PRAGMA trusted_schema = OFF")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute(SCHEMA)

    def find(self, idempotency_key: str) -> tuple[bytes, list[int]] | None:
        """The digest of the request under this key, and its sequence numbers."""
        query = "SELECT digest, seqs FROM requests WHERE idempotency_key = ?"
        with self._translate_errors():
            found = self._connection.execute(query, (idempotency_key,)).fetchone()
        if found is None:
            return None
        try:
            digest, seqs = found[0], json.loads(found[1])
        except MALFORMED_JSON_ERRORS as error:
            raise PersistenceError(
                f"{self.path} holds a request under the Idempotency-Key "
                f"{idempotency_key!r} that cannot be read: {error}. Use another."
            ) from None
        return digest, seqs

    def commit(self, entries: Iterable[JournalEntry]) -> None:
        """Write new requests; all before them have been learnt and committed."""
        values: list[tuple[object, ...]] = [
            (
                entry.idempotency_key,
                entry.digest,
                json.dumps([row.seq for row in entry.rows]),
                _encode_rows(entry.rows),
            )
            for entry in entries
        ]
        if not values:
            return
        with self._translate_errors():
            self._execute_all(
                ("UPDATE requests SET rows = NULL WHERE rows IS NOT NULL", [()]),
                (
                    "INSERT INTO requests (idempotency_key, digest, seqs, rows) "
                    "VALUES (?, ?, ?, ?)",
                    values,
                ),
                (
                    "DELETE FROM requests WHERE number <= "
                    "(SELECT max(number) FROM requests) - ?",
                    [(self.capacity,)],
                ),
            )

    def open_requests(self) -> list[JournalEntry]:
        """The requests that a crash may have interrupted, in their order."""
        query = (
            "SELECT idempotency_key, digest, rows FROM requests "
            "WHERE rows IS NOT NULL ORDER BY number"
        )
        with self._translate_errors():
            found = self._connection.execute(query).fetchall()
        entries = []
        for key, digest, rows in found:
            try:
                entries.append(JournalEntry(key, digest, _decode_rows(rows)))
            except MALFORMED_JSON_ERRORS as error:
                # If its client has no answer yet, the client sends it again.
                logger.warning(
                    "%s holds a request under the Idempotency-Key %r that cannot be "
                    "read: %s. It is left out.", self.path, key, error,
                )  # fmt: skip
        return entries

    def settle(self, forgotten: Iterable[str]) -> None:
        """All requests are settled; these were not learnt, and are forgotten."""
        with self._translate_errors():
            self._execute_all(
                (
                    "DELETE FROM requests WHERE idempotency_key = ?",
                    [(key,) for key in forgotten],
                ),
                ("UPDATE requests SET rows = NULL WHERE rows IS NOT NULL", [()]),
            )

    def close(self) -> None:
        """Close the connection."""
        with self._translate_errors():
            self._connection.close()

    def _execute_all(self, *statements: tuple[str, list[tuple[object, ...]]]) -> None:
        """All statements in one transaction, or none of them."""
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement, values in statements:
                connection.executemany(statement, values)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StorageError(f"{self.path} cannot be used: {error}.") from error


def _encode_rows(rows: Iterable[Row]) -> str:
    """Rows as JSON with NaN for missing values, which only this file reads."""
    return json.dumps(
        [[row.key, _plain(row.x), _plain(row.y), row.seq, *row[4:]] for row in rows]
    )


def _plain(x: object) -> object:
    return x.tolist() if isinstance(x, np.ndarray) else x


def _decode_rows(text: str) -> tuple[Row, ...]:
    return tuple(
        Row(key, _as_array(x), _as_array(y), *rest)
        for key, x, y, *rest in json.loads(text)
    )


def _as_array(value: object) -> object:
    return np.array(value, np.float64) if isinstance(value, list) else value
