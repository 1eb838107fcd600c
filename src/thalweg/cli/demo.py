"""``thalweg demo``: a forecast and every learner on real data, and a page."""

from pathlib import Path
from typing import Annotated

import typer

from thalweg import runs
from thalweg.cli import options
from thalweg.cli.options import OUTPUT

MAX_ROWS = 6000


@options.expand_groups
def demo(
    results: options.ResultOptions,
    rows: Annotated[
        int, typer.Option(help="Rows of each stream, the last ones.", metavar="ROWS")
    ] = MAX_ROWS,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for all files.", rich_help_panel=OUTPUT, metavar="FOLDER",
        ),
    ] = Path("out/demo"),
) -> None:  # fmt: skip
    """Forecast real data, run every learner on it, and write a page to look at.

    The next year of carbon dioxide at Mauna Loa, week by week, with bands; US Treasury
    yields, 1993 to 2017, and flights from New York, with what changed and when. The
    files come with thalweg and are copied to the folder: try other commands on them.

    Exit codes: 0 done, 1 a bound was broken, 2 something could not be saved.
    """
    raise typer.Exit(runs.show_demo(rows, out, results.outputs()))
