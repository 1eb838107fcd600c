"""Charts of a forecast: the next values after the last ones, and errors by step."""

from typing import Any

import altair as alt
import numpy as np

from thalweg.evaluation.forecast_result import ForecastResult
from thalweg.report.chart_elements import (
    HEIGHT,
    MAX_LINES,
    NUMBER_LABEL,
    TOOLTIP_FORMAT,
    Figure,
    base_chart,
    name_colours,
    set_name,
    top_legend,
)
from thalweg.report.theme import DASHES

NAMES = FORECAST, OBSERVED, EARLIER = (
    "forecast", "observed", "forecast made before these values",
)  # fmt: skip
MAX_HISTORY = 300
"""Values before the forecast that are drawn at most."""
HISTORY_PER_STEP = 4
"""So many times the horizon is drawn before it, if there is that much."""
MIN_HISTORY = 60


def forecast_figure(result: ForecastResult) -> Figure:
    """The last values, the forecast with its band, and the one made a horizon ago."""
    wide = base_chart(_chart_columns(result))
    x = _time_axis(result)
    y = (
        alt.Y("observed:Q", title=result.target)
        .scale(zero=False)
        .axis(labelExpr=NUMBER_LABEL, tickCount=5)
    )
    colour = name_colours(NAMES, top_legend(NAMES))
    layers = [
        wide.mark_area(style="range", clip=True).encode(
            x=x, y=alt.Y("past_low:Q"), y2="past_high:Q"
        ),
        wide.mark_area(style="band", clip=True).encode(
            x=x, y=alt.Y("low:Q"), y2="high:Q"
        ),
        set_name(wide, OBSERVED)
        .mark_line(style="observed", clip=True)
        .encode(x=x, y=y, color=colour),
        set_name(wide, EARLIER)
        .mark_line(strokeDash=[4, 3], strokeWidth=1.3, clip=True)
        .encode(x=x, y="past:Q", color=colour),
        set_name(wide, FORECAST)
        .mark_line(style="tracker", clip=True)
        .encode(x=x, y="ahead:Q", color=colour),
        _hover_rule(wide, result),
    ]
    zoom = alt.selection_interval(name="zoom", bind="scales", encodings=["x"])
    layers[2] = layers[2].add_params(zoom)
    chart = alt.layer(*layers).properties(
        width="container",
        height=HEIGHT,
        description=f"The last values of {result.target} and the next "
        f"{result.horizon}, with bands.",
    )
    level = f"{100 * result.forecast.level:g} %"
    caption = (
        f"Grey: {result.target} as it was observed. Blue: the next {result.horizon:,} "
        f"values, with a band that holds {level} of them. Dashed: the forecast made "
        f"{result.horizon:,} rows before the last one, to compare with what came. "
        f"Scroll or drag to zoom."
    )
    return Figure("forecast", f"The next values of {result.target}", caption, chart)


def step_error_figure(result: ForecastResult) -> Figure:
    """The error of each step ahead, beside those of forecasts without a model."""
    methods = (result.own, *result.naive)[:MAX_LINES]
    names = [method.name for method in methods]
    columns = {f"m{k}": m.by_step.root_mean_square for k, m in enumerate(methods)}
    wide = base_chart({"step": result.steps, **columns})
    x = alt.X("step:Q", title="rows ahead").axis(tickMinStep=1, grid=False)
    y = alt.Y("m0:Q", title="root mean squared error").scale(zero=True)
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
        "How far forecasts missed, by how many rows ahead they were made: the root "
        "mean squared error over all rows of the past, lower is better. Seasonal naive "
        "repeats the value one season before."
    )
    return Figure("steps", "Error by rows ahead", caption, chart)


def _chart_columns(result: ForecastResult) -> dict[str, Any]:
    """The columns of the chart: history first, then the steps of the forecast."""
    steps, history = result.horizon, _history_length(result)
    nothing_ahead, nothing_before = np.full(steps, np.nan), np.full(history, np.nan)
    past = {name: nothing_before.copy() for name in ("past", "past_low", "past_high")}
    if result.past is not None and history > steps:
        at = history - 1 - steps + result.past.steps
        for name, values in zip(past, result.past[1:], strict=True):
            past[name][at] = values
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
    return {
        "at": _places(result, history),
        "observed": np.concatenate([observed, nothing_ahead]),
        **joined,
        **{name: np.concatenate([v, nothing_ahead]) for name, v in past.items()},
    }


def _history_length(result: ForecastResult) -> int:
    wanted = max(HISTORY_PER_STEP * result.horizon, MIN_HISTORY)
    return min(len(result.tail), max(wanted, 2 * result.seasons[0]), MAX_HISTORY)


def _places(result: ForecastResult, history: int) -> Any:
    """Where values are on the axis: milliseconds since 1970, numbers or rows."""
    if result.times is None or result.tail_times is None:
        last = result.rows
        return np.arange(last - history + 1, last + result.horizon + 1)
    both = np.concatenate([result.tail_times[-history:], result.times])
    if both.dtype.kind != "M":
        return [float(f"{value:.12g}") for value in both.tolist()]
    return both.astype("datetime64[ms]").astype(np.int64)


def _is_timed(result: ForecastResult) -> bool:
    times, before = result.times, result.tail_times
    return times is not None and before is not None and times.dtype.kind == "M"


def _time_axis(result: ForecastResult) -> Any:
    """An axis of dates, of the file's numbers, or of rows."""
    if _is_timed(result):
        scale = alt.Scale(type="utc", nice=False)
        ticks = alt.expr("ceil(width / 90)")
        return alt.X("at:T", title=None, scale=scale).axis(grid=False, tickCount=ticks)
    title = "row" if result.times is None else "time"
    return alt.X("at:Q", title=title).scale(zero=False, nice=False).axis(grid=False)


def _hover_rule(wide: Any, result: ForecastResult) -> Any:
    tooltip: list[Any] = [alt.Tooltip("at:Q", title="at")]
    if _is_timed(result):
        wide = wide.transform_calculate(
            place="utcFormat(datum.at, '%A, %-d %B %Y, %H:%M')"
        )
        tooltip = [alt.Tooltip("place:N", title="at")]
    titles = {"observed": OBSERVED, "ahead": FORECAST, "low": "low", "high": "high"}
    titles |= {"past": EARLIER}
    tooltip += [
        alt.Tooltip(f"{name}:Q", title=title, format=TOOLTIP_FORMAT)
        for name, title in titles.items()
    ]
    return _nearest_rule(wide, "at:T" if _is_timed(result) else "at:Q", tooltip)


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
