"""``thalweg reproduce``: the paper's theorems as experiments."""

from pathlib import Path
from typing import Annotated

import typer

from thalweg.cli import options, work


def reproduce(
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Shorter streams and fewer seeds: under a minute."
        ),
    ] = False,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for the figures and the JSON.",
            rich_help_panel=options.OUTPUT,
            metavar="FOLDER",
        ),
    ] = Path("out/reproduce"),
    json: options.Json = False,
) -> None:
    """Measure every rate of the paper beside its bound, and compare the rivals.

    Prints two tables, and saves figures (PNG and SVG) and all numbers (JSON).

    Exit codes: 0 done, 1 a bound was broken, 2 something could not be saved.
    """
    work.reproduce_paper(quick, out, json)
