"""The errors of the learners over the rows: added up, and relative to persistence."""

import altair as alt
import numpy as np

from thalweg.evaluation.study import Entry, Study
from thalweg.report.charts.chart_elements import (
    MAX_LINES,
    NUMBER_LABEL,
    Figure,
    join_names,
    line_chart,
    log_ticks,
)
from thalweg.report.charts.row_axis import RowAxis
from thalweg.types import FloatArray

HEADROOM = 1.25
"""A line that ends above this multiple of the Tracker's and of persistence's error
leaves the chart, so that it does not press the others flat."""
SETTLED_FRACTION = 0.05
"""The fraction of the rows after which a ratio of sums is stable enough for limits."""


def charted_entries(study: Study) -> list[Entry]:
    """The learners that get a line, at most as many as there are colours.

    These are the Tracker, persistence, the best fixed discount, no discount, the best
    of every other role, and then those with the least error.
    """
    fixed = study.entries_of_role("fixed")
    discounted = [entry for entry in fixed if entry.discount != 1]
    undiscounted = [entry for entry in fixed if entry.discount == 1]
    first = [study.tracker, study.persistence, *discounted[:1], *undiscounted[:1]]
    for role in ("paper", "rival", "peer"):
        first.extend(study.entries_of_role(role)[:1])
    first.extend(study.ranked_entries())
    return list(dict.fromkeys(first))[:MAX_LINES]


def cumulative_error_figure(study: Study) -> Figure:
    """The sum of the squared errors so far of each learner."""
    entries = charted_entries(study)
    ends = {entry.name: float(entry.cumulative.mean[-1]) for entry in entries}
    top = HEADROOM * max(ends[study.tracker.name], ends[study.persistence.name])
    chart = line_chart(
        study.tracker.cumulative.last_round,
        {entry.name: entry.cumulative.mean for entry in entries},
        alt.Y("value:Q", title="squared errors, added up")
        .scale(domain=[0, top or 1.0], nice=False)
        .axis(labelExpr=NUMBER_LABEL, tickCount=5),
        f"Cumulative squared error of {len(entries)} learners over {study.rounds:,} "
        f"rows. At the end the Tracker's is {study.tracker.cumulative.mean[-1]:.4g}, "
        f"persistence's {study.persistence.cumulative.mean[-1]:.4g}.",
        axis=RowAxis.from_study(study),
    )
    caption = (
        "The sum of all squared errors so far: the flatter, the better. Where a line "
        "gets steeper, the forecasts of that learner became worse."
    )
    return Figure(
        "cumulative-error",
        "Cumulative error",
        caption + _off_chart_note(ends, top) + _omission_note(study, entries),
        chart,
    )


def relative_error_figure(study: Study) -> Figure:
    """The cumulative error of each learner divided by persistence's."""
    entries = charted_entries(study)
    base = study.persistence.cumulative.mean
    ratios = {entry.name: _ratios(entry.cumulative.mean, base) for entry in entries}
    bottom, top = _limits(study, ratios)
    chart = line_chart(
        study.tracker.cumulative.last_round,
        ratios,
        alt.Y("value:Q", title="squared error so far over persistence's")
        .scale(type="log", domain=[bottom, top], nice=False)
        .axis(labelExpr=NUMBER_LABEL, values=log_ticks(bottom, top)),
        f"Error so far of {len(entries)} learners divided by that of persistence.",
        legend_names=[name for name, ratio in ratios.items() if _is_within(ratio, top)],
        axis=RowAxis.from_study(study),
    )
    ends = {name: float(ratio[-1]) for name, ratio in ratios.items()}
    caption = (
        "The same sums divided by persistence's, whose forecast is the last known "
        "value: below 1 a learner was worth running so far. The scale is logarithmic: "
        "0.5 is as far from 1 as 2 is."
    )
    return Figure(
        "error-against-persistence",
        "Error against persistence",
        caption + _off_chart_note(ends, top),
        chart,
    )


def _ratios(error: FloatArray, base: FloatArray) -> FloatArray:
    ratios = np.full(len(base), np.nan)
    np.divide(error, base, out=ratios, where=base > 0)
    return ratios


def _limits(study: Study, ratios: dict[str, FloatArray]) -> tuple[float, float]:
    """From the least ratio to the Tracker's largest, once the ratios have settled."""
    rows, first = study.tracker.cumulative.last_round, study.first_scored_round
    later = rows >= first + SETTLED_FRACTION * (study.rounds - first)
    settled = {
        name: ratio[later & np.isfinite(ratio)] for name, ratio in ratios.items()
    }
    all_ratios = np.concatenate([*settled.values(), [1.0]])
    tracker_ratios = np.append(settled[study.tracker.name], 1.0)
    positive = all_ratios[all_ratios > 0]
    return float(positive.min()) / HEADROOM, HEADROOM * float(tracker_ratios.max())


def _is_within(ratio: FloatArray, top: float) -> bool:
    """Whether any of the line is below the top, or all of it is unknown."""
    return bool((ratio <= top).any() or np.isnan(ratio).all())


def _off_chart_note(ends: dict[str, float], top: float) -> str:
    """The sentence that names the learners whose lines leave the chart at the top."""
    above = [name for name, end in ends.items() if not end <= top]
    return f" Out of the frame: {join_names(above)}." if above else ""


def _omission_note(study: Study, entries: list[Entry]) -> str:
    """The sentence that counts the learners without a line."""
    missing = len(study.entries) - len(entries)
    if not missing:
        return ""
    others = "one more is" if missing == 1 else f"{missing} more are"
    return f" {len(entries)} learners are drawn; {others} in the table."
