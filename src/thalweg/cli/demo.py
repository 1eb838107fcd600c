"""``thalweg demo``: every learner on real data, and a page to look at."""

from pathlib import Path
from typing import Annotated

import typer

from thalweg.cli import options, work
from thalweg.cli.options import OUTPUT, Wanted


def demo(
    rounds: Annotated[
        int | None,
        typer.Option(help="Rounds of each stream, the last ones.", metavar="ROUNDS"),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for all that is saved.", rich_help_panel=OUTPUT,
            metavar="FOLDER",
        ),
    ] = Path("out/demo"),
    report: options.Report = True,
    figures: options.Figures = False,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Compare every learner on two real streams, and save a page to look at.

    US Treasury yields, 1990 to 2017, and flights from New York in 2013: the data come
    with Python packages that `make data` installs. Takes about a minute.

    Exit codes: 0 done, 1 a bound was broken, 2 the data are not installed.
    """
    work.show_demo(rounds, out, Wanted(report, figures, json))
