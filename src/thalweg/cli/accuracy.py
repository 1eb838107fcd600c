"""``thalweg accuracy``: the Tracker against the best fixed settings in hindsight."""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.table import Table

from thalweg.cli import options
from thalweg.cli.console import (
    EXIT_INTERRUPTED,
    collect_until_interrupt,
    new_table,
    progress_bar,
    stderr_console,
    stdout_console,
)
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.lab import accuracy as lab_accuracy

if TYPE_CHECKING:
    from thalweg.lab.accuracy import TrackerAccuracy

QUICK_ROWS = 5000
"""Rows of each stream with --quick, the first ones."""
HINDSIGHT_COLUMNS = {
    "tracker": "Tracker", "persistence": "persist.", "never_forget": "γ = 1",
}  # fmt: skip
RIVAL_COLUMNS = {
    "default": "River", "best_of_four": "best of 4", "best": "best", "passive": "PA",
    "bayesian": "Bayes", "persistence": "persist.", "meta": "paper",
}  # fmt: skip


def accuracy(
    synthetic: Annotated[
        bool,
        typer.Option(
            "--synthetic",
            help="On ten kinds of synthetic streams, instead of real ones.",
        ),
    ] = False,
    rivals: Annotated[
        bool,
        typer.Option(
            "--rivals", help="Against River, persistence and the paper's mixture."
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="The first 5,000 rows of each stream: under a minute."
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Measure the Tracker's error on many streams, against that of others.

    By default on the public streams that `make data` installs, against the best of 30
    pairs of discount and ridge that hindsight would have chosen for each stream.

        thalweg accuracy --quick
        thalweg accuracy --synthetic
        thalweg accuracy --rivals
    """
    if synthetic and rivals:
        raise InvalidParameterError("--rivals are measured on real streams only.")
    measured = (
        _measure_rivals(quick)
        if rivals
        else _measure_against_hindsight(synthetic, quick)
    )
    rows, interrupted = collect_until_interrupt(measured)
    if json:
        typer.echo(dumps([_row_as_json(row) for row in rows]))
    else:
        _print_table(rows, rivals)
    if interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)


def _print_table(rows: list[Any], rivals: bool) -> None:
    console = stdout_console()
    console.print(_rival_table(rows) if rivals else _hindsight_table(rows))
    for sentence in _conclusions(rows, rivals):
        console.print(sentence)


def _measure_against_hindsight(
    synthetic: bool, quick: bool
) -> "Iterator[TrackerAccuracy]":
    streams = (
        lab_accuracy.synthetic_streams(1 if quick else 5)
        if synthetic
        else lab_accuracy.public_streams()
    )
    max_rows = QUICK_ROWS if quick else None

    def measure(name: str) -> "TrackerAccuracy":
        x, y = streams[name]()
        return lab_accuracy.measure_tracker(name, x[:max_rows], y[:max_rows])

    return _measure_each(streams, measure)


def _measure_rivals(quick: bool) -> Iterator[Any]:
    if not find_spec("river"):
        raise InvalidParameterError("River is needed: pip install river.")
    module = import_module("thalweg.lab.accuracy.rival_accuracy")
    max_rows = QUICK_ROWS if quick else module.MAX_ROWS
    return _measure_each(
        module.STREAMS, lambda name: module.measure_rivals(name, max_rows)
    )


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
            except lab_accuracy.MissingDataError as error:
                missing.append(name)
                reason = str(error)
    if missing and len(missing) == len(names):
        raise StreamError(reason)
    if missing:
        stderr_console().print(
            f"Left out, as make data was not run: {', '.join(missing)}."
        )


def _hindsight_table(rows: "list[TrackerAccuracy]") -> Table:
    table = new_table(
        "Squared error over that of the best fixed (γ, ridge) in hindsight"
    )
    table.add_column("stream", no_wrap=True)
    for name in (
        "rows",
        "best γ",
        "ridge",
        *HINDSIGHT_COLUMNS.values(),
        f"in {lab_accuracy.COVERAGE:.0%}",
        "µs",
    ):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.stream, f"{row.rounds:,}", f"{row.discount:g}", f"{row.ridge:g}",
            *(f"{getattr(row, name):.3f}" for name in HINDSIGHT_COLUMNS),
            f"{row.covered:.1%}", f"{row.micros:.1f}",
        )  # fmt: skip
    return table


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
    """Means over the streams, and the streams on which the Tracker loses."""
    columns = RIVAL_COLUMNS if rivals else HINDSIGHT_COLUMNS
    for name, title in columns.items():
        ratios = {row.stream: getattr(row, name) for row in rows}
        finite = [ratio for ratio in ratios.values() if np.isfinite(ratio)]
        mean = f"{title}: {lab_accuracy.geometric_mean(finite):.3f} on average"
        if rivals:
            won = sum(ratio > 1 for ratio in ratios.values())
            yield f"{mean}; the Tracker wins on {won} of {len(rows)} streams."
        else:
            worst = max(ratios, key=ratios.__getitem__)
            yield f"{mean}, at most {ratios[worst]:.3f} ({worst})."


def _row_as_json(row: Any) -> dict[str, Any]:
    """The row with None where a number is infinite: JSON has no infinity."""
    return {
        name: None if isinstance(value, float) and not np.isfinite(value) else value
        for name, value in row._asdict().items()
    }
