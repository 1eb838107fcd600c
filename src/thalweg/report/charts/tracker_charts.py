"""The Tracker's own quantities over the rows: memory, expert weights, coefficients.

The calibration of its prediction intervals is here as well: promised coverage against
measured coverage.
"""

from typing import Any

import altair as alt
import numpy as np

from thalweg.evaluation.downsampling import Curve
from thalweg.evaluation.study import Study, TrackerHistory
from thalweg.report.charts.chart_elements import (
    HEIGHT,
    MAX_LINES,
    NUMBER_LABEL,
    Figure,
    RowAxis,
    base_chart,
    hover_rule,
    layer_charts,
    line_chart,
    log_ticks,
    name_colours,
    set_name,
    top_legend,
)

EXPERT_LABELS = {
    "level": "level and features",
    "level, heavy ridge": "level, features trusted little",
    "step": "last value and what changed since",
    "season": "a season ago and what differs now",
    "anchored level": "features alone",
    "anchored level, heavy ridge": "features alone, slow to change",
    "autoregressive": "features and last three values together",
    "distributed lag": "features of two rows, last two values",
    "last value": "last value itself",
}
"""The legend's text for each kind of expert."""
MEMORY, CHANGE = "past rows that count", "abrupt change"
MEMORY_NAMES = (MEMORY, "", CHANGE)
"""Abrupt changes take the theme's third colour, the nearest to red; no one its second.
"""


def memory_figure(study: Study, history: TrackerHistory) -> Figure:
    """The effective memory, and the rows of abrupt change (concept drift)."""
    curve = history.memory
    mean, low, high = (
        np.maximum(values, 1.0) for values in (curve.mean, curve.low, curve.high)
    )
    top = max(10.0, float(np.nanmax(high)))
    axis = RowAxis.from_study(study)
    columns = {"mean": mean, "low": low, "high": high}
    wide = base_chart({**axis.columns(curve.last_round), **columns})
    x = axis.x()
    y = alt.Y("low:Q", title=MEMORY).scale(type="log", domain=[1, top])
    y = y.axis(labelExpr=NUMBER_LABEL, values=log_ticks(1.0, top))
    band = wide.mark_area(style="band", clip=True).encode(x=x, y=y, y2="high:Q")
    in_legend = (MEMORY, CHANGE) if history.alarms else (MEMORY,)
    colour = name_colours(MEMORY_NAMES, top_legend(in_legend))
    line = set_name(wide, MEMORY).mark_line(style="tracker", clip=True)
    line = line.encode(x=x, y="mean:Q", color=colour)
    tooltip = [
        alt.Tooltip(f"{field}:Q", title=title, format=",.3~r")
        for field, title in (("mean", MEMORY), ("low", "least"), ("high", "most"))
    ]
    alarms = set_name(base_chart(axis.columns(_alarm_rows(history))), CHANGE)
    rules = alarms.mark_rule(style="alarm", clip=True).encode(x=x, color=colour)
    flag = {"style": "flag", "shape": "triangle-down", "size": 60, "clip": True}
    flags = alarms.mark_point(**flag).encode(
        x=x, y=alt.value(5), color=colour, tooltip=axis.tooltips()
    )
    hover = hover_rule(wide, curve.last_round, tooltip, axis)
    chart = layer_charts(wide, [band, line, rules, hover, flags])
    chart = chart.add_params(*axis.params()).properties(
        width="container",
        height=HEIGHT - 40,
        description=f"Effective memory over time, with {history.alarm_count} alarms.",
        usermeta=axis.zoom_meta(),
    )
    caption = (
        "How many past rows count in a forecast. The memory grows while the stream "
        f"stays the same and falls when it changes.{_alarm_note(history)}"
    )
    return Figure("memory", "How far back the forecast looks", caption, chart)


