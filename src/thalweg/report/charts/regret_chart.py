"""The chart of measured regrets and of the bounds that theory has for them."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from thalweg.evaluation.study import COMPARATORS, RegretEntry
from thalweg.report.charts.chart_elements import (
    NUMBER_LABEL,
    TOOLTIP_FORMAT,
    Figure,
    base_chart,
    join_names,
    log_ticks,
    name_colours,
    set_name,
    top_legend,
)
from thalweg.types import FloatArray

LINE_HEIGHT = 34
"""Pixels between one regret and the next."""
NAMES = MEASURED, BOUND = "measured", "most that theory allows"
SHAPES = ("circle", "diamond")
Channels = dict[str, Any]
"""Encoding channels of Vega-Lite by name."""
MAX_DECADES = 6
"""Regrets that are more decades than this below the largest are drawn at zero."""


def regret_figure(regrets: Sequence[RegretEntry]) -> Figure:
    """Measured regret and its bound, a line for each learner and kind of regret."""
    ordered = sorted(
        regrets, key=lambda regret: [*COMPARATORS].index(regret.comparator)
    )
    measured = np.array([regret.measured for regret in ordered], float)
    bounds = np.array([_nan_if_none(regret.bound) for regret in ordered])
    lines = base_chart(
        {
            "line": [
                f"{COMPARATORS[regret.comparator]}\n{regret.name}" for regret in ordered
            ],
            "rank": np.arange(len(ordered)),
            "measured": measured,
            "bound": bounds,
        }
    )
    bounded = bool(np.isfinite(bounds).any())
    marks = _layers(lines, _position(np.append(measured, bounds)), _appearance(bounded))
    chart = marks.properties(
        width="container",
        height=LINE_HEIGHT * len(ordered),
        description=f"Measured regret beside its bound, {len(ordered)} lines.",
    )
    title = "Regret beside its bound" if bounded else "Regret"
    return Figure("regret", title, _caption(regrets, bounded), chart)


def _layers(lines: alt.Chart, position: Channels, appearance: Channels) -> Any:
    """A rule from the measured regret to its bound, and a mark at either end."""
    link = lines.mark_rule(style="link").encode(**position, x2="bound:Q")
    bound = set_name(lines, BOUND).mark_point(style="bound", size=90)
    measured = set_name(lines, MEASURED).mark_point(style="measured", size=90)
    bound = bound.encode(**{**position, "x": "bound:Q"}, **appearance)
    return link + bound + measured.encode(**position, **appearance)


def _position(values: FloatArray) -> Channels:
    """The positions of marks: regret on the x axis, one learner per line."""
    scale, ticks = _symlog_scale(values)
    x = alt.X("measured:Q", title="loss beyond hindsight's").scale(scale)
    y = alt.Y("line:N", title=None, sort=alt.SortField("rank"))
    return {
        "x": x.axis(values=ticks, labelExpr=NUMBER_LABEL),
        # Two lines of text, so that our learners' names fit on a phone as well.
        "y": y.axis(
            labelExpr="split(datum.label, '\\n')",
            labelLimit=175,
            labelOffset=-6,
            grid=True,
        ),
    }


def _appearance(bounded: bool) -> Channels:
    """The colours, shapes and tooltips of marks."""
    legend = top_legend(NAMES if bounded else NAMES[:1], "circle", 110)
    shape = alt.Shape("name:N", legend=legend)
    return {
        "color": name_colours(NAMES, legend),
        "shape": shape.scale(domain=list(NAMES), range=list(SHAPES)),
        "tooltip": [
            alt.Tooltip("line:N", title="against"),
            alt.Tooltip("measured:Q", title=MEASURED, format=TOOLTIP_FORMAT),
            alt.Tooltip("bound:Q", title=BOUND, format=TOOLTIP_FORMAT),
        ],
    }


def _caption(regrets: Sequence[RegretEntry], bounded: bool) -> str:
    caption = (
        "Regret is the loss of a learner beyond that of a forecaster that knew all "
        "rows beforehand: one with the best fixed coefficients, the best that move, "
        "or the best fixed ones for the stretch in which the learner did worst. Left "
        "of 0 the learner lost less. Losses are half squared errors, in variances of "
        "the target."
    )
    if bounded:
        caption += " A diamond is the most that theory allows, where there is a bound."
    broken = [
        regret.name
        for regret in regrets
        if regret.measured > _inf_if_none(regret.bound)
    ]
    return caption + (f" Beyond its bound: {join_names(broken)}." if broken else "")


def _symlog_scale(values: FloatArray) -> tuple[Any, list[float]]:
    """A scale that is logarithmic on both sides of zero, and its ticks."""
    finite = values[np.isfinite(values)]
    sizes = np.abs(finite[finite != 0])
    largest, least = (sizes.max(), sizes.min()) if sizes.size else (1.0, 1.0)
    smallest = max(np.floor(np.log10(least)), np.ceil(np.log10(largest)) - MAX_DECADES)
    unit = float(10.0**smallest)
    # The limits leave space for half a mark on either side.
    ends = [1.3 * float(finite.min(initial=0.0)), 1.3 * float(finite.max(initial=unit))]
    decades = log_ticks(unit, max(float(largest), 10 * unit))
    ticks = sorted([-tick for tick in decades] + [0.0, *decades])
    scale = alt.Scale(type="symlog", constant=unit, domain=ends, nice=False)
    return scale, [tick for tick in ticks if ends[0] <= tick <= ends[1]]


def _nan_if_none(bound: float | None) -> float:
    return np.nan if bound is None else bound


def _inf_if_none(bound: float | None) -> float:
    return np.inf if bound is None else bound
