"""The page or the figures of a study made again."""

from pathlib import Path

from thalweg.cli.console import results
from thalweg.cli.options import Wanted
from thalweg.cli.runs import checkpoint, study_files
from thalweg.cli.runs.overwriting import refuse_overwriting
from thalweg.cli.work.show import listed
from thalweg.errors import InvalidParameterError
from thalweg.evaluation.study import Study


def make_report(path: Path, folder: Path, wanted: Wanted) -> None:
    """Write what is wanted of the studies at ``path``."""
    if not (wanted.report or wanted.figures):
        raise InvalidParameterError("Nothing is left to make: say --figures.")
    if wanted.report:
        page = {"page": folder / study_files.PAGE}
        refuse_overwriting({"study": path}, page, "Write elsewhere: --out.")
    listed(results(), study_files.drawn(_studies(path), folder, wanted))


def _studies(path: Path) -> list[Study]:
    if path.suffix != ".thalweg":
        return study_files.load(path)
    session, kept = checkpoint.load(path)
    if not session.scored:
        raise InvalidParameterError(f"{path} has not scored any round yet.")
    return session.studies(kept.source)
