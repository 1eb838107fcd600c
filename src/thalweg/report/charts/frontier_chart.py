"""The hindsight frontier: the least loss of any path of coefficients of each length."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from thalweg.evaluation.study import Hindsight, Mark, Study
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
