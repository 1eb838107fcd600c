"""The numbers of a study as a page shows them."""

from typing import Any

import numpy as np

from thalweg.evaluation.study import Entry, Study

KINDS = {
    "tracker": "adaptive",
    "fixed": "fixed setting",
    "paper": "from the paper",
    "rival": "rival",
    "peer": "other library",
    "persistence": "last value",
}
FULL_BAR = 2.0
"""The ratio to persistence at which a bar fills its cell."""


def facts(study: Study) -> list[tuple[str, str]]:
    """What was run, by name."""
    found = [
        ("target", study.target),
        ("rounds", f"{study.rounds:,}"),
        ("scored", f"{study.scored:,}, from round {study.first_scored:,}"),
        ("features", f"{len(study.features):,}"),
        ("the Tracker took", _duration(study)),
    ]
    if study.start is not None and study.end is not None:
        found.insert(1, ("time", f"{study.start} to {study.end}"))
    return found


def learners(study: Study) -> list[dict[str, Any]]:
    """A row for each learner, the least error first."""
    return [
        {
            "name": entry.name,
            "role": entry.role,
            "kind": KINDS[entry.role],
            "squared": _number(entry.squared),
            "absolute": _number(entry.absolute),
            "ratio": ratio(study, entry),
            "bar": _bar(study, entry),
            "best": rank == 0,
        }
        for rank, entry in enumerate(study.ranked())
    ]


def ratio(study: Study, entry: Entry) -> str:
    """The squared error over persistence's, to three digits."""
    value = study.ratio(entry.name, study.persistence.name)
    return f"{value:.3f}" if value < 100 else _number(value)


def _bar(study: Study, entry: Entry) -> int:
    """In per cent of the cell."""
    value = study.ratio(entry.name, study.persistence.name)
    part = min(value / FULL_BAR, 1.0) if np.isfinite(value) else 1.0
    return round(100 * part)


def _number(value: float) -> str:
    if np.isnan(value):
        return "not a number"
    if np.isinf(value):
        return "∞"
    size = abs(value)
    if size and not 1e-3 <= size < 1e6:
        return f"{value:.3e}"
    return f"{value:,.4g}" if size < 1e4 else f"{value:,.0f}"


def _duration(study: Study) -> str:
    if not study.seconds > 0:
        return "no time"
    took = f"{study.seconds:.1f} s" if study.seconds >= 1 else f"{study.seconds:.2g} s"
    return (
        f"{took}, {float(f'{study.rounds / study.seconds:.2g}'):,.0f} rounds a second"
    )
