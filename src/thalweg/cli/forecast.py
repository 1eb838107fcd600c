"""``thalweg forecast``: the next values of a series in a table, with bands."""

from pathlib import Path
from typing import Annotated

import typer

from thalweg import runs
from thalweg.cli import options
from thalweg.cli.options import OUTPUT

FORECAST = "Forecast"


@options.expand_groups
def forecast(
    source: options.Source,
    reading: options.ReadingOptions,
    results: options.ResultOptions,
    target: options.Target = None,
    horizon: Annotated[
        int | None,
        typer.Option(
            help="Rows to forecast. If not given: the rows at the end whose target is "
            "blank; without such, one season (the day of hours, the week of days, the "
            "year of months), or 24.",
            rich_help_panel=FORECAST, metavar="ROWS",
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            help="Share of values that the bands are to hold (0.9).",
            rich_help_panel=FORECAST, metavar="SHARE",
        ),
    ] = None,
    known: Annotated[
        str | None,
        typer.Option(
            help="Columns that are known in advance. If not given: those that are "
            "filled in all rows at the end whose target is blank.",
            rich_help_panel=FORECAST, metavar="NAMES",
        ),
    ] = None,
    season: Annotated[
        str | None,
        typer.Option(
            help="Rows of a season, or of two, such as 24,168. If not given: by the "
            "times, else what the values show.",
            rich_help_panel=FORECAST, metavar="ROWS",
        ),
    ] = None,
    features: options.Features = None,
    time: options.Time = None,
    key: options.Key = None,
    codes: options.Codes = None,
    dayfirst: options.DayFirst = None,
    decimal: options.Decimal = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for all files; out/NAME-forecast, if not given.",
            rich_help_panel=OUTPUT, metavar="FOLDER",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="Model to resume with new rows, to the last bit; its options need not "
            "be repeated. Rows up to the last time that it has seen are skipped.",
            rich_help_panel="Resuming", metavar="FILE",
        ),
    ] = None,
    next: Annotated[
        bool | None,
        typer.Option(
            "--next/--from-start",
            help="Where rows have no times: whether SOURCE holds the rows after those "
            "the model has seen, or starts with them (the default for the same file).",
            rich_help_panel="Resuming",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Forecast the next values of a column, with bands, and show how good that was.

    There is nothing to tune. From every row of the past the next values are forecast
    (a backtest) and scored by step, beside the last value, the value one season before
    (seasonal naive) and the mean of the same hour, weekday or month (seasonal mean).
    Then come the values after the last row. Rows whose target is blank are the future:
    what they hold of other columns is known in advance.

        thalweg forecast sales.csv --target units --horizon 28
        thalweg forecast load.csv -t load --key site
        thalweg forecast load.csv --resume out/load-forecast/model.thalweg

    Ctrl-C saves. Exit codes: 0 done, 2 something was wrong with the input, 130 stopped
    by Ctrl-C, 143 by kill.
    """
    if horizon is not None:
        options.check_horizon(horizon)
    options.check_resume("forecast", source, target, resume)
    columns = options.RecipeOptions(
        target, features, time=time, codes=codes, dayfirst=dayfirst, decimal=decimal
    )
    settings = runs.RunSettings(
        options.open_source(source, time, reading),
        columns.recipe(),
        options.split_key(key),
        paths=runs.PathOptions(out=out, resume=resume),
        is_next=next,
        outputs=results.outputs(),
    )
    ahead = runs.ForecastOptions(
        horizon,
        options.check_interval(interval),
        None if known is None else options.split_names("--known", known),
        options.split_season(season),
    )
    raise typer.Exit(runs.forecast_table(settings, ahead))
