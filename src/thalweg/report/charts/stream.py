"""The stream itself, and the Tracker's forecast of it."""

import altair as alt
import numpy as np

from thalweg.evaluation.digest import Curve
from thalweg.evaluation.study import Recent, Study
from thalweg.report.charts.lines import HEIGHT, NUMBER, Figure, hover, round_axis, table


def stream(study: Study) -> Figure:
    """What was observed, with its extremes, and what was forecast."""
    seen, said = study.observed, study.forecast
    wide = table(
        {
            "round": seen.at,
            "mean": seen.mean,
            "low": seen.low,
            "high": seen.high,
            "forecast": said.mean,
        }
    )
    axis = (
        alt.Y("low:Q", title=study.target)
        .scale(zero=False)
        .axis(labelExpr=NUMBER, tickCount=5)
    )
    x = round_axis(seen.at)
    band = wide.mark_area(style="range").encode(x=x, y=axis, y2="high:Q")
    line = wide.mark_line(style="observed").encode(x=x, y="mean:Q")
    forecast = wide.mark_line(style="forecast").encode(x=x, y="forecast:Q")
    names = {"forecast": "forecast", "mean": "observed", "low": "least"}
    names["high"] = "largest"
    tooltip = [
        alt.Tooltip(f"{field}:Q", title=name, format=".5~g")
        for field, name in names.items()
    ]
    chart = (band + line + forecast + hover(wide, seen.at, tooltip)).properties(
        width="container",
        height=HEIGHT,
        description=f"{study.target} over {study.rounds} rounds, and its forecast.",
    )
    caption = (
        f"Grey: {study.target} as it was observed. Blue: what the Tracker said of it "
        f"one round before.{_width(seen)}"
    )
    return Figure("stream", "The stream and its forecast", caption, chart)


def recent(study: Study, last: Recent) -> Figure:
    """The last rounds one by one: in means over many no error is seen."""
    count = len(last.observed)
    at = np.arange(last.last - count + 1, last.last + 1)
    wide = table({"round": at, "observed": last.observed, "forecast": last.forecast})
    x = round_axis(at, int(at[0]))
    y = (
        alt.Y("observed:Q", title=study.target)
        .scale(zero=False)
        .axis(labelExpr=NUMBER, tickCount=5)
    )
    seen = wide.mark_line(style="observed").encode(x=x, y=y)
    said = wide.mark_line(style="forecast").encode(x=x, y="forecast:Q")
    tooltip = [
        alt.Tooltip(f"{name}:Q", format=".5~g") for name in ("forecast", "observed")
    ]
    every = np.arange(1, count + 1)  # a pointer finds each round
    chart = (seen + said + hover(wide, every, tooltip)).properties(
        width="container",
        height=HEIGHT,
        description=f"The last {count} rounds of {study.target}, and their forecasts.",
    )
    caption = (
        f"Grey: {study.target} as it was observed. Blue: what the Tracker said of it "
        f"before. Here every round is drawn, the last {count} of {study.rounds:,}."
    )
    return Figure("recent", "The last rounds, one by one", caption, chart)


def _width(curve: Curve) -> str:
    width = int(curve.at[0])
    if width == 1:
        return ""
    return (
        f" Each dot of a line is a mean over {width:,} rounds; the grey band reaches "
        "from the least to the largest value among them."
    )
