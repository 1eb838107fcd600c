"""The section of a classification: what a manager reads, figures, folded details."""

from thalweg.evaluation.classification_study import (
    ClassificationStudy,
    ClassifierEntry,
)
from thalweg.evaluation.classification_summary import classification_summary
from thalweg.report.classification_charts import classification_figures
from thalweg.report.number_text import format_count, format_number, format_percent
from thalweg.report.section import FoldedPart, PageTable, Section, Tile

MAX_CONFUSION = 8
"""Classes, the first ones, in the table of rows by class and prediction."""
FULL_BAR = 2.0
"""The ratio to the best baseline at which a bar fills its cell."""


def classification_section(study: ClassificationStudy) -> Section:
    """All that a page shows of one classification."""
    return Section(
        title=study.title,
        headline=_headline(study),
        tiles=_tiles(study),
        figures=tuple(classification_figures(study)),
        folded=(
            FoldedPart("learners", "All methods that were run", table=_scores(study)),
            FoldedPart(
                "confusion", "Classes and predictions", table=_confusion_table(study)
            ),
            FoldedPart(
                "summary",
                "The results in sentences",
                items=tuple(classification_summary(study)),
            ),
            FoldedPart("notes", "Notes on method and data", items=study.notes),
        ),
        facts=_facts(study),
    )


def _headline(study: ClassificationStudy) -> str:
    own, guess = study.tracker.accuracy, _best_accuracy(study)
    return (
        f"The class of {study.target} is named rightly in {format_percent(own)} of the "
        f"rows; the best simple guess is right in {format_percent(guess.accuracy)}."
    )


def _best_accuracy(study: ClassificationStudy) -> ClassifierEntry:
    baselines = [entry for entry in study.entries if entry.role == "baseline"]
    return max(baselines, key=lambda entry: entry.accuracy)


def _tiles(study: ClassificationStudy) -> tuple[Tile, ...]:
    base, error = study.best_baseline, study.reliability.error
    ratio = study.ratio(study.tracker)
    return (
        Tile(
            "Right class",
            format_percent(study.tracker.accuracy),
            "So often the most probable class was the one that came.",
        ),
        Tile(
            "Against the usual method",
            f"{format_number(ratio, 2)} × the log loss",
            f"The probabilities beside those of {base.name!r}, the best of "
            f"{len(study.entries) - 1} simple guesses: below 1 they are better.",
        ),
        Tile(
            "Probabilities off by",
            f"{100 * error:.1f} points",
            f"Where {_held_class(study)} has a probability of 70 %, it should come in "
            f"70 % of the rows. On average the two differ by this many percentage "
            f"points.",
        ),
        _common_tile(study),
    )


def _held_class(study: ClassificationStudy) -> str:
    return f"the class {study.classes[1]}" if study.is_binary else "the predicted class"


def _common_tile(study: ClassificationStudy) -> Tile:
    """The most frequent class."""
    rows = [sum(row) for row in study.confusion]
    most = max(range(len(rows)), key=rows.__getitem__)
    share = rows[most] / max(sum(rows), 1)
    text = f"The most frequent of {len(rows)} classes came in so many of the rows."
    return Tile(
        "Most frequent", f"{study.classes[most]}, {format_percent(share)}", text
    )


def _scores(study: ClassificationStudy) -> PageTable:
    entries = study.ranked_entries()
    return PageTable(
        caption="Means over the scored rows, the least log loss first. The last column "
        "is the log loss over that of the best simple guess: below 1 a method was "
        "worth running. The Brier score is half the squared distance between the "
        "probabilities and what came.",
        columns=("method", "log loss", "accuracy", "Brier score", "over baseline"),
        rows=tuple(
            (
                entry.name,
                format_number(entry.log_loss, 4),
                f"{100 * entry.accuracy:.1f} %",
                format_number(entry.brier, 4),
                f"{study.ratio(entry):.3f}",
            )
            for entry in entries
        ),
        number_columns=(1, 2, 3, 4),
        optional_columns=(3,),
        bars=tuple(
            round(100 * min(study.ratio(entry) / FULL_BAR, 1.0)) for entry in entries
        ),
        bold_rows=(entries.index(study.tracker),),
        badges={0: "least log loss"},
    )


def _confusion_table(study: ClassificationStudy) -> PageTable:
    """Rows by their class and the predicted one (confusion matrix)."""
    shown = study.classes[:MAX_CONFUSION]
    left_out = len(study.classes) - len(shown)
    more = f" {left_out} more classes are left out." if left_out else ""
    rows = tuple(
        (label, *(format_count(count) for count in row[: len(shown)]))
        for label, row in zip(shown, study.confusion, strict=False)
    )
    return PageTable(
        caption="Scored rows by the class that came (down) and the most probable one "
        f"before (across). The diagonal is right.{more}",
        columns=("came", *shown),
        rows=rows,
        number_columns=tuple(range(1, len(shown) + 1)),
    )


def _facts(study: ClassificationStudy) -> tuple[tuple[str, str], ...]:
    scored = format_count(study.scored_rounds)
    first = format_count(study.first_scored_round)
    time = (
        (("time", f"{study.start} to {study.end}"),)
        if study.start is not None and study.end is not None
        else ()
    )
    return (
        ("classes of", study.target),
        *time,
        ("rows", format_count(study.rounds)),
        ("scored", f"{scored}, from row {first}"),
        ("features", format_count(len(study.features))),
        ("computing time", f"{study.seconds:.2g} s for the forecasts alone"),
    )
