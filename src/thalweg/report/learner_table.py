"""The table of all learners of a study, the least error first."""

import numpy as np

from thalweg.evaluation.study import Entry, Study
from thalweg.report.number_text import format_number
from thalweg.report.section import PageTable

ROLE_LABELS = {
    "tracker": "adaptive",
    "fixed": "fixed setting",
    "paper": "from the paper",
    "rival": "rival",
    "peer": "other library",
    "persistence": "simple method",
    "baseline": "simple method",
}
FULL_BAR = 2.0
"""The ratio to persistence at which a bar fills its cell."""
COLUMNS = (
    "learner", "kind", "typical error", "squared error", "squared over persistence's",
)  # fmt: skip
DIGITS = 4
CAPTION = (
    "Errors over the scored rows, the least squared error first. The typical error is "
    "the mean size of an error, in the unit of the target. The last column is the mean "
    "squared error over that of persistence, whose forecast is the last known value: "
    "below 1 a learner was worth running."
)


def learner_table(study: Study) -> PageTable:
    """The errors of all learners, beside those of persistence."""
    entries = study.ranked_entries()
    return PageTable(
        caption=CAPTION,
        columns=COLUMNS,
        rows=tuple(
            (
                entry.name,
                ROLE_LABELS[entry.role],
                format_number(entry.absolute, DIGITS),
                format_number(entry.squared, DIGITS),
                persistence_ratio(study, entry),
            )
            for entry in entries
        ),
        number_columns=(2, 3, 4),
        optional_columns=(1, 3),
        bars=tuple(_bar_percent(study, entry) for entry in entries),
        bold_rows=(0, entries.index(study.tracker)),
        badges={0: "least error"},
    )


def persistence_ratio(study: Study, entry: Entry) -> str:
    """The squared error over persistence's, to three decimals."""
    value = study.ratio(entry.name, study.persistence.name)
    return f"{value:.3f}" if value < 100 else format_number(value)


def _bar_percent(study: Study, entry: Entry) -> int:
    """The length of the bar in per cent of its cell."""
    value = study.ratio(entry.name, study.persistence.name)
    fraction = min(value / FULL_BAR, 1.0) if np.isfinite(value) else 1.0
    return round(100 * fraction)
