"""Checkpoint of a run: a model file that Python can load, and all it takes to go on."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thalweg import persistence
from thalweg.cli.runs.class_model import class_model
from thalweg.cli.runs.predictions import is_prediction_file
from thalweg.cli.runs.session import Session, SessionSnapshot
from thalweg.cli.runs.storage import make_folder
from thalweg.errors import PersistenceError, ThalwegError
from thalweg.evaluation.tracker_run import TrackerRun
from thalweg.losses import SquaredError
from thalweg.models.columns import Columns
from thalweg.models.model_file import ModelRecord
from thalweg.persistence.snapshots import require, restore_snapshot
from thalweg.preprocessing.imputer import POLICY_RULES
from thalweg.tables import Encoder, Recipe

VERSION = 6
"""Version of ``RunCheckpoint``; any other is refused."""
MALFORMED_JSON_ERRORS = (
    AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError,
    ValueError,
)  # fmt: skip
"""What JSON that is no recipe may lead to."""


class RunOrigin(NamedTuple):
    """What a run was on, and the predictions that it has written."""

    source: str  # the name of the file, or of standard input
    predictions: Path | None  # their file, if there is one
    written_bytes: int  # the length of that file


class RunCheckpoint(NamedTuple):
    """All that a file holds of a run beside a model for ``Online.load``.

    A new field of a run is added here, or to the ``Snapshot`` of the component that it
    belongs to: saving, loading and the check of its type follow from that.
    """

    version: int
    source: str
    predictions: str | None  # path from the folder of this file, which may be moved
    written_bytes: int
    recipe: str  # settings of the Recipe as JSON
    session: SessionSnapshot


def save_checkpoint(path: Path, session: Session, origin: RunOrigin) -> None:
    """Replace the file at ``path``, in one step that lasts."""
    make_folder(path.parent)
    persistence.save(path, run_model(session, origin, path.parent))


def run_model(
    session: Session, origin: RunOrigin, folder: Path
) -> persistence.SavedModel:
    """What a file in ``folder`` holds of a run."""
    file = origin.predictions
    checkpoint = RunCheckpoint(
        version=VERSION,
        source=origin.source,
        predictions=None if file is None else os.path.relpath(file, folder),
        written_bytes=origin.written_bytes,
        recipe=json.dumps(asdict(session.recipe)),
        session=session.snapshot(),
    )
    first: Any = session.runs[0]
    if session.classes:
        model = class_model(first, session.classes[0])
    else:
        fields = _online_fields(first, session.encoder)
        loss = SquaredError()
        model = persistence.SavedModel(first.tracker, loss, first.state, fields)
    extra = {**model.extra, "run": checkpoint}
    return model._replace(extra=extra)


def load_checkpoint(path: Path, **options: Any) -> tuple[Session, RunOrigin]:
    """The run in a file; ``options`` given again must be those it started with."""
    return restore_run(persistence.load(path), path, **options)


def restore_run(
    saved: persistence.SavedModel, path: Path, **options: Any
) -> tuple[Session, RunOrigin]:
    """The run of a file's contents; as ``load_checkpoint``."""
    extra = saved.extra
    if "run" not in extra:
        raise PersistenceError(f"{path} holds a model, but no run that could go on.")
    try:
        return _restore_run(path, extra["run"], options)
    except PersistenceError as error:
        raise PersistenceError(
            f"{path} holds no run that could go on: {error}."
        ) from None
    except ThalwegError:  # about the options, or what the recipe itself refuses
        raise
    except MALFORMED_JSON_ERRORS as error:
        raise PersistenceError(f"{path} holds no run that could go on.") from error


def _restore_run(
    path: Path, run: Any, options: dict[str, Any]
) -> tuple[Session, RunOrigin]:
    version = run.get("version") if isinstance(run, Mapping) else None
    if type(version) is not int or version != VERSION:
        raise PersistenceError("another version of thalweg wrote it")
    checkpoint = restore_snapshot(RunCheckpoint, run)
    settings = json.loads(checkpoint.recipe)
    recipe = Recipe.from_settings(settings | options)
    recipe.refuse_changes(Recipe.from_settings(settings))
    session = Session.from_snapshot(checkpoint.session, recipe)
    file = None
    if checkpoint.predictions is not None:
        file = Path(os.path.normpath(path.parent / checkpoint.predictions))
        # The file is cut where the run stopped, so that no other kind may be named.
        require(is_prediction_file(file), "predictions", "a file of predictions", file)
    return session, RunOrigin(checkpoint.source, file, checkpoint.written_bytes)


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
