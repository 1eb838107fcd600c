"""``thalweg run``: predict every row of a table, then learn from it (prequential)."""

from pathlib import Path
from typing import Annotated, Any

import typer

from thalweg import tables
from thalweg.cli import options, runs
from thalweg.cli.options import OUTPUT, OutputOptions, PathOptions

CHUNK_ROWS = 8192
"""Rows that are read at once: a Ctrl-C waits for the rest of them, a second at most."""
RESUME = "Resuming"


def run(
    source: options.Source,
    target: options.Target = None,
    features: options.Features = None,
    text: options.Text = None,
    time: options.Time = None,
    calendar: options.Calendar = None,
    lags: options.Lags = None,
    delay: options.Delay = None,
    missing: options.Missing = None,
    categories: options.Categories = None,
    classify: options.Classify = None,
    dayfirst: options.DayFirst = None,
    decimal: options.Decimal = None,
    format: options.Format = None,
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
            help="File for the model; OUT/model.thalweg, if not given.",
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
            "A header comes first either way.",
            rich_help_panel=RESUME,
        ),
    ] = None,
    report: options.Report = True,
    figures: options.Figures = False,
    json: options.Json = False,
) -> None:
    """Predict every row of a table from the rows before it, then learn from it.

    There is nothing to tune: the Tracker finds out how fast to forget. On the same rows
    run simple methods (the last value, the value a season ago and the like) and least
    squares with six fixed discounts. Prints the errors of all and how fast the stream
    changes; saves the predictions, a page to pass on, and a model that can be resumed.

        thalweg run stream.csv --target y
        thalweg run power.csv.xz -t load --calendar when --lags 1,24,168
        tail -n +1 -f live.csv | thalweg run - -t y
        thalweg run stream.csv --resume out/stream/model.thalweg

    Ctrl-C saves. Exit codes: 0 done, 2 something was wrong with the input, 130 stopped
    by Ctrl-C, 143 by kill.
    """
    recipe = options.recipe_settings(
        target, features, text, lags, time=time, calendar=calendar, delay=delay,
        missing=missing, categories=categories, dayfirst=dayfirst, decimal=decimal,
    )  # fmt: skip
    path_options = PathOptions(out, predictions, model, resume)
    outputs = OutputOptions(report, figures, json)
    task = options.target_task(classify)
    _run_table(
        source, recipe, task, options.table_format(format), path_options, next, outputs
    )


def _run_table(
    source: str, recipe: dict[str, Any], task: Any, format: Any,
    path_options: PathOptions, next: bool | None, outputs: OutputOptions,
) -> None:  # fmt: skip
    """Run the Tracker over the rows of ``source``; save and print what came of it."""
    runs.check_suffix(path_options.predictions)
    outputs = runs.available_outputs(outputs)
    with (
        tables.read_table(source, format=format, chunk_rows=CHUNK_ROWS) as table,
        runs.FileLocks() as locks,
    ):
        if path_options.in_place is not None:
            # The lock comes before the read: another run may be writing the file.
            locks.acquire(path_options.in_place)
        session, origin = runs.open_session(
            path_options.resume, recipe, table.is_live, task
        )
        session.rows_are_questions = table.is_live
        runs.set_earlier_rows(session, origin, table, next)
        paths = runs.OutputPaths.from_options(table, session, origin, path_options)
        paths.refuse_overwriting(source)
        echo = table.is_live and not outputs.json
        if echo:
            runs.require_standard_output()
        loop = runs.RunLoop(table, session, paths, locks, echo)
        runs.finish_run(loop, source, outputs)
