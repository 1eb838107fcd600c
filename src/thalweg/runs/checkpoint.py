"""Checkpoint of a run: models for Python, and all that the run takes to go on.

All that a checkpoint changes is written in one step, so that a run that was killed goes
on from a row at which all keys, and the predictions, were saved.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thalweg import persistence
from thalweg.errors import InvalidParameterError, PersistenceError, ThalwegError
from thalweg.evaluation.tracker_run import TrackerRun
from thalweg.imputer import POLICY_RULES
from thalweg.losses import SquaredError
from thalweg.models.columns import Columns
from thalweg.models.model_file import ModelRecord
from thalweg.rules import require, restore_snapshot
from thalweg.runs.keyed_session import KeyedSession
from thalweg.runs.model_store import ModelFile, ModelStore
from thalweg.runs.prediction_file import is_prediction_file
from thalweg.runs.session import Session, SessionSnapshot
from thalweg.tables import Encoder, Recipe
from thalweg.tables.class_labels import ClassLabels, Task, validate_class_labels

VERSION = 9
"""Version of ``RunCheckpoint`` and ``RunProgress``; any other is refused."""
RUN, PROGRESS = "run", "run_progress"
"""The names by which a file holds the two."""
MALFORMED_JSON_ERRORS = (
    AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError,
    ValueError,
)  # fmt: skip
"""What JSON that is no recipe may lead to."""


class RunOrigin(NamedTuple):
    """What a run was on, and the predictions that it has written."""

    source: str = ""  # the name of the file, or of standard input
    predictions: Path | None = None  # their file, if there is one
    written_bytes: int = 0  # the length of that file


class RunCheckpoint(NamedTuple):
    """All that a file holds of one series beside a model for ``Online.load``.

    A new field of a run is added here, or to the ``Snapshot`` of the component that it
    belongs to: saving, loading and the check of its type follow from that.
    """

    version: int
    recipe: str  # settings of the Recipe as JSON
    session: SessionSnapshot


class RunProgress(NamedTuple):
    """What all series of a run share."""

    version: int
    source: str
    keys: tuple[str, ...]
    rows: int  # of the whole stream, seen so far
    earlier_rows: int  # of those, the rows that came before this source
    classes: tuple[ClassLabels, ...]  # that have a column of their own
    predictions: str | None  # path from the folder of the models, which may be moved
    written_bytes: int


def save_checkpoint(
    store: ModelStore, session: KeyedSession, origin: RunOrigin
) -> None:
    """Write the series that have changed, and what all of them share."""
    file, folder = origin.predictions, store.path.parent
    progress = RunProgress(
        version=VERSION,
        source=origin.source,
        keys=session.keys,
        rows=session.rows,
        earlier_rows=session.earlier_rows,
        classes=session.classes,
        predictions=None if file is None else os.path.relpath(file, folder),
        written_bytes=origin.written_bytes,
    )
    changed = sorted(session.changed) if session.keys else [()]
    models = ((key, _series_model(session.sessions[key])) for key in changed)
    store.write(models, {PROGRESS: progress}, session.rows - session.earlier_rows)
    session.changed.clear()


def load_checkpoint(
    store: ModelStore | Path, task: Task = "auto", **options: Any
) -> tuple[KeyedSession, RunOrigin]:
    """The run in a file; ``options`` given again must be those it started with."""
    if isinstance(store, Path):
        store = ModelFile(store, store)
    path = store.path
    try:
        session, origin = _restore_run(store, options)
    except PersistenceError as error:
        if str(path) in str(error):
            raise
        raise PersistenceError(
            f"{path} holds no run that could go on: {error}."
        ) from None
    except ThalwegError:  # about the options, or what the recipe itself refuses
        raise
    except MALFORMED_JSON_ERRORS as error:
        raise PersistenceError(f"{path} holds no run that could go on.") from error
    _refuse_other_task(session, task)
    return session, origin


def _restore_run(
    store: ModelStore, options: dict[str, Any]
) -> tuple[KeyedSession, RunOrigin]:
    fields = store.read_shared(PROGRESS)
    if fields is None:
        raise PersistenceError(
            f"{store.path} holds no run that could go on. One that was killed before "
            f"its first rows were saved starts again without --resume."
        )
    _require_version(fields)
    progress = restore_snapshot(RunProgress, fields)
    sessions = {}
    for key in store.keys():
        saved = store.read(key)
        extra: Any = {} if saved is None else saved.extra
        sessions[key] = _restore_series(extra.get(RUN), options)
    require(len(sessions) > 0, "series", "some", sessions)
    is_counted = 0 <= progress.earlier_rows <= progress.rows
    require(is_counted, "earlier_rows", "a part of the rows", progress.earlier_rows)
    session = KeyedSession.of_sessions(sessions, progress.keys, progress.classes)
    if progress.keys:
        validate_class_labels(progress.classes, session.recipe.targets, "classes")
        session.rows, session.earlier_rows = progress.rows, progress.earlier_rows
    file = None
    if progress.predictions is not None:
        file = Path(os.path.normpath(store.path.parent / progress.predictions))
        # The file is cut where the run stopped, so that no other kind may be named.
        require(is_prediction_file(file), "predictions", "a file of predictions", file)
    return session, RunOrigin(progress.source, file, progress.written_bytes)


def _restore_series(run: Any, options: dict[str, Any]) -> Session:
    _require_version(run)
    checkpoint = restore_snapshot(RunCheckpoint, run)
    settings = json.loads(checkpoint.recipe)
    recipe = Recipe.from_settings(settings | options)
    recipe.refuse_changes(Recipe.from_settings(settings))
    return Session.from_snapshot(checkpoint.session, recipe)


def _require_version(fields: Any) -> None:
    version = fields.get("version") if isinstance(fields, Mapping) else None
    if type(version) is not int or version != VERSION:
        raise PersistenceError("another version of thalweg wrote it")


def _refuse_other_task(session: KeyedSession, task: Task) -> None:
    """Raise if the run before has predicted classes and this is not to, or reversed."""
    before = "classify" if session.classes else "regress"
    if task not in ("auto", before):
        names = ", ".join(map(repr, session.recipe.targets))
        what = "classes" if session.classes else "numbers"
        raise InvalidParameterError(
            f"The run before predicts {names} as {what}. Got --{task} instead: start "
            f"again, without --resume."
        )


def _series_model(session: Session) -> persistence.SavedModel:
    """What a file holds of one series."""
    checkpoint = RunCheckpoint(
        version=VERSION,
        recipe=json.dumps(asdict(session.recipe)),
        session=session.snapshot(),
    )
    first: Any = session.runs[0]
    if session.classes:
        model: persistence.SavedModel = first.saved_model(session.classes[0])
    else:
        fields = _online_fields(first, session.encoder)
        loss = SquaredError()
        model = persistence.SavedModel(first.tracker, loss, first.state, fields)
    return model._replace(extra={**model.extra, RUN: checkpoint})


def _online_fields(run: TrackerRun, encoder: Encoder) -> dict[str, Any]:
    """What ``Online.load`` asks for, docs/file-format.md, to go on by itself.

    Of several targets the model is that of the first, without the names of columns:
    lags would need the others.
    """
    imputer = run.imputer
    accepts = POLICY_RULES[imputer.policy].accepts
    record = ModelRecord(
        intercept=False,
        rounds=run.rounds,
        missing=imputer.policy,
        refusals=0,
        unexcited_rounds=np.zeros(run.features),  # not counted here
        imputer=imputer.state if accepts else None,
        columns=Columns(encoder).record() if len(encoder.recipe.targets) == 1 else None,
    )
    return record._asdict()
