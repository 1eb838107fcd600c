"""The section on many series: all that terminal, page and JSON show of them together.

The series are those of a run or of a forecast by key; the results of each alone have
sections of their own.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from thalweg.changes.alarms import ChangeAlarm
from thalweg.evaluation.forecast_result import ForecastResult, missing_sentences
from thalweg.evaluation.keyed_scores import KeyedScores, KeyScore
from thalweg.report.error_comparison import (
    CLOSE,
    GAIN,
    TYPICAL_ERROR,
    gain_clause,
    gain_text,
)
from thalweg.report.forecast_sections import forecast_times, value_writer
from thalweg.report.number_text import (
    count_of,
    finite,
    format_count,
    format_error,
    format_number,
    format_percent,
    format_ratio,
)
from thalweg.report.section import (
    Column,
    FoldedPart,
    ResultTable,
    Section,
    Tile,
    first_rows,
)
from thalweg.report.series_ranking import (
    LISTED_EACH,
    better_tile,
    ranking_table,
    rows_tile,
    unscored_sentences,
)
from thalweg.report.study_sections import (
    OVER_SIMPLE,
    learner_numbers,
    learner_table,
    onset_time,
)
from thalweg.tables.row_keys import key_text

SHORT_CHANGES = 5
"""Number of series whose changes are shown where space is short, the latest first."""


def keyed_section(
    scores: KeyedScores, columns: Sequence[str], title: str, notes: Sequence[str] = ()
) -> Section:
    """How well the values of many series were predicted, one row ahead."""
    table = f"{title}: {scores.target}, {scores.scored:,} rows of {len(scores.keys):,} "
    table += "series scored"
    best, last = scores.best_baseline, scores.persistence
    section = Section(
        title=f"All series of {title}",
        headline=_run_headline(scores),
        tiles=_run_tiles(scores),
        tables=(_score_table(scores, columns),),
        folded=(
            FoldedPart(
                "changes", "Changes that were seen", _change_table(scores, columns),
                is_printed=True,
            ),
            FoldedPart(
                "learners", "All methods that were run",
                learner_table(scores.entries, best.squared, table), is_printed=True,
            ),
        ),
        sentences=unscored_sentences(scores.unscored),
        notes=tuple(notes),
        is_overview=True,
    )  # fmt: skip
    numbers: dict[str, Any] = {
        "title": title,
        "target": scores.target,
        "rounds": scores.rows,
        "scored_rounds": scores.scored,
        "features": list(scores.features),
        "learners": [
            learner_numbers(one, last.squared, best.squared) for one in scores.entries
        ],
        "best_baseline": best.name,
        "over_best_baseline_of_each_key": finite(scores.mean_ratio),
        "keys": [_key_numbers(score) for score in scores.keys],
        "summary": section.summary(),
    }
    return replace(section, numbers=numbers)


def _run_headline(scores: KeyedScores) -> str:
    headline = (
        f"{scores.target} of {len(scores.keys):,} series, one row ahead: off by "
        f"{format_number(scores.tracker.absolute)} on average"
    )
    ratio = float(np.sqrt(scores.mean_ratio))
    if np.isfinite(ratio):
        gain = gain_clause(ratio, "the best simple method of each series")
        headline += f"; by squared errors, in which large ones count more, {gain}"
    return f"{headline}."


def _run_tiles(scores: KeyedScores) -> tuple[Tile, ...]:
    typical = format_number(scores.tracker.absolute)
    ratios = [score.ratio for score in scores.keys]
    return (
        Tile(TYPICAL_ERROR, typical, "Over all rows of all series.", True),
        better_tile(ratios, "less squared error", "method"),
        rows_tile(scores.rows, len(ratios)),
        _changed_tile(scores),
    )


def _changed_tile(scores: KeyedScores) -> Tile:
    changed = sum(bool(score.alarms) for score in scores.keys)
    if not changed:
        return Tile("What changed", "none found", "No change was seen in any series.")
    text = "Series in which a change was seen."
    return Tile("What changed", f"{changed:,} of {len(scores.keys):,}", text)


def _score_table(scores: KeyedScores, columns: Sequence[str]) -> ResultTable:
    """The series, those with the least ratio first."""
    return ranking_table(
        "Errors of each series",
        columns,
        (
            Column("rows", format_count, is_optional=True),
            Column("typical error", format_error),
            Column("squared error", format_error, is_optional=True),
            Column(OVER_SIMPLE, format_ratio),
            Column("changes", format_count),
            Column("best simple method", is_optional=True),
        ),
        scores.keys,
        lambda one: (
            one.rows, one.absolute, one.squared, one.ratio, one.alarm_count,
            one.best_baseline,
        ),
        "The squared error over that of the best simple method of each series.",
    )  # fmt: skip


def _change_table(scores: KeyedScores, columns: Sequence[str]) -> ResultTable:
    """The last and the largest change of each series, the latest first."""
    changed = [score for score in scores.keys if score.alarms]
    changed.sort(key=lambda one: one.alarms[-1].time or "", reverse=True)
    shown = changed[: 2 * LISTED_EACH]
    return ResultTable(
        title="Changes that were seen",
        columns=(Column(", ".join(columns)), Column("changes")),
        rows=tuple((key_text(one.key), _change_words(one)) for one in shown),
        caption="Rows are those of each series alone.",
        short=first_rows(len(shown), SHORT_CHANGES),
        short_note=f"{SHORT_CHANGES} of {len(changed):,} series",
    )


def _change_words(score: KeyScore) -> str:
    """How many changes a series had, and what the last and the largest one was."""
    last, largest = score.alarms[-1], score.largest_alarm
    if score.alarm_count == 1:
        return f"one change, at its {_onset(last)}: {last.text}"
    words = f"{score.alarm_count:,} changes, the last at its {_onset(last)}: "
    words += last.text
    if largest is not None:
        words += f", the largest at its {_onset(largest)}: {largest.text}"
    return words


def _onset(alarm: ChangeAlarm) -> str:
    time = onset_time(alarm)
    return f"row {alarm.onset:,}" + ("" if time is None else f" ({time})")


def _key_numbers(score: KeyScore) -> dict[str, Any]:
    return {
        "key": list(score.key),
        "rounds": score.rows,
        "scored_rounds": score.scored,
        "squared": finite(score.squared),
        "absolute": finite(score.absolute),
        "best_baseline": score.best_baseline,
        "over_best_baseline": finite(score.ratio),
        "alarms": [asdict(one) for one in score.alarms],
        "alarm_count": score.alarm_count,
    }


def overview_section(
    results: Sequence[ForecastResult], columns: Sequence[str], title: str,
    notes: Sequence[str] = (),
) -> Section:  # fmt: skip
    """How well many series were forecast; ``results`` have the best first."""
    ratios = np.array([result.ratio for result in results])
    scored = ratios[np.isfinite(ratios)]
    rows = count_of(sum(result.rows for result in results), "row")
    names = " and ".join(map(repr, columns))
    text = f"Distinguished by {names}, with {rows} in all."
    tiles = [Tile("Series", format_count(len(results)), text)]
    headline = (
        f"{len(results):,} series were forecast. None has enough rows to tell how good "
        f"that is."
    )
    if len(scored):
        mean = float(np.exp(np.log(np.maximum(scored, 1e-12)).mean()))
        headline = (
            f"The next values of {len(results):,} series: the typical error was "
            f"{_comparison(mean)} the best simple method of each (geometric mean)."
        )
        tiles.append(better_tile(scored.tolist(), "a smaller error", "method"))
    unscored = sum(not result.is_scored for result in results)
    tables = _next_value_table(results, columns), _error_table(results, columns)
    return Section(
        title=title,
        headline=headline,
        tiles=tuple(tiles),
        tables=tables if unscored < len(results) else tables[:1],
        sentences=(
            *unscored_sentences(unscored, "for a backtest"),
            *missing_sentences(results),
        ),
        notes=tuple(notes),
        is_overview=True,
    )


def rank_results(results: Sequence[ForecastResult]) -> list[ForecastResult]:
    """The results that were scored, the best first; then the others."""
    return sorted(
        results, key=lambda one: (np.nan_to_num(one.ratio, nan=np.inf), one.key)
    )


def _next_value_table(
    results: Sequence[ForecastResult], columns: Sequence[str]
) -> ResultTable:
    """The next value of each series, and the sum of all that were forecast."""
    one = results[0]

    def cells(result: ForecastResult) -> tuple[Any, ...]:
        ahead, write = result.forecast, value_writer(result)
        time = None if result.times is None else forecast_times(result)[0]
        next_value = (write(v[0]) for v in (ahead.mean, ahead.low, ahead.high))
        return (time, *next_value, None if result.horizon == 1 else ahead.total.mean)

    return ranking_table(
        f"The next value of {one.target} of every series",
        columns,
        (
            Column("time", is_optional=True),
            Column("next value", _as_written),
            Column("low", _as_written, is_optional=True),
            Column("high", _as_written, is_optional=True),
            Column(f"sum of {one.horizon:,}", format_error),
        ),
        results,
        cells,
        "The series in the order of their errors.",
    )


def _as_written(text: str) -> str:
    """A number that is text, as each series has digits of its own."""
    return text


def _error_table(
    results: Sequence[ForecastResult], columns: Sequence[str]
) -> ResultTable:
    """The errors of each series beside those of its best simple method."""
    return ranking_table(
        "Errors of each series",
        columns,
        (
            Column("rows", format_count, is_optional=True),
            Column("typical error", format_error),
            Column(GAIN.lower()),
            Column("best simple method", is_optional=True),
            Column("in band", format_percent, is_optional=True),
        ),
        results,
        lambda one: (one.rows, *_errors(one)),
        "Typical (mean absolute) errors over all rows ahead, and the share of values "
        "in their bands.",
    )


def _errors(result: ForecastResult) -> tuple[Any, ...]:
    """The error, the gain, the best simple method and coverage; None: not known."""
    if not result.is_scored:
        return (None,) * 4
    gain = None if result.has_few_origins else gain_text(result.ratio)
    return result.own.typical, gain, result.naive[0].name, result.mean_coverage


def _comparison(ratio: float) -> str:
    """Words before "the best simple method"."""
    if abs(ratio - 1) <= CLOSE:
        return "about that of"
    word = "below" if ratio < 1 else "above"
    return f"{format_percent(abs(1 - ratio))} {word} that of"
