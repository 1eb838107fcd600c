"""``thalweg compare``: every learner on a table, against the best in hindsight."""

from pathlib import Path
from typing import Annotated

import typer

from thalweg import cli
from thalweg.cli import options
from thalweg.cli.options import OUTPUT, OutputOptions

MAX_ROWS = 20_000


def compare(
    source: options.Source,
    target: options.Target = None,
    features: options.Features = None,
    text: options.Text = None,
    time: options.Time = None,
    calendar: options.Calendar = None,
    lags: options.Lags = None,
    delay: options.Delay = None,
    missing: options.Missing = None,
    codes: options.Codes = None,
    categories: options.Categories = None,
    dayfirst: options.DayFirst = None,
    decimal: options.Decimal = None,
    format: options.Format = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
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
    report: options.Report = True,
    figures: options.Figures = False,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Run every learner on a table, and measure how far each was from hindsight.

    The learners are the Tracker, least squares at fixed discounts, the paper's mixture,
    rivals from the literature, River's regressions where River is installed, and simple
    methods: the last value, that of a season ago, the mean of the same hour, drift.
    Regret, the loss beyond that of hindsight, is measured against the best fixed point,
    the best moving path and on the worst interval, with the bounds that theory has for
    targets that are known at once. With --delay every learner gets a target so many
    rows late, simple methods too; rows that lack a number are left out before, and do
    not count.

        thalweg compare stream.csv --target y
        thalweg compare power.parquet -t load --lags 1,24 --rows 5000
        thalweg compare stream.csv --target y --delay 12

    Ctrl-C prints the learners that are done. Exit codes: 0 done, 1 a bound was broken,
    2 something was wrong with the input, 130 stopped by Ctrl-C.
    """
    recipe = options.recipe_settings(
        target, features, text, lags, time=time, calendar=calendar, delay=delay,
        missing=missing, categories=categories, dayfirst=dayfirst, decimal=decimal,
        codes=codes,
    )  # fmt: skip
    outputs = OutputOptions(report, figures, json)
    settings = options.table_settings(source, format, encoding, on_error, header)
    cli.compare_table(source, recipe, settings, rows, out, outputs)
