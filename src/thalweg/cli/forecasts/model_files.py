"""Model files of forecasts: one file for a series, or a database of one a key."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from thalweg import persistence
from thalweg.cli.forecasts.forecast_plan import ForecastPlan
from thalweg.cli.forecasts.row_keys import Key
from thalweg.cli.runs.keyed_checkpoint import is_database, key_name, remove_database
from thalweg.cli.runs.storage import make_folder
from thalweg.errors import PersistenceError
from thalweg.evaluation.forecast_run import ForecastRun
from thalweg.learners import LastValue
from thalweg.losses import SquaredError
from thalweg.models.keyed_store import KeyedStore
from thalweg.persistence import SavedModel, dumps, loads
from thalweg.tables.missing_codes import ColumnRange

MODEL = "model.thalweg"
PLAN = "plan"


class ForecastModels(Protocol):
    """The models of all series of a table, by key."""

    path: Path

    def keys(self) -> list[Key]:
        """The keys that have a model."""

    def load(self, key: Key) -> ForecastRun | None:
        """The model of a key; None if it has none yet."""

    def save(self, runs: Mapping[Key, ForecastRun]) -> None:
        """Write these models."""

    def set_ranges(self, ranges: tuple[ColumnRange, ...]) -> None:
        """Note by which ranges codes are found in the rows to come."""

    def close(self) -> None:
        """Write no more."""

    def discard(self) -> None:
        """Leave the files as they were before."""


class SingleModel:
    """The file of one series, which ``Forecaster.load`` reads as well."""

    def __init__(self, plan: ForecastPlan, path: Path, resumed: Path | None) -> None:
        self.path, self._plan = path, plan
        self._run: ForecastRun | None = None
        if resumed is not None:
            self._run = ForecastRun.from_saved_model(
                persistence.load(resumed), str(resumed)
            )

    def keys(self) -> list[Key]:
        """The only key, if there is a model."""
        return [] if self._run is None else [()]

    def load(self, key: Key) -> ForecastRun | None:
        """The model, if there is one."""
        return self._run

    def save(self, runs: Mapping[Key, ForecastRun]) -> None:
        """Replace the file."""
        make_folder(self.path.parent)
        self._run = runs[()]
        plan = {PLAN: self._plan.as_json()}
        persistence.save(self.path, self._run.saved_model(**plan))

    def set_ranges(self, ranges: tuple[ColumnRange, ...]) -> None:
        """Note by which ranges codes are found in the rows to come."""
        self._plan = self._plan._replace(ranges=ranges)

    def close(self) -> None:
        """Nothing is open."""

    def discard(self) -> None:
        """Nothing is left to remove: the file is replaced in one step."""


class KeyedModelFile:
    """A database of models by key, each as a file of its own would hold it.

    A new database is made beside the old one, and takes its place in the end.
    """

    def __init__(self, plan: ForecastPlan, path: Path, resumed: Path | None) -> None:
        make_folder(path.parent)
        self.path = path
        self._working_path = path
        if resumed is None or resumed.resolve() != path.resolve():
            self._working_path = path.with_name(f"{path.name}.part")
            remove_database(self._working_path)
            if resumed is not None:
                shutil.copyfile(resumed, self._working_path)
        self._plan, self._settings = plan, _plan_settings(plan)
        self._store = KeyedStore(self._working_path, self._settings)
        self._is_open = True

    def keys(self) -> list[Key]:
        """All keys of the database, in order."""
        return sorted(tuple(json.loads(key)) for key in self._store.keys())

    def load(self, key: Key) -> ForecastRun | None:
        """The model of a key; None if it has none yet."""
        if self._is_open:
            stored = self._store.read_model(key_name(key))
        else:
            store = KeyedStore(self.path, self._settings)
            stored = store.read_model(key_name(key))
            store.close()
        if stored is None:
            return None
        name = f"{self.path}, key {key_name(key)},"
        return ForecastRun.from_saved_model(loads(stored.data, name), name)

    def save(self, runs: Mapping[Key, ForecastRun]) -> None:
        """Write these models, in one transaction."""
        models = (
            (key_name(key), dumps(run.saved_model()), None) for key, run in runs.items()
        )
        self._store.commit(models, None)

    def set_ranges(self, ranges: tuple[ColumnRange, ...]) -> None:
        """Note by which ranges codes are found in the rows to come."""
        if ranges != self._plan.ranges:
            self._plan = self._plan._replace(ranges=ranges)
            self._settings = _plan_settings(self._plan)
            self._store.replace_settings(self._settings)

    def close(self) -> None:
        """Close the database; a new one takes the place of the old one."""
        self._store.close()
        self._is_open = False
        if self._working_path != self.path:
            remove_database(self.path)
            os.replace(self._working_path, self.path)
            self._working_path = self.path

    def discard(self) -> None:
        """Remove a new database; one that is resumed keeps what was written."""
        self._store.close()
        if self._working_path != self.path:
            remove_database(self._working_path)


def _plan_settings(plan: ForecastPlan) -> bytes:
    extra = {PLAN: plan.as_json()}
    return dumps(SavedModel(LastValue(), SquaredError(), None, extra))


def open_models(plan: ForecastPlan, path: Path, resumed: Path | None) -> ForecastModels:
    """The models to go on with, or none yet; they will be written to ``path``."""
    kind = KeyedModelFile if plan.keys else SingleModel
    return kind(plan, path, resumed)


def read_plan(path: Path) -> ForecastPlan:
    """The plan of a forecast that is to be resumed."""
    if not is_database(path):
        saved = persistence.load(path)
    else:
        store = KeyedStore(path, b"")
        try:
            saved = loads(store.read_settings(), str(path))
        finally:
            store.close()
    if PLAN not in saved.extra:
        raise PersistenceError(
            f"{path} holds a model, but no forecast of a file that could go on."
        )
    return ForecastPlan.from_json(saved.extra[PLAN], str(path))
