"""The stream itself, and its forecast with prediction bands."""

from typing import Any

import altair as alt
import numpy as np

from thalweg.evaluation.downsampling import Curve
from thalweg.evaluation.study import LastRounds, Study
from thalweg.report.charts.chart_elements import (
    HEIGHT,
    TOOLTIP_FORMAT,
    Y_HIGH,
    Y_LOW,
    Figure,
    RowAxis,
    base_chart,
    hover_rule,
    layer_charts,
    legend_selection,
    name_colours,
    set_name,
    top_legend,
    value_axis,
)
from thalweg.report.number_text import format_count, format_percent

OBSERVED_WIDTH = 4.5
"""Pixels of the line of observed values: the forecast on top may coincide with it."""
NAMES = FORECAST, OBSERVED = "forecast", "actual value"
PADDING = 0.12
"""Space above and below the values, as a part of their range: bands are wider."""
MAX_FLAGS = 40
"""Changes that are marked in the chart of the stream, the newest."""
ZOOM_HINT = (
    " Drag across the chart to zoom in, or move the window in the strip below it; a "
    "double click shows everything again."
)


def stream_figure(study: Study) -> Figure:
    """The values with their extremes, the forecast, its band, and abrupt changes."""
    observed, axis = study.observed, RowAxis.from_study(study)
    is_blind = before_any_value(study)
    columns = {
        "mean": observed.mean,
        "low": observed.low,
        "high": observed.high,
        "forecast": np.where(is_blind, np.nan, study.forecast.mean),
    }
    if study.bands is not None:
        low, high = study.bands.low.mean, study.bands.high.mean
        columns["from"] = np.where(is_blind, np.nan, low)
        columns["to"] = np.where(is_blind, np.nan, high)
    wide = base_chart({**axis.columns(observed.last_round), **columns})
    x, y = axis.x(), value_axis(study.target)
    layers = []
    if study.bands is not None:
        band = wide.mark_area(style="band", clip=True)
        layers.append(band.encode(x=x, y=y("from"), y2="to:Q"))
    if observed.last_round[0] > 1:
        extremes = wide.mark_area(style="range", clip=True)
        layers.append(extremes.encode(x=x, y=y("low"), y2="high:Q"))
    layers += _lines(wide, x, y, ("mean", "forecast"), 1.2)
    tooltip = _tooltips(columns, observed.last_round[0] > 1)
    layers.append(hover_rule(wide, observed.last_round, tooltip, axis))
    layers += _flags(study, axis)
    chart = layer_charts(wide, layers)
    chart = chart.add_params(*axis.params(), *_y_params(observed)).properties(
        width="container",
        height=HEIGHT + 40,
        description=f"{study.target} over {study.rounds:,} rows, its forecast and the "
        "band around it.",
        usermeta=axis.zoom_meta("low", "high") | {"strip": "mean"},
    )
    caption = (
        f"Grey: {study.target} as it came. Blue: the forecast of it, made before the "
        f"value was known.{_band_note(study)}{_flag_note(study)}"
        f"{_bucket_note(observed)}{ZOOM_HINT}"
    )
    return Figure("stream", "Forecast and actual values", caption, chart)


def before_any_value(study: Study) -> Any:
    """The buckets whose forecasts, or some of them, were made before any value was
    known, or before any error was: they say 0, whatever the values are."""
    known = np.isfinite(study.observed.mean)
    bands = study.bands
    if bands is not None and np.isfinite(bands.low.mean).any():
        # The first row that has a band comes after the first value that was learnt.
        has_band = np.isfinite(bands.low.mean)
        first = max(int(known.argmax()), int(has_band.argmax()) - 1)
    else:
        first = int(known.argmax())
    return np.arange(len(known)) <= first


