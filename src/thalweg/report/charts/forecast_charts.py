"""Charts of a forecast: the next values after the last ones, and errors by step."""

from typing import Any

import altair as alt
import numpy as np

from thalweg.evaluation.forecast_result import ForecastResult
from thalweg.report.charts.chart_elements import (
    HEIGHT,
    MAX_LINES,
    NUMBER_LABEL,
    TOOLTIP_FORMAT,
    Y_HIGH,
    Y_LOW,
    Figure,
    RowAxis,
    base_chart,
    hover_rule,
    layer_charts,
    name_colours,
    set_name,
    top_legend,
    value_axis,
)
from thalweg.report.charts.theme import DASHES
from thalweg.report.number_text import format_level, format_percent

NAMES = FORECAST, OBSERVED, EARLIER = (
    "forecast", "actual value", "forecast made before these values",
)  # fmt: skip
MAX_HISTORY = 300
"""Values before the forecast that are drawn at most."""
HISTORY_PER_STEP = 4
"""Number of rows drawn before the horizon, in horizons, if there are as many."""
MIN_HISTORY = 60
PADDING = 0.05
"""Space above and below values and bands, as a part of their range."""


def forecast_figure(result: ForecastResult) -> Figure:
    """The last values, the forecast with its band, and one that was made before."""
    rows = _rows(result)
    axis, columns = _row_axis(result, rows), _chart_columns(result)
    wide = base_chart({**axis.columns(rows), **columns})
    x, y = axis.x(), value_axis(result.target)
    shown = NAMES if _has_past(result) else NAMES[:2]
    colour = name_colours(NAMES, top_legend(shown))
    layers = [
        _area(wide, "range", x, y("past_low"), "past_high:Q"),
        _area(wide, "band", x, y("low"), "high:Q"),
        _line(wide, OBSERVED, style="observed").encode(
            x=x, y=y("observed"), color=colour
        ),
        _line(wide, EARLIER, strokeDash=[4, 3], strokeWidth=1.3).encode(
            x=x, y=y("past"), color=colour
        ),
        _line(wide, FORECAST, style="tracker").encode(x=x, y=y("ahead"), color=colour),
        hover_rule(
            wide, np.arange(1, len(rows) + 1), _tooltips(result), axis, int(rows[0])
        ),
    ]
    params = [*axis.params(int(rows[0])), *_y_params(columns)]
    chart = layer_charts(wide, layers).add_params(*params)
    chart = chart.properties(
        width="container",
        height=HEIGHT + 40,
        description=f"The last values of {result.target} and {_next_values(result)}, "
        f"with bands.",
        usermeta=axis.zoom_meta("least", "largest"),
    )
    caption = (
        f"Grey: {result.target} as it came. Blue: {_next_values(result)}, "
        f"with {_band_text(result)}.{_past_note(result)} Drag across the chart to zoom "
        f"in; a double click shows everything again."
    )
    return Figure("forecast", f"The next values of {result.target}", caption, chart)


def _next_values(result: ForecastResult) -> str:
    steps = result.horizon
    return "the next value" if steps == 1 else f"the next {steps:,} values"


def _band_text(result: ForecastResult) -> str:
    """What the band holds: the aim, and what it held where that is clearly less."""
    level = format_level(result.forecast.level)
    if not result.has_narrow_bands:
        return f"a band that holds {level} of them"
    held = format_percent(result.mean_coverage)
    return f"a band that was to hold {level} of them and held {held} in the backtest"


def _has_past(result: ForecastResult) -> bool:
    """Whether a forecast that was made before the last values is drawn."""
    return result.past is not None and _history_length(result) > result.horizon


def _past_note(result: ForecastResult) -> str:
    """What the dashed line is, where there is one."""
    if not _has_past(result):
        return ""
    before = result.horizon - 1
    rows = "1 row" if before == 1 else f"{before:,} rows"
    return (
        f" Dashed, with a grey band: the forecast made {rows} before the last one, to "
        f"compare."
    )


def step_error_figure(result: ForecastResult) -> Figure:
    """The error of each step ahead, beside those of forecasts without a model."""
    methods = (result.own, *result.naive)[:MAX_LINES]
    names = [method.name for method in methods]
    columns = {f"m{k}": m.by_step.mean_absolute for k, m in enumerate(methods)}
    wide = base_chart({"step": result.steps, **columns})
    x = alt.X("step:Q", title="rows ahead").axis(tickMinStep=1, grid=False)
    y = alt.Y("m0:Q", title="typical error").scale(zero=True)
    y = y.axis(labelExpr=NUMBER_LABEL, tickCount=5)
    colour = name_colours(names, top_legend(names))
    lines = [
        set_name(wide, name)
        .mark_line(
            strokeDash=DASHES[k], strokeWidth=2.6 if k == 0 else 1.7,
            point=len(result.steps) == 1,
        )
        .encode(x=x, y=y if k == 0 else f"m{k}:Q", color=colour)
        for k, name in enumerate(names)
    ]  # fmt: skip
    tooltip = [alt.Tooltip("step:Q", title="rows ahead")] + [
        alt.Tooltip(f"m{k}:Q", title=name, format=TOOLTIP_FORMAT)
        for k, name in enumerate(names)
    ]
    chart = alt.layer(*lines, _nearest_rule(wide, "step:Q", tooltip)).properties(
        width="container",
        height=HEIGHT,
        description="Errors by the number of rows ahead.",
    )
    caption = (
        "How far forecasts missed, by how many rows ahead they were made: the mean "
        "absolute error over all rows of the past, lower is better. Seasonal naive "
        "repeats the value one season before; the seasonal mean is that of all values "
        f"at the same position of the season.{_method_note(result)}"
    )
    return Figure("steps", "Error by rows ahead", caption, chart)


