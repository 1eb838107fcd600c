"""Regret, as it was measured and as theory allows it."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from thalweg.evaluation.study import AGAINST, Regret
from thalweg.report.charts.lines import (
    IN_TOOLTIP,
    NUMBER,
    Figure,
    by_name,
    called,
    legend,
    listed,
    log_ticks,
    table,
)
from thalweg.types import FloatArray

ROW = 34
"""Pixels between two rows."""
NAMES = MEASURED, BOUND = "measured", "most that theory allows"
SHAPES = ("circle", "diamond")
Marks = dict[str, Any]
"""Channels of Vega-Lite by name."""
DECADES = 6
"""Smaller regrets than so many decades below the largest are as good as none."""


def regret(regrets: Sequence[Regret]) -> Figure:
    """Measured regret beside its bound, a row a learner and kind of regret."""
    ordered = sorted(regrets, key=lambda one: [*AGAINST].index(one.against))
    measured = np.array([one.measured for one in ordered], float)
    bounds = np.array([_or_nan(one.bound) for one in ordered])
    rows = table(
        {
            "row": [f"{AGAINST[one.against]}\n{one.name}" for one in ordered],
            "rank": np.arange(len(ordered)),
            "measured": measured,
            "bound": bounds,
        }
    )
    bounded = bool(np.isfinite(bounds).any())
    layers = _layers(rows, _places(np.append(measured, bounds)), _looks(bounded))
    chart = layers.properties(
        width="container",
        height=ROW * len(ordered),
        description=f"Measured regret beside its bound, {len(ordered)} rows.",
    )
    title = "Regret beside its bound" if bounded else "Regret"
    return Figure("regret", title, _said(regrets, bounded), chart)


def _layers(rows: alt.Chart, places: Marks, looks: Marks) -> Any:
    """A line from what was measured to its bound, and a mark at either end."""
    link = rows.mark_rule(style="link").encode(**places, x2="bound:Q")
    bound = called(rows, BOUND).mark_point(style="bound", size=90)
    dot = called(rows, MEASURED).mark_point(style="measured", size=90)
    at_bound = {**places, "x": "bound:Q"}
    return link + bound.encode(**at_bound, **looks) + dot.encode(**places, **looks)


def _places(values: FloatArray) -> Marks:
    """Where marks lie: the regret across, the learners below each other."""
    scale, ticks = _both_signs(values)
    x = alt.X("measured:Q", title="loss beyond hindsight's").scale(scale)
    y = alt.Y("row:N", title=None, sort=alt.SortField("rank"))
    return {
        "x": x.axis(values=ticks, labelExpr=NUMBER),
        # In two lines, so that on a phone too the names of our learners are whole.
        "y": y.axis(
            labelExpr="split(datum.label, '\\n')",
            labelLimit=175,
            labelOffset=-6,
            grid=True,
        ),
    }


def _looks(bounded: bool) -> Marks:
    """What marks look like, and what they say when pointed at."""
    told = legend(NAMES if bounded else NAMES[:1], "circle", 110)
    shape = alt.Shape("name:N", legend=told)
    return {
        "color": by_name(NAMES, told),
        "shape": shape.scale(domain=list(NAMES), range=list(SHAPES)),
        "tooltip": [
            alt.Tooltip("row:N", title="against"),
            alt.Tooltip("measured:Q", title=MEASURED, format=IN_TOOLTIP),
            alt.Tooltip("bound:Q", title=BOUND, format=IN_TOOLTIP),
        ],
    }


def _said(regrets: Sequence[Regret], bounded: bool) -> str:
    caption = (
        "What each learner lost beyond one that knew everything beforehand: the best "
        "fixed coefficients, the best that move, or, over the stretch where it did "
        "worst, the best fixed ones for that stretch. Left of 0 it lost less. Losses "
        "are half squared errors, in variances of the target."
    )
    if bounded:
        caption += " A diamond is the most that theory allows, where it says anything."
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
