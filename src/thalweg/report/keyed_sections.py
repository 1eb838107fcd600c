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
from thalweg.evaluation.keyed_scores import (
    KeyClassScore,
    KeyedClassScores,
    KeyedScores,
    KeyScore,
)
from thalweg.report.classification_section import method_numbers, method_table
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
    format_exact_percent,
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
    best_and_worst,
    first_rows,
)
from thalweg.report.study_sections import (
    OVER_SIMPLE,
    learner_numbers,
    learner_table,
    onset_time,
)
from thalweg.tables.row_keys import key_text

SHORT_EACH, LISTED_EACH = 5, 100
"""Number of best and of worst series where space is short, and in the whole table."""
SHORT_CHANGES = 5
"""Number of series whose changes are shown where space is short, the latest first."""
RANKED = "the best and the worst"


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
        sentences=_unscored_sentence(scores.unscored, "to be scored"),
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
    count = len(scores.keys)
    better = sum(score.ratio < 1 for score in scores.keys)
    text = "Series with less squared error than their best simple method."
    return (
        Tile(TYPICAL_ERROR, typical, "Over all rows of all series.", True),
        Tile("Better", f"{better:,} of {count:,}", text),
        Tile("Rows", format_count(scores.rows), f"In {count:,} series."),
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
    shown = _ends(scores.keys)
    return ResultTable(
        title="Errors of each series",
        columns=(
            Column(", ".join(columns)),
            Column("rows", format_count, is_optional=True),
            Column("typical error", format_error),
            Column("squared error", format_error, is_optional=True),
            Column(OVER_SIMPLE, format_ratio),
            Column("changes", format_count),
            Column("best simple method", is_optional=True),
        ),
        rows=tuple(
            (
                key_text(one.key), one.rows, one.absolute, one.squared, one.ratio,
                one.alarm_count, one.best_baseline,
            )
            for one in shown
        ),
        caption="The squared error over that of the best simple method of each series."
        f"{_cut_note(len(scores.keys))}",
        short=best_and_worst(len(shown), SHORT_EACH),
        short_note=RANKED,
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
    text = f"Told apart by {names}, with {rows} in all."
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
        text = "Series with a smaller error than their best simple method."
        better = int((scored < 1).sum())
        tiles.append(Tile("Better", f"{better:,} of {len(scored):,}", text))
    unscored = sum(not result.is_scored for result in results)
    tables = _next_value_table(results, columns), _error_table(results, columns)
    return Section(
        title=title,
        headline=headline,
        tiles=tuple(tiles),
        tables=tables if unscored < len(results) else tables[:1],
        sentences=(
            *_unscored_sentence(unscored, "for a backtest"),
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
    shown, one = _ends(results), results[0]
    rows = []
    for result in shown:
        ahead, write = result.forecast, value_writer(result)
        time = None if result.times is None else forecast_times(result)[0]
        next_value = (write(v[0]) for v in (ahead.mean, ahead.low, ahead.high))
        total = None if result.horizon == 1 else ahead.total.mean
        rows.append((key_text(result.key), time, *next_value, total))
    table = ResultTable(
        title=f"The next value of {one.target} of every series",
        columns=(
            Column(", ".join(columns)),
            Column("time", is_optional=True),
            Column("next value", _as_written),
            Column("low", _as_written, is_optional=True),
            Column("high", _as_written, is_optional=True),
            Column(f"sum of {one.horizon:,}", format_error),
        ),
        rows=tuple(rows),
        caption=f"The series in the order of their errors.{_cut_note(len(results))}",
        short=best_and_worst(len(shown), SHORT_EACH),
        short_note=RANKED,
    )
    return table.without_empty_columns()


def _as_written(text: str) -> str:
    """A number that is text, as each series has digits of its own."""
    return text


def _error_table(
    results: Sequence[ForecastResult], columns: Sequence[str]
) -> ResultTable:
    """The errors of each series beside those of its best simple method."""
    shown = _ends(results)
    table = ResultTable(
        title="Errors of each series",
        columns=(
            Column(", ".join(columns)),
            Column("rows", format_count, is_optional=True),
            Column("typical error", format_error),
            Column(GAIN.lower()),
            Column("best simple method", is_optional=True),
            Column("in band", format_percent, is_optional=True),
        ),
        rows=tuple((key_text(one.key), one.rows, *_errors(one)) for one in shown),
        caption="Typical (mean absolute) errors over all rows ahead, and the share of "
        f"values in their bands.{_cut_note(len(results))}",
        short=best_and_worst(len(shown), SHORT_EACH),
        short_note=RANKED,
    )
    return table.without_empty_columns()


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


def _unscored_sentence(count: int, what: str) -> tuple[str, ...]:
    if not count:
        return ()
    return (f"{count_of(count, 'series has', 'series have')} too few rows {what}.",)


def _ends(ranking: Sequence[Any]) -> list[Any]:
    """The best and the worst of many, or all."""
    if len(ranking) <= 2 * LISTED_EACH:
        return list(ranking)
    return [*ranking[:LISTED_EACH], *ranking[-LISTED_EACH:]]


def _cut_note(count: int) -> str:
    if count <= 2 * LISTED_EACH:
        return ""
    return f" The best and the worst {LISTED_EACH} of {count:,} are listed."


def keyed_class_section(
    scores: KeyedClassScores, columns: Sequence[str], title: str,
    notes: Sequence[str] = (),
) -> Section:  # fmt: skip
    """How well the classes of many series were predicted."""
    count = len(scores.keys)
    table = f"{title}: {scores.target}, {scores.scored:,} rows of {count:,} series"
    section = Section(
        title=f"All series of {title}",
        headline=_headline(scores),
        tiles=_tiles(scores),
        tables=(_series_table(scores, columns),),
        folded=(
            FoldedPart(
                "learners", "All methods that were run",
                method_table(f"{table} scored", scores.entries, scores.ratio),
                is_printed=True,
            ),
        ),
        sentences=_unscored_sentence(scores.unscored, "to be scored"),
        notes=tuple(notes),
        is_overview=True,
    )  # fmt: skip
    numbers: dict[str, Any] = {
        "kind": "classification",
        "title": title,
        "target": scores.target,
        "classes": list(scores.classes),
        "rounds": scores.rows,
        "scored_rounds": scores.scored,
        "features": list(scores.features),
        "learners": [method_numbers(one, scores.ratio(one)) for one in scores.entries],
        "best_baseline": scores.best_baseline.name,
        "keys": [_class_key_numbers(score) for score in scores.keys],
        "summary": section.summary(),
    }
    return replace(section, numbers=numbers)


def _headline(scores: KeyedClassScores) -> str:
    guesses = (entry for entry in scores.entries if entry.role == "baseline")
    guess = max(guesses, key=lambda entry: entry.accuracy)
    return (
        f"The class of {scores.target} is named rightly in "
        f"{format_percent(scores.tracker.accuracy)} of the rows of "
        f"{len(scores.keys):,} series; the best simple guess ({guess.name}) is right "
        f"in {format_percent(guess.accuracy)}."
    )


def _tiles(scores: KeyedClassScores) -> tuple[Tile, ...]:
    count, base = len(scores.keys), scores.best_baseline.name
    better = sum(score.ratio < 1 for score in scores.keys)
    gain = f"{format_number(scores.ratio(scores.tracker), 2)} × the log loss"
    return (
        Tile(
            "Right class", format_percent(scores.tracker.accuracy),
            "Over all rows of all series.", is_in_headline=True,
        ),
        Tile(GAIN, gain, f"Beside {base!r}, the best simple guess: below 1 is better."),
        Tile(
            "Better", f"{better:,} of {count:,}",
            "Series with less log loss than their best simple guess.",
        ),
        Tile("Rows", format_count(scores.rows), f"In {count:,} series."),
    )  # fmt: skip


def _series_table(scores: KeyedClassScores, columns: Sequence[str]) -> ResultTable:
    """The series, those with the least ratio first."""
    shown = _ends(scores.keys)
    return ResultTable(
        title="Scores of each series",
        columns=(
            Column(", ".join(columns)),
            Column("rows", format_count, is_optional=True),
            Column("accuracy", format_exact_percent),
            Column("log loss", format_error, is_optional=True),
            Column("log loss over the best guess's", format_ratio),
            Column("best simple guess", is_optional=True),
        ),
        rows=tuple(
            (
                key_text(one.key), one.rows, one.accuracy, one.log_loss, one.ratio,
                one.best_baseline,
            )
            for one in shown
        ),
        caption="The best simple guess is that of each series alone."
        f"{_cut_note(len(scores.keys))}",
        short=best_and_worst(len(shown), SHORT_EACH),
        short_note=RANKED,
    )  # fmt: skip


def _class_key_numbers(score: KeyClassScore) -> dict[str, Any]:
    return {
        "key": list(score.key),
        "rounds": score.rows,
        "scored_rounds": score.scored,
        "log_loss": finite(score.log_loss),
        "accuracy": finite(score.accuracy),
        "best_baseline": score.best_baseline,
        "over_best_baseline": finite(score.ratio),
    }