def recent_rows_figure(study: Study, recent: LastRounds) -> Figure:
    """The last rows one by one, as means over many rows hide the errors."""
    count = len(recent.observed)
    rows = np.arange(recent.last_round - count + 1, recent.last_round + 1)
    axis = RowAxis.from_times(rows, recent.time)
    columns = {"observed": recent.observed, "forecast": recent.forecast}
    has_band = recent.low is not None and bool(np.isfinite(recent.low).any())
    if recent.low is not None and recent.high is not None and has_band:
        columns |= {"from": recent.low, "to": recent.high}
    wide = base_chart({**axis.columns(rows), **columns})
    x, y = axis.x(), value_axis(study.target)
    layers = []
    if has_band:
        band = wide.mark_area(style="band", clip=True)
        layers.append(band.encode(x=x, y=y("from"), y2="to:Q"))
    layers += _lines(wide, x, y, ("observed", "forecast"), OBSERVED_WIDTH)
    tooltip = _tooltips(columns, False)
    every_row = np.arange(1, count + 1)  # each row has a tooltip
    layers.append(hover_rule(wide, every_row, tooltip, axis, int(rows[0])))
    extremes = Curve(rows, recent.observed, recent.observed, recent.observed)
    chart = alt.layer(*layers)
    chart = chart.add_params(*axis.params(int(rows[0])), *_y_params(extremes))
    chart = chart.properties(
        width="container",
        height=HEIGHT,
        description=f"The last {count} rows of {study.target}, and their forecasts.",
    )
    caption = (
        f"Each of the last {count} of {format_count(study.rounds)} rows. Grey: "
        f"{study.target} as it came. Blue: the forecast, made before the value was "
        f"known.{_band_note(study) if has_band else ''}"
    )
    return Figure("recent", "The last rows, one by one", caption, chart)


def _lines(
    wide: Any, x: Any, y: Any, fields: tuple[str, str], observed_width: float
) -> list[Any]:
    """Both lines in their colours, with a legend that hides and shows them."""
    selection = legend_selection(NAMES)
    channels = {
        "x": x,
        "color": name_colours(NAMES, top_legend(NAMES)),
        "opacity": alt.condition(selection, alt.value(1), alt.value(0)),
    }
    soft = 0.5 if observed_width > 2 else 1.0
    observed = set_name(wide, OBSERVED).mark_line(
        style="observed", strokeWidth=observed_width, strokeOpacity=soft, clip=True
    )
    forecast = set_name(wide, FORECAST).mark_line(style="forecast", clip=True)
    return [
        observed.encode(y=y(fields[0]), **channels).add_params(selection),
        forecast.encode(y=y(fields[1]), **channels),
    ]


def _flags(study: Study, axis: RowAxis) -> list[Any]:
    """A mark at the upper edge for each of the last abrupt changes."""
    history = study.history
    if history is None or not history.alarms:
        return []
    rows = np.array([one.onset for one in history.alarms[-MAX_FLAGS:]], int)
    flags = base_chart(axis.columns(rows)).mark_point(
        style="flag", shape="triangle-down", size=60, clip=True
    )
    titles = axis.tooltips()
    titles[0].title = "abrupt change"
    return [flags.encode(x=axis.x(), y=alt.value(5), tooltip=titles)]


def _y_params(observed: Curve) -> list[Any]:
    """The ends of the y axis: the values, and some space around them."""
    low, high = float(np.nanmin(observed.low)), float(np.nanmax(observed.high))
    space = PADDING * (high - low) or abs(low) or 1.0
    return [
        alt.param(name=Y_LOW, value=low - space),
        alt.param(name=Y_HIGH, value=high + space),
    ]


def _tooltips(columns: dict[str, Any], has_extremes: bool) -> list[Any]:
    titles = {"forecast": FORECAST, "mean": OBSERVED, "observed": OBSERVED}
    titles |= {"from": "band from", "to": "band to"}
    if has_extremes:
        titles |= {"low": "least", "high": "largest"}
    return [
        alt.Tooltip(f"{field}:Q", title=title, format=TOOLTIP_FORMAT)
        for field, title in titles.items()
        if field in columns
    ]


def _band_note(study: Study) -> str:
    if study.bands is None:
        return ""
    part = format_percent(study.bands.nominal)
    return f" The light blue band around a forecast should hold {part} of all values."


def _flag_note(study: Study) -> str:
    has_flags = study.history is not None and study.history.alarms
    return " Red triangles: where something changed." if has_flags else ""


def _bucket_note(curve: Curve) -> str:
    """How many rows a point of the line stands for, where it is more than one."""
    width = int(curve.last_round[0])
    if width == 1:
        return ""
    return (
        f" Each point is a mean over {width:,} rows; the grey area reaches from the "
        "least to the largest value among them."
    )
