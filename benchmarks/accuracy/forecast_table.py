"""The Forecaster's accuracy against other libraries', as tables."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.accuracy.forecast_accuracy import BAND_COVERAGE, ForecastAccuracy
from benchmarks.accuracy.tracker_accuracy import geometric_mean
from thalweg.report.console import new_table, print_sentence, stderr_console

RIVAL_COLUMNS = {
    "last": ("persistence",),
    "season": ("seasonal naive", "long seasonal naive"),
    "Theta": ("theta",), "MSTL": ("mstl",), "ETS": ("ets",), "LightGBM": ("lightgbm",),
}  # fmt: skip
"""Of the rivals in a column, the one with the least error is shown."""
FITTED_RIVALS = frozenset({"theta", "mstl", "lightgbm"})
"""Rivals that are fitted to every series, in an environment of their own."""
COVERAGE_RANGE = (0.87, 0.93)
"""Shares of values inside 90 % bands that count as right."""


def error_table(rows: list[ForecastAccuracy], horizon: int) -> Table:
    """Root mean squared errors, one row a series."""
    table = new_table(
        f"Root mean squared error of forecasts 1 to {horizon} steps ahead"
    )
    table.add_column("series", no_wrap=True)
    for title in ("thalweg", *RIVAL_COLUMNS, "ratio"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        columns = [
            [row.rivals[rival] for rival in rivals if rival in row.rivals]
            for rivals in RIVAL_COLUMNS.values()
        ]
        table.add_row(
            row.series, _error_text(row.error),
            *(_error_text(min(errors)) if errors else "-" for errors in columns),
            f"{row.ratio:.3f}" if _is_complete(row) else "-",
        )  # fmt: skip
    return table


def coverage_table(rows: list[ForecastAccuracy]) -> Table:
    """How many values were inside the bands, by steps ahead, one row a series."""
    table = new_table(f"Values in {BAND_COVERAGE:.0%} bands, by steps ahead")
    table.add_column("series", no_wrap=True)
    for step in rows[0].covered:
        table.add_column(str(step), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row.series, *(f"{share:.1%}" for share in row.covered.values()))
    return table


def conclusions(rows: list[ForecastAccuracy]) -> Iterator[str]:
    """What holds over all series."""
    ratios = {row.series: row.ratio for row in rows if _is_complete(row)}
    if ratios:
        worst = max(ratios, key=ratios.__getitem__)
        yield (
            "Ratio of the Forecaster's error to that of the best of the others on each "
            f"series: {geometric_mean(ratios.values()):.3f} on average, "
            f"at most {ratios[worst]:.3f} ({worst})."
        )
    least, most = COVERAGE_RANGE
    shares = [share for row in rows for share in row.covered.values()]
    right = np.mean([least <= share <= most for share in shares])
    yield (
        f"Bands hold {least:.0%} to {most:.0%} of the values on {right:.0%} of "
        f"{len(shares)} pairs of a series and a step, {np.mean(shares):.1%} on average."
    )
    micros = np.median([row.micros for row in rows])
    yield f"A new value takes the Forecaster {micros:,.0f} µs (median of the series)."


def name_missing_rivals(rows: list[ForecastAccuracy]) -> None:
    """Say on which series others' forecasts are not saved, and how to get them."""
    missing = [row.series for row in rows if not _is_complete(row)]
    if missing:
        print_sentence(
            stderr_console(),
            "Forecasts of statsforecast or LightGBM are not saved for "
            f"{', '.join(missing)}. Run: make forecast-rivals",
        )


def row_as_json(row: ForecastAccuracy) -> dict[str, Any]:
    """The row as JSON has it."""
    return row._asdict() | {"best_rival": row.best_rival, "ratio": row.ratio}


def _is_complete(row: ForecastAccuracy) -> bool:
    """Whether all the rivals of a series are there, so that there is a best one."""
    return set(row.rivals) >= FITTED_RIVALS


def _error_text(error: float) -> str:
    """The error in at most six characters, from 0.0001 to 99,999."""
    return f"{error:.4g}" if error >= 0.1 else f"{error:.4f}"
