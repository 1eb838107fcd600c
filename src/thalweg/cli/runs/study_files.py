"""What a command leaves behind: the study, the page, the figures."""

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from thalweg import report
from thalweg.cli.console import remarks
from thalweg.cli.options import Wanted
from thalweg.cli.runs.storage import make_folder, writing
from thalweg.errors import InvalidParameterError, StreamError, ThalwegError
from thalweg.evaluation.study import Study
from thalweg.persistence.files import write

STUDY, PAGE, FIGURES = "study.json", "report.html", "figures"
NEEDED = ("altair", "jinja2", "vl_convert")
"""By pages and figures."""


def possible(wanted: Wanted) -> Wanted:
    """What is wanted, without a page where what draws it is not installed."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if not missing or not (wanted.report or wanted.figures):
        return wanted
    hint = f"{missing[0]} is not installed: pip install 'thalweg[report]'."
    if wanted.figures:
        raise InvalidParameterError(f"Figures cannot be drawn, as {hint}")
    remarks().print(f"There will be no page, as {hint}", markup=False)
    return wanted._replace(report=False)


def written(folder: Path) -> dict[str, Path]:
    """The files that ``save`` writes, by what they hold."""
    return {"study": folder / STUDY, "page": folder / PAGE}


def save(studies: Sequence[Study], folder: Path) -> Path:
    """Write the studies; where they are then."""
    make_folder(folder)
    found = [study.as_dict() for study in studies]
    write(folder / STUDY, json.dumps(found, allow_nan=False).encode())
    return folder / STUDY


def clear(folder: Path, *names: str) -> None:
    """Remove the files of these names that an earlier run has left."""
    with writing(folder):
        for name in names:
            (folder / name).unlink(missing_ok=True)


def drawn(studies: Sequence[Study], folder: Path, wanted: Wanted) -> list[Path]:
    """Write the page and the figures, where wanted; the paths of both."""
    saved = []
    make_folder(folder)
    with writing(folder):
        if wanted.report:
            report.write_page(studies, folder / PAGE)
            saved.append(folder / PAGE)
        if wanted.figures:
            report.write_figures(studies, folder / FIGURES)
            saved.append(folder / FIGURES)
    return saved


def load(path: Path) -> list[Study]:
    """The studies in a file that ``save`` wrote."""
    if not path.is_file():
        raise StreamError(f"There is no file {path}.")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, list) or not found:
            raise InvalidParameterError("it holds no list of studies")
        return [Study.from_dict(one) for one in found]
    except (ThalwegError, ValueError) as error:
        why = "it is no JSON" if not isinstance(error, ThalwegError) else str(error)
        raise StreamError(f"{path} cannot be shown: {why.rstrip('.')}.") from None
