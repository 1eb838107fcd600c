"""The section of a page about the forecast of one series."""

from collections.abc import Sequence

import numpy as np

from thalweg.evaluation.forecast_result import ForecastResult, missing_sentences
from thalweg.preprocessing.public_holidays import COUNTRY_NAMES
from thalweg.report.forecast_charts import forecast_figure, step_error_figure
from thalweg.report.forecast_headline import (
    forecast_headline,
    forecast_tiles,
    forecast_times,
)
from thalweg.report.forecast_notes import (
    columns_text,
    few_origins_note,
    holiday_note,
    left_out_note,
    level_text,
    narrow_bands_note,
    season_text,
)
from thalweg.report.number_text import format_count, format_number, format_percent
from thalweg.report.section import FoldedPart, PageTable, Section
from thalweg.report.value_text import value_writer

MAX_ROWS = 100
"""Rows of the table of next values; of a longer forecast the first ones are shown."""


def forecast_section(
    result: ForecastResult, title: str | None = None, notes: Sequence[str] = ()
) -> Section:
    """The next values of one series, and how such forecasts have turned out."""
    figures = [forecast_figure(result)] if len(result.tail) else []
    headline = [forecast_headline(result), narrow_bands_note(result)]
    folded = [
        FoldedPart("values", "The next values as a table", table=value_table(result))
    ]
    if result.counts.sum():
        folded.append(
            FoldedPart(
                "steps", "Errors by rows ahead", table=_step_table(result),
                figures=(step_error_figure(result),),
            )
        )  # fmt: skip
    found = (holiday_note(result), *result.week_notes, left_out_note(result))
    notes = (*notes, *(note for note in found if note is not None))
    notes = (*notes, *missing_sentences([result]))
    if notes:
        folded.append(FoldedPart("notes", "Notes", items=notes))
    return Section(
        title=title or result.title,
        headline=" ".join(filter(None, headline)),
        tiles=forecast_tiles(result),
        figures=tuple(figures),
        folded=tuple(folded),
        facts=_facts(result),
    )


def _facts(result: ForecastResult) -> tuple[tuple[str, str], ...]:
    """The facts in small print, each a name and a text."""
    country = result.holidays
    holidays = "none" if country is None else f"those of {COUNTRY_NAMES[country]}"
    return (
        ("target", result.target),
        ("rows", format_count(result.rows)),
        ("rows ahead", format_count(result.horizon)),
        ("other columns used", columns_text(result)),
        ("season found", season_text(result)),
        ("public holidays found", holidays),
        ("past forecasts scored", format_count(int(result.counts.max()))),
        ("bands held", _coverage_text(result)),
    )


def value_table(result: ForecastResult) -> PageTable:
    """The next values with their bands: the first ones where they are many."""
    ahead, count = result.forecast, min(result.horizon, MAX_ROWS)
    times = None if result.times is None else forecast_times(result)
    write = value_writer(result)
    rows = tuple(
        (
            str(k + 1) if times is None else times[k],
            *(write(v) for v in (ahead.mean[k], ahead.low[k], ahead.high[k])),
        )
        for k in range(count)
    )
    narrow, level = narrow_bands_note(result), level_text(result)
    caption = f"{level} of the values are expected to lie between low and high."
    if narrow is not None:
        caption = f"Low and high are the ends of bands. {narrow}"
    if count < result.horizon:
        caption += f" The first {count} of {result.horizon:,}; forecast.csv has all."
    first = "rows ahead" if times is None else "time"
    return PageTable(caption, (first, "forecast", "low", "high"), rows, (1, 2, 3))


def _coverage_text(result: ForecastResult) -> str:
    if not np.isfinite(result.mean_coverage):
        return "not known yet"
    aim = level_text(result)
    return f"{format_percent(result.mean_coverage)} of past values; the aim is {aim}"


def _step_table(result: ForecastResult) -> PageTable:
    methods = (result.own, *result.naive)
    rows = tuple(
        (
            str(step),
            *(format_number(m.by_step.mean_absolute[k]) for m in methods),
            format_percent(result.coverage[k]),
        )
        for k, step in enumerate(result.steps)
    )
    names = tuple(method.name for method in methods)
    columns = ("rows ahead", *names, "in band")
    caption = (
        "Typical (mean absolute) errors by rows ahead; the share of values in bands."
    )
    few = few_origins_note(result)
    caption += "" if few is None else f" {few}"
    return PageTable(caption, columns, rows, tuple(range(1, len(columns))))
