"""Elements that all charts share: data, line charts, axes, legends and tooltips."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from thalweg.report.charts.theme import DASHES, LABEL_LIMIT
from thalweg.report.section import Figure as Figure
from thalweg.report.time_text import TimeAxis, times_go_back
from thalweg.types import FloatArray

PIXELS_PER_TICK = 90
Y_LOW, Y_HIGH = "y_low", "y_high"
"""The signals for both ends of a y axis that follows what is visible."""
START, END = "window_start", "window_end"
"""The signals of a chart that can be zoomed: the rows or times at both of its ends."""
NUMBER_LABEL = (
    "format(datum.value, abs(datum.value) >= 1e15 ? '.3~e' : "
    "abs(datum.value) >= 1e6 ? '~s' : abs(datum.value) >= 1000 ? ',' : '~g')"
)
"""This shows 1500 as 1,500, two million as 2M, five billion as 5G and 0.001 as it is,
not as 1m. Beyond T, the last prefix that many readers know, there is an exponent."""
# Two lines for each tick: the second has the day or the year, where it is new.
_SPAN_DAYS = f"(({END} - {START}) / 86400000)"
_IS_FIRST = "datum.index == 0"
_IS_MIDNIGHT = "utcFormat(datum.value, '%H:%M') == '00:00'"
TIME_LABEL = (
    f"{_SPAN_DAYS} > 1500 && utcFormat(datum.value, '%m') == '01' ? "
    "utcFormat(datum.value, '%Y') : "
    f"{_SPAN_DAYS} > 60 ? [utcFormat(datum.value, '%-d') == '1' ? "
    "utcFormat(datum.value, '%b') : utcFormat(datum.value, '%-d %b'), "
    f"{_IS_FIRST} || utcFormat(datum.value, '%m') == '01' ? "
    "utcFormat(datum.value, '%Y') : ''] : "
    f"{_SPAN_DAYS} > 4 && {_IS_MIDNIGHT} ? [utcFormat(datum.value, '%-d %b'), "
    f"{_IS_FIRST} ? utcFormat(datum.value, '%Y') : ''] : "
    "[utcFormat(datum.value, '%H:%M'), "
    f"{_IS_FIRST} || {_IS_MIDNIGHT} ? utcFormat(datum.value, '%-d %b %Y') : '']"
)


@dataclass(frozen=True, eq=False)
class RowAxis(TimeAxis):
    """Positions of the rows 1 to ``rounds``: their times, if they have any.

    Times are drawn as the local clocks showed them, whatever the reader's time zone is.
    """

    @classmethod
    def from_rows(cls, rows: Any) -> "RowAxis":
        """The axis of rows that have no times."""
        return cls(int(rows[-1]), np.empty(0), np.empty(0))

    @classmethod
    def from_times(cls, rows: Any, seconds: FloatArray | None) -> "RowAxis":
        """The axis of consecutive rows, at their own times if all are known and in
        order."""
        if seconds is None or not np.isfinite(seconds).all():
            return cls.from_rows(rows)
        if times_go_back(seconds, seconds):
            return cls.from_rows(rows)
        return cls(int(rows[-1]), np.asarray(rows, np.float64), seconds)

    @property
    def field(self) -> str:
        """The column of the data that the x axis shows."""
        return "time" if self.has_times else "row"

    def columns(self, rows: Any, seconds: FloatArray | None = None) -> dict[str, Any]:
        """The columns of rows, and of their times in milliseconds if they have any."""
        if not self.has_times:
            return {"row": np.asarray(rows)}
        known = self.times(rows) if seconds is None else seconds
        milliseconds = np.round(1000 * known).astype(np.int64)
        return {"row": np.asarray(rows), "time": milliseconds}

    def limits(self, first: int, last: int) -> tuple[float, float]:
        """The positions of two rows on the axis."""
        if not self.has_times:
            return float(first), float(last)
        start, end = 1000 * self.times([first, last])
        return float(start), float(max(end, start + 1))

    def params(self, first: int = 1) -> list[Any]:
        """The signals of both ends of the axis, for ``add_params``."""
        ends = self.limits(first, max(self.rounds, first + 1))
        return [
            alt.param(name=name, value=value)
            for name, value in zip((START, END), ends, strict=True)
        ]

    def zoom_meta(self, *values: str) -> dict[str, Any]:
        """What the page needs to know to zoom a chart.

        ``values`` are the columns with the least and the largest values, if the y axis
        is to follow what is visible.
        """
        return {"zoom": {"x": self.field, "y": list(values)}}

    def x(self) -> Any:
        """The channel of the x axis; the chart needs ``params`` as well."""
        limits = [alt.expr(START), alt.expr(END)]
        ticks = alt.expr(f"ceil(width / {PIXELS_PER_TICK})")
        if not self.has_times:
            return (
                alt.X("row:Q", title="row")
                .scale(nice=False, zero=False, domain=limits)
                .axis(labelExpr=NUMBER_LABEL, tickCount=ticks, grid=False)
            )
        return (
            alt.X("time:T", title=None)
            .scale(type="utc", nice=False, domain=limits)
            .axis(labelExpr=TIME_LABEL, tickCount=ticks, grid=False)
        )

    def tooltips(self) -> list[Any]:
        """The lines of a tooltip that say which row it is of."""
        row = alt.Tooltip("row:Q", title="at row", format=",")
        if not self.has_times:
            return [row]
        format = "%-d %b %Y" if self.is_daily() else "%-d %b %Y, %H:%M"
        format = self.period_format() or format
        # A unit of UTC makes Vega-Lite write the time as UTC, not as the reader's.
        unit: Any = "utcyearmonthdatehoursminutes"
        time = alt.Tooltip("time:T", timeUnit=unit, format=format, title="time")
        return [time, row]


DIGITS = 6
"""Significant digits of the numbers in a page: more than any screen shows."""
MAX_LINES = len(DASHES)
MAX_TOOLTIP_ROWS = 300
"""Rows at which a pointer finds a tooltip: few enough for a phone."""
HEIGHT = 280
LETTER_WIDTH = 6.5
"""The approximate width of a letter in a legend, in pixels."""
AXIS_WIDTH = 60
"""The approximate width of the axis on the left, in pixels."""
VEGA_LITE = alt.SCHEMA_VERSION.lstrip("v").rpartition(".")[0]
"""The version of Vega-Lite that altair's charts use, as vl-convert names it."""
TOOLTIP_FORMAT = ",.4~r"
"""Four significant digits, without an exponent."""


