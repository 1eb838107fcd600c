"""``thalweg run``: predict every row of a table, then learn from it (prequential)."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from thalweg import tables
from thalweg.cli import forecasts, options, runs
from thalweg.cli.console import print_sentence, stderr_console
from thalweg.cli.options import OUTPUT, OutputOptions, PathOptions
from thalweg.errors import InvalidParameterError, ThalwegError
from thalweg.tables.time_parts import split_joined

CHUNK_ROWS = 8192
"""Rows that are read at once: a Ctrl-C waits for the rest of them, a second at most."""
KEYED_CHUNK_ROWS = 32_768
"""The same for runs by key: each key of a chunk costs a call, however few its rows."""
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
    codes: options.Codes = None,
    categories: options.Categories = None,
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
    dayfirst: options.DayFirst = None,
    decimal: options.Decimal = None,
    format: options.Format = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
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
            "the last one seen are passed over.",
            rich_help_panel=RESUME,
        ),
    ] = None,
    report: options.Report = True,
    figures: options.Figures = False,
    json: options.Json = False,
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
    recipe = options.recipe_settings(
        target, features, text, lags, time=time, calendar=calendar, delay=delay,
        missing=missing, categories=categories, dayfirst=dayfirst, decimal=decimal,
        codes=codes,
    )  # fmt: skip
    path_options = PathOptions(out, predictions, model, resume)
    outputs = OutputOptions(report, figures, json)
    task, keys = options.target_task(classify), options.split_key(key)
    reading = options.table_settings(source, format, encoding, on_error, header)

    newest_first_by: str | None = None

    def open_table(report: bool = True, rows: int = CHUNK_ROWS) -> tables.Table:
        chosen = reading if report else options.without_reports(reading)
        table = tables.read_table(source, chunk_rows=rows, **chosen)
        table.join_times(options.time_columns(time))
        return table if newest_first_by is None else table.reverse_rows(newest_first_by)

    if horizon is not None:
        options.check_horizon(horizon)
        _check_forecast(source, recipe, next)
    options.check_resume("run", source, target, resume)
    newest_first_by = _newest_first_time(
        source, recipe, keys, resume, lambda: open_table(False)
    )
    keyed, note = _find_key(
        source, recipe, keys, resume, lambda: open_table(False), json
    )
    ahead = None
    if horizon is not None:
        keys = keys if keyed is None else keyed
        ahead = _forecaster(
            source, recipe, keys or (), horizon, lambda: open_table(False)
        )
    if keyed is None:
        _run_table(source, recipe, task, open_table, path_options, next, outputs, ahead)
        return
    runs.check_suffix(predictions)
    settings = runs.KeyedRunSettings(
        source, keyed or None, recipe, task, path_options, next,
        runs.available_outputs(outputs), note,
    )  # fmt: skip
    runs.run_by_key(settings, lambda: open_table(rows=KEYED_CHUNK_ROWS), ahead)


def _check_forecast(source: str, recipe: dict[str, Any], next: bool | None) -> None:
    """Raise if a run of this source cannot end with a forecast."""
    if source == "-" or next:
        raise InvalidParameterError(
            "--horizon takes a file with all rows, which is read once more. Got "
            f"{'standard input' if source == '-' else '--next'}: use thalweg forecast."
        )
    if len(recipe.get("targets", ())) != 1:
        raise InvalidParameterError(
            "--horizon takes one --target, also where a run is resumed."
        )


def _forecaster(
    source: str, recipe: dict[str, Any], keys: tuple[str, ...], horizon: int,
    open_table: Callable[[], tables.Table],
) -> Callable[[Path], Any]:  # fmt: skip
    """What forecasts the rows after the last one, into a folder."""
    formats = forecasts.FormatSettings(recipe.get("dayfirst"), recipe.get("decimal"))
    time = recipe.get("time") or recipe.get("calendar")
    columns = forecasts.ColumnOptions(
        recipe["targets"][0], time, keys, recipe.get("features"), formats,
        codes=recipe.get("codes"),
    )  # fmt: skip
    ahead = forecasts.ForecastOptions(horizon)
    return lambda folder: forecasts.forecast_after_run(
        forecasts.open_source(source, lambda: open_table().drop_blank_rows()),
        columns, ahead, folder,
    )  # fmt: skip


def _newest_first_time(
    source: str, recipe: dict[str, Any], keys: tuple[str, ...] | None,
    resume: Path | None, open_table: Callable[[], tables.Table],
) -> str | None:  # fmt: skip
    """The column by which the newest rows come first, if they do.

    Of a run that is resumed its model says which column has the times.
    """
    is_new = resume is None and "targets" in recipe
    if not is_new or not Path(source).is_file() or recipe.get("time", "") is None:
        return None
    time = recipe.get("time") or recipe.get("calendar")
    settings = forecasts.FormatSettings(recipe.get("dayfirst"), recipe.get("decimal"))
    order = forecasts.OrderOptions(recipe["targets"], time, keys, settings)
    return forecasts.newest_first_time(open_table, order)


def _find_key(
    source: str, recipe: dict[str, Any], keys: tuple[str, ...] | None,
    resume: Path | None, open_table: Callable[[], tables.Table], is_quiet: bool,
) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:  # fmt: skip
    """The key columns, and what to say of them; None where all rows are one series.

    Of a run that is resumed by key they are empty: its file names them.
    """
    if resume is not None and runs.is_database(resume):
        return keys or (), ()
    if keys == () or resume is not None or "targets" not in recipe:
        return None, ()
    # A pipe can be read only once; with --time none rows are in no order of time.
    has_order = Path(source).is_file() and recipe.get("time", "") is not None
    if keys is None and not has_order:
        return None, ()
    settings = forecasts.FormatSettings(recipe.get("dayfirst"), recipe.get("decimal"))
    time = recipe.get("time") or recipe.get("calendar")
    if keys is not None:
        used = {*recipe["targets"], *(recipe.get("features") or ()), time}
        if Path(source).is_file() and not used & {*keys}:
            forecasts.refuse_measured_key(open_table, keys, settings)
        order = forecasts.OrderOptions(recipe["targets"], time, keys, settings)
        advice = forecasts.advise_on_key(open_table, order) if has_order else None
        if advice is not None and not is_quiet:
            print_sentence(stderr_console(), advice)
        return keys, () if advice is None else (advice,)
    found = None
    with suppress(ThalwegError):  # what is wrong with the rows, the run will say
        found = forecasts.detect_key(open_table, recipe["targets"], time, settings)
    if found is None:
        return None, ()
    sentence = forecasts.key_sentence(found)
    if not is_quiet:
        print_sentence(stderr_console(), sentence)
    return found.columns, (sentence,)


def _run_table(
    source: str, recipe: dict[str, Any], task: Any,
    open_table: Callable[..., tables.Table], path_options: PathOptions,
    next: bool | None, outputs: OutputOptions,
    ahead: Callable[[Path], Any] | None = None,
) -> None:  # fmt: skip
    """Run the Tracker over the rows of ``source``; save and print what came of it."""
    runs.check_suffix(path_options.predictions)
    outputs = runs.available_outputs(outputs)
    with (
        open_table() as table,
        runs.FileLocks() as locks,
    ):
        if path_options.in_place is not None:
            # The lock comes before the read: another run may be writing the file.
            locks.acquire(path_options.in_place)
        session, origin = runs.open_session(path_options.resume, recipe, task)
        session.rows_are_questions = table.is_live
        table.join_times(split_joined(session.recipe.time))
        if path_options.resume is not None:
            runs.order_oldest_first(
                table, session.recipe, session.encoder.state.schema, (),
                lambda: open_table(False),
            )  # fmt: skip
        runs.set_earlier_rows(session, origin, table, next)
        paths = runs.OutputPaths.from_options(table, session, origin, path_options)
        paths.refuse_overwriting(source)
        echo = table.is_live and not outputs.json
        if echo:
            runs.require_standard_output()
        loop = runs.RunLoop(table, session, paths, locks, echo)
        runs.finish_run(loop, source, outputs, ahead)
