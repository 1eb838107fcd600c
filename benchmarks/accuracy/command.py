"""``python -m benchmarks.accuracy``: the Tracker against the best in hindsight."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from benchmarks.accuracy import forecast_table
from benchmarks.accuracy.accuracy_streams import (
    Loader,
    public_streams,
    shocked_streams,
    stripped_streams,
    synthetic_streams,
)
from benchmarks.accuracy.forecast_accuracy import SHORT_SERIES, measure_forecaster
from benchmarks.accuracy.saved_forecasts import SavedForecasts
from benchmarks.accuracy.tracker_accuracy import (
    COVERAGE,
    TrackerAccuracy,
    geometric_mean,
    measure_tracker,
)
from benchmarks.commands import make_app
from benchmarks.public_series import PUBLIC_SERIES
from benchmarks.public_streams import MissingDataError
from thalweg.cli import options
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.report.console import (
    EXIT_INTERRUPTED,
    collect_until_interrupt,
    new_table,
    progress_bar,
    stderr_console,
    stdout_console,
)

QUICK_ROWS = 5000
"""Rows of each stream with --quick, the first ones."""
MIN_COVERAGE_ROWS = 5000
"""Minimum of rows of streams over which coverage is summarised, if there are any."""
SAVED_FORECASTS = Path("out/forecasts")
"""Where `make forecast-rivals` saves others' forecasts, below the current folder."""
REAL_SETS: dict[str, Callable[[int | None], Mapping[str, Loader]]] = {
    "public": public_streams, "stripped": stripped_streams, "shocked": shocked_streams,
}  # fmt: skip
"""What makes the streams of a set, cut after some rows."""
SYNTHETIC = "synthetic"
QUICK_SEEDS, SEEDS = 1, 5
"""Number of seeds of each synthetic kind."""
HINDSIGHT_COLUMNS = {
    "tracker": "Tracker", "persistence": "persist.", "never_forget": "γ = 1",
}  # fmt: skip
RIVAL_COLUMNS = {
    "default": "River", "best_of_four": "best of 4", "best": "best", "passive": "PA",
    "bayesian": "Bayes", "persistence": "persist.", "meta": "paper",
}  # fmt: skip


