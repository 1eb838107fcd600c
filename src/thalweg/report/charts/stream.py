"""The stream itself, and the Tracker's forecast of it."""

from typing import Any

import altair as alt
import numpy as np

from thalweg.evaluation.digest import Curve
from thalweg.evaluation.study import Recent, Study
from thalweg.report.charts.lines import (
    HEIGHT,
    IN_TOOLTIP,
    NUMBER,
    Figure,
    by_name,
    called,
    hover,
    legend,
    round_axis,
    shown_by_legend,
    table,
)

BROAD = 4.5
"""Pixels of the line of what was observed, beneath one that may be just there."""
NAMES = FORECAST, OBSERVED = "Tracker's forecast", "observed"


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
    line = called(wide, OBSERVED).mark_line(style="observed")
    forecast = called(wide, FORECAST).mark_line(style="forecast")
    names = {"forecast": FORECAST, "mean": OBSERVED, "low": "least", "high": "largest"}
    tooltip = [
        alt.Tooltip(f"{field}:Q", title=name, format=IN_TOOLTIP)
        for field, name in names.items()
    ]
    pair = _pair(line.encode(x=x, y="mean:Q"), forecast.encode(x=x, y="forecast:Q"))
    chart = alt.layer(band, *pair, hover(wide, seen.at, tooltip)).properties(
        width="container",
        height=HEIGHT,
        description=f"{study.target} over {study.rounds} rounds, and its forecast.",
    )
    caption = (
        f"Grey: {study.target} as it was observed. Blue: what the Tracker said of it "
        f"before.{_width(seen)}"
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
        .scale(zero=False, padding=BROAD)  # lest a peak be cut at the frame
        .axis(labelExpr=NUMBER, tickCount=5)
    )
    seen = called(wide, OBSERVED).mark_line(
        style="observed", strokeWidth=BROAD, strokeOpacity=0.5
    )
    said = called(wide, FORECAST).mark_line(style="forecast")
    tooltip = [
        alt.Tooltip(f"{field}:Q", title=name, format=IN_TOOLTIP)
        for field, name in (("forecast", FORECAST), ("observed", OBSERVED))
    ]
    every = np.arange(1, count + 1)  # a pointer finds each round
    pair = _pair(seen.encode(x=x, y=y), said.encode(x=x, y="forecast:Q"))
    chart = alt.layer(*pair, hover(wide, every, tooltip)).properties(
        width="container",
        height=HEIGHT,
        description=f"The last {count} rounds of {study.target}, and their forecasts.",
    )
    caption = (
        f"Grey: {study.target} as it was observed. Blue: what the Tracker said of it "
        f"before. Here every round is drawn, the last {count} of {study.rounds:,}."
    )
    return Figure("recent", "The last rounds, one by one", caption, chart)


def _pair(observed: Any, forecast: Any) -> tuple[Any, Any]:
    """Both in their colours, with a legend to hide and show them."""
    shown = shown_by_legend(NAMES)
    looks = {
        "color": by_name(NAMES, legend(NAMES)),
        "opacity": alt.condition(shown, alt.value(1), alt.value(0)),
    }
    return observed.encode(**looks).add_params(shown), forecast.encode(**looks)


def _width(curve: Curve) -> str:
    width = int(curve.at[0])
    if width == 1:
        return ""
    return (
        f" Each dot of a line is a mean over {width:,} rounds; the grey band reaches "
        "from the least to the largest value among them."
    )
