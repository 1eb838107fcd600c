"""How far each learner was off, as the rounds went by."""

import altair as alt
import numpy as np

from thalweg.evaluation.study import Entry, Study
from thalweg.report.charts.lines import (
    MOST_LINES,
    NUMBER,
    Figure,
    lines,
    listed,
    log_ticks,
)
from thalweg.types import FloatArray

HEADROOM = 1.25
"""A line that ends beyond this multiple of the Tracker's and of persistence's error
leaves the frame, lest the others lie flat on the ground."""
SETTLED = 0.05
"""The part of the rounds after which a ratio of sums no longer jumps about."""


def drawn(study: Study) -> list[Entry]:
    """The learners worth a line, at most as many as there are colours.

    The Tracker, persistence, the best fixed discount and none, the best of every
    other role, and then whoever had the least error.
    """
    fixed = study.of_role("fixed")
    forgetting = [entry for entry in fixed if entry.discount != 1]
    keeping = [entry for entry in fixed if entry.discount == 1]
    firsts = [study.tracker, study.persistence, *forgetting[:1], *keeping[:1]]
    for role in ("paper", "rival", "peer"):
        firsts.extend(study.of_role(role)[:1])
    firsts.extend(study.ranked())
    return list(dict.fromkeys(firsts))[:MOST_LINES]


def cumulative(study: Study) -> Figure:
    """The squared errors of each learner, added up."""
    kept = drawn(study)
    ends = {entry.name: float(entry.running.mean[-1]) for entry in kept}
    top = HEADROOM * max(ends[study.tracker.name], ends[study.persistence.name])
    chart = lines(
        study.tracker.running.at,
        {entry.name: entry.running.mean for entry in kept},
        alt.Y("value:Q", title="squared errors, added up")
        .scale(domain=[0, top or 1.0], nice=False)
        .axis(labelExpr=NUMBER, tickCount=5),
        f"Cumulative squared error of {len(kept)} learners over {study.rounds:,} "
        f"rounds. At the end the Tracker's is {study.tracker.running.mean[-1]:.4g}, "
        f"persistence's {study.persistence.running.mean[-1]:.4g}.",
    )
    caption = (
        "All squared errors so far: the flatter, the better. A kink upwards is a "
        "stretch in which a learner was surprised."
    )
    return Figure(
        "cumulative-error",
        "Cumulative error",
        caption + _left(ends, top) + _left_out(study, kept),
        chart,
    )


def relative(study: Study) -> Figure:
    """The cumulative error of each learner as a part of persistence's."""
    kept = drawn(study)
    base = study.persistence.running.mean
    parts = {entry.name: _part(entry.running.mean, base) for entry in kept}
    bottom, top = _frame(study, parts)
    chart = lines(
        study.tracker.running.at,
        parts,
        alt.Y("value:Q", title="squared error so far over persistence's")
        .scale(type="log", domain=[bottom, top], nice=False)
        .axis(labelExpr=NUMBER, values=log_ticks(bottom, top)),
        f"Error so far of {len(kept)} learners over that of persistence.",
        seen=[name for name, part in parts.items() if _is_seen(part, top)],
    )
    ends = {name: float(part[-1]) for name, part in parts.items()}
    caption = (
        "The same errors as a part of persistence's, which says again what it last "
        "saw: below 1 a learner was worth running so far. Both directions are drawn "
        "to the same measure: 0.5 is as far from 1 as 2 is."
    )
    return Figure(
        "error-against-persistence",
        "Error against persistence",
        caption + _left(ends, top),
        chart,
    )


def _part(error: FloatArray, base: FloatArray) -> FloatArray:
    part = np.full(len(base), np.nan)
    np.divide(error, base, out=part, where=base > 0)
    return part


def _frame(study: Study, parts: dict[str, FloatArray]) -> tuple[float, float]:
    """From the least ratio to the Tracker's largest, once the ratios have settled."""
    at = study.tracker.running.at
    later = at >= study.first_scored + SETTLED * (study.rounds - study.first_scored)
    settled = {name: part[later & np.isfinite(part)] for name, part in parts.items()}
    everyone = np.concatenate([*settled.values(), [1.0]])
    mine = np.append(settled[study.tracker.name], 1.0)
    positive = everyone[everyone > 0]
    return float(positive.min()) / HEADROOM, HEADROOM * float(mine.max())


def _is_seen(part: FloatArray, top: float) -> bool:
    """Whether any of it is in the frame; what is nowhere known is not out of it."""
    return bool((part <= top).any() or np.isnan(part).all())


def _left(ends: dict[str, float], top: float) -> str:
    """Who leaves the frame upwards."""
    beyond = [name for name, end in ends.items() if not end <= top]
    if not beyond:
        return ""
    return f" Out of the frame: {listed(beyond)}."


def _left_out(study: Study, kept: list[Entry]) -> str:
    missing = len(study.entries) - len(kept)
    if not missing:
        return ""
    others = "one more is" if missing == 1 else f"{missing} more are"
    return f" {len(kept)} learners are drawn; {others} in the table."
