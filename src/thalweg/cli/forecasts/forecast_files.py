"""Files of a forecast: the next values as CSV, the page and the figures."""

import csv
import io
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from thalweg import report
from thalweg.cli.forecasts.forecast_loop import ForecastLoop
from thalweg.cli.forecasts.forecast_tables import ranked_keys
from thalweg.cli.forecasts.row_keys import Key
from thalweg.cli.options import OutputOptions
from thalweg.cli.runs.storage import make_folder, storage_errors
from thalweg.cli.runs.study_files import FIGURES, PAGE
from thalweg.evaluation.forecast_result import ForecastResult
from thalweg.persistence.files import write

SECTIONS_EACH = 3
"""Keys with a section of their own: so many of the best, the middle and the worst."""


def write_forecasts(
    results: Mapping[Key, ForecastResult], columns: Sequence[str], path: Path
) -> None:
    """Write the next values of all series: key columns, time or step, and bands.

    An infinite end of a band is left empty: no error has been seen yet.
    """
    make_folder(path.parent)
    has_times = all(result.time_texts is not None for result in results.values())
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    first = "time" if has_times else "step"
    writer.writerow([*columns, first, "forecast", "low", "high"])
    for key, result in results.items():
        ahead = result.forecast
        steps = [str(k) for k in range(1, len(ahead) + 1)]
        places = result.time_texts if has_times else steps
        numbers = zip(ahead.mean, ahead.low, ahead.high, strict=True)
        for place, row in zip(places or steps, numbers, strict=True):
            cells = [repr(float(v)) if np.isfinite(v) else "" for v in row]
            writer.writerow([*key, place, *cells])
    write(path, text.getvalue().encode())


def forecast_sections(loop: ForecastLoop, notes: Sequence[str]) -> list[Any]:
    """The sections of a page: of the only series, or an overview and a few keys.

    The best, the worst and the middle keys have a section of their own.
    """
    plan, results = loop.plan, loop.results
    forecast_section = _report_module("forecast_sections").forecast_section
    if not plan.keys:
        return [forecast_section(results[()], None, notes)]
    ranked = ranked_keys(results)
    overview = _report_module("forecast_overview").overview_section(
        [results[key] for key in ranked], plan.keys, f"All series of {loop.source}",
        notes,
    )  # fmt: skip
    return [overview] + [
        forecast_section(loop.full_result(key)) for key in interesting_keys(ranked)
    ]


def interesting_keys(ranked: Sequence[Key]) -> list[Key]:
    """The first, the middle and the last few of keys that are ranked."""
    if len(ranked) <= 3 * SECTIONS_EACH:
        return list(ranked)
    middle = (len(ranked) - SECTIONS_EACH) // 2
    parts = (slice(SECTIONS_EACH), slice(middle, middle + SECTIONS_EACH),
             slice(-SECTIONS_EACH, None))  # fmt: skip
    return [key for part in parts for key in ranked[part]]


def write_page(
    loop: ForecastLoop, folder: Path, outputs: OutputOptions, notes: Sequence[str]
) -> list[Path]:
    """Write the page and the figures that are wanted; returns their paths."""
    if not (outputs.report or outputs.figures):
        return []
    make_folder(folder)
    content, paths = forecast_sections(loop, notes), []
    with storage_errors(folder):
        if outputs.report:
            horizon = loop.plan.settings.horizon
            values = "value" if horizon == 1 else f"{horizon:,} values"
            title = f"{loop.plan.target}: the next {values}"
            report.write_page(content, folder / PAGE, title)
            paths.append(folder / PAGE)
        if outputs.figures:
            report.write_figures(content, folder / FIGURES)
            paths.append(folder / FIGURES)
    return paths


def _report_module(name: str) -> Any:
    # A command that writes no page needs no altair.
    return import_module(f"thalweg.report.{name}")
