"""The results of a classification as a table, and as JSON."""

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from thalweg.cli.console import new_table, print_sentence
from thalweg.evaluation.classification_study import (
    ClassificationStudy,
    ClassifierEntry,
)
from thalweg.evaluation.classification_summary import classification_summary


def print_classification(console: Console, study: ClassificationStudy) -> None:
    """Print the classifiers, least log loss first, and a summary in words."""
    console.print(_classifier_table(study))
    for sentence in classification_summary(study):
        print_sentence(console, sentence, "• ")
    console.print()


def _classifier_table(study: ClassificationStudy) -> Table:
    table = new_table(
        f"{study.title}: {study.target}, {len(study.classes)} classes, "
        f"{study.scored_rounds:,} rows scored"
    )
    table.add_column("learner", no_wrap=True, overflow="ellipsis")
    for name in ("over baseline", "log loss", "accuracy", "Brier score"):
        table.add_column(name, justify="right", no_wrap=True)
    for entry in study.ranked_entries():
        style = "bold" if entry.role == "tracker" else None
        table.add_row(*_cells(study, entry), style=style)
    return table


def _cells(study: ClassificationStudy, entry: ClassifierEntry) -> tuple[str, ...]:
    return (
        entry.name, f"{study.ratio(entry):.3f}", f"{entry.log_loss:.4f}",
        f"{100 * entry.accuracy:.1f} %", f"{entry.brier:.4f}",
    )  # fmt: skip


def classification_as_json(study: ClassificationStudy) -> dict[str, Any]:
    """The numbers of the table, and the sentences of the summary."""
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
            {
                "name": entry.name,
                "role": entry.role,
                "log_loss": _finite(entry.log_loss),
                "accuracy": _finite(entry.accuracy),
                "brier": _finite(entry.brier),
                "over_best_baseline": _finite(study.ratio(entry)),
            }
            for entry in study.ranked_entries()
        ],
        "calibration_error": _finite(study.reliability.error),
        "summary": classification_summary(study),
        "notes": list(study.notes),
    }


def _finite(value: float) -> float | None:
    """The value, or None where it is not finite: JSON has no NaN and no infinity."""
    return float(value) if np.isfinite(value) else None
