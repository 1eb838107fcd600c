"""``thalweg run``: predict every row of a table, then learn from it (prequential)."""

from pathlib import Path
from typing import Annotated

import typer

from thalweg import runs
from thalweg.cli import options
from thalweg.cli.options import OUTPUT

RESUME = "Resuming"


@options.expand_groups
def run(
    source: options.Source,
    columns: options.RecipeOptions,
    reading: options.ReadingOptions,
    results: options.ResultOptions,
    key: options.Key = None,
    horizon: Annotated[
        int | None,
        typer.Option(
            help="Rows after the last one to forecast, with bands, as thalweg forecast "
            "does; SOURCE is a file.",
            rich_help_panel=OUTPUT,
            metavar="ROWS",
        ),
    ] = None,
    classify: options.Classify = None,
    on_error: options.OnError = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for all files; out/NAME, if not given.",
            rich_help_panel=OUTPUT,
            metavar="FOLDER",
        ),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            help="File for predictions, .csv or .parquet; OUT/predictions.csv, if not "
            "given, and standard output if SOURCE is '-'.",
            rich_help_panel=OUTPUT,
            metavar="FILE",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            help="File for the model; if not given, OUT/model.thalweg, or "
            "OUT/models.db for models by key.",
            rich_help_panel=OUTPUT,
            metavar="FILE",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="Model to resume, to the last bit; its options need not be repeated.",
            rich_help_panel=RESUME,
            metavar="FILE",
        ),
    ] = None,
    next: Annotated[
        bool | None,
        typer.Option(
            "--next/--from-start",
            help="Whether SOURCE holds the rows after those the model has seen (the "
            "default for standard input) or starts with them (the default for files). "
            "A header comes first either way. Rows at the start that are no later than "
            "the last one seen are skipped.",
            rich_help_panel=RESUME,
        ),
    ] = None,
) -> None:
    """Predict every row of a table from the rows before it, then learn from it.

    There is nothing to tune: the Tracker finds out how fast to forget, and features of
    the target's past and of the times of rows are made without asking. On the same rows
    run simple methods (the last value, the value a season ago and the like) and least
    squares with six fixed discounts. Prints the errors of all and how fast the stream
    changes; saves the predictions, a page to pass on, and a model that can be resumed.

    A target of text, or of 0 and 1, is classified: its classes get probabilities.

        thalweg run stream.csv --target y
        thalweg run power.csv.xz -t load --time when --delay 24
        tail -n +1 -f live.csv | thalweg run - -t y
        cat sensors.csv | thalweg run - -t y --key sensor
        thalweg run stream.csv --resume out/stream/model.thalweg

    Ctrl-C saves. Exit codes: 0 done, 2 something was wrong with the input, 130 stopped
    by Ctrl-C, 143 by kill.
    """
    recipe = columns.recipe()
    if horizon is not None:
        options.check_horizon(horizon)
    options.check_resume("run", source, columns.target, resume)
    settings = runs.RunSettings(
        options.open_source(source, columns.time, reading, on_error),
        recipe,
        options.split_key(key),
        options.target_task(classify),
        runs.PathOptions(out, predictions, model, resume),
        next,
        results.outputs(),
        horizon,
    )
    raise typer.Exit(runs.run_table(settings))
