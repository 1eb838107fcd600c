"""The frontier of hindsight, and measured regrets beside the bounds of theory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from thalweg.evaluation.study import COMPARATORS, Hindsight, Mark, RegretEntry, Study
from thalweg.report.charts.chart_elements import (
    HEIGHT,
    MAX_LINES,
    NUMBER_LABEL,
    TOOLTIP_FORMAT,
    Figure,
    base_chart,
    join_names,
    legend_selection,
    log_ticks,
    name_colours,
    set_name,
    top_legend,
)
from thalweg.report.charts.error_charts import charted_entries
from thalweg.types import FloatArray

SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
)
MARK_SIZES = 280, 100
"""The areas of the first mark and of the last one, in square pixels."""
UNIT = "in variances of the target"
CURVE_POINTS = 120
"""Straight chords are curves on logarithmic axes, and are drawn with this many points.
"""


@dataclass(frozen=True)
class Frame:
    """The limits of both axes: path lengths from left to right, losses upwards."""

    left: float
    right: float
    bottom: float
    top: float

    @classmethod
    def from_marks(cls, hindsight: Hindsight, marks: Sequence[Mark]) -> "Frame":
        """The limits that show the curve and these marks.

        They reach from half the shortest path that saves anything to twice the longest,
        and from a fifth of the best learner's loss to twice the best fixed point's:
        further right a path merely repeats the noise.
        """
        lengths = [*hindsight.path_length, *(mark.path_length for mark in marks)]
        losses = [hindsight.loss[0], *(mark.loss for mark in marks)]
        left, right = _positive_range(lengths)
        least, _ = _positive_range(losses)
        top = max(hindsight.loss[0], marks[0].loss if marks else 0.0, least)
        scale = 1 / hindsight.rounds
        return cls(left / 2, 2 * right, scale * least / 5, 2 * scale * float(top))

    def axes(self) -> dict[str, Any]:
        """The channels of both axes, which are logarithmic."""
        x = alt.X("V:Q", title="how far the coefficients move (path length)").scale(
            type="log", domain=[self.left, self.right], nice=False
        )
        y = alt.Y("loss:Q", title=f"loss per row, {UNIT}").scale(
            type="log", domain=[self.bottom, self.top], nice=False
        )
        x_ticks = log_ticks(self.left, self.right)
        y_ticks = log_ticks(self.bottom, self.top)
        return {
            "x": x.axis(labelExpr=NUMBER_LABEL, values=x_ticks),
            "y": y.axis(labelExpr=NUMBER_LABEL, values=y_ticks),
        }


def frontier_figure(study: Study, hindsight: Hindsight) -> Figure:
    """The least loss of a path of each length, and the learners marked on it."""
    names = _colour_order(study, hindsight)
    finite = [mark for mark in hindsight.marks if np.isfinite(mark.path_length)]
    marks = [mark for name in names for mark in finite if mark.name == name]
    frame = Frame.from_marks(hindsight, marks)
    visible = [mark for mark in marks if mark.loss / hindsight.rounds <= frame.top]
    chart = _curve(hindsight, frame)
    if visible:
        chart += _learner_marks(hindsight, visible, names, frame)
    above = [mark.name for mark in marks if mark not in visible]
    note = f" Above the frame: {join_names(above)}." if above else ""
    return Figure(
        "hindsight-frontier",
        "What hindsight could have done",
        _caption(hindsight) + note,
        chart.properties(
            width="container",
            height=HEIGHT + 40,
            description="The least loss in hindsight for every path length, with "
            f"{len(visible)} learners marked on it.",
        ),
    )


def _caption(hindsight: Hindsight) -> str:
    gap = (hindsight.loss - hindsight.lower_bound) / np.where(
        hindsight.loss, hindsight.loss, 1
    )
    return (
        "Hindsight means that coefficients are chosen after all rows are known, which "
        "no forecast can do: it shows what was possible. The line is the least loss, "
        "half a squared error, of any sequence of coefficients, by how far they move "
        "in all: on the left the best that never move, further right those that move "
        "more. A learner is marked where hindsight has the same loss: the further "
        "right, the faster the changes it kept up with. At the left edge are those "
        "that the best fixed coefficients beat. At the lengths that were solved for "
        "the line is proven to lie at most "
        f"{max(100 * float(gap.max()), 0.01):.2g} % too high."
    )


def _curve(hindsight: Hindsight, frame: Frame) -> Any:
    V = hindsight.path_length
    spaced = np.geomspace(frame.left, max(frame.left, V[-1]), CURVE_POINTS)
    lengths = np.unique(np.append(spaced, V[V > 0]))
    losses = np.interp(lengths, V, hindsight.loss) / hindsight.rounds
    curve = base_chart({"V": lengths, "loss": np.where(losses > 0, losses, np.nan)})
    tooltip = [
        alt.Tooltip("V:Q", title="path length", format=".3~g"),
        alt.Tooltip("loss:Q", title="least loss per row", format=TOOLTIP_FORMAT),
    ]
    line = curve.mark_line(style="frontier", clip=True)
    # Invisible points that a pointer finds more easily than the thin line.
    invisible = {"style": "touch", "size": 90, "opacity": 0, "aria": False}
    targets = curve.mark_point(clip=True, **invisible)
    axes = frame.axes()
    return line.encode(**axes) + targets.encode(**axes, tooltip=tooltip)


def _learner_marks(
    hindsight: Hindsight, marks: Sequence[Mark], names: Sequence[str], frame: Frame
) -> Any:
    in_legend = [mark.name for mark in marks]
    lengths = np.array([mark.path_length for mark in marks])
    losses = np.array([mark.loss for mark in marks]) / hindsight.rounds
    columns = {"V": np.maximum(lengths, frame.left), "length": lengths, "loss": losses}
    # Where several marks are in one place, the later ones lie smaller on top.
    sizes = np.linspace(*MARK_SIZES, len(marks))
    selection, legend = (
        legend_selection(in_legend),
        top_legend(in_legend, "circle", 110),
    )
    shape = alt.Shape("name:N", legend=legend)
    return (
        base_chart({"name": in_legend, "size": sizes, **columns})
        .mark_point(style="learner")
        .encode(
            **frame.axes(),
            color=name_colours(names, legend),
            shape=shape.scale(domain=list(names), range=list(SHAPES[: len(names)])),
            size=alt.Size("size:Q", scale=None, legend=None),
            opacity=alt.condition(selection, alt.value(1), alt.value(0)),
            tooltip=[
                alt.Tooltip("name:N", title="learner"),
                alt.Tooltip("length:Q", title="path length", format=".3~g"),
                alt.Tooltip("loss:Q", title="loss per row", format=TOOLTIP_FORMAT),
            ],
        )
        .add_params(selection)
    )


def _colour_order(study: Study, hindsight: Hindsight) -> list[str]:
    """Names in the order of the error charts, so that they have the same colours."""
    names = [entry.name for entry in charted_entries(study)]
    names += [mark.name for mark in hindsight.marks]
    return list(dict.fromkeys(names))[:MAX_LINES]


def _positive_range(values: Sequence[float] | FloatArray) -> tuple[float, float]:
    """The least and the largest value that a logarithmic axis can show."""
    positive = [float(value) for value in values if 0 < value < np.inf] or [1.0]
    return min(positive), max(positive)


LINE_HEIGHT = 34
"""Pixels between one regret and the next."""
NAMES = MEASURED, BOUND = "measured", "most that theory allows"
BOUND_SHAPES = ("circle", "diamond")
Channels = dict[str, Any]
"""Encoding channels of Vega-Lite by name."""
MAX_DECADES = 6
"""Regrets that are more decades than this below the largest are drawn at zero."""


def regret_figure(regrets: Sequence[RegretEntry]) -> Figure:
    """Measured regret and its bound, a line for each learner and kind of regret."""
    ordered = sorted(
        regrets, key=lambda regret: [*COMPARATORS].index(regret.comparator)
    )
    measured = np.array([regret.measured for regret in ordered], float)
    bounds = np.array([_nan_if_none(regret.bound) for regret in ordered])
    lines = base_chart(
        {
            "line": [
                f"{COMPARATORS[regret.comparator]}\n{regret.name}" for regret in ordered
            ],
            "rank": np.arange(len(ordered)),
            "measured": measured,
            "bound": bounds,
        }
    )
    bounded = bool(np.isfinite(bounds).any())
    marks = _layers(lines, _position(np.append(measured, bounds)), _appearance(bounded))
    chart = marks.properties(
        width="container",
        height=LINE_HEIGHT * len(ordered),
        description=f"Measured regret beside its bound, {len(ordered)} lines.",
    )
    title = "Regret beside its bound" if bounded else "Regret"
    return Figure("regret", title, _regret_caption(regrets, bounded), chart)


def _layers(lines: alt.Chart, position: Channels, appearance: Channels) -> Any:
    """A rule from the measured regret to its bound, and a mark at either end."""
    link = lines.mark_rule(style="link").encode(**position, x2="bound:Q")
    bound = set_name(lines, BOUND).mark_point(style="bound", size=90)
    measured = set_name(lines, MEASURED).mark_point(style="measured", size=90)
    bound = bound.encode(**{**position, "x": "bound:Q"}, **appearance)
    return link + bound + measured.encode(**position, **appearance)


def _position(values: FloatArray) -> Channels:
    """The positions of marks: regret on the x axis, one learner per line."""
    scale, ticks = _symlog_scale(values)
    x = alt.X("measured:Q", title="loss beyond hindsight's").scale(scale)
    y = alt.Y("line:N", title=None, sort=alt.SortField("rank"))
    return {
        "x": x.axis(values=ticks, labelExpr=NUMBER_LABEL),
        # Two lines of text, so that our learners' names fit on a phone as well.
        "y": y.axis(
            labelExpr="split(datum.label, '\\n')",
            labelLimit=175,
            labelOffset=-6,
            grid=True,
        ),
    }


def _appearance(bounded: bool) -> Channels:
    """The colours, shapes and tooltips of marks."""
    legend = top_legend(NAMES if bounded else NAMES[:1], "circle", 110)
    shape = alt.Shape("name:N", legend=legend)
    return {
        "color": name_colours(NAMES, legend),
        "shape": shape.scale(domain=list(NAMES), range=list(BOUND_SHAPES)),
        "tooltip": [
            alt.Tooltip("line:N", title="against"),
            alt.Tooltip("measured:Q", title=MEASURED, format=TOOLTIP_FORMAT),
            alt.Tooltip("bound:Q", title=BOUND, format=TOOLTIP_FORMAT),
        ],
    }


def _regret_caption(regrets: Sequence[RegretEntry], bounded: bool) -> str:
    caption = (
        "Regret is the loss of a learner beyond that of a forecaster that knew all "
        "rows beforehand: one with the best fixed coefficients, the best that move, "
        "or the best fixed ones for the stretch in which the learner did worst. Left "
        "of 0 the learner lost less. Losses are half squared errors, in variances of "
        "the target."
    )
    if bounded:
        caption += " A diamond is the most that theory allows, where there is a bound."
    broken = [
        regret.name
        for regret in regrets
        if regret.measured > _inf_if_none(regret.bound)
    ]
    return caption + (f" Beyond its bound: {join_names(broken)}." if broken else "")


def _symlog_scale(values: FloatArray) -> tuple[Any, list[float]]:
    """A scale that is logarithmic on both sides of zero, and its ticks."""
    finite = values[np.isfinite(values)]
    sizes = np.abs(finite[finite != 0])
    largest, least = (sizes.max(), sizes.min()) if sizes.size else (1.0, 1.0)
    smallest = max(np.floor(np.log10(least)), np.ceil(np.log10(largest)) - MAX_DECADES)
    unit = float(10.0**smallest)
    # The limits leave space for half a mark on either side.
    ends = [1.3 * float(finite.min(initial=0.0)), 1.3 * float(finite.max(initial=unit))]
    decades = log_ticks(unit, max(float(largest), 10 * unit))
    ticks = sorted([-tick for tick in decades] + [0.0, *decades])
    scale = alt.Scale(type="symlog", constant=unit, domain=ends, nice=False)
    return scale, [tick for tick in ticks if ends[0] <= tick <= ends[1]]


def _nan_if_none(bound: float | None) -> float:
    return np.nan if bound is None else bound


def _inf_if_none(bound: float | None) -> float:
    return np.inf if bound is None else bound
