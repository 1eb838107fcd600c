"""Files that show results: the study as JSON, its page and its figures."""

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from thalweg import report
from thalweg.errors import InvalidParameterError, StreamError, ThalwegError
from thalweg.evaluation.classification_study import (
    KIND,
    AnyStudy,
    ClassificationStudy,
)
from thalweg.evaluation.study import Study
from thalweg.persistence.files import write
from thalweg.report.console import stderr_console
from thalweg.runs.settings import OutputOptions
from thalweg.runs.storage import (
    make_folder,
    refuse_overwriting,
    refuse_special_files,
    storage_errors,
)

STUDY, PAGE, FIGURES = "study.json", "report.html", "figures"
FORECAST = "forecast.csv"
REQUIRED_PACKAGES = ("altair", "jinja2", "vl_convert")
"""Packages that pages and figures need."""
ADVICE = "Write elsewhere: --out."


def available_outputs(outputs: OutputOptions) -> OutputOptions:
    """The outputs that are wanted, without a page where its packages are missing."""
    missing = [name for name in REQUIRED_PACKAGES if find_spec(name) is None]
    if not missing or not outputs.has_page:
        return outputs
    hint = f"{missing[0]} is not installed: pip install 'thalweg[report]'."
    if outputs.figures:
        raise InvalidParameterError(f"Figures cannot be drawn, as {hint}")
    stderr_console().print(f"There will be no page, as {hint}", markup=False)
    return outputs._replace(report=False)


def output_files(folder: Path) -> dict[str, Path]:
    """The files that are written to the folder, by what they hold."""
    return {"study": folder / STUDY, "page": folder / PAGE}


def protect_source(source: str, folder: Path) -> None:
    """Raise if the study or the page in the folder would replace the source."""
    refuse_overwriting({"source": source}, output_files(folder), ADVICE)


def protect_special_files(folder: Path) -> None:
    """Raise if the study or the page in the folder would replace what is no file."""
    refuse_special_files(output_files(folder), ADVICE)


def save_studies(studies: Sequence[AnyStudy], folder: Path) -> Path:
    """Write the studies to the folder, and return the path of their file."""
    make_folder(folder)
    content = [study.as_dict() for study in studies]
    write(folder / STUDY, json.dumps(content, allow_nan=False).encode())
    return folder / STUDY


def remove_files(folder: Path, *names: str) -> None:
    """Remove the files of these names that an earlier run has left."""
    with storage_errors(folder):
        for name in names:
            (folder / name).unlink(missing_ok=True)


def draw_studies(
    studies: Sequence[AnyStudy], folder: Path, outputs: OutputOptions,
    sections: Sequence[Any] = (),
) -> list[Path]:  # fmt: skip
    """Write the page and the figures that are wanted, and return their paths.

    ``sections`` of the page follow those of the studies; a single one is of the next
    values of a single study, and joined with it.
    """
    content = [*(report.section_of(study) for study in studies), *sections]
    if len(studies) == len(sections) == 1 and isinstance(studies[0], Study):
        content = [report.study_section(studies[0], sections[0])]
    return write_page(content, content, folder, outputs)


def write_page(
    content: Sequence[Any], drawn: Sequence[Any], folder: Path, outputs: OutputOptions,
    title: str | None = None,
) -> list[Path]:  # fmt: skip
    """Write the page of ``content`` and the figures of what is ``drawn``, if wanted.

    Returns the paths that were written.
    """
    paths = []
    make_folder(folder)
    with storage_errors(folder):
        if outputs.report:
            titles = () if title is None else (title,)
            report.write_page(content, folder / PAGE, *titles)
            paths.append(folder / PAGE)
        if outputs.figures:
            report.write_figures(drawn, folder / FIGURES)
            paths.append(folder / FIGURES)
    return paths


def load_studies(path: Path) -> list[AnyStudy]:
    """The studies in a file that ``save_studies`` wrote."""
    if not path.is_file():
        raise StreamError(f"There is no file {path}.")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, list) or not content:
            raise InvalidParameterError("it holds no list of studies")
        return [_load_study(one) for one in content]
    except (ThalwegError, ValueError) as error:
        reason = str(error) if isinstance(error, ThalwegError) else "it is no JSON"
        raise StreamError(f"{path} cannot be shown: {reason.rstrip('.')}.") from None


def _load_study(content: Any) -> AnyStudy:
    is_classification = isinstance(content, dict) and content.get("kind") == KIND
    kind = ClassificationStudy if is_classification else Study
    return kind.from_dict(content)
