"""Charts whose rows come while the page is open: forecasts with bands, and the memory.

Their data have names instead of values: a script gives them rows (``ROWS``) and changes
(``CHANGES``), and sets the signals of both ends of the axes.
"""

from typing import Any

import altair as alt
import numpy as np

from thalweg.report.charts.chart_elements import (
    HEIGHT,
    NUMBER_LABEL,
    TOOLTIP_FORMAT,
    Y_HIGH,
    Y_LOW,
    Figure,
    RowAxis,
    hover_rule,
    name_colours,
    set_name,
    top_legend,
)

MAX_ROWS = 300
"""Rows that are drawn at most, the newest."""
ROWS, CHANGES = "rows", "changes"
"""The names of the data: {row, y, forecast, low, high, memory}, and {row, text}."""
MEMORY_HIGH = "memory_high"
"""The signals of the ends of the y axes; those of the x axis are RowAxis's."""
FORECAST, OBSERVED, MEMORY = "forecast", "actual value", "past rows that count"
CHANGE = "abrupt change"
STREAM_NAMES = (FORECAST, OBSERVED, CHANGE)
MEMORY_NAMES = (MEMORY, "", CHANGE)
"""Changes take the theme's third colour, the nearest to red."""


def live_stream_figure() -> Figure:
    """Each row as it comes, its forecast with the band, and changes."""
    axis, wide = RowAxis.from_rows(np.arange(1, MAX_ROWS + 1)), _chart_of(ROWS)
    x = axis.x()
    scale = alt.Scale(
        zero=False, nice=False, domain=[alt.expr(Y_LOW), alt.expr(Y_HIGH)]
    )
    colour = name_colours(STREAM_NAMES, top_legend(STREAM_NAMES))

    def y(column: str) -> Any:
        channel = alt.Y(f"{column}:Q", title="value").scale(scale)
        return channel.axis(labelExpr=NUMBER_LABEL, tickCount=5)

    layers = [
        wide.mark_area(style="band", clip=True).encode(x=x, y=y("low"), y2="high:Q"),
        set_name(wide, OBSERVED)
        .mark_line(style="observed", strokeWidth=4.5, strokeOpacity=0.5, clip=True)
        .encode(x=x, y=y("y"), color=colour),
        set_name(wide, FORECAST)
        .mark_line(style="forecast", clip=True)
        .encode(x=x, y=y("forecast"), color=colour),
        *_change_marks(axis, colour),
        _hover(wide, axis, {"y": OBSERVED, "forecast": FORECAST, "low": "low",
                            "high": "high"}),
    ]  # fmt: skip
    params = [*axis.params(), _signal(Y_LOW, 0.0), _signal(Y_HIGH, 1.0)]
    chart = alt.layer(*layers).add_params(*params)
    chart = chart.properties(
        width="container",
        height=HEIGHT + 40,
        description="The last rows as they come, their forecasts and bands.",
    )
    caption = (
        "Grey: the values as they come. Blue: the forecast of each, made before the "
        "value was known, with a band that is to hold 90 % of the values. The band "
        "begins with the first row that came while this page was open."
    )
    return Figure("stream", "Forecast and actual values", caption, chart)


def live_memory_figure() -> Figure:
    """The effective memory of a Tracker, row by row, and changes."""
    axis, wide = RowAxis.from_rows(np.arange(1, MAX_ROWS + 1)), _chart_of(ROWS)
    x = axis.x()
    scale = alt.Scale(type="log", domain=[1, alt.expr(MEMORY_HIGH)])
    y = alt.Y("memory:Q", title=MEMORY).scale(scale)
    y = y.axis(labelExpr=NUMBER_LABEL, tickCount=4)
    colour = name_colours(MEMORY_NAMES, top_legend((MEMORY, CHANGE)))
    layers = [
        set_name(wide, MEMORY)
        .mark_line(style="tracker", clip=True)
        .encode(x=x, y=y, color=colour),
        *_change_marks(axis, colour),
        _hover(wide, axis, {"memory": MEMORY}),
    ]
    params = [*axis.params(), _signal(MEMORY_HIGH, 100.0)]
    chart = alt.layer(*layers).add_params(*params)
    chart = chart.properties(
        width="container",
        height=HEIGHT - 60,
        description="Effective memory over the last rows.",
    )
    caption = (
        "How many past rows count in a forecast, of a Tracker. The memory grows while "
        "the stream stays the same and falls when it changes."
    )
    return Figure("memory", "How far back the forecast looks", caption, chart)


def _chart_of(name: str) -> Any:
    return alt.Chart(alt.NamedData(name=name))


def _signal(name: str, value: float) -> Any:
    return alt.param(name=name, value=value)


def _change_marks(axis: RowAxis, colour: Any) -> list[Any]:
    """A dashed line for each change, and a mark with its words at the upper edge."""
    changes, x = set_name(_chart_of(CHANGES), CHANGE), axis.x()
    words = alt.Tooltip("text:N", title="change")
    flag = {"style": "flag", "shape": "triangle-down", "size": 60, "clip": True}
    return [
        changes.mark_rule(style="alarm", clip=True).encode(x=x, color=colour),
        changes.mark_point(**flag).encode(
            x=x, y=alt.value(5), color=colour, tooltip=[*axis.tooltips(), words]
        ),
    ]


def _hover(wide: Any, axis: RowAxis, titles: dict[str, str]) -> Any:
    tooltip = [
        alt.Tooltip(f"{field}:Q", title=title, format=TOOLTIP_FORMAT)
        for field, title in titles.items()
    ]
    return hover_rule(wide, np.arange(1, MAX_ROWS + 1), tooltip, axis)
