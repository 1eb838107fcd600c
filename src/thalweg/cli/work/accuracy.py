"""The Tracker's error on many streams, beside what others achieve."""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from json import dumps
from typing import Any

import numpy as np
import typer
from rich.table import Table

from thalweg.cli.console import harvest, progress, remarks, results
from thalweg.cli.lazy import STOPPED
from thalweg.cli.work.show import titled
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.lab.accuracy import (
    LEVEL,
    Row,
    accuracy,
    geometric_mean,
    public,
    synthetic,
)
from thalweg.lab.datasets import MissingDataError

QUICK = 5000
"""Rounds of each stream, the first ones."""
PAIRS = {"tracker": "Tracker", "persistence": "persist.", "never_forget": "γ = 1"}
RIVALS = {
    "default": "River", "plain": "best of 4", "best": "best", "passive": "PA",
    "bayesian": "Bayes", "persistence": "persist.", "meta": "paper",
}  # fmt: skip


def measure_accuracy(made_up: bool, rivals: bool, quick: bool, json: bool) -> None:
    """Print one table; options as the command takes them."""
    if made_up and rivals:
        raise InvalidParameterError("--rivals are measured on real streams only.")
    work = _rivals(quick) if rivals else _pairs(made_up, quick)
    rows, stopped = harvest(work)
    if json:
        typer.echo(dumps([_plain(row) for row in rows]))
    else:
        _show(rows, rivals)
    if stopped:
        raise typer.Exit(STOPPED)


def _show(rows: list[Any], rivals: bool) -> None:
    console = results()
    console.print(_rival_table(rows) if rivals else _pair_table(rows))
    for sentence in _verdicts(rows, RIVALS if rivals else PAIRS, rivals):
        console.print(sentence)


def _pairs(made_up: bool, quick: bool) -> Iterator[Row]:
    streams = synthetic(1 if quick else 5) if made_up else public()
    most = QUICK if quick else None

    def measured(name: str) -> Row:
        x, y = streams[name]()
        return accuracy(name, x[:most], y[:most])

    return _each(streams, measured)


def _rivals(quick: bool) -> Iterator[Any]:
    if not find_spec("river"):
        raise InvalidParameterError("River is needed: pip install river.")
    module = import_module("thalweg.lab.accuracy.rivals")
    most = QUICK if quick else module.ROWS
    return _each(module.STREAMS, lambda name: module.rivals(name, most))


def _each(streams: Iterable[str], measured: Callable[[str], Any]) -> Iterator[Any]:
    """Every stream that is installed; a word on those that are not."""
    names, missing = list(streams), list[str]()
    with progress("", float(len(names))) as bar:
        for name in names:
            bar.step(name)
            try:
                yield measured(name)
            except MissingDataError as error:
                missing.append(name)
                why = str(error)
    if missing and len(missing) == len(names):
        raise StreamError(why)
    if missing:
        remarks().print(f"Left out, as make data was not run: {', '.join(missing)}.")


def _pair_table(rows: list[Row]) -> Table:
    table = titled("Squared error over that of the best fixed (γ, ridge) in hindsight")
    table.add_column("stream", no_wrap=True)
    for name in ("rounds", "best γ", "ridge", *PAIRS.values(), f"in {LEVEL:.0%}", "µs"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.stream, f"{row.rounds:,}", f"{row.discount:g}", f"{row.ridge:g}",
            *(f"{getattr(row, name):.3f}" for name in PAIRS),
            f"{row.covered:.1%}", f"{row.micros:.1f}",
        )  # fmt: skip
    return table


def _rival_table(rows: list[Any]) -> Table:
    table = titled("Squared error over the Tracker's: above 1 the Tracker wins")
    table.add_column("stream", no_wrap=True)
    for name in ("rounds", *RIVALS.values()):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        ratios = [getattr(row, name) for name in RIVALS]
        shown = [f"{ratio:.3g}" if np.isfinite(ratio) else "div." for ratio in ratios]
        table.add_row(row.stream, f"{row.rounds:,}", *shown)
    return table


def _verdicts(rows: list[Any], columns: dict[str, str], rivals: bool) -> Iterator[str]:
    """Means over the streams, and where the Tracker loses."""
    for name, title in columns.items():
        ratios = {row.stream: getattr(row, name) for row in rows}
        finite = [ratio for ratio in ratios.values() if np.isfinite(ratio)]
        mean = f"{title}: {geometric_mean(finite):.3f} on average"
        if rivals:
            won = sum(ratio > 1 for ratio in ratios.values())
            yield f"{mean}; the Tracker wins on {won} of {len(rows)} streams."
        else:
            worst = max(ratios, key=ratios.__getitem__)
            yield f"{mean}, at most {ratios[worst]:.3f} ({worst})."


def _plain(row: Any) -> dict[str, Any]:
    """JSON knows no infinity."""
    return {
        name: None if isinstance(value, float) and not np.isfinite(value) else value
        for name, value in row._asdict().items()
    }
