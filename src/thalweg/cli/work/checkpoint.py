"""A run in a file: a model that Python can load, and all it takes to go on."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from thalweg import persistence
from thalweg.cli.work.session import Session
from thalweg.cli.work.storage import make_folder
from thalweg.errors import PersistenceError, ThalwegError
from thalweg.losses import SquaredError


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
        "intercept": False,
        "rounds": first.rounds,
        "run": json.dumps({**session.told, **_beside(path, kept)}),
        "players": tuple(player.kept for player in session.players),
    }
    model = persistence.Saved(first.tracker, SquaredError(), first.state, extra)
    persistence.save(path, model)


def load(path: Path, **given: Any) -> tuple[Session, Kept]:
    """The run in a file; options ``given`` again must be those it was begun with."""
    extra = persistence.load(path).extra
    if "run" not in extra:
        raise PersistenceError(f"{path} holds a model, but no run that could go on.")
    try:
        told = json.loads(extra["run"])
        session = Session.resumed(told, extra["players"], **given)
        beside, source = told["predictions"], told["source"]
        file = None if beside is None else Path(os.path.normpath(path.parent / beside))
        return session, Kept(source, file, int(told["written"]))
    except ThalwegError:
        raise
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise PersistenceError(f"{path} holds no run that could go on.") from error


def _beside(path: Path, kept: Kept) -> dict[str, Any]:
    """What is kept, with paths from where the model is: a folder may be moved."""
    file = kept.predictions
    beside = None if file is None else os.path.relpath(file, path.parent)
    return {**kept._asdict(), "predictions": beside}
