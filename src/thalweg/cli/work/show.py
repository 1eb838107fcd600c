"""A study as a table for the terminal, and as numbers for machines."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from thalweg.cli.saying import say
from thalweg.evaluation.study import AGAINST, Entry, Study
from thalweg.evaluation.summary import PAST_LABELS, summary


def show(console: Console, study: Study, most: int | None = None) -> None:
    """Print the learners, best first, and what that means in words."""
    console.print(learners(study, most))
    if study.regrets:
        console.print(regrets(study))
    for sentence in summary(study):
        say(console, sentence, "• ")
    if PAST_LABELS in study.notes:
        say(console, PAST_LABELS, "• ")
    console.print()


def listed(
    console: Console, saved: Sequence[Path], replaced: Path | None = None
) -> None:
    """Print what was saved where, a path a line, and which one was there before."""
    console.print("Saved:")
    for path in saved:
        note = " (replaces the one of an earlier run)" if path == replaced else ""
        console.print(f"  {path}{note}", markup=False, soft_wrap=True)


def learners(study: Study, most: int | None = None) -> Table:
    """The errors of all learners, or of the best ``most`` and of persistence."""
    table = titled(f"{study.title}: {study.target}, {study.scored:,} rounds scored")
    table.add_column("learner", no_wrap=True, overflow="ellipsis")
    for name in ("over persistence", "mean squared", "mean absolute"):
        table.add_column(name, justify="right", no_wrap=True)
    for rank, entry in enumerate(study.ranked()):
        kept = most is None or rank < most or entry.role in ("tracker", "persistence")
        if kept:
            table.add_row(*_row(study, entry), style=_style(entry))
    return table


def regrets(study: Study) -> Table:
    """What was lost to hindsight, and what theory allows."""
    table = titled("Regret, in variances of the target")
    table.add_column("learner", no_wrap=True, overflow="ellipsis")
    table.add_column("against")
    bounded = any(one.bound is not None for one in study.regrets)
    for name in ("measured", "bound") if bounded else ("measured",):
        table.add_column(name, justify="right", no_wrap=True)
    for one in study.regrets:
        row = [one.name, AGAINST[one.against], f"{one.measured:,.2f}"]
        bound = "" if one.bound is None else f"{one.bound:,.1f}"
        table.add_row(*row, *([bound] if bounded else []))
    return table


def titled(title: str) -> Table:
    """An empty table in our style."""
    return Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )


def as_json(study: Study) -> dict[str, Any]:
    """The numbers of the table, and the sentences."""
    inside = study.inside
    return {
        "title": study.title,
        "target": study.target,
        "rounds": study.rounds,
        "scored": study.scored,
        "features": list(study.features),
        "seconds": study.seconds,
        "learners": [
            {
                "name": entry.name,
                "role": entry.role,
                "squared": _finite(entry.squared),
                "absolute": _finite(entry.absolute),
                "over_persistence": _finite(_over_persistence(study, entry)),
            }
            for entry in study.ranked()
        ],
        "memory": None if inside is None else _last(inside.memory.mean),
        "alarms": None if inside is None else list(inside.alarms),
        "alarm_count": None if inside is None else inside.alarm_count,
        "summary": summary(study),
        "notes": list(study.notes),
    }


def _row(study: Study, entry: Entry) -> tuple[str, ...]:
    ratio = _over_persistence(study, entry)
    return entry.name, f"{ratio:.3f}", _number(entry.squared), _number(entry.absolute)


def _number(value: float) -> str:
    """Five digits, and an exponent only where it takes more zeros."""
    if 1e5 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:#,.5g}".removesuffix(".")


def _over_persistence(study: Study, entry: Entry) -> float:
    return study.ratio(entry.name, study.persistence.name)


def _style(entry: Entry) -> str | None:
    return {"tracker": "bold", "persistence": "italic"}.get(entry.role)


def _finite(value: float) -> float | None:
    """JSON knows no NaN and no infinity."""
    return float(value) if np.isfinite(value) else None


def _last(values: Any) -> float | None:
    return _finite(values[-1]) if len(values) else None
