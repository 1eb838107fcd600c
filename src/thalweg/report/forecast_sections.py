"""Sections of a page about forecasts: of one series, and an overview of many."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg.evaluation.forecast_result import ForecastResult, missing_sentences
from thalweg.report.forecast_charts import forecast_figure, step_error_figure
from thalweg.report.forecast_notes import (
    holiday_note,
    large_error_note,
    left_out_note,
    level_text,
    narrow_bands_note,
)
from thalweg.report.number_text import format_count, format_number, format_percent
from thalweg.report.row_axis import format_time
from thalweg.report.section import FoldedPart, PageTable, Section, Tile
from thalweg.report.time_text import period_unit, short_times
from thalweg.report.value_text import value_formatter

EARLIER_ROWS = 24
"""Rows before a forecast whose times tell whether rows are months."""
MAX_ROWS = 24
"""Rows of the table of next values; longer forecasts are thinned."""
CLOSE = 0.02
"""Errors that differ by less than this part count as equal."""


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
        tiles=_tiles(result),
        figures=tuple(figures),
        folded=tuple(folded),
        facts=(
            ("target", result.target),
            ("rows", format_count(result.rows)),
            ("rows ahead", format_count(result.horizon)),
            ("origins of the backtest", format_count(int(result.counts.max()))),
            ("bands held", _coverage_text(result)),
        ),
    )


def overview_section(
    results: Sequence[ForecastResult], columns: Sequence[str], title: str,
    notes: Sequence[str] = (),
) -> Section:  # fmt: skip
    """How well many series were forecast; ``results`` have the best first."""
    ratios = np.array([result.ratio for result in results])
    scored = ratios[np.isfinite(ratios)]
    better = int((scored < 1).sum())
    headline = f"{len(results):,} series were forecast."
    tiles = [Tile("Series", format_count(len(results)), _rows_text(results))]
    if len(scored):
        mean = float(np.exp(np.log(np.maximum(scored, 1e-12)).mean()))
        headline = (
            f"The next values of {len(results):,} series: the typical error was "
            f"{_comparison(mean)} the best naive forecast of each."
        )
        text = "series with a smaller error than their best naive forecast."
        tiles.append(Tile("Better", f"{better:,} of {len(scored):,}", text))
    notes = (*notes, *missing_sentences(results))
    folded = [FoldedPart("notes", "Notes", items=notes)] if notes else []
    table = _key_table(results, columns)
    return Section(title, headline, tuple(tiles), folded=tuple(folded), tables=(table,))


def forecast_headline(result: ForecastResult) -> str:
    """The forecast in one sentence."""
    ahead = result.forecast
    write = value_formatter(ahead.mean, ahead.high - ahead.low)
    first, last = _when(result, 0), _when(result, result.horizon - 1)
    sentence = f"{result.target} is expected to be {write(ahead.mean[0])} {first}"
    if result.horizon > 1:
        sentence += f", and {write(ahead.mean[-1])} {last}"
    if not np.isfinite(result.ratio):
        return f"{sentence}."
    comparison = _comparison(result.ratio)
    return f"{sentence}; the typical error was {comparison} the best naive forecast."


def value_table(result: ForecastResult) -> PageTable:
    """The next values with their bands, thinned where they are many."""
    ahead, count = result.forecast, min(result.horizon, MAX_ROWS)
    shown = np.unique(np.round(np.linspace(0, result.horizon - 1, count))).astype(int)
    times = None if result.times is None else forecast_times(result)
    write = value_formatter(ahead.mean, ahead.high - ahead.low)
    rows = tuple(
        (
            str(k + 1) if times is None else times[k],
            *(write(v) for v in (ahead.mean[k], ahead.low[k], ahead.high[k])),
        )
        for k in shown
    )
    narrow, level = narrow_bands_note(result), level_text(result)
    caption = f"{level} of the values are expected to lie between low and high."
    if narrow is not None:
        caption = f"Low and high are the ends of bands. {narrow}"
    if count < result.horizon:
        caption += f" {count} of {result.horizon:,} are shown."
    first = "rows ahead" if times is None else "time"
    return PageTable(caption, (first, "forecast", "low", "high"), rows, (1, 2, 3))


def forecast_times(result: ForecastResult) -> list[str]:
    """The times of the next values as texts, of months as 1960-12."""
    assert result.times is not None
    return short_times(result.times, _earlier_times(result))


def _earlier_times(result: ForecastResult) -> Any:
    """The last times before the forecast, where they are known."""
    earlier = result.tail_times
    is_time = earlier is not None and earlier.dtype.kind == "M"
    return earlier[-EARLIER_ROWS:] if is_time else None


def _unit(result: ForecastResult) -> Any:
    earlier, times = _earlier_times(result), result.times
    return period_unit(times if earlier is None else np.concatenate([earlier, times]))


def _tiles(result: ForecastResult) -> tuple[Tile, ...]:
    ahead = result.forecast
    level = level_text(result)
    tiles = []
    if np.isfinite(ahead.low[0]):
        text = _band_text(level, ahead.low[0], ahead.high[0])
        if result.times is not None:
            text = f"At {forecast_times(result)[0]}. {text}"
        tiles.append(Tile("Next value", format_number(ahead.mean[0]), text))
    total = ahead.total
    if result.horizon > 1 and np.isfinite(total.low):
        band = _band_text(level, total.low, total.high)
        title = f"Sum of the next {result.horizon:,}"
        tiles.append(Tile(title, format_number(total.mean), band))
    if np.isfinite(result.own.typical):
        text = f"on average over {result.horizon:,} rows ahead."
        error = format_number(result.own.typical)
        tiles.append(Tile("Typical error", error, text))
    if np.isfinite(result.ratio):
        text = f"typical error, beside {result.naive[0].name}."
        note = large_error_note(result)
        text += "" if note is None else f" {note}"
        tiles.append(Tile("Against the best naive", _change(result.ratio), text))
    return tuple(tiles)


def _when(result: ForecastResult, k: int) -> str:
    """When the value k rows after the next one will come, in words."""
    times = result.times
    if times is None:
        return "in the next row" if k == 0 else f"{k + 1:,} rows ahead"
    if times.dtype.kind != "M":
        return f"at {short_times(times[k : k + 1])[0]}"
    if _unit(result) is not None:
        return f"in {forecast_times(result)[k]}"
    is_daily = bool((times == times.astype("datetime64[D]")).all())
    seconds = float(times[k].astype("datetime64[s]").astype(np.int64))
    return f"{'on' if is_daily else 'at'} {format_time(seconds, is_daily)}"


def _coverage_text(result: ForecastResult) -> str:
    if not np.isfinite(result.mean_coverage):
        return "not known yet"
    aim = level_text(result)
    return f"{format_percent(result.mean_coverage)} of past values; the aim is {aim}"


def _band_text(level: str, low: float, high: float) -> str:
    return f"{level} between {format_number(low)} and {format_number(high)}."


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
    return PageTable(caption, columns, rows, tuple(range(1, len(columns))))


def _key_table(results: Sequence[ForecastResult], columns: Sequence[str]) -> PageTable:
    """All series, or the first and the last hundred."""
    shown = list(results)
    caption = "Typical (mean absolute) errors over all rows ahead, and their ratio."
    if len(shown) > 200:
        caption += f" The best and the worst 100 of {len(shown):,} are shown."
        shown = [*shown[:100], *shown[-100:]]
    rows = tuple(
        (
            result.title,
            format_count(result.rows),
            format_number(result.own.typical),
            f"{result.ratio:.2f}" if np.isfinite(result.ratio) else "",
            result.naive[0].name,
            format_percent(result.mean_coverage) if result.counts.sum() else "",
        )
        for result in shown
    )
    names = (
        ", ".join(columns),
        "rows",
        "typical error",
        "over best naive's",
        "best naive",
        "in band",
    )
    return PageTable(caption, names, rows, (1, 2, 3, 5), (1, 4))


def _rows_text(results: Sequence[ForecastResult]) -> str:
    return f"with {sum(result.rows for result in results):,} rows in all."


def _comparison(ratio: float) -> str:
    """Words before "the best naive forecast"."""
    if abs(ratio - 1) < CLOSE:
        return "about that of"
    word = "below" if ratio < 1 else "above"
    return f"{format_percent(abs(1 - ratio))} {word} that of"


def _change(ratio: float) -> str:
    if abs(ratio - 1) < CLOSE:
        return "about the same"
    return f"{'−' if ratio < 1 else '+'}{format_percent(abs(1 - ratio))}"
