"""Checkpoint of a run by key: a database with the session of each key.

All that a checkpoint changes is written in one transaction, so that a run that was
killed goes on from a row at which all keys, and the predictions, were saved.
"""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, Self

from thalweg.cli.forecasts.row_keys import Key
from thalweg.cli.runs.checkpoint import (
    MALFORMED_JSON_ERRORS,
    RunOrigin,
    restore_run,
    run_model,
)
from thalweg.cli.runs.keyed_session import KeyedSession
from thalweg.cli.runs.output_paths import NEW_RUN
from thalweg.cli.runs.predictions import is_prediction_file
from thalweg.cli.runs.storage import make_folder
from thalweg.errors import InvalidParameterError, PersistenceError
from thalweg.learners import LastValue
from thalweg.losses import SquaredError
from thalweg.models.keyed_store import KeyedStore
from thalweg.persistence import SavedModel, dumps, loads
from thalweg.tables import Recipe

MODELS = "models.db"
PROGRESS = "progress"
"""The name of what all keys share; names of keys are lists in JSON."""
DATABASE_START = b"SQLite format 3\0"
VERSION = 3
"""Version of ``KeyedProgress`` and of the runs by key; any other is refused."""


class KeyedProgress(NamedTuple):
    """What all keys of a run share."""

    version: int
    source: str
    keys: tuple[str, ...]
    recipe: dict[str, Any]
    rows: int  # of this source
    earlier_rows: int
    predictions: str | None  # path from the folder of the database
    written_bytes: int


class KeyedCheckpoint:
    """An open database of sessions."""

    def __init__(self, path: Path) -> None:
        make_folder(path.parent)
        self.path = path
        self._store = KeyedStore(path, _pack({}))

    def save(self, session: KeyedSession, origin: RunOrigin) -> None:
        """Write the sessions that have changed, and what all of them share."""
        file, folder = origin.predictions, self.path.parent
        progress = KeyedProgress(
            version=VERSION,
            source=origin.source,
            keys=session.keys,
            recipe=asdict(session.recipe),
            rows=session.rows,
            earlier_rows=session.earlier_rows,
            predictions=None if file is None else os.path.relpath(file, folder),
            written_bytes=origin.written_bytes,
        )
        runs = session.sessions
        models = (
            (key_name(key), dumps(run_model(runs[key], NEW_RUN, folder)), None)
            for key in sorted(session.changed)
        )
        shared = (PROGRESS, _pack(progress._asdict()), None)
        self._store.commit([*models, shared], session.rows)
        session.changed.clear()

    def load(self, options: dict[str, Any]) -> tuple[KeyedSession, RunOrigin]:
        """The run in the database; options given again must be those it began with."""
        progress = self._progress()
        settings = dict(progress.recipe)
        recipe = Recipe.from_settings(settings | options)
        recipe.refuse_changes(Recipe.from_settings(settings))
        session = KeyedSession(recipe, progress.keys, "regress")
        session.rows, session.earlier_rows = progress.rows, progress.earlier_rows
        for name in sorted(self._store.keys()):
            if name == PROGRESS:
                continue
            stored = self._store.read_model(name)
            data = b"" if stored is None else stored.data
            saved = loads(data, f"{self.path}, key {name},")
            key: Key = tuple(json.loads(name))
            session.sessions[key], _ = restore_run(saved, self.path)
        file = None
        if progress.predictions is not None:
            file = Path(os.path.normpath(self.path.parent / progress.predictions))
            if not is_prediction_file(file):
                raise PersistenceError(f"{self.path} names no file of predictions.")
        return session, RunOrigin(progress.source, file, progress.written_bytes)

    def close(self) -> None:
        """Close the database."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _progress(self) -> KeyedProgress:
        stored = self._store.read_model(PROGRESS)
        try:
            if stored is None:
                raise PersistenceError(
                    f"{self.path} holds no run by key that could go on. One that was "
                    "killed before its first rows were saved starts again without "
                    "--resume."
                )
            fields = json.loads(loads(stored.data, str(self.path)).extra[PROGRESS])
            progress = KeyedProgress(**fields | {"keys": tuple(fields["keys"])})
            if progress.version != VERSION:
                raise PersistenceError(
                    f"{self.path} cannot be resumed: another version of thalweg wrote "
                    "it."
                )
            return progress
        except MALFORMED_JSON_ERRORS:
            raise PersistenceError(
                f"{self.path} holds no run by key that could go on."
            ) from None


def is_database(path: Path) -> bool:
    """Whether the file is a database, as runs by key leave."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(DATABASE_START)) == DATABASE_START


def remove_database(path: Path) -> None:
    """Remove the database of an earlier run, if there is one."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def key_name(key: Key) -> str:
    """The key as a database holds it."""
    return json.dumps(list(key), ensure_ascii=False)


def refuse_other_keys(session: KeyedSession, keys: tuple[str, ...] | None) -> None:
    """Raise if the key given again is not the one that the run began with."""
    if keys is not None and keys != session.keys:
        raise InvalidParameterError(
            f"The run to be resumed has --key {','.join(session.keys)}. Got "
            f"{','.join(keys) or 'none'} instead."
        )


def _pack(fields: dict[str, Any]) -> bytes:
    extra = {PROGRESS: json.dumps(fields)} if fields else {}
    return dumps(SavedModel(LastValue(), SquaredError(), None, extra))
