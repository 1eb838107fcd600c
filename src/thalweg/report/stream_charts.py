"""The stream itself, and the Tracker's forecast of it."""

from typing import Any

import altair as alt
import numpy as np

from thalweg.evaluation.downsampling import Curve
from thalweg.evaluation.study import LastRounds, Study
from thalweg.report.chart_elements import (
    HEIGHT,
    NUMBER_LABEL,
    TOOLTIP_FORMAT,
    Figure,
    base_chart,
    hover_rule,
    legend_selection,
    name_colours,
    row_axis,
    set_name,
    top_legend,
)

OBSERVED_WIDTH = 4.5
"""Pixels of the line of observed values: the forecast on top may coincide with it."""
NAMES = FORECAST, OBSERVED = "Tracker's forecast", "observed"


def stream_figure(study: Study) -> Figure:
    """The observed values with their extremes, and the forecast of them."""
    observed, forecast = study.observed, study.forecast
    wide = base_chart(
        {
            "row": observed.last_round,
            "mean": observed.mean,
            "low": observed.low,
            "high": observed.high,
            "forecast": forecast.mean,
        }
    )
    y = (
        alt.Y("low:Q", title=study.target)
        .scale(zero=False)
        .axis(labelExpr=NUMBER_LABEL, tickCount=5)
    )
    x = row_axis(observed.last_round)
    band = wide.mark_area(style="range").encode(x=x, y=y, y2="high:Q")
    lines = _colour_by_name(
        set_name(wide, OBSERVED).mark_line(style="observed").encode(x=x, y="mean:Q"),
        set_name(wide, FORECAST)
        .mark_line(style="forecast")
        .encode(x=x, y="forecast:Q"),
    )
    titles = {"forecast": FORECAST, "mean": OBSERVED, "low": "least", "high": "largest"}
    tooltip = [
        alt.Tooltip(f"{field}:Q", title=title, format=TOOLTIP_FORMAT)
        for field, title in titles.items()
    ]
    chart = alt.layer(
        band, *lines, hover_rule(wide, observed.last_round, tooltip)
    ).properties(
        width="container",
        height=HEIGHT,
        description=f"{study.target} over {study.rounds} rows, and its forecast.",
    )
    caption = (
        f"Grey: {study.target} as it was observed. Blue: the Tracker's forecast, made "
        f"before the value was known.{_bucket_note(observed)}"
    )
    return Figure("stream", "The stream and its forecast", caption, chart)


def recent_rows_figure(study: Study, recent: LastRounds) -> Figure:
    """The last rows one by one, as means over many rows hide the errors."""
    count = len(recent.observed)
    rows = np.arange(recent.last_round - count + 1, recent.last_round + 1)
    wide = base_chart(
        {"row": rows, "observed": recent.observed, "forecast": recent.forecast}
    )
    x = row_axis(rows, int(rows[0]))
    y = (
        alt.Y("observed:Q", title=study.target)
        .scale(zero=False, padding=OBSERVED_WIDTH)  # so that no peak is clipped
        .axis(labelExpr=NUMBER_LABEL, tickCount=5)
    )
    observed = set_name(wide, OBSERVED).mark_line(
        style="observed", strokeWidth=OBSERVED_WIDTH, strokeOpacity=0.5
    )
    forecast = set_name(wide, FORECAST).mark_line(style="forecast")
    tooltip = [
        alt.Tooltip(f"{field}:Q", title=title, format=TOOLTIP_FORMAT)
        for field, title in (("forecast", FORECAST), ("observed", OBSERVED))
    ]
    lines = _colour_by_name(
        observed.encode(x=x, y=y), forecast.encode(x=x, y="forecast:Q")
    )
    every_row = np.arange(1, count + 1)  # each row has a tooltip
    chart = alt.layer(*lines, hover_rule(wide, every_row, tooltip)).properties(
        width="container",
        height=HEIGHT,
        description=f"The last {count} rows of {study.target}, and their forecasts.",
    )
    caption = (
        f"Grey: {study.target} as it was observed. Blue: the Tracker's forecast, made "
        f"before the value was known. Each of the last {count} of {study.rounds:,} "
        f"rows is drawn."
    )
    return Figure("recent", "The last rows, one by one", caption, chart)


def _colour_by_name(observed: Any, forecast: Any) -> tuple[Any, Any]:
    """Both lines in their colours, with a legend that hides and shows them."""
    selection = legend_selection(NAMES)
    channels = {
        "color": name_colours(NAMES, top_legend(NAMES)),
        "opacity": alt.condition(selection, alt.value(1), alt.value(0)),
    }
    return (
        observed.encode(**channels).add_params(selection),
        forecast.encode(**channels),
    )


def _bucket_note(curve: Curve) -> str:
    """How many rows a point of the line stands for, where it is more than one."""
    width = int(curve.last_round[0])
    if width == 1:
        return ""
    return (
        f" Each point of a line is a mean over {width:,} rows; the grey band reaches "
        "from the least to the largest value among them."
    )
