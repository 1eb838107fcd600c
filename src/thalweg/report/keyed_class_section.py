"""The section on the classes of many series: what terminal, page and JSON show."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from thalweg.evaluation.keyed_scores import KeyClassScore, KeyedClassScores
from thalweg.report.classification_section import method_numbers, method_table
from thalweg.report.error_comparison import GAIN
from thalweg.report.number_text import (
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
)
from thalweg.report.series_ranking import (
    better_tile,
    ranking_table,
    rows_tile,
    unscored_sentences,
)


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
        sentences=unscored_sentences(scores.unscored),
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
        "keys": [_key_numbers(score) for score in scores.keys],
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
    base, ratios = scores.best_baseline.name, [one.ratio for one in scores.keys]
    gain = f"{format_number(scores.ratio(scores.tracker), 2)} × the log loss"
    return (
        Tile(
            "Right class", format_percent(scores.tracker.accuracy),
            "Over all rows of all series.", is_in_headline=True,
        ),
        Tile(GAIN, gain, f"Beside {base!r}, the best simple guess: below 1 is better."),
        better_tile(ratios, "less log loss", "guess"),
        rows_tile(scores.rows, len(ratios)),
    )  # fmt: skip


def _series_table(scores: KeyedClassScores, columns: Sequence[str]) -> ResultTable:
    """The series, those with the least ratio first."""
    return ranking_table(
        "Scores of each series",
        columns,
        (
            Column("rows", format_count, is_optional=True),
            Column("accuracy", format_exact_percent),
            Column("log loss", format_error, is_optional=True),
            Column("log loss over the best guess's", format_ratio),
            Column("best simple guess", is_optional=True),
        ),
        scores.keys,
        lambda one: (
            one.rows,
            one.accuracy,
            one.log_loss,
            one.ratio,
            one.best_baseline,
        ),
        "The best simple guess is that of each series alone.",
    )


def _key_numbers(score: KeyClassScore) -> dict[str, Any]:
    return {
        "key": list(score.key),
        "rounds": score.rows,
        "scored_rounds": score.scored,
        "log_loss": finite(score.log_loss),
        "accuracy": finite(score.accuracy),
        "best_baseline": score.best_baseline,
        "over_best_baseline": finite(score.ratio),
    }
