"""Where models are kept: one file for one series, or a database of one for each key.

Every file of models is written, found and resumed here, those of runs and of forecasts.
"""

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from thalweg import persistence
from thalweg.keyed.store import DATABASE_START, KeyedStore
from thalweg.learners import LastValue
from thalweg.losses import SquaredError
from thalweg.persistence import SavedModel, dumps, loads
from thalweg.runs.storage import make_folder
from thalweg.tables.row_keys import Key

MODEL, MODELS = "model.thalweg", "models.db"
"""Names of files of one model, and of a model for each key."""
SHARED = "progress"
"""The name of what all keys share; names of keys are lists in JSON."""


class ModelStore(Protocol):
    """The models of all series of a table, by key."""

    path: Path

    def keys(self) -> list[Key]:
        """The keys that have a model, in order."""

    def read(self, key: Key) -> SavedModel | None:
        """The model of a key; None if it has none yet."""

    def read_shared(self, name: str) -> Any:
        """What all models share, by its name; None if there is nothing."""

    def write(
        self, models: Iterable[tuple[Key, SavedModel]], shared: Mapping[str, Any],
        rows: int | None = None,
    ) -> None:  # fmt: skip
        """Write models, and what all of them share after this many rows of the table.

        All of it is on the disk when this returns, or none of it.
        """

    def close(self) -> None:
        """Write no more."""

    def discard(self) -> None:
        """Remove what was written, unless it is that of a command before."""


class ModelFile:
    """The file of one series, which ``Online`` or ``Forecaster`` loads as well."""

    def __init__(self, path: Path, resumed: Path | None = None) -> None:
        self.path = path
        self._saved = None if resumed is None else persistence.load(resumed)
        self._is_resumed = resumed is not None

    def keys(self) -> list[Key]:
        """The only key, if there is a model."""
        return [] if self._saved is None else [()]

    def read(self, key: Key) -> SavedModel | None:
        """The model, if there is one."""
        return self._saved

    def read_shared(self, name: str) -> Any:
        """A field of the file beside the model."""
        return None if self._saved is None else self._saved.extra.get(name)

    def write(
        self, models: Iterable[tuple[Key, SavedModel]], shared: Mapping[str, Any],
        rows: int | None = None,
    ) -> None:  # fmt: skip
        """Replace the file, in one step that lasts."""
        for _, model in models:
            make_folder(self.path.parent)
            self._saved = model._replace(extra={**model.extra, **shared})
            persistence.save(self.path, self._saved)

    def close(self) -> None:
        """Nothing is open."""

    def discard(self) -> None:
        """Remove the file."""
        if self._saved is not None and not self._is_resumed:
            self.path.unlink()


class ModelDatabase:
    """A database of models by key, each as a file of its own would hold it.

    A new one is made beside its place, which it takes with its first write, so that a
    command that is killed before leaves none; or if ``is_kept_apart`` in the end.
    """

    def __init__(
        self, path: Path, resumed: Path | None = None, is_kept_apart: bool = False
    ) -> None:
        self.path = path
        self._is_new = resumed is None or resumed.resolve() != path.resolve()
        self._resumed, self._is_kept_apart = resumed, is_kept_apart
        self._working_path = path
        if self._is_new:
            self._working_path = path.with_name(f"{path.name}.part")
        self._store: KeyedStore | None = None
        self._is_closed = False
        if resumed is not None:
            self._open()

    def keys(self) -> list[Key]:
        """All keys of the database, in order."""
        names = [name for name in self._open().keys() if name != SHARED]
        return sorted(tuple(json.loads(name)) for name in names)

    def read(self, key: Key) -> SavedModel | None:
        """The model of a key; None if it has none yet."""
        name = json.dumps(list(key), ensure_ascii=False)
        return self._read(name, f"{self.path}, key {name},")

    def read_shared(self, name: str) -> Any:
        """A field of what all keys share."""
        saved = self._read(SHARED, str(self.path))
        return None if saved is None else saved.extra.get(name)

    def write(
        self, models: Iterable[tuple[Key, SavedModel]], shared: Mapping[str, Any],
        rows: int | None = None,
    ) -> None:  # fmt: skip
        """Write models and what they share, in one transaction."""
        named = (
            (json.dumps(list(key), ensure_ascii=False), dumps(model), None)
            for key, model in models
        )
        common = (SHARED, dumps(_shared_model(shared)), None)
        self._open().commit((one for part in (named, [common]) for one in part), rows)
        if not self._is_kept_apart:
            self._take_place()

    def close(self) -> None:
        """Close the database; one that was kept apart takes its place."""
        if self._store is not None:
            self._take_place()
            self._close_store()
        self._working_path, self._is_new, self._is_closed = self.path, False, True

    def _take_place(self) -> None:
        """Let a new database have the place of the one before it."""
        if self._working_path != self.path:
            self._close_store()
            remove_database(self.path)
            os.replace(self._working_path, self.path)
            self._working_path, self._is_new = self.path, False

    def _close_store(self) -> None:
        if self._store is not None:
            self._store.close()
        self._store = None

    def discard(self) -> None:
        """Remove a new database; one that is resumed keeps what was written."""
        if self._store is not None:
            self._close_store()
            if self._resumed is None or self._working_path != self._resumed:
                remove_database(self._working_path)

    def _open(self) -> KeyedStore:
        if self._store is None:
            if self._is_new:
                make_folder(self.path.parent)
                remove_database(self._working_path)
                if self._resumed is not None:
                    shutil.copyfile(self._resumed, self._working_path)
            self._store = KeyedStore(self._working_path, dumps(_shared_model({})))
        return self._store

    def _read(self, name: str, place: str) -> SavedModel | None:
        stored = self._open().read_model(name)
        if self._is_closed:  # it is only looked into
            self.close()
        return None if stored is None else loads(stored.data, place)


def open_models(
    path: Path, by_key: bool, resumed: Path | None = None, is_kept_apart: bool = False
) -> ModelStore:
    """The models to go on with, or none yet; they will be written to ``path``."""
    if by_key:
        return ModelDatabase(path, resumed, is_kept_apart)
    return ModelFile(path, resumed)


def is_database(path: Path) -> bool:
    """Whether the file is a database, as commands by key leave."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(DATABASE_START)) == DATABASE_START


def remove_database(path: Path) -> None:
    """Remove the database of an earlier command, if there is one."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def _shared_model(fields: Mapping[str, Any]) -> SavedModel:
    return SavedModel(LastValue(), SquaredError(), None, dict(fields))