def base_chart(columns: Mapping[str, Any]) -> Any:
    """A chart without marks whose data are these columns of equal length.

    The data are written as one row of lists, which the browser flattens: a third of
    the size of one object per row.
    """
    lists = {name: json_numbers(column) for name, column in columns.items()}
    chart = alt.Chart(alt.Data(values=[lists]))  # type: ignore[no-untyped-call]
    return chart.transform_flatten(list(lists))


def layer_charts(wide: Any, layers: Sequence[Any]) -> Any:
    """The layers as one chart, with the data of ``wide`` once for all that show it."""
    chart = alt.layer(*layers)
    if not isinstance(chart.data, alt.utils.schemapi.UndefinedType):
        return chart
    chart.data = wide.data
    for layer in chart.layer:
        if layer.data is wide.data:
            layer.data = alt.Undefined
    return chart


def json_numbers(column: Any) -> list[Any]:
    """The column for JSON: few digits, and null where a value is not finite."""
    values = np.asarray(column)
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [
        float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
        for value in values.tolist()
    ]


def line_chart(
    rows: Any, series: Mapping[str, Any], y: Any, description: str,
    stacked: bool = False, legend_names: Sequence[str] | None = None,
    axis: RowAxis | None = None,
) -> Any:  # fmt: skip
    """A line, or a stacked area, for each series over the rows; the first is thickest.

    One legend hides and shows the lines, one tooltip gives the values of all of them.
    Colours follow the position among all series; the legend shows ``legend_names``, or
    all. ``description`` is read out by screen readers. Without an ``axis`` the x axis
    shows the numbers of the rows.
    """
    axis = axis or RowAxis.from_rows(rows)
    keys = [f"s{k}" for k in range(len(series))]
    columns = dict(zip(keys, series.values(), strict=True))
    wide = base_chart({**axis.columns(rows), **columns})
    long = wide.transform_fold(keys, as_=["key", "value"]).transform_lookup(
        "key", from_=_name_lookup(keys, list(series))
    )
    selection = legend_selection(list(series))
    names = list(series)
    in_legend = names if legend_names is None else list(legend_names)
    marks = _area_marks(long, names) if stacked else _line_marks(long, names, in_legend)
    marks = marks.encode(
        x=axis.x(),
        y=y,
        opacity=alt.condition(selection, alt.value(1), alt.value(0)),
    ).add_params(selection)
    tooltip = [
        alt.Tooltip(f"{key}:Q", title=tooltip_title(name), format=TOOLTIP_FORMAT)
        for key, name in zip(keys, series, strict=True)
    ]
    chart = (marks + hover_rule(wide, rows, tooltip, axis)).add_params(*axis.params())
    return chart.properties(
        width="container",
        height=HEIGHT,
        description=description,
        usermeta=axis.zoom_meta(),
    )


def join_names(names: Sequence[str]) -> str:
    """Names for a caption, cut where they are long and counted where they are many."""
    if len(names) > 3:
        return f"{len(names)} learners"
    short = [name if len(name) <= 40 else f"{name[:39]}…" for name in names]
    return " and ".join([", ".join(short[:-1]), short[-1]] if short[1:] else short)


