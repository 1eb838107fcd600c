"""A run in a file: a model that Python can load, and all it takes to go on."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thalweg import persistence
from thalweg.cli.runs.predictions import is_for_predictions
from thalweg.cli.runs.session import Session, as_tuples
from thalweg.cli.runs.storage import make_folder
from thalweg.errors import PersistenceError, ThalwegError
from thalweg.evaluation.kept import need, whole
from thalweg.evaluation.prequential import Prequential
from thalweg.losses import SquaredError

UNREADABLE = (
    AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError,
    ValueError,
)  # fmt: skip
"""What JSON that is not ours may lead to."""


class Kept(NamedTuple):
    """What a checkpoint holds beside the session."""

    source: str  # the name of the file, or of standard input
    predictions: Path | None  # their file, if there is one
    written: int  # bytes in it


def save(path: Path, session: Session, kept: Kept) -> None:
    """Replace the file at ``path``, in one step that lasts."""
    make_folder(path.parent)
    first = session.players[0]
    extra = {
        **_as_online(first),
        "run": json.dumps({**session.told, **_beside(path, kept)}),
        "encoder": as_tuples(session.encoder.state),
        "players": tuple(player.kept for player in session.players),
    }
    model = persistence.Saved(first.tracker, SquaredError(), first.state, extra)
    persistence.save(path, model)


def _as_online(player: Prequential) -> dict[str, Any]:
    """What ``Online.load`` asks for, docs/file-format.md: it then goes on alike."""
    imputer = player.imputer
    kept = {
        "intercept": False,
        "rounds": player.rounds,
        "missing": imputer.policy,
        "refusals": 0,
        "quiet": np.zeros(player.features),  # not counted here
    }
    if imputer.policy == "refuse":
        return kept
    return kept | imputer.state._asdict()


def load(path: Path, **given: Any) -> tuple[Session, Kept]:
    """The run in a file; options ``given`` again must be those it was begun with."""
    extra = persistence.load(path).extra
    if "run" not in extra:
        raise PersistenceError(f"{path} holds a model, but no run that could go on.")
    try:
        told = json.loads(extra["run"])
        session = Session.resumed(told, extra["encoder"], extra["players"], **given)
        return session, _kept(path, told)
    except PersistenceError as error:
        raise PersistenceError(
            f"{path} holds no run that could go on: {error}."
        ) from None
    except ThalwegError:  # what was given, or what the recipe itself refuses
        raise
    except UNREADABLE as error:
        raise PersistenceError(f"{path} holds no run that could go on.") from error


def _kept(path: Path, told: dict[str, Any]) -> Kept:
    """What ``_beside`` has told."""
    source, beside = told["source"], told["predictions"]
    written = whole("predictions", told["written"])
    need(isinstance(source, str), "source")
    if beside is None:
        return Kept(source, None, written)
    file = Path(os.path.normpath(path.parent / beside))
    # These files are cut where the run stopped: no others are to be named here.
    need(is_for_predictions(file), "predictions")
    return Kept(source, file, written)


def _beside(path: Path, kept: Kept) -> dict[str, Any]:
    """What is kept, with paths from where the model is: a folder may be moved."""
    file = kept.predictions
    beside = None if file is None else os.path.relpath(file, path.parent)
    return {**kept._asdict(), "predictions": beside}
