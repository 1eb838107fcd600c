"""``thalweg compare``: every learner on a table, against the best in hindsight."""

from pathlib import Path
from typing import Annotated

import typer

from thalweg import runs
from thalweg.cli import options
from thalweg.cli.options import OUTPUT

MAX_ROWS = 20_000


@options.expand_groups
def compare(
    source: options.Source,
    columns: options.RecipeOptions,
    reading: options.ReadingOptions,
    results: options.ResultOptions,
    on_error: options.OnError = None,
    rows: Annotated[
        int,
        typer.Option(
            help="Rows to compare on at most, the last ones: all are in memory.",
            metavar="ROWS",
        ),
    ] = MAX_ROWS,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for all files; out/NAME-compared, if not given.",
            rich_help_panel=OUTPUT, metavar="FOLDER",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Run every learner on a table, and measure how far each was from hindsight.

    The learners are the Tracker, least squares at fixed discounts, the paper's mixture,
    rivals from the literature, River's regressions where River is installed, and simple
    methods: the last value, that of a season ago, the mean of the same hour, drift.
    Regret, the loss beyond that of hindsight, is measured against the best fixed point,
    the best moving path and on the worst interval, with the bounds that theory has for
    targets that are known at once. With --delay every learner gets a target that
    number of rows late, simple methods too; rows that lack a number are left out
    before, and do not count.

        thalweg compare stream.csv --target y
        thalweg compare power.parquet -t load --lags 1,24 --rows 5000
        thalweg compare stream.csv --target y --delay 12

    Ctrl-C prints the learners that are done. Exit codes: 0 done, 1 a bound was broken,
    2 something was wrong with the input, 130 stopped by Ctrl-C.
    """
    recipe = columns.recipe()
    table = options.open_source(source, columns.time, reading, on_error)
    raise typer.Exit(runs.compare_table(table, recipe, rows, out, results.outputs()))
