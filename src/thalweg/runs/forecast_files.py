"""Files of a forecast: the next values as CSV, the page and the figures."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from thalweg.evaluation.forecast_result import ForecastResult
from thalweg.persistence.files import write
from thalweg.report.forecast_sections import forecast_section
from thalweg.report.keyed_sections import overview_section, rank_results
from thalweg.report.section import Section
from thalweg.runs.forecast_session import ForecastSession
from thalweg.runs.storage import make_folder
from thalweg.tables.row_keys import Key

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


def forecast_sections(session: ForecastSession, notes: Sequence[str]) -> list[Section]:
    """The sections of a page: of the only series, or an overview and a few keys.

    The best, the worst and the middle keys have a section of their own.
    """
    first = summary_section(session, notes)
    if not session.plan.keys:
        return [first]
    keys = [result.key for result in rank_results(list(session.results.values()))]
    return [first] + [
        forecast_section(session.full_result(key)) for key in interesting_keys(keys)
    ]


def summary_section(session: ForecastSession, notes: Sequence[str] = ()) -> Section:
    """The section of the only series, or of all together."""
    plan, results = session.plan, session.results
    if not plan.keys:
        return forecast_section(results[()], None, notes)
    title = f"All series of {session.source}"
    return overview_section(
        rank_results(list(results.values())), plan.keys, title, notes
    )


def interesting_keys(ranked: Sequence[Key]) -> list[Key]:
    """The first, the middle and the last few of keys that are ranked."""
    if len(ranked) <= 3 * SECTIONS_EACH:
        return list(ranked)
    middle = (len(ranked) - SECTIONS_EACH) // 2
    parts = (slice(SECTIONS_EACH), slice(middle, middle + SECTIONS_EACH),
             slice(-SECTIONS_EACH, None))  # fmt: skip
    return [key for part in parts for key in ranked[part]]
