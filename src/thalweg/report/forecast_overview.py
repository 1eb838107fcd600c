"""The overview of the forecasts of many series, as a section of a page."""

from collections.abc import Sequence

import numpy as np

from thalweg.evaluation.forecast_result import ForecastResult, missing_sentences
from thalweg.report.error_comparison import CLOSE, gain_text
from thalweg.report.forecast_headline import forecast_times
from thalweg.report.forecast_notes import has_few_origins
from thalweg.report.number_text import format_count, format_number, format_percent
from thalweg.report.section import FoldedPart, PageTable, Section, Tile
from thalweg.report.value_text import value_writer

SHOWN_SERIES = 10
"""Best and worst series in the table that is read first, each."""
LISTED_SERIES = 100
"""The same in the folded one."""


def overview_section(
    results: Sequence[ForecastResult], columns: Sequence[str], title: str,
    notes: Sequence[str] = (),
) -> Section:  # fmt: skip
    """How well many series were forecast; ``results`` have the best first."""
    ratios = np.array([result.ratio for result in results])
    scored = ratios[np.isfinite(ratios)]
    better = int((scored < 1).sum())
    headline = (
        f"{len(results):,} series were forecast. None has enough rows to tell how good "
        f"that is."
    )
    tiles = [Tile("Series", format_count(len(results)), _rows_text(results))]
    if len(scored):
        mean = float(np.exp(np.log(np.maximum(scored, 1e-12)).mean()))
        headline = (
            f"The next values of {len(results):,} series: the typical error was "
            f"{_comparison(mean)} the best simple method of each."
        )
        text = "series with a smaller error than their best simple method."
        tiles.append(Tile("Better", f"{better:,} of {len(scored):,}", text))
    notes = (*notes, *missing_sentences(results))
    folded = [FoldedPart("series", "All series", table=_key_table(results, columns))]
    folded += [FoldedPart("notes", "Notes", items=notes)] if notes else []
    return Section(
        title=title,
        headline=headline,
        tiles=tuple(tiles),
        folded=tuple(folded),
        tables=(_short_table(results, columns),),
        is_overview=True,
    )


def _short_table(
    results: Sequence[ForecastResult], columns: Sequence[str]
) -> PageTable:
    """The next value and the error of a few series, the best and the worst."""
    shown = _ends(results, SHOWN_SERIES)
    is_scored = any(result.counts.sum() for result in results)
    rows = [
        (
            result.title,
            "" if result.times is None else forecast_times(result)[0],
            value_writer(result)(result.forecast.mean[0]),
            *((_typical(result), _gain(result)) if is_scored else ()),
        )
        for result in shown
    ]
    names = (
        ", ".join(columns),
        "time",
        "next value",
        *(("typical error", "against the usual method") if is_scored else ()),
    )
    numbers: tuple[int, ...] = (2, 3)
    optional: tuple[int, ...] = (1,)
    if all(result.times is None for result in shown):
        rows = [(row[0], *row[2:]) for row in rows]
        names, numbers, optional = (names[0], *names[2:]), (1, 2), ()
    caption = "All series."
    if len(shown) < len(results):
        which = (
            "best and the worst by their error beside that of the best simple method"
            if is_scored
            else "first and the last"
        )
        caption = (
            f"{SHOWN_SERIES} of {len(results):,} series each, the {which}; more under "
            f"Details."
        )
    return PageTable(caption, names, tuple(rows), numbers, optional)


def _key_table(results: Sequence[ForecastResult], columns: Sequence[str]) -> PageTable:
    """All series, or the first and the last hundred."""
    shown = _ends(results, LISTED_SERIES)
    caption = "Typical (mean absolute) errors over all rows ahead, and their ratio."
    if len(shown) < len(results):
        caption += f" The best and the worst 100 of {len(results):,} are shown."
    rows = tuple(
        (
            result.title,
            format_count(result.rows),
            _typical(result),
            f"{result.ratio:.2f}" if np.isfinite(result.ratio) else "",
            result.naive[0].name if result.counts.sum() else "",
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


def _ends(results: Sequence[ForecastResult], each: int) -> list[ForecastResult]:
    """The first and the last of many, or all."""
    if len(results) <= 2 * each:
        return list(results)
    return [*results[:each], *results[-each:]]


def _typical(result: ForecastResult) -> str:
    """The typical error; empty where it is not known."""
    return format_number(result.own.typical) if result.counts.sum() else ""


def _gain(result: ForecastResult) -> str:
    """The gain over the best simple method; empty where too few rows tell it."""
    return "" if has_few_origins(result) else gain_text(result.ratio)


def _rows_text(results: Sequence[ForecastResult]) -> str:
    return f"with {sum(result.rows for result in results):,} rows in all."


def _comparison(ratio: float) -> str:
    """Words before "the best simple method"."""
    if abs(ratio - 1) <= CLOSE:
        return "about that of"
    word = "below" if ratio < 1 else "above"
    return f"{format_percent(abs(1 - ratio))} {word} that of"