def accuracy(
    streams: Annotated[
        str,
        typer.Option(
            "--set", metavar="NAME",
            help="public: real streams; stripped: those with past values among their "
            "features, without them; shocked: real ones with four outliers each; "
            "synthetic: ten kinds of drift.",
        ),
    ] = "public",
    rows: Annotated[
        int | None,
        typer.Option(
            min=200, help="The first rows of each real stream; all, if not given.",
        ),
    ] = None,
    rivals: Annotated[
        bool,
        typer.Option(
            "--rivals", help="Against River, persistence and the paper's mixture."
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="As --rows 5000, and one seed of each synthetic kind."
        ),
    ] = False,
    horizon: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="STEPS",
            help="The Forecaster, 1 to STEPS steps ahead, against statsforecast and "
            "LightGBM; short series only, with --quick.",
        ),
    ] = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Measure the Tracker's error on many streams, against that of others.

    By default on the public streams that `make data` installs, against the best of 30
    pairs of discount and ridge that hindsight would have chosen for each stream.

        python -m benchmarks.accuracy --quick
        python -m benchmarks.accuracy --set shocked --rows 10000
        python -m benchmarks.accuracy --rivals
        python -m benchmarks.accuracy --horizon 24
    """
    options.check_choice("--set", streams, (*REAL_SETS, SYNTHETIC))
    if horizon is not None:
        if rivals or rows is not None or streams != "public":
            raise InvalidParameterError(
                "--horizon is measured on whole series of its own: it takes neither "
                "--set nor --rows nor --rivals."
            )
        _print_forecast_accuracy(horizon, quick, json)
        return
    if rivals and streams != "public":
        raise InvalidParameterError("--rivals are measured on --set public only.")
    if rows is not None and streams == SYNTHETIC:
        raise InvalidParameterError("--rows is for real streams only.")
    max_rows = rows or (QUICK_ROWS if quick else None)
    measured = (
        _measure_rivals(max_rows)
        if rivals
        else _measure_against_hindsight(streams, max_rows, quick)
    )
    results, interrupted = collect_until_interrupt(measured)
    if json:
        typer.echo(dumps([_row_as_json(row) for row in results]))
    else:
        _print_table(results, rivals)
    if interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)


APP = make_app(accuracy)


def _print_forecast_accuracy(horizon: int, quick: bool, json: bool) -> None:
    results, interrupted = collect_until_interrupt(_measure_forecasts(horizon, quick))
    if json:
        typer.echo(dumps([forecast_table.row_as_json(row) for row in results]))
    else:
        console = stdout_console()
        console.print(forecast_table.error_table(results, horizon))
        console.print(forecast_table.coverage_table(results))
        for sentence in forecast_table.conclusions(results):
            console.print(sentence)
    forecast_table.name_missing_rivals(results)
    if interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)


def _measure_forecasts(horizon: int, quick: bool) -> Iterator[Any]:
    saved = SavedForecasts(SAVED_FORECASTS)

    def measure(name: str) -> Any:
        series = PUBLIC_SERIES[name]()
        return measure_forecaster(series, horizon, saved)

    names = SHORT_SERIES if quick else PUBLIC_SERIES
    return _measure_each(names, measure)


def _print_table(rows: list[Any], rivals: bool) -> None:
    console = stdout_console()
    console.print(_rival_table(rows) if rivals else _hindsight_table(rows))
    for sentence in _conclusions(rows, rivals):
        console.print(sentence)


def _measure_against_hindsight(
    name: str, max_rows: int | None, quick: bool
) -> Iterator[TrackerAccuracy]:
    if name == SYNTHETIC:
        streams = synthetic_streams(QUICK_SEEDS if quick else SEEDS)
    else:
        streams = REAL_SETS[name](max_rows)
    return _measure_each(streams, lambda name: measure_tracker(name, streams[name]()))


def _measure_rivals(max_rows: int | None) -> Iterator[Any]:
    if not find_spec("river"):
        raise InvalidParameterError("River is needed: pip install river.")
    module = import_module("benchmarks.accuracy.rival_accuracy")
    rows = max_rows or module.MAX_ROWS
    return _measure_each(module.STREAMS, lambda name: module.measure_rivals(name, rows))


def _measure_each(
    streams: Iterable[str], measure: Callable[[str], Any]
) -> Iterator[Any]:
    """Measure every stream that is installed; name those that are not."""
    names, missing = list(streams), list[str]()
    with progress_bar("", float(len(names))) as bar:
        for name in names:
            bar.advance(name)
            try:
                yield measure(name)
            except MissingDataError as error:
                missing.append(name)
                reason = str(error)
    if missing and len(missing) == len(names):
        raise StreamError(reason)
    if missing:
        stderr_console().print(
            f"Left out, as make data was not run: {', '.join(missing)}."
        )


def _hindsight_table(rows: list[TrackerAccuracy]) -> Table:
    table = new_table(
        "Squared error over that of the best fixed (γ, ridge) in hindsight"
    )
    table.add_column("stream", no_wrap=True)
    for name in (
        "rows", *HINDSIGHT_COLUMNS.values(),
        f"in {COVERAGE:.0%}", "worst", "Winkler",
    ):  # fmt: skip
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        intervals = row.intervals
        table.add_row(
            row.stream, f"{row.rounds:,}",
            *(_ratio_text(row.errors[name]) for name in HINDSIGHT_COLUMNS),
            f"{intervals.covered:.1%}", f"{intervals.worst_covered:.1%}",
            f"{intervals.winkler:.3f}",
        )  # fmt: skip
    return table


def _ratio_text(ratio: float) -> str:
    """The ratio in five characters, up to 99,999."""
    if ratio < 10:
        return f"{ratio:.3f}"
    return f"{ratio:.1f}" if ratio < 1000 else f"{ratio:.0f}"


def _rival_table(rows: list[Any]) -> Table:
    table = new_table("Squared error over the Tracker's: above 1 the Tracker wins")
    table.add_column("stream", no_wrap=True)
    for name in ("rows", *RIVAL_COLUMNS.values()):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        ratios = [getattr(row, name) for name in RIVAL_COLUMNS]
        cells = [f"{ratio:.3g}" if np.isfinite(ratio) else "div." for ratio in ratios]
        table.add_row(row.stream, f"{row.rounds:,}", *cells)
    return table


def _conclusions(rows: list[Any], rivals: bool) -> Iterator[str]:
    """What holds over all streams, and the streams on which the Tracker loses."""
    if rivals:
        yield from _rival_conclusions(rows)
    else:
        yield from _error_conclusions(rows)
        yield from _interval_conclusions(rows)


def _rival_conclusions(rows: list[Any]) -> Iterator[str]:
    for name, title in RIVAL_COLUMNS.items():
        ratios = [getattr(row, name) for row in rows]
        mean = geometric_mean(r for r in ratios if np.isfinite(r))
        won = sum(ratio > 1 for ratio in ratios)
        yield (
            f"{title}: {mean:.3f} on average; the Tracker wins on {won} of "
            f"{len(rows)} streams."
        )


def _error_conclusions(rows: list[TrackerAccuracy]) -> Iterator[str]:
    for name, title in HINDSIGHT_COLUMNS.items():
        ratios = {row.stream: row.errors[name] for row in rows}
        worst = max(ratios, key=ratios.__getitem__)
        yield (
            f"{title}: {geometric_mean(ratios.values()):.3f} on average "
            f"(median {np.median(list(ratios.values())):.3f}), at most "
            f"{ratios[worst]:.3f} ({worst})."
        )


def _interval_conclusions(rows: list[TrackerAccuracy]) -> Iterator[str]:
    long = [row for row in rows if row.rounds >= MIN_COVERAGE_ROWS] or rows
    covered = [row.intervals.covered for row in long]
    worst = min(long, key=lambda row: row.intervals.worst_covered)
    yield (
        f"{COVERAGE:.0%} intervals: {min(covered):.1%} to "
        f"{max(covered):.1%} of the values inside, in the worst 500 rows "
        f"{worst.intervals.worst_covered:.1%} ({worst.stream})."
    )
    winkler = geometric_mean(row.intervals.winkler for row in rows)
    yield (
        f"Winkler score over that of adaptive conformal intervals: {winkler:.3f} on "
        "average."
    )


def _row_as_json(row: Any) -> dict[str, Any]:
    """The row with None where a number is infinite: JSON has no infinity."""
    fields = row._asdict()
    fields |= fields.pop("errors", {})
    if "intervals" in fields:
        fields |= fields.pop("intervals")._asdict()
    return {
        name: None if isinstance(value, float) and not np.isfinite(value) else value
        for name, value in fields.items()
    }
