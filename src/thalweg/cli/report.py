"""``thalweg report``: the page or the figures of a study made again."""

from pathlib import Path
from typing import Annotated

import typer

from thalweg.cli import options, work
from thalweg.cli.options import Wanted


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
            help="Only the figures.",
            show_default=False,
            rich_help_panel=options.OUTPUT,
        ),
    ] = True,
) -> None:
    """Make report.html, and figures if wanted, from what a command has saved.

    A run that was stopped leaves no study.json, but a model, which will do.

        thalweg report out/demo/study.json --figures
        thalweg report out/stream/model.thalweg

    Exit codes: 0 done, 2 something was wrong with the input.
    """
    work.make_report(study, out or study.parent, Wanted(page, figures))
