"""``thalweg report``: write the page or the figures of a study again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thalweg import runs
from thalweg.cli import options
from thalweg.errors import InvalidParameterError
from thalweg.report.console import print_saved_files, stdout_console
from thalweg.runs.settings import OutputOptions
from thalweg.runs.storage import refuse_overwriting

if TYPE_CHECKING:
    from thalweg.evaluation.classification_study import AnyStudy


def report(
    study: Annotated[
        Path,
        typer.Argument(
            help="study.json of any command, or model.thalweg of a run.",
            metavar="STUDY",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder to write to; STUDY's, if not given.",
            rich_help_panel=options.OUTPUT,
            metavar="FOLDER",
        ),
    ] = None,
    figures: options.Figures = False,
    page: Annotated[
        bool,
        typer.Option(
            " /--no-report",
            help="Write the figures only.",
            show_default=False,
            rich_help_panel=options.OUTPUT,
        ),
    ] = True,
) -> None:
    """Write report.html, and figures if wanted, from what a command has saved.

    A run that was stopped leaves no study.json, but its model is enough.

        thalweg report out/demo/study.json --figures
        thalweg report out/stream/model.thalweg

    Exit codes: 0 done, 2 something was wrong with the input.
    """
    if not (page or figures):
        raise InvalidParameterError("Nothing is left to write: add --figures.")
    folder = out or study.parent
    if page:
        outputs = {"page": folder / runs.PAGE}
        refuse_overwriting({"study": study}, outputs, "Write elsewhere: --out.")
    saved = runs.draw_studies(
        _load_studies(study), folder, OutputOptions(page, figures)
    )
    print_saved_files(stdout_console(), saved)


def _load_studies(path: Path) -> "list[AnyStudy]":
    """The studies in a JSON file, or of the run that a model file belongs to."""
    if path.suffix != ".thalweg":
        return runs.load_studies(path)
    session, origin = runs.load_checkpoint(path)
    if not session.scored_rounds():
        raise InvalidParameterError(f"{path} has not scored any row yet.")
    return session.studies(origin.source)
