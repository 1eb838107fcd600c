"""Lines over rounds: one legend to hide and show them, one tooltip for all."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from thalweg.report.theme import DASHES, LABEL_LIMIT

DIGITS = 6
"""Significant ones in a page: more than any screen shows."""
MOST_LINES = len(DASHES)
MOST_STOPS = 300
"""Rounds at which a pointer finds a tooltip: few enough for a phone."""
HEIGHT = 280
LETTER = 6.5
"""Pixels, about, that a letter of a legend takes."""
AXIS = 60
"""Pixels, about, that the axis on the left takes."""
VEGA_LITE = alt.SCHEMA_VERSION.lstrip("v").rpartition(".")[0]
"""The version that altair's charts are written in, as vl-convert calls it."""
# 1500 as 1,500, two millions as 2M, five billions as 5G, 0.001 not as 1m; an exponent
# beyond T, the last prefix that many know.
NUMBER = (
    "format(datum.value, abs(datum.value) >= 1e15 ? '.3~e' : "
    "abs(datum.value) >= 1e6 ? '~s' : abs(datum.value) >= 1000 ? ',' : '~g')"
)
IN_TOOLTIP = ",.4~r"
"""Four digits that count, and no exponent."""


@dataclass(frozen=True)
class Figure:
    """A chart with what is said above and below it."""

    name: str  # of its files
    title: str
    caption: str  # what to look for
    chart: Any
    narrow: bool = False  # whether it is better not drawn as wide as the page


def table(columns: Mapping[str, Any]) -> Any:
    """A chart without marks on these columns, all as long as each other.

    Written as one row of lists, which the browser unrolls: a third of the size.
    """
    row = {name: numbers(column) for name, column in columns.items()}
    chart = alt.Chart(alt.Data(values=[row]))  # type: ignore[no-untyped-call]
    return chart.transform_flatten(list(row))


def numbers(column: Any) -> list[Any]:
    """For JSON: few digits, and null for what is not finite."""
    values = np.asarray(column)
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [
        float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
        for value in values.tolist()
    ]


def lines(
    at: Any, series: Mapping[str, Any], y: Any, described: str, stacked: bool = False,
    seen: Sequence[str] | None = None,
) -> Any:  # fmt: skip
    """A line for each series over the rounds ``at``, or areas on top of each other.

    Colours go by the place among all series; the legend tells those that are ``seen``.
    """
    keys = [f"s{k}" for k in range(len(series))]
    wide = table({"round": at, **dict(zip(keys, series.values(), strict=True))})
    long = wide.transform_fold(keys, as_=["key", "value"]).transform_lookup(
        "key", from_=_names(keys, list(series))
    )
    shown = shown_by_legend(list(series))
    names, told = list(series), list(series if seen is None else seen)
    marks = _areas(long, names) if stacked else _lines(long, names, told)
    drawn = marks.encode(
        x=round_axis(at),
        y=y,
        opacity=alt.condition(shown, alt.value(1), alt.value(0)),
    ).add_params(shown)
    tooltip = [
        alt.Tooltip(f"{key}:Q", title=in_tooltip(name), format=IN_TOOLTIP)
        for key, name in zip(keys, series, strict=True)
    ]
    chart = drawn + hover(wide, at, tooltip)
    return chart.properties(width="container", height=HEIGHT, description=described)


def listed(names: Sequence[str]) -> str:
    """Names in a caption, cut where they are long and counted where they are many."""
    if len(names) > 3:
        return f"{len(names)} learners"
    short = [name if len(name) <= 40 else f"{name[:39]}…" for name in names]
    return " and ".join([", ".join(short[:-1]), short[-1]] if short[1:] else short)


def in_tooltip(name: str) -> str:
    """The name, without what Vega-Lite puts unescaped into an expression."""
    printable = "".join(letter if letter.isprintable() else " " for letter in name)
    return printable.replace("\\", "⧵")


def hover(wide: Any, at: Any, tooltip: Sequence[Any]) -> Any:
    """A rule at the round under the pointer, and what there is to say of it."""
    apart = int(at[0]) * -(-len(at) // MOST_STOPS)
    near = alt.selection_point(
        name="near",
        nearest=True,
        on="pointermove",
        clear="pointerout",
        encodings=["x"],
        empty=False,
    )
    return (
        wide.transform_filter(f"datum.round % {apart} == 0 || datum.round == {at[-1]}")
        .mark_rule(style="hover", aria=False)
        .encode(
            x="round:Q",
            opacity=alt.condition(near, alt.value(0.7), alt.value(0)),
            tooltip=[alt.Tooltip("round:Q", title="at round", format=","), *tooltip],
        )
        .add_params(near)
    )


def round_axis(at: Any, first: int = 0) -> Any:
    """Rounds from ``first`` to the last, with as many ticks as there is room for."""
    return (
        alt.X("round:Q", title="round")
        .scale(nice=False, domain=[first, int(at[-1])])
        .axis(labelExpr=NUMBER, tickCount=alt.expr("ceil(width / 90)"), grid=False)
    )


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high, the more to a decade the fewer decades."""
    spread = math.log10(high / low)
    steps = (1, 1.5, 2, 3, 5, 7) if spread < 1 else (1, 2, 5) if spread < 2 else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{step}e{decade}") for decade in decades for step in steps]
    return [tick for tick in ticks if low <= tick <= high]


def legend(names: Sequence[str], symbol: str = "stroke", size: int = 420) -> Any:
    """For these names, above the chart, in as many columns as there is room for."""
    widest = min(LETTER * max(map(len, names)), LABEL_LIMIT) + 45
    # What axes leave of the width is known only once the legend is laid out, so that
    # its rows go by what there is in all; where nothing contains the chart, by width.
    room = f"((containerSize()[0] || width + {AXIS}) - {AXIS})"
    columns = alt.expr(f"max(1, floor({room} / {widest:.0f}))")
    return alt.Legend(
        title=None,
        values=list(names),
        symbolType=symbol,
        symbolSize=size,
        columns=columns,
        rowPadding=4,
    )


def by_name(names: Sequence[str], legend: Any) -> Any:
    """A colour for each name, in the order of the theme's."""
    return (
        alt.Color("name:N", legend=legend)
        .scale(domain=list(names), range="category")
    )  # fmt: skip


def called(wide: Any, name: str) -> Any:
    """The same table with this name in every row, to give all of it one colour."""
    return wide.transform_calculate(name=json.dumps(name))


def shown_by_legend(names: Sequence[str]) -> Any:
    """Whether a name is shown; a click on it in the legend hides it or brings it back.

    Vega-Lite's own way, of showing the one that was clicked alone, begins with none
    chosen. Here all are, and each click takes one out or puts it in.
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


def _lines(long: Any, names: list[str], told: list[str]) -> Any:
    shared = legend(told)
    return long.mark_line(clip=True).encode(
        color=by_name(names, shared),
        strokeDash=alt.StrokeDash("name:N", legend=shared).scale(
            domain=names, range=list(DASHES[: len(names)])
        ),
        strokeWidth=alt.condition("datum.key == 's0'", alt.value(2.6), alt.value(1.7)),
    )


def _areas(long: Any, names: list[str]) -> Any:
    return long.mark_area(style="separator").encode(
        color=by_name(names, legend(names, "square", 150)), order=alt.Order("key:O")
    )


def _names(keys: list[str], names: list[str]) -> Any:
    rows = [{"key": key, "name": name} for key, name in zip(keys, names, strict=True)]
    data = alt.Data(values=rows)  # type: ignore[no-untyped-call]
    return alt.LookupData(data=data, key="key", fields=["name"])
