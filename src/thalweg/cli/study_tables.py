"""A study as tables for the terminal, and as numbers for other programs."""

from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from thalweg.cli.classification_tables import (
    classification_as_json,
    print_classification,
)
from thalweg.cli.console import new_table, print_sentence
from thalweg.evaluation.classification_study import AnyStudy, ClassificationStudy
from thalweg.evaluation.study import BASELINE_ROLES, COMPARATORS, Entry, Study
from thalweg.evaluation.summary import PAST_LABELS, summary


def print_study(console: Console, study: AnyStudy) -> None:
    """Print the learners, least error first, the regrets, and a summary in words."""
    if isinstance(study, ClassificationStudy):
        print_classification(console, study)
        return
    console.print(_learner_table(study))
    if study.regrets:
        console.print(_regret_table(study))
    for sentence in summary(study):
        print_sentence(console, sentence, "• ")
    if PAST_LABELS in study.notes:
        print_sentence(console, PAST_LABELS, "• ")
    console.print()


def _learner_table(study: Study) -> Table:
    """The errors of all learners."""
    table = new_table(
        f"{study.title}: {study.target}, {study.scored_rounds:,} rows scored"
    )
    table.add_column("learner", no_wrap=True, overflow="ellipsis")
    best = "the best simple\nmethod's" if len(study.baselines) > 1 else "persistence's"
    for name in ("typical\nerror", "squared\nerror", f"squared over\n{best}"):
        table.add_column(name, justify="right", no_wrap=True)
    for entry in study.ranked_entries():
        table.add_row(*_learner_cells(study, entry), style=_style(entry))
    return table


def _regret_table(study: Study) -> Table:
    """Regret: the loss beyond that of hindsight, and the bounds of theory."""
    table = new_table("Regret (loss beyond hindsight's), in variances of the target")
    table.add_column("learner", no_wrap=True, overflow="ellipsis")
    table.add_column("against")
    has_bounds = any(regret.bound is not None for regret in study.regrets)
    for name in ("measured", "bound") if has_bounds else ("measured",):
        table.add_column(name, justify="right", no_wrap=True)
    for regret in study.regrets:
        cells = [regret.name, COMPARATORS[regret.comparator], f"{regret.measured:,.2f}"]
        bound = "" if regret.bound is None else f"{regret.bound:,.1f}"
        table.add_row(*cells, *([bound] if has_bounds else []))
    return table


def study_as_json(study: AnyStudy) -> dict[str, Any]:
    """The numbers of the tables, and the sentences of the summary."""
    if isinstance(study, ClassificationStudy):
        return classification_as_json(study)
    history = study.history
    return {
        "title": study.title,
        "target": study.target,
        "rounds": study.rounds,
        "scored_rounds": study.scored_rounds,
        "features": list(study.features),
        "seconds": study.seconds,
        "learners": [
            {
                "name": entry.name,
                "role": entry.role,
                "squared": _finite(entry.squared),
                "absolute": _finite(entry.absolute),
                "over_persistence": _finite(_persistence_ratio(study, entry)),
                "over_best_baseline": _finite(_baseline_ratio(study, entry)),
                "description": entry.description,
            }
            for entry in study.ranked_entries()
        ],
        "best_baseline": study.best_baseline.name,
        "memory": None if history is None else _last_finite(history.memory.mean),
        "alarms": None if history is None else [asdict(one) for one in history.alarms],
        "alarm_count": None if history is None else history.alarm_count,
        "summary": summary(study),
        "notes": list(study.notes),
    }


def _learner_cells(study: Study, entry: Entry) -> tuple[str, ...]:
    ratio = f"{_baseline_ratio(study, entry):.3f}"
    return entry.name, _number(entry.absolute), _number(entry.squared), ratio


def _number(value: float) -> str:
    """Five digits, with an exponent only where more zeros would be needed."""
    if 1e5 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:#,.5g}".removesuffix(".")


def _persistence_ratio(study: Study, entry: Entry) -> float:
    return study.ratio(entry.name, study.persistence.name)


def _baseline_ratio(study: Study, entry: Entry) -> float:
    return study.ratio(entry.name, study.best_baseline.name)


def _style(entry: Entry) -> str | None:
    if entry.role in BASELINE_ROLES:
        return "italic"
    return "bold" if entry.role == "tracker" else None


def _finite(value: float) -> float | None:
    """The value, or None where it is not finite: JSON has no NaN and no infinity."""
    return float(value) if np.isfinite(value) else None


def _last_finite(values: Any) -> float | None:
    return _finite(values[-1]) if len(values) else None