def tooltip_title(name: str) -> str:
    """The name, without what Vega-Lite puts unescaped into an expression."""
    printable = "".join(letter if letter.isprintable() else " " for letter in name)
    return printable.replace("\\", "⧵")


def hover_rule(
    wide: Any, rows: Any, tooltip: Sequence[Any], axis: RowAxis, first: int = 1
) -> Any:
    """A vertical rule at the row under the pointer, with the tooltip of that row.

    The chart needs the ``params`` of the axis: the fewer rows are visible, the more of
    them have a tooltip. ``first`` is the first row of the chart.
    """
    width, (start, end) = int(rows[0]), axis.limits(first, axis.rounds)
    visible = f"{len(rows)} * ({END} - {START}) / {max(end - start, 1.0):.6g}"
    step = f"{width} * max(1, ceil({visible} / {MAX_TOOLTIP_ROWS}))"
    nearest = alt.selection_point(
        name="near",
        nearest=True,
        on="pointermove",
        clear="pointerout",
        encodings=["x"],
        empty=False,
    )
    inside = f"datum.{axis.field} >= {START} && datum.{axis.field} <= {END}"
    return (
        wide.transform_filter(
            f"{inside} && (datum.row % ({step}) == 0 || datum.row == {rows[-1]})"
        )
        .mark_rule(style="hover", aria=False)
        .encode(
            x=axis.x(),
            opacity=alt.condition(nearest, alt.value(0.7), alt.value(0)),
            tooltip=[*axis.tooltips(), *tooltip],
        )
        .add_params(nearest)
    )


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high, the more per decade the fewer decades."""
    spread = math.log10(high / low)
    steps = (1, 1.5, 2, 3, 5, 7) if spread < 1 else (1, 2, 5) if spread < 2 else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{step}e{decade}") for decade in decades for step in steps]
    return [tick for tick in ticks if low <= tick <= high]


def top_legend(names: Sequence[str], symbol: str = "stroke", size: int = 420) -> Any:
    """A legend of these names above the chart, in as many columns as fit."""
    widest = min(LETTER_WIDTH * max(map(len, names)), LABEL_LIMIT) + 45
    # The width that axes leave is known only after the legend is laid out, so the
    # columns go by the width of the container, or of the chart where it has none.
    available = f"((containerSize()[0] || width + {AXIS_WIDTH}) - {AXIS_WIDTH})"
    columns = alt.expr(f"max(1, floor({available} / {widest:.0f}))")
    return alt.Legend(
        title=None,
        values=list(names),
        symbolType=symbol,
        symbolSize=size,
        columns=columns,
        rowPadding=4,
    )


def name_colours(names: Sequence[str], legend: Any) -> Any:
    """A colour for each name, in the order of the theme's colours."""
    return (
        alt.Color("name:N", legend=legend)
        .scale(domain=list(names), range="category")
    )  # fmt: skip


def set_name(wide: Any, name: str) -> Any:
    """The same data with this name in every row, to give all of it one colour."""
    return wide.transform_calculate(name=json.dumps(name))


def legend_selection(names: Sequence[str]) -> Any:
    """The names that are visible; a click in the legend hides or shows a name.

    Vega-Lite's own default shows only the name that was clicked, and starts with an
    empty selection. Here all names are selected at first, and a click toggles one.
    """
    return alt.selection_point(
        name="shown",
        fields=["name"],
        bind="legend",
        toggle="true",
        clear=False,
        empty=False,
        value=[{"name": name} for name in names],
    )


def _line_marks(long: Any, names: list[str], in_legend: list[str]) -> Any:
    legend = top_legend(in_legend)
    return long.mark_line(clip=True).encode(
        color=name_colours(names, legend),
        strokeDash=alt.StrokeDash("name:N", legend=legend).scale(
            domain=names, range=list(DASHES[: len(names)])
        ),
        strokeWidth=alt.condition("datum.key == 's0'", alt.value(2.6), alt.value(1.7)),
    )


def _area_marks(long: Any, names: list[str]) -> Any:
    legend = top_legend(names, "square", 150)
    return long.mark_area(style="separator", clip=True).encode(
        color=name_colours(names, legend), order=alt.Order("key:O")
    )


def _name_lookup(keys: list[str], names: list[str]) -> Any:
    """The name of each key: names may hold what a field's name must not."""
    rows = [{"key": key, "name": name} for key, name in zip(keys, names, strict=True)]
    data = alt.Data(values=rows)  # type: ignore[no-untyped-call]
    return alt.LookupData(data=data, key="key", fields=["name"])


def value_axis(target: str) -> Any:
    """The channel of the y axis for a column; it follows what is visible."""
    limits = [alt.expr(Y_LOW), alt.expr(Y_HIGH)]
    scale = alt.Scale(zero=False, nice=False, domain=limits)
    return lambda column: (
        alt.Y(f"{column}:Q", title=target)
        .scale(scale)
        .axis(labelExpr=NUMBER_LABEL, tickCount=5)
    )
