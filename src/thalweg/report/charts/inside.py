"""What went on inside the Tracker: memory, weights, coefficients, calibration."""

import altair as alt
import numpy as np

from thalweg.evaluation.digest import Curve
from thalweg.evaluation.study import Inside
from thalweg.report.charts.lines import (
    HEIGHT,
    MOST_LINES,
    NUMBER,
    Figure,
    by_name,
    called,
    hover,
    legend,
    lines,
    log_ticks,
    round_axis,
    table,
)

WORDS = {
    "level": "level and features",
    "level, heavy ridge": "level, features trusted little",
    "step": "last value and what changed since",
    "season": "a season ago and what differs now",
    "free level": "features alone",
    "free level, heavy ridge": "features alone, slow to change",
    "labelled": "features and last value together",
    "last value": "last value itself",
}
"""What each kind of expert goes by, in a legend."""
COUNTED, CHANGE = "past rounds that count", "abrupt change"
MEMORY = (COUNTED, "", CHANGE)
"""The third colour of all is the nearest to red; the second goes to nothing."""


def memory(inside: Inside) -> Figure:
    """How many rounds counted, and when change was so abrupt that it told."""
    curve = inside.memory
    mean, low, high = (
        np.maximum(part, 1.0) for part in (curve.mean, curve.low, curve.high)
    )
    top = max(10.0, float(np.nanmax(high)))
    wide = table({"round": curve.at, "mean": mean, "low": low, "high": high})
    x = round_axis(curve.at)
    y = alt.Y("low:Q", title=COUNTED).scale(type="log", domain=[1, top])
    y = y.axis(labelExpr=NUMBER, values=log_ticks(1.0, top))
    band = wide.mark_area(style="band").encode(x=x, y=y, y2="high:Q")
    told = (COUNTED, CHANGE) if inside.alarms else (COUNTED,)
    colour = by_name(MEMORY, legend(told))
    line = called(wide, COUNTED).mark_line(style="tracker")
    line = line.encode(x=x, y="mean:Q", color=colour)
    tooltip = [
        alt.Tooltip(f"{field}:Q", title=name, format=",.3~r")
        for field, name in (("mean", COUNTED), ("low", "least"), ("high", "most"))
    ]
    alarms = called(table({"round": np.array(inside.alarms, int)}), CHANGE)
    rules = alarms.mark_rule(style="alarm").encode(x=x, color=colour)
    flags = alarms.mark_point(style="flag", shape="triangle-down", size=60).encode(
        x=x,
        y=alt.value(5),
        color=colour,
        tooltip=[alt.Tooltip("round:Q", title="abrupt change at round", format=",")],
    )
    chart = (band + line + rules + hover(wide, curve.at, tooltip) + flags).properties(
        width="container",
        height=HEIGHT,
        description=f"Effective memory over time, with {inside.alarm_count} alarms.",
    )
    caption = (
        "How many past rounds count in a forecast. It grows while the world stands "
        "still and falls when it moves; a steep fall is an alarm "
        f"({_alarms(inside.alarm_count)}, dashed)."
    )
    return Figure("memory", "Effective memory", caption, chart)


def weights(inside: Inside) -> Figure:
    """The part of each kind of expert in the forecast."""
    ordered = sorted(inside.weights.items(), key=lambda item: -_size(item[1]))
    kept = dict(ordered[: MOST_LINES - 1] if len(ordered) > MOST_LINES else ordered)
    parts = {WORDS.get(name, name): curve.mean for name, curve in kept.items()}
    if rest := [curve.mean for _, curve in ordered[len(kept) :]]:
        parts["all others"] = np.sum(rest, axis=0)
    chart = lines(
        ordered[0][1].at,
        parts,
        alt.Y("value:Q", title="part of the forecast")
        .stack("zero")
        .scale(domain=[0, 1])
        .axis(format="%", tickCount=5),
        f"Weights of {len(ordered)} kinds of experts over time.",
        stacked=True,
    )
    caption = (
        "Whom the Tracker listened to. The taller an area, the more that kind of "
        "expert said in the forecast; all memories of a kind are added together."
    )
    return Figure("expert-weights", "Who was listened to", caption, chart)


def coefficients(inside: Inside, features: int) -> Figure:
    """How much each feature moved the forecast; ``features`` are there in all."""
    ordered = sorted(inside.coefficients.items(), key=lambda item: -_size(item[1]))
    kept = dict(ordered[:MOST_LINES])
    chart = lines(
        ordered[0][1].at,
        {name: curve.mean for name, curve in kept.items()},
        alt.Y("value:Q", title="change of the forecast for 1 more")
        .scale(zero=True)
        .axis(labelExpr=NUMBER, tickCount=5),
        f"Coefficients of {len(kept)} features over time.",
    )
    which = "The coefficients"
    if len(kept) < len(ordered):
        which = f"The {len(kept)} largest of {len(ordered)} coefficients"
    if len(ordered) < features:
        which += f" (those of {len(ordered)} of {features:,} features were followed)"
    caption = (
        f"{which}: by how much the forecast rises where a feature rises by one. A "
        "level stretch is a law that holds; a step is a law that changed."
    )
    return Figure("coefficients", "Coefficients over time", caption, chart)


def calibration(inside: Inside) -> Figure:
    """How often intervals held the label, beside how often they promised to."""
    promised, measured = np.array(inside.coverage, float).T
    points = table({"promised": promised, "measured": measured})
    ends = table({"promised": np.array([0.0, 1.0]), "measured": np.array([0.0, 1.0])})
    x = alt.X("promised:Q", title="how often it was promised to hold the target")
    y = alt.Y("measured:Q", title="how often it did")
    x, y = x.scale(domain=[0, 1]), y.scale(domain=[0, 1])
    axes = {"x": x.axis(format="%", tickCount=5), "y": y.axis(format="%", tickCount=5)}
    diagonal = ends.mark_line(style="reference").encode(**axes)
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
        "How often the label lay in the Tracker's interval, beside how often it was "
        "promised to. On the dashed line a promise is kept to the letter; below it "
        "intervals were too narrow, above it wider than need be."
    )
    return Figure("calibration", "Are its intervals honest?", caption, chart, True)


def _size(curve: Curve) -> float:
    return float(np.nan_to_num(np.abs(curve.mean)).mean())


def _alarms(count: int) -> str:
    return {0: "none here", 1: "one here"}.get(count, f"{count:,} here")