def weights_figure(study: Study, history: TrackerHistory) -> Figure:
    """The weight of each kind of expert in the forecast."""
    ordered = sorted(
        history.weights.items(), key=lambda item: -_mean_magnitude(item[1])
    )
    separate = dict(ordered[: MAX_LINES - 1] if len(ordered) > MAX_LINES else ordered)
    weights = {
        EXPERT_LABELS.get(kind, kind): curve.mean for kind, curve in separate.items()
    }
    if others := [curve.mean for _, curve in ordered[len(separate) :]]:
        weights["all others"] = np.sum(others, axis=0)
    chart = line_chart(
        ordered[0][1].last_round,
        weights,
        alt.Y("value:Q", title="part of the forecast")
        .stack("zero")
        .scale(domain=[0, 1])
        .axis(format="%", tickCount=5),
        f"Weights of {len(ordered)} kinds of experts over time.",
        stacked=True,
        axis=RowAxis.from_study(study),
    )
    caption = (
        "The Tracker's forecast is a weighted mean of many simple forecasters, its "
        "experts. The taller an area, the more weight that kind of expert had; all "
        "memories of a kind are added together."
    )
    return Figure("expert-weights", "What the forecast is made of", caption, chart)


def coefficients_figure(study: Study, history: TrackerHistory) -> Figure:
    """The coefficients of the features over the rows."""
    features = len(study.features)
    ordered = sorted(
        history.coefficients.items(), key=lambda item: -_mean_magnitude(item[1])
    )
    largest = dict(ordered[:MAX_LINES])
    chart = line_chart(
        ordered[0][1].last_round,
        {name: curve.mean for name, curve in largest.items()},
        alt.Y("value:Q", title="change of the forecast for 1 more")
        .scale(zero=True)
        .axis(labelExpr=NUMBER_LABEL, tickCount=5),
        f"Coefficients of {len(largest)} features over time.",
        axis=RowAxis.from_study(study),
    )
    which = "The coefficients"
    if len(largest) < len(ordered):
        which = f"The {len(largest)} largest of {len(ordered)} coefficients"
    if len(ordered) < features:
        which += f" (those of {len(ordered)} of {features:,} features were recorded)"
    caption = (
        f"{which}: by how much the forecast rises when a feature rises by one. While "
        "a line is level, that relation holds; where it steps, the relation changed."
    )
    return Figure("coefficients", "Coefficients over time", caption, chart)


def calibration_figure(history: TrackerHistory) -> Figure:
    """The measured coverage of prediction intervals against the promised coverage."""
    promised, measured = np.array(history.coverage, float).T
    points = base_chart({"promised": promised, "measured": measured})
    ends = np.array([0.0, 1.0])
    x = alt.X("promised:Q", title="how often the band should hold the value")
    y = alt.Y("measured:Q", title="how often it did")
    x, y = x.scale(domain=[0, 1]), y.scale(domain=[0, 1])
    axes = {"x": x.axis(format="%", tickCount=5), "y": y.axis(format="%", tickCount=5)}
    diagonal = base_chart({"promised": ends, "measured": ends})
    diagonal = diagonal.mark_line(style="reference").encode(**axes)
    line = points.mark_line(style="tracker").encode(**axes)
    dots = points.mark_point(style="measured", size=70).encode(
        **axes,
        tooltip=[
            alt.Tooltip("promised:Q", format=".0%"),
            alt.Tooltip("measured:Q", format=".1%"),
        ],
    )
    chart = (diagonal + line + dots).properties(
        width="container",
        height=HEIGHT,
        description="Measured coverage of intervals against promised coverage.",
    )
    caption = (
        "How often the value lay in the band around its forecast, against how "
        "often it should. On the dashed line the two agree; below it the "
        "bands were too narrow, above it wider than necessary."
    )
    title = "Bands of other widths"
    return Figure("calibration", title, caption, chart, narrow=True)


def _alarm_rows(history: TrackerHistory) -> Any:
    return np.array([alarm.onset for alarm in history.alarms], int)


def _mean_magnitude(curve: Curve) -> float:
    return float(np.nan_to_num(np.abs(curve.mean)).mean())


def _alarm_note(history: TrackerHistory) -> str:
    count = history.alarm_count
    words = {0: "", 1: " Dashed: a change of the target."}
    return words.get(count, f" Dashed: {count:,} changes of the target.")
