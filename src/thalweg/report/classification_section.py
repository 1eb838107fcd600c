"""The section of a classification: all that terminal, page and JSON show of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from thalweg.evaluation.classification_study import (
    AnyStudy,
    ClassificationStudy,
)
from thalweg.report import charts
from thalweg.report.error_comparison import GAIN, NO_SCORE
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
from thalweg.report.section import Column, FoldedPart, ResultTable, Section, Tile
from thalweg.report.study_sections import (
    SMALL_DIFFERENCE,
    bar_percent,
    duration,
    study_section,
)

MAX_CONFUSION = 8
"""Limit of the number of classes in the table of rows by class and prediction."""


def classification_section(study: ClassificationStudy) -> Section:
    """All that is shown of one classification."""
    section = Section(
        title=study.title,
        headline=_headline(study),
        tiles=_tiles(study),
        figures=cache(lambda: charts.classification_figures(study)),
        folded=(
            FoldedPart(
                "learners", "All methods that were run", _study_table(study),
                is_printed=True,
            ),
            FoldedPart("confusion", "Classes and predictions", _confusion_table(study)),
        ),
        notes=study.notes,
        facts=_facts(study),
    )  # fmt: skip
    return replace(section, numbers=_numbers(study, section.summary()))


def _headline(study: ClassificationStudy) -> str:
    if not study.scored_rounds:
        return NO_SCORE
    guesses = (entry for entry in study.entries if entry.role == "baseline")
    guess = max(guesses, key=lambda entry: entry.accuracy)
    return (
        f"The class of {study.target} is named rightly in "
        f"{format_percent(study.tracker.accuracy)} of the rows; the best simple guess "
        f"({guess.name}) is right in {format_percent(guess.accuracy)}."
    )


def _tiles(study: ClassificationStudy) -> tuple[Tile, ...]:
    if not study.scored_rounds:
        return ()
    right = format_percent(study.tracker.accuracy)
    often = "So often the most probable class was the one that came."
    return (
        Tile("Right class", right, often, is_in_headline=True),
        _gain_tile(study),
        _calibration_tile(study),
        _common_tile(study),
    )


def _gain_tile(study: ClassificationStudy) -> Tile:
    """The log loss beside that of the best guess."""
    ratio, base = study.ratio(study.tracker), study.best_baseline.name
    text = (
        f"The probabilities beside those of {base!r}, the best of "
        f"{len(study.entries) - 1} simple guesses: below 1 they are better."
    )
    if ratio == float("inf"):
        text += " Its log loss is 0, and cannot be beaten."
    elif ratio > 1 + SMALL_DIFFERENCE:
        text += " Here the guess is better."
    elif ratio > 1 - SMALL_DIFFERENCE:
        text += " The features say next to nothing of the class."
    return Tile(GAIN, f"{format_number(ratio, 2)} × the log loss", text)


def _calibration_tile(study: ClassificationStudy) -> Tile:
    held = f"the class {study.classes[1]}" if study.is_binary else "the predicted class"
    text = (
        f"Where {held} has a probability of 70 %, it should come in 70 % of the rows. "
        f"On average the two differ by this many percentage points."
    )
    error = f"{100 * study.reliability.error:.1f} points"
    return Tile("Probabilities off by", error, text)


def _common_tile(study: ClassificationStudy) -> Tile:
    """The most frequent class."""
    rows = [sum(row) for row in study.confusion]
    most = max(range(len(rows)), key=rows.__getitem__)
    share = format_percent(rows[most] / max(sum(rows), 1))
    text = f"The most frequent of {len(rows)} classes, by its share of the rows."
    return Tile("Most frequent", f"{study.classes[most]}, {share}", text)


def _study_table(study: ClassificationStudy) -> ResultTable:
    classes, scored = len(study.classes), format_count(study.scored_rounds)
    title = f"{study.title}: {study.target}, {classes} classes, {scored} rows scored"
    return method_table(title, study.ranked_entries(), study.ratio)


def method_table(
    title: str, entries: Sequence[Any], ratio: Callable[[Any], float]
) -> ResultTable:
    """The errors of all methods, of one series or many, the least log loss first."""
    return ResultTable(
        title=title,
        columns=(
            Column("method"),
            Column("log loss", format_error),
            Column("accuracy", format_exact_percent),
            Column("Brier score", format_error, is_optional=True),
            Column("log loss over the best guess's", format_ratio),
        ),
        rows=tuple(
            (one.name, one.log_loss, one.accuracy, one.brier, ratio(one))
            for one in entries
        ),
        caption="Means over the scored rows, the least log loss first. The last column "
        "is the log loss over that of the best simple guess: below 1 a method was "
        "worth running. The Brier score is half the squared distance between the "
        "probabilities and what came.",
        bars=tuple(bar_percent(ratio(one)) for one in entries),
        bold_rows=tuple(k for k, one in enumerate(entries) if one.role == "tracker"),
        badges={0: "least log loss"},
    )


def _confusion_table(study: ClassificationStudy) -> ResultTable:
    """Rows by their class and the predicted one (confusion matrix)."""
    shown = study.classes[:MAX_CONFUSION]
    left_out = len(study.classes) - len(shown)
    more = f" {count_of(left_out, 'more class is', 'more classes are')} left out."
    return ResultTable(
        title="Classes and predictions",
        columns=(Column("came"), *(Column(label, format_count) for label in shown)),
        rows=tuple(
            (label, *row[: len(shown)])
            for label, row in zip(shown, study.confusion, strict=False)
        ),
        caption="Scored rows by the class that came (down) and the most probable one "
        f"before (across). The diagonal is right.{more if left_out else ''}",
    )


def _facts(study: ClassificationStudy) -> tuple[tuple[str, str], ...]:
    scored = format_count(study.scored_rounds)
    facts = [
        ("classes of", study.target),
        ("rows", format_count(study.rounds)),
        ("scored", f"{scored}, from row {format_count(study.first_scored_round)}"),
        ("features", format_count(len(study.features))),
        ("computing time", duration(study.seconds)),
    ]
    if study.start is not None and study.end is not None:
        facts.insert(1, ("time", f"{study.start} to {study.end}"))
    return tuple(facts)


def _numbers(study: ClassificationStudy, summary: list[str]) -> Mapping[str, Any]:
    return {
        "kind": "classification",
        "title": study.title,
        "target": study.target,
        "classes": list(study.classes),
        "rounds": study.rounds,
        "scored_rounds": study.scored_rounds,
        "features": list(study.features),
        "seconds": study.seconds,
        "learners": [
            method_numbers(one, study.ratio(one)) for one in study.ranked_entries()
        ],
        "calibration_error": finite(study.reliability.error),
        "summary": summary,
        "notes": list(study.notes),
    }


def method_numbers(entry: Any, ratio: float) -> dict[str, Any]:
    """The errors of a method; ``ratio`` is its log loss over the best guess's."""
    return {
        "name": entry.name,
        "role": entry.role,
        "log_loss": finite(entry.log_loss),
        "accuracy": finite(entry.accuracy),
        "brier": finite(entry.brier),
        "over_best_baseline": finite(ratio),
    }


def section_of(study: AnyStudy) -> Section:
    """The section of a study of numbers, or of classes."""
    if isinstance(study, ClassificationStudy):
        return classification_section(study)
    return study_section(study)