def _method_note(result: ForecastResult) -> str:
    """What each method with a season does, in plain words."""
    named = [one for one in result.naive if one.name != "last value"]
    words = "; ".join(f"{one.name} is {one.description}" for one in named)
    return f" Here {words}." if words else ""


def _chart_columns(result: ForecastResult) -> dict[str, Any]:
    """The columns of the chart: history first, then the steps of the forecast."""
    steps, history = result.horizon, _history_length(result)
    nothing_ahead, nothing_before = np.full(steps, np.nan), np.full(history, np.nan)
    past = {name: nothing_before.copy() for name in ("past", "past_low", "past_high")}
    if result.past is not None and _has_past(result):
        # Its origin is the first of the last H rows, so that its last step is to come.
        at = history - steps + result.past.steps
        for name, values in zip(past, result.past[1:], strict=True):
            past[name][at[at < history]] = values[at < history]
    ahead = result.forecast
    observed = result.tail[len(result.tail) - history :]
    # The forecast's line begins at the last value, so that there is no gap.
    joint = nothing_before.copy()
    joint[-1:] = observed[-1:]
    joined = {
        name: np.concatenate([joint, values])
        for name, values in (
            ("ahead", ahead.mean), ("low", ahead.low), ("high", ahead.high),
        )
    }  # fmt: skip
    columns = {
        "observed": np.concatenate([observed, nothing_ahead]),
        **joined,
        **{name: np.concatenate([v, nothing_ahead]) for name, v in past.items()},
    }
    stacked = np.stack(list(columns.values()))
    known = np.where(np.isfinite(stacked), stacked, np.nan)
    least, largest = np.fmin.reduce(known), np.fmax.reduce(known)
    return columns | {"least": least, "largest": largest}


def _history_length(result: ForecastResult) -> int:
    wanted = max(HISTORY_PER_STEP * result.horizon, MIN_HISTORY)
    return min(len(result.tail), max(wanted, 2 * result.seasons[0]), MAX_HISTORY)


def _rows(result: ForecastResult) -> Any:
    """The numbers of the rows of the chart, those of the forecast last."""
    history = _history_length(result)
    last = max(result.rows, history)
    return np.arange(last - history + 1, last + result.horizon + 1)


def _row_axis(result: ForecastResult, rows: Any) -> RowAxis:
    """An axis of dates where rows have them, else of their numbers."""
    times, before = result.times, result.tail_times
    if times is None or before is None or times.dtype.kind != "M":
        return RowAxis.from_rows(rows)
    both = np.concatenate([before[len(before) - _history_length(result) :], times])
    seconds = both.astype("datetime64[ns]").astype(np.int64) / 1e9
    return RowAxis(int(rows[-1]), rows.astype(np.float64), seconds)


def _y_params(columns: dict[str, Any]) -> list[Any]:
    """The ends of the y axis: all values and bands, and some space around them."""
    low, high = float(np.nanmin(columns["least"])), float(np.nanmax(columns["largest"]))
    space = PADDING * (high - low) or abs(low) or 1.0
    ends = {Y_LOW: low - space, Y_HIGH: high + space}
    return [alt.param(name=name, value=value) for name, value in ends.items()]


def _area(wide: Any, style: str, x: Any, low: Any, high: str) -> Any:
    return wide.mark_area(style=style, clip=True).encode(x=x, y=low, y2=high)


def _line(wide: Any, name: str, **mark: Any) -> Any:
    return set_name(wide, name).mark_line(clip=True, **mark)


def _tooltips(result: ForecastResult) -> list[Any]:
    titles = {"observed": OBSERVED, "ahead": FORECAST, "low": "low", "high": "high"}
    titles |= {"past": EARLIER}
    return [
        alt.Tooltip(f"{name}:Q", title=title, format=TOOLTIP_FORMAT)
        for name, title in titles.items()
    ]


def _nearest_rule(wide: Any, x: str, tooltip: list[Any]) -> Any:
    """A vertical rule at the place under the pointer, with its tooltip."""
    nearest = alt.selection_point(
        name="near", nearest=True, on="pointermove", clear="pointerout",
        encodings=["x"], empty=False,
    )  # fmt: skip
    opacity = alt.condition(nearest, alt.value(0.7), alt.value(0))
    return (
        wide.mark_rule(style="hover", aria=False)
        .encode(x=x, opacity=opacity, tooltip=tooltip)
        .add_params(nearest)
    )
