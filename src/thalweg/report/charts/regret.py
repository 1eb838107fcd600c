"""Regret, as it was measured and as theory allows it."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from thalweg.evaluation.study import AGAINST, Regret
from thalweg.report.charts.lines import NUMBER, Figure, listed, log_ticks, table
from thalweg.types import FloatArray

ROW = 30
"""Pixels between two rows."""
DECADES = 6
"""Smaller regrets than so many decades below the largest are as good as none."""


def regret(regrets: Sequence[Regret]) -> Figure:
    """Measured regret beside its bound, a row a learner and kind of regret."""
    ordered = sorted(regrets, key=lambda one: AGAINST.index(one.against))
    measured = np.array([one.measured for one in ordered], float)
    bounds = np.array([_or_nan(one.bound) for one in ordered])
    scale, ticks = _both_signs(np.append(measured, bounds))
    x = alt.X("measured:Q", title="regret").scale(scale)
    y = alt.Y("row:N", title=None, sort=alt.SortField("rank"))
    places = {
        "x": x.axis(values=ticks, labelExpr=NUMBER),
        "y": y.axis(labelLimit=alt.expr("max(120, 0.45 * width)"), grid=True),
    }
    tooltip = [
        alt.Tooltip("row:N", title="regret"),
        alt.Tooltip("measured:Q", format=".4~g"),
        alt.Tooltip("bound:Q", format=".4~g"),
    ]
    rows = table(
        {
            "row": [f"{one.against}: {one.name}" for one in ordered],
            "rank": np.arange(len(ordered)),
            "measured": measured,
            "bound": bounds,
        }
    )
    link = rows.mark_rule(style="link").encode(**places, x2="bound:Q")
    bound = rows.mark_point(style="bound", size=90, shape="diamond")
    dot = rows.mark_point(style="measured", size=90)
    chart = (
        link
        + bound.encode(x="bound:Q", y=places["y"], tooltip=tooltip)
        + dot.encode(**places, tooltip=tooltip)
    ).properties(
        width="container",
        height=ROW * len(ordered),
        description=f"Measured regret beside its bound, {len(ordered)} rows.",
    )
    return Figure("regret", "Regret beside its bound", _said(regrets), chart)


def _said(regrets: Sequence[Regret]) -> str:
    caption = (
        "Dot: what was lost beyond the comparator. Diamond: the most that theory "
        "allows, where it says anything. Static: against the best fixed point; "
        "dynamic: against a path that moves; interval: over the worst stretch."
    )
    broken = [one.name for one in regrets if one.measured > _or_inf(one.bound)]
    return caption + (f" Beyond its bound: {listed(broken)}." if broken else "")


def _both_signs(values: FloatArray) -> tuple[Any, list[float]]:
    """A scale that is logarithmic on both sides of zero, and its ticks."""
    known = values[np.isfinite(values)]
    sizes = np.abs(known[known != 0])
    largest, least = (sizes.max(), sizes.min()) if sizes.size else (1.0, 1.0)
    smallest = max(np.floor(np.log10(least)), np.ceil(np.log10(largest)) - DECADES)
    unit = float(10.0**smallest)
    # Room for half a mark on either side.
    ends = [1.3 * float(known.min(initial=0.0)), 1.3 * float(known.max(initial=unit))]
    decades = log_ticks(unit, max(float(largest), 10 * unit))
    ticks = sorted([-tick for tick in decades] + [0.0, *decades])
    scale = alt.Scale(type="symlog", constant=unit, domain=ends, nice=False)
    return scale, [tick for tick in ticks if ends[0] <= tick <= ends[1]]


def _or_nan(bound: float | None) -> float:
    return np.nan if bound is None else bound


def _or_inf(bound: float | None) -> float:
    return np.inf if bound is None else bound
