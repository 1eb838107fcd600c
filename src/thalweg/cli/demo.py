"""``thalweg demo``: compare every learner on real data, and write a page."""

from pathlib import Path
from typing import Annotated

import typer

from thalweg import cli
from thalweg.cli import options
from thalweg.cli.options import OUTPUT, OutputOptions


def demo(
    rows: Annotated[
        int | None,
        typer.Option(help="Rows of each stream, the last ones.", metavar="ROWS"),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for all files.", rich_help_panel=OUTPUT, metavar="FOLDER",
        ),
    ] = Path("out/demo"),
    report: options.Report = True,
    figures: options.Figures = False,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Compare every learner on two real streams, and write a page to look at.

    US Treasury yields, 1990 to 2017, and flights from New York in 2013: the data come
    with Python packages that `make data` installs. Takes about a minute.

    Exit codes: 0 done, 1 a bound was broken, 2 the data are not installed.
    """
    cli.compare_demo_streams(rows, out, OutputOptions(report, figures, json))
