"""``thalweg run``: a stream predicted and learnt, row by row."""

from pathlib import Path
from typing import Annotated

import typer

from thalweg.cli import options, work
from thalweg.cli.options import OUTPUT, Wanted, Where

RESUME = "Going on"


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
    format: options.Format = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for all that is saved; out/NAME, if not given.",
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
            help="Model to go on from, to the last bit; columns need not be given.",
            rich_help_panel=RESUME,
            metavar="FILE",
        ),
    ] = None,
    next: Annotated[
        bool | None,
        typer.Option(
            "--next/--from-start",
            help="Whether SOURCE holds the rows after those the model has seen, as "
            "standard input is taken to; or begins with them, as files are. A header "
            "comes first either way.",
            rich_help_panel=RESUME,
        ),
    ] = None,
    report: options.Report = True,
    figures: options.Figures = False,
    json: options.Json = False,
) -> None:
    """Predict every row of a stream from those before it, then learn it.

    Nothing is to be chosen: the Tracker finds out how fast to forget. Beside it, on the
    same rows: persistence, which says again what was last known, and least squares at
    six fixed discounts. Prints who was how good and how fast the stream drifts; saves
    predictions, a page to send on, and a model to go on from.

        thalweg run stream.csv --target y
        thalweg run power.csv.xz -t load --calendar when --lags 1,24,168
        tail -n +1 -f live.csv | thalweg run - -t y
        thalweg run stream.csv --resume out/stream/model.thalweg

    Ctrl-C saves. Exit codes: 0 done, 2 something was wrong with the input, 130 stopped
    by Ctrl-C, 143 by kill.
    """
    recipe = options.given(
        target, features, text, lags, time=time, calendar=calendar, delay=delay,
        missing=missing, categories=categories,
    )  # fmt: skip
    where, wanted = (
        Where(out, predictions, model, resume),
        Wanted(report, figures, json),
    )
    work.run_stream(source, recipe, options.format_of(format), where, next, wanted)
